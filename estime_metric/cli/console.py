"""What commands say on the screen, and how errors become one line and an exit status."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from cyclopts import App, CycloptsError, Parameter, UnknownOptionError, UnusedCliTokensError
from rich.console import Console
from rich.text import Text

from estime_metric import files
from estime_metric._wording import counted
from estime_metric.config import OTHER_NAMES

#: Errors that the user can fix, or that the machine cannot avoid: they print one line on stderr.
OF_USE = (ValueError, OSError, ImportError, FloatingPointError, MemoryError)

#: May be a mistake in this package: one line, which names its class and how to see the traceback.
#: Torch reports lack of memory as RuntimeError, so these are not always bugs.
OTHERS = (TypeError, LookupError, ArithmeticError, RuntimeError, AssertionError)

#: Set to anything, errors are raised with their traceback: for bug reports.
TRACEBACK = "ESTIME_TRACEBACK"

NAMED_ROWS = 20  # invalid rows that a command names before it only counts them
WIDE = 10_000  # columns of an output that is not a terminal, in which nothing has to be wrapped

#: What the running command calls the arguments of the library: ``{"id_column": "--id-column"}``.
_option_of: ContextVar[Mapping[str, str]] = ContextVar("option_of")


def say(text: str) -> None:
    """One line or several on standard output."""
    print(printable(text))


def say_wrote(what: str, path: Path, *, on_stderr: bool = False) -> None:
    """Reports what was written to which file, on stderr if standard output is for data; prints
    nothing if the file is standard output.
    """
    if not files.is_standard(path):
        (note if on_stderr else say)(f"wrote {what} to {path}")


def note(text: str) -> None:
    """A line on stderr."""
    _print_error(text, style="")


def warn(text: str) -> None:
    """A line on stderr, in yellow if the terminal has colors; names options as the command does."""
    _print_error(in_options(text), style="yellow")


def warn_of_rows(problems: Sequence[str]) -> None:
    """Names rows that are skipped, as `warn` does: the first `NAMED_ROWS`, then how many more."""
    for problem in problems[:NAMED_ROWS]:
        warn(f"skipped {problem}")
    warn_of_more_rows(len(problems))


def warn_of_more_rows(number: int) -> None:
    """Counts the skipped rows beyond `NAMED_ROWS`; ``number`` is that of all skipped rows."""
    if number > NAMED_ROWS:
        warn(f"skipped {counted(number - NAMED_ROWS, 'more row')}")


def _print_error(text: str, style: str) -> None:
    Console(stderr=True).print(Text(printable(text), style=style), soft_wrap=True)


def printable(text: str) -> str:
    """``text`` with its control characters escaped, except line breaks, so that it cannot steer a
    terminal.
    """
    return re.sub(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", lambda match: f"\\x{ord(match[0]):02x}", text
    )


def table_console(*, on_stderr: bool = False) -> Console:
    """Where tables are printed, standard output or stderr: as wide as the terminal or as COLUMNS
    says, otherwise wide enough for every line.
    """
    console = Console(stderr=on_stderr)
    is_limited = console.is_terminal or "COLUMNS" in os.environ
    return console if is_limited else Console(stderr=on_stderr, width=WIDE)


def run(app: App, tokens: Sequence[str] | None = None) -> int:
    """Runs the command that ``tokens`` (of this process, if omitted) name, and returns the exit
    status: what the command returns; 2 after an error, which is printed in one line; 130 after
    Ctrl-C.
    """
    _replace_unknown_characters()
    tokens = list(sys.argv[1:] if tokens is None else tokens)
    try:
        _option_of.set(_names_of_options(app, tokens))
        with _warnings_in_one_line():
            # Cyclopts takes a lone hyphen for an option, but not a path with the same meaning.
            paths = ["./-" if token == "-" else token for token in tokens]
            status = app(
                paths, exit_on_error=False, print_error=False, result_action="return_value"
            )
        return status or 0
    except UnknownOptionError as error:
        typed = error.token.keyword or error.token.value
        other = OTHER_NAMES.get(typed.lstrip("-").replace("-", "_"), "")
        meant = _option_of.get().get(other)
        return _fail(f"Unknown option: {typed}. Did you mean {meant}?" if meant else str(error))
    except UnusedCliTokensError as error:
        return _fail(f"Unexpected argument: {' '.join(error.unused_tokens or ())}.")
    except CycloptsError as error:
        return _fail(str(error))
    except (
        BrokenPipeError
    ):  # the reader of the output has stopped reading: not an error, but nothing follows
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (*OF_USE, *OTHERS) as error:
        if os.environ.get(TRACEBACK):
            raise
        return _fail(in_options(_message(error)))


def in_options(text: str) -> str:
    """A message of the library, whose arguments are in backquotes, with the options of the command:
    "Expected argument `id_column`" becomes "Expected --id-column".

    Example:
        >>> in_options("Pass `nothing` or model.")
        'Pass `nothing` or model.'
    """
    options = _option_of.get({})

    def option(match: re.Match[str]) -> str:
        return options.get(match["name"], match[0])

    def option_and_value(match: re.Match[str]) -> str:
        name = options.get(match["name"])
        return match[0] if name is None else f"{name} {match['value']}"

    text = re.sub(r"`\w+` \((?P<options>--[\w-]+(, --[\w-]+)*)\)", r"\g<options>", text)
    text = re.sub(r"\b(?P<name>\w+)=\"(?P<value>[^\"]*)\"", option_and_value, text)
    return re.sub(r"(\bargument )?`(?P<name>\w+)`", option, text)


def _names_of_options(app: App, tokens: Sequence[str]) -> dict[str, str]:
    """The options of the command that ``tokens`` name, by the names of the library's arguments."""
    options = {}
    for argument in _arguments(app, tokens):
        names = sorted((name for name in argument.names if name.startswith("-")), key=len)
        for name in names:
            options[name.lstrip("-").replace("-", "_")] = name
        if names:
            options[argument.field_info.name] = names[-1]
    return options


def _arguments(app: App, tokens: Sequence[str]) -> list[Any]:
    path, apps, _ = app.parse_commands(tokens)
    is_command = bool(path) and not path[-1].startswith("-") and not _has_commands(apps[-1])
    if not is_command:
        return []
    default = app.default_parameter  # flags have no negative
    arguments = apps[-1].assemble_argument_collection(default_parameter=default)
    return [argument for argument in arguments if argument.parse]


def _has_commands(app: App) -> bool:
    return any(not name.startswith("-") for name in app)


def _replace_unknown_characters() -> None:
    """Has the screen replace what its encoding does not have; data is written as UTF-8 always."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Within the block, Python's warnings are lines without the place in the code, each once."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            warn(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _message(error: BaseException) -> str:
    text = str(error).strip()
    if isinstance(error, (MemoryError, RuntimeError)):
        # needs torch, which the other errors do not wait for
        from estime_metric.engine.encoder.memory import is_out_of_memory

        if is_out_of_memory(error):
            first = text.splitlines()[0] if text else "no memory left"
            return f"out of memory ({first}): try a smaller `token_budget` in --config."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {str(error.filename)!r}" if error.filename else error.strerror
    if isinstance(error, OF_USE) or text.startswith("Expected "):
        return text or type(error).__name__
    return f"{type(error).__name__}: {text} ({TRACEBACK}=1 shows the traceback)"


def _fail(message: str) -> int:
    _print_error(f"error: {message}", style="red")
    return 2


def make_app(name: str, help: str, version: str | None = None) -> App:
    """An application, or a group of commands, whose flags have no negative and whose help is the
    docstring, rewrapped.
    """

    def shown(value: object) -> str | None:
        """No default of flags, nor if the help itself says it."""
        return None if value is None or isinstance(value, bool) else str(value)

    return App(
        name=name,
        help=help,
        version=version,
        version_flags=["--version"] if version else [],
        help_flags=["--help", "-h"],
        help_format="rst",
        default_parameter=Parameter(
            negative=(), negative_iterable=(), allow_repeating=True, show_default=shown
        ),
    )

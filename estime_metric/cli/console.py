"""What commands say on the screen, and how errors become one line and an exit status."""

from __future__ import annotations

import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from cyclopts import (
    App,
    Argument,
    CycloptsError,
    Parameter,
    UnknownOptionError,
    UnusedCliTokensError,
)
from rich.console import Console
from rich.text import Text

from estime_metric._messages import counted, printable
from estime_metric._progress import Bar
from estime_metric.config import OTHER_NAMES
from estime_metric.table.output import is_standard

#: Errors that the user can fix, or that the machine cannot avoid. Any other may be a mistake in this package:
#: its line names its class and how to see the traceback. Torch reports lack of memory as RuntimeError.
USER_ERRORS = (ValueError, OSError, ImportError, FloatingPointError, MemoryError)

#: Set to anything, errors are raised with their traceback: for bug reports.
TRACEBACK = "ESTIME_TRACEBACK"

_options: set[str] = set()  # of the command that runs

NAMED_ROWS = 20  # invalid rows that a command names before it only counts them


def say(text: str) -> None:
    """One line or several on standard output."""
    print(printable(text))


def say_wrote(what: str, path: Path, *, on_stderr: bool = False) -> None:
    """Reports what was written to which file, on stderr if standard output is for data; prints
    nothing if the file is standard output.
    """
    if not is_standard(path):
        (note if on_stderr else say)(f"wrote {what} to {path}")


def note(text: str) -> None:
    """A line on stderr."""
    _print_error(text, style="")


def warn(text: str) -> None:
    """A line on stderr, in yellow if the terminal has colors."""
    _print_error(text, style="yellow")


@contextmanager
def skipped_rows() -> Iterator[Callable[[str], None]]:
    """A function to which each row that is skipped is given: the first `NAMED_ROWS` are named, and at the
    end of the block is said how many more there were.
    """
    number = 0

    def name_row(problem: str) -> None:
        nonlocal number
        number += 1
        if number <= NAMED_ROWS:
            with Bar.external_write_mode():
                warn(f"skipped {problem}")

    try:
        yield name_row
    finally:
        if number > NAMED_ROWS:
            warn(f"skipped {counted(number - NAMED_ROWS, 'more row')}")


def warn_of_rows(problems: Sequence[str]) -> None:
    """Names rows that are skipped, see `skipped_rows`."""
    with skipped_rows() as name_row:
        for problem in problems:
            name_row(problem)


def _print_error(text: str, style: str) -> None:
    Console(stderr=True).print(Text(printable(as_typed(text)), style=style), soft_wrap=True)


def as_typed(text: str) -> str:
    """A text with the options of the command that runs as they are typed: ``--source-column`` for
    ```source_column```, which is the name in Python.
    """

    def typed(match: re.Match[str]) -> str:
        option = f"--{match['name'].replace('_', '-')}"
        return option if option in _options else match[0]

    return re.sub(r"(argument )?`(?P<name>[a-z_]+)`", typed, text)


def run(app: App, tokens: Sequence[str] | None = None) -> int:
    """Runs the command that ``tokens`` (of this process, if omitted) name, and returns the exit
    status: what the command returns; 2 after an error, which is printed in one line; 130 after
    Ctrl-C; 141 if the reader of the output has stopped reading, as in other programs. SIGTERM raises
    SystemExit(143), so that temporary files are removed.
    """
    _replace_unknown_characters()
    tokens = list(sys.argv[1:] if tokens is None else tokens)
    _options.clear()
    _options.update(name for argument in _arguments(app, tokens) for name in argument.names)
    try:
        with _warnings_in_one_line(), _terminable(), _notes():
            status = app(
                # A path with the meaning of a lone hyphen, which Cyclopts would take for an option.
                ["./-" if token == "-" else token for token in tokens],
                exit_on_error=False,
                print_error=False,
                result_action="return_value",
            )
        return status or 0
    except KeyboardInterrupt:
        return 130
    except UnknownOptionError as error:
        typed = error.token.keyword or error.token.value
        meant = f"--{OTHER_NAMES.get(typed.lstrip('-').replace('-', '_'), '')}"
        has_meant = any(meant in argument.names for argument in error.argument_collection)
        return _fail(f"Unknown option: {typed}. Did you mean {meant}?" if has_meant else str(error))
    except UnusedCliTokensError as error:
        return _fail(f"Unexpected argument: {' '.join(error.unused_tokens or ())}.")
    except CycloptsError as error:
        return _fail(str(error))
    except BrokenPipeError:  # nothing can follow
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # as Rich ends the process then
            return 128 + signal.SIGPIPE
        raise
    except Exception as error:  # whatever is not foreseen, too: a traceback would end with 1
        if os.environ.get(TRACEBACK):
            raise
        return _fail(_message(error))


def _arguments(app: App, tokens: Sequence[str]) -> Sequence[Argument]:
    """The arguments of the command that tokens name; none if they name none."""
    command = app.parse_commands(tokens)[1][-1]
    if command.default_command is None or command.name[0] in ("help-print", "version-print"):
        return ()
    return command.assemble_argument_collection(default_parameter=app.default_parameter)


@contextmanager
def _terminable() -> Iterator[None]:
    """Within the block, SIGTERM ends the process as an error does."""

    def leave(*_: object) -> NoReturn:
        raise SystemExit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _notes() -> Iterator[None]:
    """Prints the notes of an exception that ends the command."""
    try:
        yield
    except BaseException as error:
        for text in getattr(error, "__notes__", ()):
            note(text)
        raise


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
    if isinstance(error, USER_ERRORS) or text.startswith("Expected "):
        return text or type(error).__name__
    return f"{type(error).__name__}: {text} ({TRACEBACK}=1 shows the traceback)"


def _fail(message: str) -> int:
    _print_error(f"error: {message}", style="red")
    return 2


def make_app(name: str, help: str, version: str | None = None) -> App:
    """An application, or a group of commands, whose flags have no negative and whose help is the
    docstring, rewrapped.
    """

    def default_in_help(value: object) -> str | None:
        """No default of flags, nor if the help itself says it."""
        return None if value is None or isinstance(value, bool) else str(value)

    return App(
        name=name,
        help=help,
        version=version,
        version_flags=["--version"] if version else [],
        help_flags=["--help", "-h"],
        help_format="rst",
        version_format="plaintext",  # what reads reStructuredText takes .2 s to import
        suppress_keyboard_interrupt=False,
        default_parameter=Parameter(
            negative=(), negative_iterable=(), allow_repeating=True, show_default=default_in_help
        ),
    )

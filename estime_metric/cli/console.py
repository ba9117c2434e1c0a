"""What commands say on the screen, and how errors become one line and an exit status."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError, Parameter
from rich.console import Console
from rich.text import Text

#: What you can put right, or the machine cannot do: one line on stderr.
OF_USE = (ValueError, OSError, ImportError, FloatingPointError, MemoryError)

#: May be a mistake in this package: one line, which names its class and how to see the traceback.
#: Torch reports an unavailable device and lack of memory as RuntimeError or AssertionError, so
#: these are no bugs by themselves.
OTHERS = (TypeError, LookupError, ArithmeticError, RuntimeError, AssertionError)

_ADDRESS = re.compile(
    r"any|auto|local|(ray://)?[\w.:\[\]-]+:\d+"
)  # the value of --ray, which may be left out
TRACEBACK = (
    "ESTIME_TRACEBACK"  # set to anything, errors are raised with their traceback: for bug reports
)


def say(text: str) -> None:
    """One line or several on standard output."""
    print(printable(text))


def note(text: str) -> None:
    """A line on stderr."""
    Console(stderr=True).print(Text(printable(text)), soft_wrap=True)


def warn(text: str) -> None:
    """A line on stderr, in yellow where it has colours."""
    Console(stderr=True).print(Text(printable(text), style="yellow"), soft_wrap=True)


def printable(text: str) -> str:
    """``text`` with its control characters escaped, line breaks excepted, so that it cannot steer a
    terminal.
    """
    return re.sub(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", lambda found: f"\\x{ord(found[0]):02x}", text
    )


def run(app: App, tokens: Sequence[str] | None = None) -> int:
    """Runs the command that ``tokens`` (of this process, where left out) name, and returns the exit
    status: what the command returns; 2 after an error, which is printed in one line; 130 after
    Ctrl-C."""
    # A lone "-" means standard input or output; Cyclopts would take it for an option. Path("./-")
    # is Path("-").
    given = [
        "./-" if token == "-" else token for token in (sys.argv[1:] if tokens is None else tokens)
    ]
    for index, token in enumerate(given):
        if token == "--ray" and not any(map(_ADDRESS.fullmatch, given[index + 1 : index + 2])):
            given[index] = "--ray=any"
    try:
        return app(given, exit_on_error=False, print_error=False, result_action="return_value") or 0
    except CycloptsError as error:
        return _fail(str(error))
    except (
        BrokenPipeError
    ):  # what reads our output has enough of it: no error, but nothing more can be printed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (*OF_USE, *OTHERS) as error:
        if os.environ.get(TRACEBACK):
            raise
        return _fail(_message(error))


def _message(error: BaseException) -> str:
    text = str(error).strip()
    if isinstance(error, (MemoryError, RuntimeError)):
        from estime_metric.engine.encoder.memory import (
            is_out_of_memory,  # needs torch, which the other errors do not wait for
        )

        if is_out_of_memory(error):
            first = text.splitlines()[0] if text else "no memory left"
            return f"out of memory ({first}): try a smaller --token-budget."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {str(error.filename)!r}" if error.filename else error.strerror
    if isinstance(error, OF_USE) or text.startswith("Expected "):
        return text or type(error).__name__
    return f"{type(error).__name__}: {text} ({TRACEBACK}=1 shows the traceback)"


def _fail(message: str) -> int:
    Console(stderr=True).print(Text(f"error: {printable(message)}", style="red"), soft_wrap=True)
    return 2


def make_app(name: str, help: str, version: str | None = None) -> App:
    """An application, or a group of commands, whose flags have no negative and whose help is the
    docstring, rewrapped.
    """

    def shown(
        value: object,
    ) -> str | None:  # no default of flags, nor where the help itself says it
        return None if value is None or isinstance(value, bool) else str(value)

    return App(
        name=name,
        help=help,
        version=version,
        version_flags=["--version"] if version else [],
        help_flags=["--help", "-h"],
        help_format="rst",
        default_parameter=Parameter(negative=(), allow_repeating=True, show_default=shown),
    )

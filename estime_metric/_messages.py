"""Small pieces of messages, and the one about a package that is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager


def counted(number: int, noun: str) -> str:
    """A number of things.

    Example:
        >>> counted(1, "row"), counted(2, "row"), counted(1200, "summary")
        ('1 row', '2 rows', '1200 summaries')
    """
    if number == 1:
        return f"1 {noun}"
    ends_in_y = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{number} {noun[:-1]}ies" if ends_in_y else f"{number} {noun}s"


def shortened(text: str, length: int = 60) -> str:
    """A text in one line of at most ``length`` characters.

    Example:
        >>> shortened("The cat\\nsat on the mat.", 12)
        'The cat sat…'
    """
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"


def printable(text: str) -> str:
    """``text`` with its control characters and marks of direction escaped, except line breaks and
    tabs, so that it can neither steer a terminal nor reorder a line.

    Example:
        >>> print(printable("red \x1b[31m"))
        red \\x1b[31m
    """
    return re.sub(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]",
        lambda match: f"\\x{ord(match[0]):02x}",
        text,
    )


@contextmanager
def needs_extra(extra: str, need: str) -> Iterator[None]:
    """Imports within it that fail raise an ImportError that says how to install the extra.

    Args:
        extra: the name of the extra.
        need: the sentence before the command, such as ``"Plots need matplotlib"``.
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{need}: pip install 'estime-metric[{extra}]'.") from error

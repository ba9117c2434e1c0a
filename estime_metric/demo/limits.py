"""What one visitor may ask for, so that the others are served too."""

from __future__ import annotations

import time
from dataclasses import dataclass

#: Work that about a minute of two CPU cores does on one source: tokens times blocks times width squared.
WORK = 20_000_000_000

#: What every refusal of a long text ends in.
ANY_LENGTH = "The package itself scores texts of any length."


class RefusedError(ValueError):
    """What was asked for is not done; the message is for the visitor and holds none of his text."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one request.

    Attributes:
        source_characters, summary_characters: longest texts, in characters.
        tokens: longest text, in tokens, with the embedded encoder; a larger encoder takes less, see `most_tokens`.
        file_bytes: largest file.
        rows: most pairs in a file.
        seconds: after that time no further pair of a file is begun.
    """

    source_characters: int = 20_000
    summary_characters: int = 5_000
    tokens: int = 4_000
    file_bytes: int = 2_000_000
    rows: int = 500
    seconds: float = 120.0

    def most_tokens(self, blocks: int, width: int) -> int:
        """The longest text, in tokens, that an encoder of this size takes.

        Example:
            >>> [Limits().most_tokens(blocks, width) for blocks, width in ((6, 384), (12, 768), (24, 1024))]
            [4000, 2825, 794]
        """
        return min(self.tokens, WORK // (blocks * width**2))

    def check_text(self, name: str, text: str, most: int) -> None:
        """Refuses a text of more than ``most`` characters.

        Raises:
            RefusedError: it is longer.
        """
        if len(text) > most:
            raise RefusedError(f"The {name} has {len(text):,} characters; the demo takes up to {most:,}. {ANY_LENGTH}")

    def check_pair(self, source: str, summary: str) -> None:
        """Refuses a pair with a text of too many characters.

        Raises:
            RefusedError: the message tells which.
        """
        self.check_text("source", source, self.source_characters)
        self.check_text("summary", summary, self.summary_characters)


class Clock:
    """Counts down from a number of seconds."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def out(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self._end

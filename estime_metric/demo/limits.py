"""The limits of one request, so that other visitors are served too."""

from __future__ import annotations

from dataclasses import dataclass

#: Work of about a minute on two CPU cores for one source: tokens times blocks times width squared.
WORK = 20_000_000_000

#: Maximum number of tokens of a text if `Limits.max_tokens` is not set.
TOKENS = 4_000


class RefusedError(ValueError):
    """A request that the demo refuses; the message is for the visitor and contains no text of theirs."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one request.

    Attributes:
        max_source_chars: Longest source, in characters.
        max_summary_chars: Longest summary, in characters.
        max_tokens: Longest text, in tokens. (default: 4000, fewer for large encoders)
    """

    max_source_chars: int = 20_000
    max_summary_chars: int = 5_000
    max_tokens: int | None = None

    def tokens_for(self, blocks: int, width: int) -> int:
        """Most tokens of a text for an encoder of this size.

        Example:
            >>> [Limits().tokens_for(blocks, width) for blocks, width in ((6, 384), (12, 768), (24, 1024))]
            [4000, 2825, 794]
            >>> Limits(max_tokens=10_000).tokens_for(24, 1024)
            10000
        """
        return (
            min(TOKENS, WORK // (blocks * width**2)) if self.max_tokens is None else self.max_tokens
        )

    def check(self, name: str, length: int, most: int, unit: str) -> None:
        """Refuses a text that is longer than ``most`` characters or tokens (RefusedError), and names the
        command that has no such limit.
        """
        if length > most:
            raise RefusedError(
                f"The {name} has {length:,} {unit}; the limit of this page is {most:,}. On your own machine, "
                "`estime explain` has no such limit."
            )

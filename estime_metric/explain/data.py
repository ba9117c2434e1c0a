"""What is drawn: an explanation as plain data. `estime_metric.Explanation` is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Span(Protocol):
    """The part ``text[start:end]`` of a text."""

    @property
    def start(self) -> int:
        """The first character."""

    @property
    def end(self) -> int:
        """After the last character."""


class Verdict(Span, Protocol):
    """The verdict on a word of the summary: ``match``, ``alarm`` or ``absent``."""

    @property
    def verdict(self) -> str:
        """One of the three."""

    @property
    def best(self) -> Span | None:
        """The best match in the source."""

    @property
    def same(self) -> Span | None:
        """The closest occurrence of the same word in the source."""

    @property
    def margin(self) -> float | None:
        """Negative for an alarm."""

    @property
    def graded_alarm(self) -> float:
        """0 to 1."""


class Drawable(Protocol):
    """A summary with the verdicts on its words."""

    @property
    def prediction(self) -> str:
        """The summary."""

    @property
    def source(self) -> str:
        """Its source."""

    @property
    def words(self) -> Sequence[Verdict]:
        """Disjoint, in the order of the summary."""

    @property
    def unit(self) -> str:
        """``token`` or ``word``."""

    @property
    def signature(self) -> str:
        """How it was computed."""

    def value(self, measure: str) -> float:
        """A measure of the pair."""

    def is_written_in_source(self, word: Span) -> bool:
        """Whether the source has the same words in any capitals."""

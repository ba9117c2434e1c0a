"""What a job counts of what it has scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from estime_metric import files

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult

_NAMED = 10  # lines that are named before pairs are only counted


@dataclass
class Totals:
    """Counts over the pairs of a job.

    Attributes:
        pairs, skipped: how many pairs were scored, and how many lines were invalid.
        unchecked, blank: how many summaries share no token with their source, and how many have no
            token at all.
        flagged: how many summaries are flagged.
        unchecked_lines, blank_lines: the first of them.
    """

    pairs: int = 0
    skipped: int = 0
    unchecked: int = 0
    blank: int = 0
    flagged: int = 0
    unchecked_lines: list[int] = field(default_factory=list)
    blank_lines: list[int] = field(default_factory=list)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Totals:
        """Totals as `to_json` writes them; TypeError for anything else."""
        return cls(**found)

    def to_json(self) -> dict[str, Any]:
        """As JSON contains them."""
        return asdict(self)

    def add(self, other: Totals) -> None:
        """Adds the totals of the chunk that follows."""
        self.pairs += other.pairs
        self.skipped += other.skipped
        self.unchecked += other.unchecked
        self.blank += other.blank
        self.flagged += other.flagged
        self.unchecked_lines = (self.unchecked_lines + other.unchecked_lines)[:_NAMED]
        self.blank_lines = (self.blank_lines + other.blank_lines)[:_NAMED]


def totals_of(
    pairs: files.Pairs, result: EstimeResult, threshold: float | str | None = None
) -> Totals:
    """The totals of one chunk."""
    return Totals(
        pairs=len(pairs),
        skipped=len(pairs.problems),
        unchecked=len(result.unchecked),
        blank=len(result.blank),
        flagged=0 if threshold is None else int(result.flags(threshold).sum()),
        unchecked_lines=[pairs.lines[index] for index in result.unchecked[:_NAMED]],
        blank_lines=[pairs.lines[index] for index in result.blank[:_NAMED]],
    )

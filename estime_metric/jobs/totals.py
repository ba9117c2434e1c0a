"""What a job counts of what it has scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from estime_metric.jobs.chunks import JobPairs

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
        unchecked_lines, blank_lines: the lines of the first of them, by input.
    """

    pairs: int = 0
    skipped: int = 0
    unchecked: int = 0
    blank: int = 0
    flagged: int = 0
    unchecked_lines: dict[str, list[int]] = field(default_factory=dict)
    blank_lines: dict[str, list[int]] = field(default_factory=dict)

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
        self.unchecked_lines = _joined(self.unchecked_lines, other.unchecked_lines)
        self.blank_lines = _joined(self.blank_lines, other.blank_lines)


def totals_of(
    pairs: JobPairs, result: EstimeResult, threshold: float | str | None = None
) -> Totals:
    """The totals of one chunk."""
    return Totals(
        pairs=len(pairs),
        skipped=len(pairs.problems),
        unchecked=len(result.unchecked),
        blank=len(result.blank),
        flagged=0 if threshold is None else int(result.flags(threshold).sum()),
        unchecked_lines=_lines_by_input(pairs, result.unchecked[:_NAMED]),
        blank_lines=_lines_by_input(pairs, result.blank[:_NAMED]),
    )


def _lines_by_input(pairs: JobPairs, indices: Iterable[int]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for index in indices:
        found.setdefault(str(pairs.paths[index]), []).append(pairs.lines[index])
    return found


def _joined(one: Mapping[str, list[int]], other: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """The first lines of both, in their order."""
    lines = [(path, line) for part in (one, other) for path in part for line in part[path]]
    found: dict[str, list[int]] = {}
    for path, line in lines[:_NAMED]:
        found.setdefault(path, []).append(line)
    return found

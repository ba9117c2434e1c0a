"""What is known of all scored pairs without holding them: numbers that are added chunk by chunk."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from estime_metric import files

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult

#: Lines that are named before pairs are only counted.
_NAMED = 10


@dataclass
class Totals:
    """Sums over the pairs of a job.

    Attributes:
        pairs: how many were scored.
        skipped: invalid rows.
        sums: for each measure (``alarms``, or ``alarms@12`` where there are several layers) the sum of its values and
            the number of pairs for which it is defined.
        unchecked, blank: how many summaries have no token in common with their source, and how many have none at all.
        flagged: how many summaries are flagged.
        unchecked_lines, blank_lines: the first of them.
    """

    pairs: int = 0
    skipped: int = 0
    sums: dict[str, list[float]] = field(default_factory=dict)
    unchecked: int = 0
    blank: int = 0
    flagged: int = 0
    unchecked_lines: list[int] = field(default_factory=list)
    blank_lines: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, pairs: files.Pairs, result: EstimeResult) -> Totals:
        """The totals of one chunk."""
        names = files.measure_columns(result.measures, result.layers)
        keys = [(measure, layer) for layer in result.layers for measure in result.measures]
        sums = {}
        for name, (measure, layer) in zip(names, keys, strict=True):
            values = [value for value in result.values(measure, layer).tolist() if not math.isnan(value)]
            sums[name] = [math.fsum(values), float(len(values))]
        return cls(
            pairs=len(pairs),
            skipped=len(pairs.problems),
            sums=sums,
            unchecked=len(result.unchecked),
            blank=len(result.blank),
            unchecked_lines=[pairs.lines[index] for index in result.unchecked[:_NAMED]],
            blank_lines=[pairs.lines[index] for index in result.blank[:_NAMED]],
        )

    def add(self, other: Totals) -> None:
        """Adds the totals of the chunk that follows."""
        self.pairs += other.pairs
        self.skipped += other.skipped
        self.unchecked += other.unchecked
        self.blank += other.blank
        self.flagged += other.flagged
        self.unchecked_lines = (self.unchecked_lines + other.unchecked_lines)[:_NAMED]
        self.blank_lines = (self.blank_lines + other.blank_lines)[:_NAMED]
        for name, (value, number) in other.sums.items():
            known = self.sums.setdefault(name, [0.0, 0.0])
            known[0] += value
            known[1] += number

    def mean(self, measure: str) -> float:
        """The mean of a measure over the pairs for which it is defined; NaN where there is none."""
        value, number = self.sums.get(measure, (0.0, 0.0))
        return value / number if number else math.nan

    def as_dict(self) -> dict[str, Any]:
        """Plain values, from which ``Totals(**values)`` is equal."""
        return asdict(self)

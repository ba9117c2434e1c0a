"""The sums that a job keeps of what it has scored."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from estime_metric import files

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult

_NAMED = 10  # lines that are named before pairs are only counted


@dataclass
class Sum:
    """The ``total`` of a measure over the pairs for which it is defined, and their ``number``."""

    total: float = 0.0
    number: int = 0

    @property
    def mean(self) -> float:
        """The mean over these pairs; NaN if there are none."""
        return self.total / self.number if self.number else math.nan

    def add(self, other: Sum) -> None:
        """Adds the sum of further pairs."""
        self.total += other.total
        self.number += other.number


@dataclass
class Totals:
    """Sums over the pairs of a job.

    Attributes:
        pairs, skipped: how many pairs were scored, and how many lines were invalid.
        sums: for each measure (``alarms``, or ``alarms_layer12`` if there are several layers) its
            sum.
        unchecked, blank: how many summaries share no token with their source, and how many have no
            token at all.
        flagged: how many summaries are flagged.
        unchecked_lines, blank_lines: the first of them.
    """

    pairs: int = 0
    skipped: int = 0
    sums: dict[str, Sum] = field(default_factory=dict)
    unchecked: int = 0
    blank: int = 0
    flagged: int = 0
    unchecked_lines: list[int] = field(default_factory=list)
    blank_lines: list[int] = field(default_factory=list)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Totals:
        """Totals as `to_json` writes them; TypeError or AttributeError for anything else."""
        sums = {name: Sum(**one) for name, one in found.get("sums", {}).items()}
        return cls(**{**found, "sums": sums})

    def to_json(self) -> dict[str, Any]:
        """As JSON holds them."""
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
        for name, one in other.sums.items():
            self.sums.setdefault(name, Sum()).add(one)

    def mean(self, measure: str) -> float:
        """The mean of a measure over the pairs for which it is defined; NaN if there are none."""
        return self.sums.get(measure, Sum()).mean

    def means(self) -> dict[str, files.Number]:
        """The means of all measures; ``None`` for one that is defined for no pair."""
        return {name: files.plain(one.mean) for name, one in self.sums.items()}


def totals_of(
    pairs: files.Pairs, result: EstimeResult, threshold: float | str | None = None
) -> Totals:
    """The totals of one chunk."""
    places = [(measure, layer) for layer in result.layers for measure in result.measures]
    names = files.measure_columns(result.measures, result.layers)
    return Totals(
        pairs=len(pairs),
        skipped=len(pairs.problems),
        sums={
            name: _sum(result.values(measure, layer).tolist())
            for name, (measure, layer) in zip(names, places, strict=True)
        },
        unchecked=len(result.unchecked),
        blank=len(result.blank),
        flagged=0 if threshold is None else int(result.flags(threshold).sum()),
        unchecked_lines=[pairs.lines[index] for index in result.unchecked[:_NAMED]],
        blank_lines=[pairs.lines[index] for index in result.blank[:_NAMED]],
    )


def _sum(values: list[float]) -> Sum:
    defined = [value for value in values if not math.isnan(value)]
    return Sum(math.fsum(defined), len(defined))

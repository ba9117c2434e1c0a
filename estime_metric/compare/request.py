"""What is compared: the measures, and the columns that say which rows belong together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from estime_metric.checks import listed_names
from estime_metric.measures import MEASURES, PAPER_MEASURE, RECOMMENDED, measure_of
from estime_metric.table.rows import TABLES, Layout

#: The measures that are compared unless others are requested.
DEFAULT_MEASURES = (RECOMMENDED, PAPER_MEASURE)

#: Measures that the texts alone decide: they need neither an encoder nor a signature.
OF_TEXTS = ("copied_density", "blank", "repetition")

Names = str | Sequence[str] | None


@dataclass(frozen=True, kw_only=True)
class Request:
    """Which systems are compared, and how: the arguments of `compare_scores`.

    Attributes:
        system_column: the column of the systems, if one file has all of them.
        layout: how files are read, and the columns of the texts.
    """

    baseline: str | None = None
    measures: Names = None
    higher: Names = None
    lower: Names = None
    id_column: str | None = None
    system_column: str | None = None
    layout: Layout = TABLES

    @property
    def columns(self) -> tuple[str, ...]:
        """The requested measures, or the default ones."""
        return (
            DEFAULT_MEASURES if self.measures is None else listed_names("measures", self.measures)
        )

    @property
    def named_columns(self) -> list[str]:
        """The columns of a table that identify its rows."""
        return [name for name in (self.id_column, self.system_column) if name is not None]

    @property
    def needs_encoder(self) -> bool:
        """Whether some columns are measures of ESTIME that the texts alone do not decide."""
        return any(
            name in MEASURES and name not in OF_TEXTS for name in map(measure_of, self.columns)
        )


@dataclass(frozen=True, kw_only=True)
class Gate:
    """What a gate lets pass.

    Attributes:
        tolerance: how much worse the mean of the first measure may be.
        allow_shorter: whether summaries may have less than a third of the words of the other system's.
        allow_copying: whether they may copy longer runs of words.
        range: least and greatest possible value of the first measure; ``None`` if it is not known.

    Raises:
        ValueError: the tolerance is negative or not finite, or the range does not end above its begin.
    """

    tolerance: float = 0.0
    allow_shorter: bool = False
    allow_copying: bool = False
    range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.tolerance < math.inf:
            raise ValueError(
                f"Expected argument `tolerance` to be 0 or more, but got {self.tolerance!r}."
            )
        if self.range is not None and not self.range[0] < self.range[1]:
            raise ValueError(
                f"Expected argument `range` to be a number and a greater one, but got {self.range}."
            )

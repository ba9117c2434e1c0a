"""What a job says at its end: totals, means with intervals, the worst summaries."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from estime_metric.checks import check_choice
from estime_metric.config import EstimeConfig
from estime_metric.measures import RECOMMENDED, reported_name
from estime_metric.signature import Signature
from estime_metric.table.rows import Row
from estime_metric.table.table import FILE, FLAG, LINE, SOURCE_ID, encodable

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from estime_metric.table.intervals import Interval

FILES = 30  # more input files than this have no separate means
LISTED = 30  # more pairs than this are not listed

_NAMED = 10  # lines that are named before pairs are only counted


class ScoresTable:
    """The numbers of all pairs, about 200 bytes a pair.

    Args:
        inputs: the files.
        prefix: of the columns in the rows.
        names: the columns of the measures, and of the flag if there is a threshold.
    """

    def __init__(self, inputs: Sequence[Path], prefix: str, names: Sequence[str]) -> None:
        self._prefix = prefix
        # One text for all rows of a file.
        self._names = {str(path): encodable(str(path)) for path in inputs}
        self._file = str(inputs[0]) if len(inputs) == 1 else None
        self._numbers = {name: array("d") for name in (LINE, *names)}
        self._texts: dict[str, list[str]] = {FILE: [], SOURCE_ID: []}

    def __len__(self) -> int:
        return len(self._texts[FILE])

    def add(self, rows: Iterable[Row]) -> None:
        """Adds rows of an output; cells of CSV are text. KeyError, ValueError: a row is damaged."""
        for row in rows:
            for name, numbers in self._numbers.items():
                numbers.append(_number(row[f"{self._prefix}{name}"]))
            file = self._file or str(row[f"{self._prefix}{FILE}"])
            self._texts[FILE].append(self._names.get(file, file))
            self._texts[SOURCE_ID].append(str(row[f"{self._prefix}{SOURCE_ID}"]))

    def frame(self) -> DataFrame:
        """The table: ``file``, ``source_id``, ``line``, the measures, and ``flag`` if there is a
        threshold.
        """
        import pandas  # slow

        table = pandas.DataFrame({**self._texts, **self._numbers})
        return table.astype({LINE: int})


def _number(cell: object) -> float:
    return float("nan") if cell is None or cell == "" else float(str(cell))


@dataclass
class Report:
    """How a run ended.

    Attributes:
        inputs: the files.
        config: the fully resolved options of the metric.
        table: the numbers of all pairs, those of earlier runs included, see `ScoresTable.frame`.
        skipped: how many lines were invalid.
        resumed: pairs that an earlier run had scored.
        was_complete: whether an earlier run had finished the output.
        threshold: the ``inconsistency`` from which on summaries are flagged.
        number_of_worst: how many of the worst summaries are listed.
        texts: source and summary of the pairs that are listed, by their position in the table; none if
            the output was complete.
        seconds: duration of this run, without loading the encoder.
    """

    inputs: Sequence[Path]
    config: EstimeConfig
    table: DataFrame
    skipped: int
    resumed: int
    was_complete: bool
    threshold: float | None
    number_of_worst: int
    texts: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def _files(self) -> list[str]:
        """The names of the inputs, as in the table."""
        return [encodable(str(path)) for path in self.inputs]

    @property
    def signature(self) -> Signature:
        """The signature of the scores."""
        return self.config.signature()

    @property
    def pairs(self) -> int:
        """How many pairs were scored."""
        return len(self.table)

    @property
    def unchecked(self) -> int:
        """How many summaries share no token with their source, blank ones included."""
        return int(self._is_unchecked.sum())

    @property
    def blank(self) -> int:
        """How many summaries have no token at all."""
        return int(self._is_blank.sum())

    @property
    def uncounted_names(self) -> int:
        """In how many summaries names could not be counted, because capitals say nothing there."""
        return int(self._of_first_layer("new_names").isna().sum())

    @property
    def flagged(self) -> int:
        """How many summaries are flagged."""
        return int(self.table[FLAG].sum())

    @property
    def unchecked_lines(self) -> dict[str, list[int]]:
        """The lines of the first unchecked summaries that are not blank, by input."""
        return self._lines(self._is_unchecked & ~self._is_blank)

    @property
    def blank_lines(self) -> dict[str, list[int]]:
        """The lines of the first blank summaries, by input."""
        return self._lines(self._is_blank)

    @property
    def few_sources(self) -> int | None:
        """How many different sources there are if they are so few that intervals are too narrow."""
        from estime_metric.table.intervals import FEW_SOURCES

        sources = int(self.table[SOURCE_ID].nunique())
        return sources if sources < FEW_SOURCES else None

    @property
    def without_pairs(self) -> list[str]:
        """The inputs in which no row is a pair."""
        with_pairs = set(self.table[FILE])
        return [file for file in self._files if file not in with_pairs]

    @property
    def worst(self) -> list[int]:
        """The positions of the summaries with the largest ``inconsistency``, the worst first; none if
        there are several layers.
        """
        if len(self.config.layer_tuple) > 1:
            return []
        column = self.table[RECOMMENDED].sort_values(ascending=False, kind="stable")
        positions: list[int] = column.index[: self.number_of_worst].tolist()
        return positions

    @property
    def first(self) -> list[int]:
        """The positions of all pairs, if there are no more than `LISTED`."""
        return list(range(self.pairs)) if self.pairs <= LISTED else []

    @property
    def listed(self) -> list[int]:
        """The positions whose ``texts`` the report needs."""
        return [*self.worst, *self.first]

    @cached_property
    def means(self) -> dict[str, Interval]:
        """For each measure (``alarms``, or ``alarms_layer12`` if there are several layers) the mean
        of all pairs with its 95% interval by source.
        """
        return self._means(self.table)

    @cached_property
    def means_of_files(self) -> dict[str, dict[str, Interval]]:
        """File -> `means` of its pairs, if it has any; empty if there is one file, or more than
        `FILES`.
        """
        if not 1 < len(self.inputs) <= FILES:
            return {}
        by_file = dict(list(self.table.groupby(FILE)))
        return {file: self._means(by_file[file]) for file in self._files if file in by_file}

    def interval(self, measure: str, layer: int | None = None) -> Interval:
        """The mean of a measure with its 95% interval by source.

        ``layer`` is one of several layers. ValueError: the job does not have the measure or the
        layer.
        """
        layers = self.config.layer_tuple
        name = measure if layer is None else reported_name(measure, layer, layers)
        check_choice("measure", name, self.means)
        return self.means[name]

    def to_dict(self) -> dict[str, Any]:
        """The totals and the means of all pairs as plain numbers, for JSON: as
        `EstimeResult.to_dict`, with the further totals (``flagged`` if the job has a threshold), and
        ``files``, the means of each if there are several.
        """
        return {
            "pairs": self.pairs,
            "skipped": self.skipped,
            "blank": self.blank,
            "unchecked": self.unchecked,
            "uncounted_names": self.uncounted_names,
            **({} if self.threshold is None else {"flagged": self.flagged}),
            "few_sources": self.few_sources,
            "unchecked_lines": self.unchecked_lines,
            "blank_lines": self.blank_lines,
            "without_pairs": self.without_pairs,
            "measures": _to_dicts(self.means),
            "files": {file: _to_dicts(means) for file, means in self.means_of_files.items()},
        }

    @property
    def _is_unchecked(self) -> Series:
        return self._of_first_layer("coverage") == 0

    @property
    def _is_blank(self) -> Series:
        return self._of_first_layer("tokens") == 0

    def _of_first_layer(self, measure: str) -> Series:
        layers = self.config.layer_tuple
        return self.table[reported_name(measure, layers[0], layers)]

    def _lines(self, which: Series) -> dict[str, list[int]]:
        rows = self.table[which].head(_NAMED)
        lines: dict[str, list[int]] = {}
        for file, line in zip(rows[FILE], rows[LINE].tolist(), strict=True):
            lines.setdefault(file, []).append(line)
        return lines

    def _means(self, table: DataFrame) -> dict[str, Interval]:
        from estime_metric.table.intervals import intervals

        others = (LINE, FILE, FLAG, SOURCE_ID)
        columns = {name: table[name].to_numpy() for name in table if name not in others}
        return intervals(table[SOURCE_ID].tolist(), columns)


def _to_dicts(means: Mapping[str, Interval]) -> dict[str, Any]:
    return {name: mean.to_dict() for name, mean in means.items()}

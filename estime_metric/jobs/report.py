"""The last pass over the rows of a job: totals, means with intervals, the worst summaries."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from estime_metric.checks import check_choice
from estime_metric.config import EstimeConfig
from estime_metric.jobs.input_files import Place, read_texts
from estime_metric.jobs.job import Job
from estime_metric.measures import RECOMMENDED, reported_name
from estime_metric.signature import Signature
from estime_metric.table.intervals import FEW_SOURCES, Interval, intervals
from estime_metric.table.rows import Row
from estime_metric.table.table import FILE, FLAG, LINE, SOURCE_ID, Number, measure_columns

FILES = 30  # more input files than this have no separate means
LISTED = 30  # more pairs than this are not listed

_NAMED = 10  # lines that are named before pairs are only counted

#: What a record has as the report has it.
_PLAIN = (
    "pairs",
    "skipped",
    "blank",
    "unchecked",
    "flagged",
    "few_sources",
    "unchecked_lines",
    "blank_lines",
    "without_pairs",
)


@dataclass(frozen=True)
class ScoredPair:
    """A pair as its row has it.

    Attributes:
        file, line: its place.
        values: the measures by column, without the prefix.
        source_id: what identifies its source.
        is_flagged: whether the job flags it.
        texts: source and summary, if they are known.
    """

    file: str
    line: int
    values: Mapping[str, Number]
    source_id: str
    is_flagged: bool
    texts: tuple[str, str] | None

    @property
    def place(self) -> Place:
        """The file and the line there."""
        return self.file, self.line


class Report:
    """How a run ended.

    Args:
        job, config: what was scored, and the fully resolved options of the metric.
        worst: how many of the worst summaries it has.

    Attributes:
        resumed: pairs that an earlier run had scored.
        seconds: duration of this run, without loading the encoder.
        pairs, skipped: how many pairs were scored, those of earlier runs included, and how many
            lines were invalid.
        unchecked: how many summaries share no token with their source, blank ones included.
        blank: how many have no token at all.
        flagged: how many summaries are flagged.
        unchecked_lines, blank_lines: the lines of the first unchecked summaries that are not blank,
            and of the first blank ones, by input.
        worst: the summaries with the largest ``inconsistency``, the worst first; none if there are
            several layers.
        first: all pairs, if there are no more than `LISTED`.
    """

    def __init__(self, job: Job, config: EstimeConfig, worst: int) -> None:
        self.config = config
        self.resumed, self.seconds = 0, 0.0
        self.pairs = self.skipped = self.unchecked = self.blank = self.flagged = 0
        self.unchecked_lines: dict[str, list[int]] = {}
        self.blank_lines: dict[str, list[int]] = {}
        self.worst: list[ScoredPair] = []
        self.first: list[ScoredPair] = []
        self._job, self._number_of_worst = job, worst
        self._names = measure_columns(config.reported_measures, config.layer_tuple)
        self._means = _Means(self._names)
        has_files = 1 < len(job.inputs) <= FILES
        self._means_of_files = {str(path): _Means(self._names) for path in job.inputs if has_files}
        self._files: set[str] = set()

    def add(self, rows: Sequence[Row]) -> None:
        """Adds the rows of the chunk that follows."""
        pairs = [self._pair(row) for row in rows]
        for pair in pairs:
            self._count(pair)
        self.pairs += len(pairs)
        self.first = [*self.first, *pairs] if self.pairs <= LISTED else []
        self._files.update(pair.file for pair in pairs)
        self._add_to(self._means, pairs)
        for file, means in self._means_of_files.items():
            self._add_to(means, [pair for pair in pairs if pair.file == file])
        self._keep_worst(pairs)

    def restore(self, record: Mapping[str, Any], rows: Iterator[Row]) -> None:
        """Takes the numbers from the record of a finished output; its ``rows`` are read only for the
        worst summaries.

        Raises KeyError, TypeError or AttributeError if the record is damaged.
        """
        for name in _PLAIN:
            if name in record:
                setattr(self, name, record[name])
        self.means = _from_dicts(record["measures"])
        self.means_of_files = {file: _from_dicts(means) for file, means in record["files"].items()}
        self.resumed = self.pairs
        if self._number_of_worst:
            for row in rows:
                self._keep_worst([self._pair(row)])

    def read_texts(self) -> None:
        """Reads the texts of the worst summaries again, if their rows do not have them."""
        unknown = {pair.place for pair in self.worst if pair.texts is None}
        texts = read_texts(self._job, unknown)
        self.worst = [
            replace(pair, texts=pair.texts or texts.get(pair.place)) for pair in self.worst
        ]

    @property
    def signature(self) -> Signature:
        """The signature of the scores."""
        return self.config.signature()

    @cached_property
    def means(self) -> dict[str, Interval]:
        """For each measure (``alarms``, or ``alarms_layer12`` if there are several layers) the mean
        of all pairs with its 95% interval by source.
        """
        return _intervals(self._means)

    @cached_property
    def means_of_files(self) -> dict[str, dict[str, Interval]]:
        """File -> `means` of its pairs, if it has any; empty if there is one file, or more than
        `FILES`.
        """
        return {
            file: _intervals(means)
            for file, means in self._means_of_files.items()
            if file in self._files
        }

    @cached_property
    def few_sources(self) -> int | None:
        """As `_Means.few_sources`."""
        return self._means.few_sources

    @cached_property
    def without_pairs(self) -> list[str]:
        """The inputs in which no row is a pair."""
        return [str(path) for path in self._job.inputs if str(path) not in self._files]

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
        is_flagging = self._job.threshold is not None
        return {
            **{name: getattr(self, name) for name in _PLAIN if name != "flagged" or is_flagging},
            "measures": _to_dicts(self.means),
            "files": {file: _to_dicts(means) for file, means in self.means_of_files.items()},
        }

    def _add_to(self, means: _Means, pairs: Sequence[ScoredPair]) -> None:
        if pairs:
            columns = {name: [pair.values[name] for pair in pairs] for name in self._names}
            means.add([pair.source_id for pair in pairs], columns)

    def _keep_worst(self, pairs: Sequence[ScoredPair]) -> None:
        if self._number_of_worst and len(self.config.layer_tuple) == 1:
            candidates = [*self.worst, *pairs]
            self.worst = heapq.nlargest(self._number_of_worst, candidates, key=_badness)

    def _pair(self, row: Row) -> ScoredPair:
        job = self._job
        source, summary = (row.get(name) for name in job.layout.text_columns)
        file = row[f"{job.prefix}{FILE}"] if job.has_several_inputs else job.inputs[0]
        return ScoredPair(
            file=str(file),
            line=int(row[f"{job.prefix}{LINE}"]),
            values={name: _number(row[f"{job.prefix}{name}"]) for name in self._names},
            source_id=str(row[f"{job.prefix}{SOURCE_ID}"]),
            is_flagged=job.threshold is not None and _number(row[f"{job.prefix}{FLAG}"]) == 1,
            texts=None if source is None or summary is None else (str(source), str(summary)),
        )

    def _count(self, pair: ScoredPair) -> None:
        layers = self.config.layer_tuple
        tokens, coverage = (
            reported_name(name, layers[0], layers) for name in ("tokens", "coverage")
        )
        self.flagged += pair.is_flagged
        if pair.values[coverage] == 0:
            self.unchecked += 1
            is_blank = pair.values[tokens] == 0
            self.blank += is_blank
            lines = self.blank_lines if is_blank else self.unchecked_lines
            if sum(map(len, lines.values())) < _NAMED:
                lines.setdefault(pair.file, []).append(pair.line)


def _badness(pair: ScoredPair) -> float:
    return float(pair.values[RECOMMENDED] or 0.0)


def _number(cell: object) -> Number:
    """A value of a measure as a row has it; cells of CSV are text."""
    return None if cell is None or cell == "" else float(str(cell))


def _intervals(means: _Means) -> dict[str, Interval]:
    return intervals(means.ids, means.columns)


def _to_dicts(means: Mapping[str, Interval]) -> dict[str, Any]:
    return {name: mean.to_dict() for name, mean in means.items()}


def _from_dicts(means: Mapping[str, Mapping[str, Any]]) -> dict[str, Interval]:
    """The intervals that `_to_dicts` has written; in JSON, ``None`` is NaN."""
    intervals = {}
    for name, mean in means.items():
        numbers: dict[str, Any] = {
            key: math.nan if value is None else value for key, value in mean.items()
        }
        intervals[name] = Interval(**numbers)
    return intervals


class _Means:
    def __init__(self, names: Sequence[str]) -> None:
        self.ids: list[str] = []
        self.columns: dict[str, list[Any]] = {name: [] for name in names}

    @property
    def few_sources(self) -> int | None:
        """How many different sources there are, if they are few."""
        sources = len(set(self.ids))
        return sources if sources < FEW_SOURCES else None

    def add(self, ids: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> None:
        self.ids += ids
        for name, values in columns.items():
            self.columns[name] += values

"""The last pass over the rows of a job: totals, means with intervals, the worst summaries."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from estime_metric import files
from estime_metric.config import EstimeConfig
from estime_metric.jobs.input_files import Place, read_texts
from estime_metric.jobs.job import Job
from estime_metric.measures import RECOMMENDED, reported_name
from estime_metric.signature import Signature
from estime_metric.stats.intervals import Interval
from estime_metric.validation import check_choice

if TYPE_CHECKING:
    from estime_metric.stats.bootstrap import BootstrapMeans

FILES = 30  # more input files than this have no separate means
LISTED = 30  # more pairs than this are not listed

_NAMED = 10  # lines that are named before pairs are only counted
_REMEMBERED = 1_000_000  # sources, which bounds the memory


@dataclass
class Totals:
    """Counts over the pairs of a job.

    Attributes:
        pairs, skipped: how many pairs were scored, and how many lines were invalid.
        unchecked: how many summaries share no token with their source, blank ones included.
        blank: how many have no token at all.
        flagged: how many summaries are flagged.
        unchecked_lines, blank_lines: the lines of the first unchecked summaries that are not blank,
            and of the first blank ones, by input.
    """

    pairs: int = 0
    skipped: int = 0
    unchecked: int = 0
    blank: int = 0
    flagged: int = 0
    unchecked_lines: dict[str, list[int]] = field(default_factory=dict)
    blank_lines: dict[str, list[int]] = field(default_factory=dict)


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
    values: Mapping[str, files.Number]
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
        job, config: what is scored, and the fully resolved options of the metric.
        flagged_from: the threshold of the flags, if any.
        worst: how many of the worst summaries it has.

    Attributes:
        done: whether the whole input is scored; otherwise ``totals`` has only ``pairs`` and
            ``skipped``, and nothing else is known.
        resumed: pairs that an earlier run had scored.
        seconds: duration of this run, without loading the encoder.
        totals: totals of all pairs, those of earlier runs included.
        worst: the summaries with the largest ``inconsistency``, the worst first; none if there are
            several layers.
        first: all pairs, if there are no more than `LISTED`.
        values: the ``inconsistency`` of all pairs, if there is one layer.
        encoded, repeated: how many sources were encoded, and how many of them again, because they
            are in an earlier chunk too.
    """

    def __init__(
        self,
        job: Job,
        config: EstimeConfig,
        flagged_from: float | None,
        worst: int,
    ) -> None:
        from estime_metric.stats.bootstrap import BootstrapMeans  # imports numpy: slow

        self.config, self.flagged_from = config, flagged_from
        self.done, self.resumed, self.seconds = False, 0, 0.0
        self.totals = Totals()
        self.worst: list[ScoredPair] = []
        self.first: list[ScoredPair] = []
        self.values = array("d")
        self.encoded = self.repeated = 0
        self._job, self._number_of_worst = job, worst
        self._names = files.measure_columns(config.reported_measures, config.layer_tuple)
        self._means = BootstrapMeans(self._names)
        has_files = 1 < len(job.inputs) <= FILES
        self._means_of_files = {
            str(path): BootstrapMeans(self._names) for path in job.inputs if has_files
        }
        self._files: set[str] = set()
        self._sources: set[str] = set()

    def add(self, rows: Sequence[files.Row]) -> None:
        """Adds the rows of the chunk that follows."""
        pairs = [self._pair(row) for row in rows]
        self._note_sources({pair.source_id for pair in pairs})
        self._count(pairs)
        self._add_to(self._means, pairs)
        for file, means in self._means_of_files.items():
            self._add_to(means, [pair for pair in pairs if pair.file == file])
        if len(self.config.layer_tuple) > 1:
            return
        defined = [pair for pair in pairs if pair.values[RECOMMENDED] is not None]
        self.values.extend(map(_badness, defined))
        self.worst = heapq.nlargest(self._number_of_worst, [*self.worst, *defined], key=_badness)

    def read_texts(self) -> None:
        """Reads the texts of single pairs again, if their rows do not have them."""
        unknown = [pair.place for pair in (*self.worst, *self.first) if pair.texts is None]
        texts = read_texts(self._job, unknown)

        def with_texts(pairs: Sequence[ScoredPair]) -> list[ScoredPair]:
            return [replace(pair, texts=pair.texts or texts.get(pair.place)) for pair in pairs]

        self.worst, self.first = with_texts(self.worst), with_texts(self.first)

    @property
    def signature(self) -> Signature:
        """The signature of the scores."""
        return self.config.signature()

    @property
    def means(self) -> dict[str, Interval]:
        """For each measure (``alarms``, or ``alarms_layer12`` if there are several layers) the mean
        of all pairs with its 95% interval by source.
        """
        return _intervals(self._means)

    @property
    def means_of_files(self) -> dict[str, dict[str, Interval]]:
        """File -> `means` of its pairs, if it has any; empty if there is one file, or more than
        `FILES`.
        """
        return {
            file: _intervals(means)
            for file, means in self._means_of_files.items()
            if file in self._files
        }

    @property
    def few_sources(self) -> int | None:
        """As `BootstrapMeans.few_sources`."""
        return self._means.few_sources

    @property
    def without_pairs(self) -> list[Path]:
        """The inputs in which no row is a pair."""
        return [path for path in self._job.inputs if str(path) not in self._files]

    def interval(self, measure: str, layer: int | None = None) -> Interval:
        """The mean of a measure with its 95% interval by source.

        ``layer`` is one of several layers. ValueError: the job does not have the measure or the
        layer.
        """
        layers = self.config.layer_tuple
        name = measure if layer is None else reported_name(measure, layer, layers)
        check_choice("measure", name, self._names)
        return self._means.interval(name)

    def to_dict(self) -> dict[str, Any]:
        """The totals and the means of all pairs as plain numbers, for JSON: as
        `EstimeResult.to_dict`, with ``skipped`` (invalid rows), with a threshold ``flagged``
        (summaries), and with several files ``files``, the means of each.
        """
        of_files = {file: _to_dicts(means) for file, means in self.means_of_files.items()}
        totals = self.totals
        return {
            "pairs": totals.pairs,
            "skipped": totals.skipped,
            "blank": totals.blank,
            "unchecked": totals.unchecked,
            **({} if self.flagged_from is None else {"flagged": totals.flagged}),
            "measures": _to_dicts(self.means),
            **({"files": of_files} if of_files else {}),
        }

    def _add_to(self, means: BootstrapMeans, pairs: Sequence[ScoredPair]) -> None:
        if pairs:
            columns = {name: [pair.values[name] for pair in pairs] for name in self._names}
            means.add([pair.source_id for pair in pairs], columns)

    def _pair(self, row: files.Row) -> ScoredPair:
        prefix = self._job.prefix
        source, summary = (row.get(name) for name in self._job.text_columns)
        return ScoredPair(
            file=row[f"{prefix}{files.FILE}"]
            if self._job.has_several_inputs
            else str(self._job.inputs[0]),
            line=int(row[f"{prefix}{files.LINE}"]),
            values={name: _number(row[f"{prefix}{name}"]) for name in self._names},
            source_id=str(row[f"{prefix}{files.SOURCE_ID}"]),
            is_flagged=_number(row.get(f"{prefix}{files.FLAG}")) == 1,
            texts=None if source is None or summary is None else (str(source), str(summary)),
        )

    def _note_sources(self, sources: set[str]) -> None:
        self.encoded += len(sources)
        self.repeated += len(sources & self._sources)
        if len(self._sources) < _REMEMBERED:
            self._sources |= sources

    def _count(self, pairs: Sequence[ScoredPair]) -> None:
        layers = self.config.layer_tuple
        tokens, coverage = (
            reported_name(name, layers[0], layers) for name in ("tokens", "coverage")
        )
        totals = self.totals
        totals.pairs += len(pairs)
        self.first = [*self.first, *pairs] if totals.pairs <= LISTED else []
        self._files.update(pair.file for pair in pairs)
        for pair in pairs:
            totals.flagged += pair.is_flagged
            if pair.values[coverage] != 0:
                continue
            totals.unchecked += 1
            if pair.values[tokens] == 0:
                totals.blank += 1
                _name_line(totals.blank_lines, pair)
            else:
                _name_line(totals.unchecked_lines, pair)


def _badness(pair: ScoredPair) -> float:
    return float(pair.values[RECOMMENDED] or 0.0)


def _name_line(lines: dict[str, list[int]], pair: ScoredPair) -> None:
    if sum(map(len, lines.values())) < _NAMED:
        lines.setdefault(pair.file, []).append(pair.line)


def _number(cell: object) -> files.Number:
    """A value of a measure as a row has it; cells of CSV are text."""
    return None if cell is None or cell == "" else float(str(cell))


def _intervals(means: BootstrapMeans) -> dict[str, Interval]:
    return {name: means.interval(name) for name in means.names}


def _to_dicts(means: Mapping[str, Interval]) -> dict[str, Any]:
    return {name: mean.to_dict() for name, mean in means.items()}

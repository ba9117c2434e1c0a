"""The last pass over the rows of a job: totals, means with intervals, the worst summaries."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from estime_metric import files
from estime_metric.jobs.inputs import Place
from estime_metric.jobs.job import Job
from estime_metric.measures import RECOMMENDED

if TYPE_CHECKING:
    from estime_metric.stats.bootstrap import BootstrapMeans

MEASURES_BY_FILE = (RECOMMENDED, "alarms", "tokens")
FILES = 30  # more input files than this have no means of their own

_TOGETHER = 256  # rows that are added up together
_NAMED = 10  # lines that are named before pairs are only counted
_REMEMBERED = 1_000_000  # sources, which bounds the memory


@dataclass(frozen=True)
class Wanted:
    """What a report has of single pairs.

    Attributes:
        worst: how many of the summaries with the largest ``inconsistency``.
        first: how many of the first pairs, if there are no more of them.
        values: whether it has the ``inconsistency`` of all pairs.
    """

    worst: int = 0
    first: int = 0
    values: bool = False


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

    def to_json(self) -> dict[str, Any]:
        """As JSON contains them."""
        return asdict(self)


@dataclass(frozen=True)
class ScoredPair:
    """A pair as its row has it.

    Attributes:
        file, line: its place.
        values: the measures by column, without the prefix.
        is_flagged: whether the job flags it.
        texts: source and summary, if they are known.
    """

    file: str
    line: int
    values: Mapping[str, files.Number]
    is_flagged: bool
    texts: tuple[str, str] | None

    @property
    def place(self) -> Place:
        """The file and the line there."""
        return self.file, self.line


class Summary:
    """Adds up the rows of a job.

    Args:
        job: what is scored.
        names: the columns of the measures, without the prefix; those of the first layer come first.
        layers: how many layers there are.
        wanted: what is kept of single pairs.

    Attributes:
        totals: the counts.
        means: the means of all columns.
        by_file: file -> the means of `MEASURES_BY_FILE`, if one layer is read from several files
            and not too many.
        files: the inputs that have a pair.
        worst: the summaries with the largest ``inconsistency``, the worst first.
        first: the first pairs, if there are no more than wanted.
        values: the ``inconsistency`` of all pairs, if wanted.
        encoded: how many sources were encoded.
        repeated: how many of them in an earlier chunk too.
    """

    def __init__(
        self, job: Job, names: Sequence[str], layers: Sequence[int], wanted: Wanted
    ) -> None:
        self._job, self._names, self._wanted = job, names, wanted
        self._of_first_layer = files.measure_columns(("tokens", "coverage"), layers)[:2]
        from estime_metric.stats.bootstrap import BootstrapMeans  # imports numpy: slow

        self._means_of = BootstrapMeans
        self._sources: set[str] = set()
        self.encoded = self.repeated = 0
        self.totals = Totals()
        self.means = BootstrapMeans(names)
        self.by_file: dict[str, BootstrapMeans] = {}
        self.files: set[str] = set()
        self.worst: list[ScoredPair] = []
        self.first: list[ScoredPair] = []
        self.values = array("d") if wanted.values else None
        self._has_one_layer = len(layers) == 1

    def add(self, rows: Sequence[files.Row]) -> None:
        """Adds the rows of the chunk that follows."""
        sources = {str(row[f"{self._job.prefix}{files.SOURCE_ID}"]) for row in rows}
        self.encoded += len(sources)
        self.repeated += len(sources & self._sources)
        if len(self._sources) < _REMEMBERED:
            self._sources |= sources
        for start in range(0, len(rows), _TOGETHER):
            self._add(rows[start : start + _TOGETHER])

    def _add(self, rows: Sequence[files.Row]) -> None:
        pairs = [self._pair(row) for row in rows]
        sources = [str(row[f"{self._job.prefix}{files.SOURCE_ID}"]) for row in rows]
        self.means.add(sources, _columns(pairs, self._names))
        self._count(pairs)
        if self._has_one_layer:
            self._add_by_file(pairs, sources)
            self._keep(pairs)
        self.first = [*self.first, *pairs] if self.totals.pairs <= self._wanted.first else []

    def _pair(self, row: files.Row) -> ScoredPair:
        prefix = self._job.prefix
        source, summary = (row.get(name) for name in self._job.text_columns)
        return ScoredPair(
            file=row[f"{prefix}{files.FILE}"]
            if self._job.has_several_inputs
            else str(self._job.inputs[0]),
            line=int(row[f"{prefix}{files.LINE}"]),
            values={name: _number(row[f"{prefix}{name}"]) for name in self._names},
            is_flagged=_number(row.get(f"{prefix}{files.FLAG}")) == 1,
            texts=None if source is None or summary is None else (str(source), str(summary)),
        )

    def _count(self, pairs: Sequence[ScoredPair]) -> None:
        totals = self.totals
        totals.pairs += len(pairs)
        totals.flagged += sum(pair.is_flagged for pair in pairs)
        tokens, coverage = self._of_first_layer
        for pair in pairs:
            self.files.add(pair.file)
            if pair.values[coverage] == 0:
                totals.unchecked += 1
                _name_line(totals.unchecked_lines, pair)
            if pair.values[tokens] == 0:
                totals.blank += 1
                _name_line(totals.blank_lines, pair)

    def _add_by_file(self, pairs: Sequence[ScoredPair], sources: Sequence[str]) -> None:
        if not 1 < len(self._job.inputs) <= FILES:
            return
        for file, group in groupby(zip(pairs, sources, strict=True), lambda one: one[0].file):
            own, ids = zip(*group, strict=True)
            if file not in self.by_file:
                self.by_file[file] = self._means_of(MEASURES_BY_FILE)
            self.by_file[file].add(ids, _columns(own, MEASURES_BY_FILE))

    def _keep(self, pairs: Sequence[ScoredPair]) -> None:
        defined = [pair for pair in pairs if pair.values[RECOMMENDED] is not None]
        if self.values is not None:
            self.values.extend(map(_badness, defined))
        self.worst = heapq.nlargest(self._wanted.worst, [*self.worst, *defined], key=_badness)


def _badness(pair: ScoredPair) -> float:
    return float(pair.values[RECOMMENDED] or 0.0)


def _columns(pairs: Sequence[ScoredPair], names: Sequence[str]) -> dict[str, list[files.Number]]:
    return {name: [pair.values[name] for pair in pairs] for name in names}


def _name_line(lines: dict[str, list[int]], pair: ScoredPair) -> None:
    if sum(map(len, lines.values())) < _NAMED:
        lines.setdefault(pair.file, []).append(pair.line)


def _number(cell: object) -> files.Number:
    """A value of a measure as a row has it; cells of CSV are text."""
    return None if cell is None or cell == "" else float(str(cell))

"""What a job says at its end: totals, means with intervals, the worst summaries."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from estime_metric.checks import check_choice
from estime_metric.config import EstimeConfig
from estime_metric.jobs.journal import Chunk, NotResumableError
from estime_metric.measures import RECOMMENDED, reported_name
from estime_metric.table.formats import Row, encodable
from estime_metric.table.scores import Scores
from estime_metric.table.table import FILE, FLAG, LINE, SOURCE_ID, Record, number_of

if TYPE_CHECKING:
    from pandas import DataFrame

    from estime_metric.table.intervals import Interval
    from estime_metric.table.summary import Summary

FILES = 30  # more input files than this have no separate means
LISTED = 30  # more pairs than this are not listed

_NAMED = 10  # lines that are named before pairs are only counted


@dataclass(frozen=True, kw_only=True)
class Report:
    """How a run ended.

    Attributes:
        inputs: the files.
        config: the fully resolved options of the metric.
        scores: the numbers of all pairs, those of earlier runs included: ``file``, ``source_id``,
            ``line``, the measures, and ``flag`` if there is a threshold; what the job is of; and how many
            lines were invalid.
        summary: counts and means of all pairs.
        files: the summary of each input that has a pair; empty if there is one input, or more than
            `FILES`.
        without_pairs: the inputs in which no row is a pair.
        blank_lines, unchecked_lines: the lines of the first blank summaries, and of the first others
            that share no token with their source, by input.
        worst: the positions of the summaries with the largest ``inconsistency``, the worst first;
            empty if there are several layers.
        resumed: how many pairs an earlier run had scored.
        appended: how many lines were appended to the inputs since an earlier run had finished the output.
        was_complete: whether an earlier run had finished the output, and no line was appended.
        texts: source and summary of the worst pairs, and of all pairs if there are no more than
            `LISTED`, by their position in the table; if the output was complete, only those that it has.
        seconds: duration of this run, without loading the encoder.
    """

    inputs: Sequence[Path]
    config: EstimeConfig
    scores: Scores
    summary: Summary
    files: Mapping[str, Summary]
    without_pairs: Sequence[str]
    blank_lines: Mapping[str, Sequence[int]]
    unchecked_lines: Mapping[str, Sequence[int]]
    worst: Sequence[int]
    resumed: int = 0
    appended: int = 0
    was_complete: bool = False
    texts: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    seconds: float = 0.0

    def interval(self, measure: str, layer: int | None = None) -> Interval:
        """The mean of a measure with its 95% interval by source.

        ``layer`` is one of several layers. ValueError: the job does not have the measure or the
        layer.
        """
        layers = self.config.layer_tuple
        name = measure if layer is None else reported_name(measure, layer, layers)
        check_choice("measure", name, self.summary.means)
        return self.summary.means[name]

    def to_dict(self) -> dict[str, Any]:
        """The totals and the means of all pairs as plain numbers, for JSON: as
        `EstimeResult.to_dict`, with the further totals (``flagged`` if the job has a threshold), and
        ``files``, the means of each if there are several.
        """
        table = self.scores.frame
        flagged = {"flagged": int(table[FLAG].sum())} if FLAG in table else {}
        return {
            **self.summary.to_dict(),
            **flagged,
            "skipped": self.scores.skipped,
            "unchecked_lines": self.unchecked_lines,
            "blank_lines": self.blank_lines,
            "without_pairs": self.without_pairs,
            "files": {file: summary.to_dict()["measures"] for file, summary in self.files.items()},
        }


class Tally:
    """What the chunks of a job have; the numbers of all pairs are about 200 bytes a pair.

    Args:
        inputs: the files.
        prefix: of the columns in the rows.
        names: the columns of the measures, and of the flag if there is a threshold.

    Attributes:
        inputs: the files.
        skipped: how many lines are invalid.
        warnings: what there is to warn of -> the number of pairs that it is about.
    """

    def __init__(self, inputs: Sequence[Path], prefix: str, names: Sequence[str]) -> None:
        self.inputs = inputs
        self.skipped = 0
        self.warnings = Counter[str]()
        self._prefix = prefix
        self._files: dict[str, str] = {}  # one text for all rows of a file
        self._numbers = {name: array("d") for name in (LINE, *names)}
        self._texts: dict[str, list[str]] = {FILE: [], SOURCE_ID: []}

    def __len__(self) -> int:
        return len(self._texts[FILE])

    def add(self, chunk: Chunk) -> None:
        """Adds a chunk, the cells of which can be text. NotResumableError if a row is damaged."""
        for row in chunk.rows:
            try:
                self._add_row(row)
            except (KeyError, ValueError) as error:
                raise NotResumableError(
                    "The rows of the earlier run are damaged. Use `overwrite` to start again."
                ) from error
        self.skipped += chunk.skipped
        self.warnings.update(chunk.warnings)

    def _add_row(self, row: Row) -> None:
        for name, numbers in self._numbers.items():
            number = number_of(row[f"{self._prefix}{name}"])
            if number is None:
                raise ValueError(f"Expected a number in column {name!r}.")
            numbers.append(number)
        file = str(self.inputs[0] if len(self.inputs) == 1 else row[f"{self._prefix}{FILE}"])
        self._texts[FILE].append(self._files.setdefault(file, encodable(file)))
        self._texts[SOURCE_ID].append(str(row[f"{self._prefix}{SOURCE_ID}"]))

    def frame(self) -> DataFrame:
        """The table: ``file``, ``source_id``, ``line``, the measures, and ``flag`` if there is a
        threshold.
        """
        import pandas  # slow

        return pandas.DataFrame({**self._texts, **self._numbers}).astype({LINE: int})


def report_of(tally: Tally, config: EstimeConfig, record: Record, number_of_worst: int) -> Report:
    """The report on what a job has scored, without texts. ``record`` says what the job is of."""
    table = tally.frame()
    layers = config.layer_tuple
    blank, unchecked = (
        table[reported_name(measure, layers[0], layers)] == 0 for measure in ("tokens", "coverage")
    )
    names = [encodable(str(path)) for path in tally.inputs]
    by_file = dict(list(table.groupby(FILE)))
    is_by_file = 1 < len(names) <= FILES
    worst = []
    if len(layers) == 1:
        order = table[RECOMMENDED].sort_values(ascending=False, kind="stable").index
        worst = order[:number_of_worst].tolist()
    return Report(
        inputs=tally.inputs,
        config=config,
        scores=Scores(table, record, tally.skipped),
        summary=_summary(table),
        files={name: _summary(by_file[name]) for name in names if is_by_file and name in by_file},
        without_pairs=[name for name in names if name not in by_file],
        blank_lines=_lines(table[blank]),
        unchecked_lines=_lines(table[unchecked & ~blank]),
        worst=worst,
    )


def _summary(table: DataFrame) -> Summary:
    from estime_metric.table.summary import Summary  # imports numpy: slow

    measures = table.columns.drop([LINE, FILE, FLAG, SOURCE_ID], errors="ignore")
    columns = {name: table[name].to_numpy() for name in measures}
    return Summary.of(table[SOURCE_ID].tolist(), columns)


def _lines(table: DataFrame) -> dict[str, list[int]]:
    """The lines of the first pairs of a table, by file."""
    by_file = table.head(_NAMED).groupby(FILE, sort=False)[LINE]
    return {file: lines.tolist() for file, lines in by_file}

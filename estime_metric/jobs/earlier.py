"""The scores that earlier runs of a job have written, which count in the means of all pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from estime_metric import files
from estime_metric.jobs.chunks import JobPairs
from estime_metric.jobs.job import Job
from estime_metric.jobs.record import NotResumableError

Values = Mapping[str, Sequence[files.Number]]

#: Called with pairs and their values by column.
OnScored = Callable[[JobPairs, Values], None]

_TOGETHER = 256  # pairs that are read again together


class EarlierScores:
    """Gives the pairs that earlier runs have scored, with the values in the rows of the output.

    Args:
        rows: the rows of the output, in order.
        names: the columns of the measures, and of the flag if there is one.
        take: called with the pairs and their values.
    """

    def __init__(
        self, rows: Iterable[files.Row], job: Job, names: Sequence[str], take: OnScored
    ) -> None:
        self._rows, self._job, self._names, self._take = iter(rows), job, names, take
        self._pairs = JobPairs()
        self._values: dict[str, list[files.Number]] = {name: [] for name in names}
        self._problem = ""

    def add(self, line: files.Line) -> None:
        """A line of the input, whose row comes next if it is a pair."""
        if line.problem or self._problem:
            return
        row = next(self._rows, {})
        prefix = self._job.prefix
        if str(row.get(f"{prefix}{files.LINE}")) != str(line.number):
            self._problem = f"the row of {line.path} line {line.number}"
            return
        self._pairs.add_line(line, self._job)
        for name in self._names:
            self._values[name].append(_number(row.get(f"{prefix}{name}")))
        if len(self._pairs) == _TOGETHER:
            self._give()

    def finish(self) -> None:
        """Called after the last line; NotResumableError if rows of the output were changed."""
        if self._problem:
            raise NotResumableError(
                f"Expected {self._job.output} to have the rows that the earlier run wrote, but "
                f"{self._problem} is missing or moved. Use `overwrite` to start again."
            )
        if len(self._pairs):
            self._give()

    def _give(self) -> None:
        self._take(self._pairs, self._values)
        self._pairs = JobPairs()
        self._values = {name: [] for name in self._names}


def rows_of(path: Path) -> Iterator[files.Row]:
    """The rows of an output."""
    for line in files.read_rows(path):
        yield line.row


def _number(cell: object) -> files.Number:
    """A value of a measure as a row has it; cells of CSV are text."""
    return None if cell is None or cell == "" else float(str(cell))

"""Scores: a data frame with the record that says how it was computed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from estime_metric.measures import MEASURES, measure_of
from estime_metric.table.formats import Row
from estime_metric.table.output import record_paths
from estime_metric.table.pairs import read_pairs, with_joined_sources
from estime_metric.table.rows import TABLES, Layout, has_text_cells, read_rows
from estime_metric.table.table import (
    DIGESTS,
    FILE,
    FLAG,
    LINE,
    SIGNATURE,
    SOURCE_ID,
    Record,
    converted,
    digest_columns,
    frame_of,
    number_of,
    plain,
    record_of,
    row_digests,
    write,
)

if TYPE_CHECKING:
    from pandas import DataFrame, Series


@dataclass(frozen=True, eq=False)
class Scores:
    """A table of scores, or of anything else. Systems that are split from one file share its record.

    Attributes:
        frame: one row per pair; scores of ESTIME have a ``signature``. The index is the number of each line.
        record: how the scores were computed, see `record_of`; empty if nobody knows.
        skipped: how many lines of the file could not be read or scored.
        path: the file that was read, if one was.
    """

    frame: DataFrame
    record: Record = field(default_factory=dict)
    skipped: int = 0
    path: Path | None = None

    @classmethod
    def of(cls, frame: DataFrame) -> Scores:
        """What a data frame of `to_frame` has, or any other data frame."""
        return cls(frame, frame.attrs.get("record", {}), frame.attrs.get("skipped", 0))

    def to_frame(self) -> DataFrame:
        """The data frame for users, whose ``attrs`` have ``record`` and ``skipped``."""
        frame = self.frame.copy(deep=False)
        frame.attrs = {"record": dict(self.record), "skipped": self.skipped}
        return frame

    @classmethod
    def read(
        cls,
        path: str | Path,
        layout: Layout = TABLES,
        *,
        own_columns: Collection[str] = (),
        skipped: list[str] | None = None,
    ) -> Scores:
        """Reads what ``estime score -o`` or `EstimeResult.save` has written, or any other table.

        If the table has a record, only the measures that it names are measures: other columns with such
        names are yours and are dropped. A prefix that ``estime score`` has put in front of its columns is
        removed. The column ``signature`` is added if the record has it.
        In CSV, measures become numbers, and other columns stay as written.

        Args:
            path: in any format of `read_rows`.
            layout: how it is read.
            own_columns: columns of the user, which are kept as they are; or output columns with their
                prefix, which are then found under both names.
            skipped: an empty list, which gets a sentence for each line that cannot be read. Without it,
                such a line is an error.

        Raises:
            ValueError: a line cannot be read, or the record of the table is damaged. If the record has
                `row_digests`: a row is none of those that it was written with, or a column is missing that
                they are of.
            OSError, ImportError: as `read_rows`.
        """
        path = Path(path)
        record = record_of(path)
        prefix = str(record.get("options", {}).get("prefix") or "")
        is_aligned = layout.source_file is not None
        lines = (read_pairs if is_aligned else read_rows)(path, layout)
        table = frame_of(path, with_joined_sources(lines, layout), skipped)
        _check_rows(path, table, record, prefix)
        plain_names = [column.removeprefix(prefix) for column in table]
        by_name = [name for name in plain_names if measure_of(name) in MEASURES]
        measures = list(record.get("measures", by_name))
        written = (*measures, LINE, FILE, FLAG, SOURCE_ID, SIGNATURE)
        table = _with_plain_names(table, {f"{prefix}{name}": name for name in written}, own_columns)
        for name in table.columns.intersection(measures):
            if has_text_cells(path) or table[name].isna().all():
                table[name] = converted(table[name])
        if record.get(SIGNATURE):
            table[SIGNATURE] = record[SIGNATURE]
        return cls(table, record, len(skipped or ()), path)

    def write(self, path: Path) -> None:
        """Writes the rows, each of which has its signature, see `write`; whole numbers as integers, NaN as
        ``None``.
        """
        rows: list[Row] = [
            {name: plain(cell) if isinstance(cell, float) else cell for name, cell in row.items()}
            for row in self.frame.to_dict("records")
        ]
        write(path, rows)

    @property
    def signature(self) -> str:
        """The first signature of ESTIME in the rows; empty if there is none."""
        cells = map(str, self.frame.get(SIGNATURE, ()))
        return next((cell for cell in cells if cell.startswith("ESTIME|")), "")

    @property
    def is_scored(self) -> bool:
        """Whether there are scores of ESTIME: a signature says so."""
        return bool(self.signature)

    def numbers(self, column: str) -> Series:
        """A column as float64: NaN in an empty cell, infinity in one that is not a finite number."""
        cells = self.frame[column]
        if cells.dtype.kind not in "biuf":  # not numbers alone
            cells = cells.map(lambda cell: math.inf if (n := number_of(cell)) is None else n)
        return cells.astype("float64")


def _check_rows(path: Path, table: DataFrame, record: Record, prefix: str) -> None:
    """Refuses a row that the record is not of, or that occurs more often than in it, and a table without a
    column that digests are of (ValueError).
    """
    if DIGESTS not in record or table.empty:
        return
    stored = next(filter(Path.exists, record_paths(path)), path)
    expected = f"Expected the scores in {path.name} to be those that the record in {stored.name} is of, but"
    for column in digest_columns(record, prefix):
        if column not in table:
            raise ValueError(
                f"{expected} column {column!r} is missing. Score the texts again, or keep all columns of "
                "the scores."
            )
    left = Counter(record[DIGESTS].split())
    for line, digest in zip(table.index, row_digests(table, record, prefix), strict=True):
        left[digest] -= 1
        if left[digest] < 0:
            raise ValueError(f"{expected} line {line} has others. Score the texts again.")


def _with_plain_names(
    table: DataFrame, written: Mapping[str, str], own_columns: Collection[str]
) -> DataFrame:
    """A table with its output columns without prefix, and without other columns of such names, except for
    columns of the user. ``written`` is the plain name of each output column.
    """
    own = table.columns.intersection(list(own_columns))
    outputs = {
        column: name
        for column, name in written.items()
        if column in table and (name == column or name not in own)
    }
    columns: dict[str, str] = {}  # a name here -> the name in the file
    for column in table:
        is_foreign = measure_of(column) in MEASURES or column in outputs.values()
        if column in own or not (column in outputs or is_foreign):
            columns[column] = column
        if column in outputs:  # one of the user's can have both names: `e_file` and `file`
            columns[outputs[column]] = column
    return table[[*columns.values()]].set_axis([*columns], axis="columns")

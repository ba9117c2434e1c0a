"""Tables of pairs on disk: JSON Lines, CSV and Parquet in, JSON Lines and CSV out."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult

Row = dict[str, Any]

READABLE = (".jsonl", ".csv", ".parquet")
WRITABLE = (".jsonl", ".csv")


@dataclass
class Pairs:
    """Pairs read from a table.

    Attributes:
        lines: where each pair stands: line of the file, counted from 1 (row for Parquet).
        sources, summaries: the texts, one for each of ``lines``.
        others: the further columns of each pair.
        problems: one sentence for each row that holds no pair, with its line.
    """

    lines: list[int] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)
    others: list[Row] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lines)

    def chunks(self, size: int) -> Iterator[Pairs]:
        """The pairs in their order, ``size`` at a time, without the problems."""
        for start in range(0, len(self), size):
            some = slice(start, start + size)
            yield Pairs(self.lines[some], self.sources[some], self.summaries[some], self.others[some])


def read_pairs(path: Path, source_column: str, summary_column: str) -> Pairs:
    """Reads the pairs of a table; a bad row is noted, not fatal.

    Raises:
        ValueError: the ending is none of ``READABLE``.
        ImportError: Parquet without pyarrow.
    """
    pairs = Pairs()
    for line, row in read_rows(path):
        if isinstance(row, str):
            pairs.problems.append(f"line {line}: {row}")
            continue
        problem = _problem(row, source_column, summary_column)
        if problem:
            pairs.problems.append(f"line {line}: {problem}")
            continue
        pairs.lines.append(line)
        pairs.sources.append(row.pop(source_column))
        pairs.summaries.append(row.pop(summary_column))
        pairs.others.append(row)
    return pairs


def score_rows(pairs: Pairs, result: EstimeResult) -> list[Row]:
    """One row a pair: its line, its further columns, its measures, the signature.

    With several layers the names of measures end in the layer: ``alarms@12``.
    """
    columns = {
        measure if len(result.layers) == 1 else f"{measure}@{layer}": result.values(measure, layer).tolist()
        for layer in result.layers
        for measure in result.measures
    }
    return [
        {
            "line": line,
            **others,
            **{name: plain(values[place]) for name, values in columns.items()},
            "signature": result.signature,
        }
        for place, (line, others) in enumerate(zip(pairs.lines, pairs.others, strict=True))
    ]


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Writes rows as JSON Lines or CSV, by the ending of ``path``; ``-`` is JSON Lines on standard output.

    Raises:
        ValueError: the ending is none of ``WRITABLE``.
    """
    check_writable(path)
    with _opened(path) as stream:
        if path.suffix.lower() == ".csv":
            columns = list(dict.fromkeys(name for row in rows for name in row))
            writer = csv.DictWriter(stream, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        else:
            for row in rows:
                stream.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")


def check_writable(path: Path) -> None:
    """Refuses a path that `write_rows` could not write, before any work is done.

    Raises:
        ValueError: the ending is none of ``WRITABLE``, or the folder does not exist.
    """
    if str(path) == "-":
        return
    if path.suffix.lower() not in WRITABLE:
        raise ValueError(f"Expected the output to end in {' or '.join(WRITABLE)}, but got {path.name!r}.")
    if not path.parent.is_dir():
        raise ValueError(f"Expected the output's folder to exist, but there is no {str(path.parent)!r}.")


def read_rows(path: Path) -> Iterator[tuple[int, Row | str]]:
    """Line numbers with rows; a string in place of a row says what is wrong with it.

    Raises:
        ValueError: the ending is none of ``READABLE``.
        ImportError: Parquet without pyarrow.
    """
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        return _jsonl_rows(path)
    if suffix == ".csv":
        return _csv_rows(path)
    if suffix == ".parquet":
        return _parquet_rows(path)
    raise ValueError(f"Expected a file that ends in {', '.join(READABLE)}, but got {path.name!r}.")


def _jsonl_rows(path: Path) -> Iterator[tuple[int, Row | str]]:
    with path.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                if not line.strip():
                    continue
                row = json.loads(line)
            except UnicodeDecodeError:
                yield number, "is not UTF-8"
            except json.JSONDecodeError as error:
                yield number, f"is not JSON ({error.msg} at column {error.colno})"
            else:
                yield number, row if isinstance(row, dict) else f"holds a {type(row).__name__}, not a JSON object"


def _csv_rows(path: Path) -> Iterator[tuple[int, Row | str]]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    with path.open(encoding="utf-8-sig", newline="", errors="surrogateescape") as stream:
        reader = csv.DictReader(stream, restkey="", restval=None)
        for row in reader:
            if "" in row:
                yield reader.line_num, f"has more than the {len(reader.fieldnames or ())} columns of the header"
            elif any(_undecodable(value) for value in row.values()):
                yield reader.line_num, "is not UTF-8"
            else:
                yield reader.line_num, dict(row)


def _parquet_rows(path: Path) -> Iterator[tuple[int, Row | str]]:
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install 'estime-metric[evaluate]'.") from error
    number = 0
    for batch in ParquetFile(path).iter_batches(batch_size=1024):
        for row in batch.to_pylist():
            number += 1
            yield number, row


def _undecodable(value: Any) -> bool:
    return isinstance(value, str) and any("\udc80" <= sign <= "\udcff" for sign in value)


def _problem(row: Mapping[str, Any], source_column: str, summary_column: str) -> str | None:
    for column in (source_column, summary_column):
        if column not in row:
            found = ", ".join(row) or "none"
            return f"has no column {column!r} (columns: {found})"
        if not isinstance(row[column], str):
            came = "nothing" if row[column] is None else type(row[column]).__name__
            return f"column {column!r} should hold a text, but holds {came}"
    return None


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    if str(path) == "-":
        yield sys.stdout
        return
    # Half a character (a lone surrogate) has no UTF-8; it is written as JSON writes it, \ud800.
    with path.open("w", encoding="utf-8", newline="", errors="backslashreplace") as stream:
        yield stream


def plain(number: float) -> int | float | None:
    """A count as an integer, NaN as nothing (null in JSON, an empty cell in CSV), anything else rounded to six digits;
    what is written to files."""
    if math.isnan(number):
        return None
    return int(number) if math.isfinite(number) and number == int(number) else round(number, 6)

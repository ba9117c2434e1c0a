"""Scores -> rows -> the bytes of a table."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from estime_metric.files.pairs import Pairs
from estime_metric.files.reading import KEY, WRITABLE, Row, is_standard, meta_path
from estime_metric.files.replacing import replaced, write_text

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult

_ROW_GROUP = 10_000  # rows of a Parquet file that are held at once


def measure_columns(measures: Sequence[str], layers: Sequence[int]) -> list[str]:
    """Names of the columns of measures; with several layers they end in the layer: ``alarms@12``."""
    return [
        name if len(layers) == 1 else f"{name}@{layer}" for layer in layers for name in measures
    ]


def score_columns(measures: Sequence[str], layers: Sequence[int]) -> list[str]:
    """Names of the columns that `score_rows` adds: the line, the measures, the signature."""
    return ["line", *measure_columns(measures, layers), "signature"]


def check_names(row: Row, ours: Iterable[str], where: str) -> None:
    """Refuses a row that already has one of the output columns (ValueError)."""
    for name in ours:
        if name in row:
            advice = "give the output columns other names with --prefix."
            raise ValueError(
                f"{where} has the column {name!r}, whose name clashes with an output column: {advice}"
            )


def score_rows(
    pairs: Pairs,
    result: EstimeResult,
    prefix: str = "",
    *,
    flags: Sequence[int] | None = None,
    signature: bool = True,
) -> list[Row]:
    """One row a pair: its line, its further columns, its measures, ``flags`` if any, and its
    signature if asked for.

    The names of the added columns begin with ``prefix``; ValueError where a pair has a column of
    one of these names.
    """
    columns = [
        result.values(measure, layer).tolist()
        for layer in result.layers
        for measure in result.measures
    ]
    names = [f"{prefix}{name}" for name in measure_columns(result.measures, result.layers)]
    rows = []
    for index, (line, others) in enumerate(zip(pairs.lines, pairs.others, strict=True)):
        row: Row = {f"{prefix}line": line}
        row |= {name: plain(values[index]) for name, values in zip(names, columns, strict=True)}
        if flags is not None:
            row[f"{prefix}flag"] = flags[index]
        if signature:
            row[f"{prefix}signature"] = result.signature
        check_names(others, row, f"line {line}")
        rows.append({f"{prefix}line": line, **others, **row})
    return rows


def encode_rows(
    rows: Iterable[Row], ending: str, columns: Sequence[str] = (), header: bool = False
) -> bytes:
    """Rows as the bytes of JSON Lines, or of CSV with ``columns`` and no others, their names first
    with ``header``.
    """
    stream = io.StringIO(newline="")
    if ending == ".csv":
        writer = csv.DictWriter(stream, columns, lineterminator="\n")
        if header:
            writer.writeheader()
        for row in rows:
            if new := [name for name in row if name not in columns]:
                wanted = "all rows to have the columns of the first ones for CSV"
                raise ValueError(
                    f"Expected {wanted}, but a later one has {new[0]!r}: write .jsonl instead."
                )
            writer.writerow(row)
    else:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
    # A lone surrogate has no UTF-8; it is written as JSON writes it, \ud800.
    return stream.getvalue().encode("utf-8", errors="backslashreplace")


def write_rows(path: Path, rows: Sequence[Row], meta: Mapping[str, Any] | None = None) -> None:
    """Writes rows as JSON Lines, CSV or Parquet, by the ending of ``path``; ``-`` is JSON Lines on
    standard output.

    A file that exists is replaced in one step. ``meta`` is for `read_meta`; standard output has no
    place for it.
    """
    check_writable(path)
    if is_standard(path):
        sys.stdout.write(encode_rows(rows, ".jsonl").decode("utf-8"))
        return
    ending = path.suffix.lower()
    with replaced(path) as unfinished:
        if ending == ".parquet":
            write_parquet(unfinished, lambda: iter(rows), meta)
        else:
            columns = list(dict.fromkeys(name for row in rows for name in row))
            unfinished.write_bytes(encode_rows(rows, ending, columns, header=True))
    if ending != ".parquet":
        write_meta(path, meta)


def write_meta(path: Path, meta: Mapping[str, Any] | None) -> None:
    """Writes the metadata of a table beside it; removes those of an earlier one if there are none."""
    if meta:
        write_text(
            meta_path(path), json.dumps(meta, ensure_ascii=False, indent=1, default=str) + "\n"
        )
    else:
        meta_path(path).unlink(missing_ok=True)


def write_parquet(
    path: Path, rows: Callable[[], Iterator[Row]], meta: Mapping[str, Any] | None = None
) -> None:
    """Writes rows as Parquet; ``rows`` is called twice: for the types of the columns, then for the
    values.
    """
    try:
        import pyarrow
        from pyarrow.parquet import ParquetWriter
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install 'estime-metric[files]'.") from error
    schema = pyarrow.schema([])
    for group in _groups(rows()):
        columns = dict.fromkeys(
            name for row in group for name in row
        )  # the first row alone need not have all
        found = pyarrow.table({name: [row.get(name) for row in group] for name in columns}).schema
        schema = pyarrow.unify_schemas([schema, found], promote_options="permissive")
    if meta:
        schema = schema.with_metadata({KEY: json.dumps(meta, ensure_ascii=False, default=str)})
    with ParquetWriter(path, schema) as writer:
        for group in _groups(rows()):
            writer.write_table(pyarrow.Table.from_pylist(group, schema=schema))


def _groups(rows: Iterator[Row]) -> Iterator[list[Row]]:
    return iter(lambda: list(islice(rows, _ROW_GROUP)), [])


def check_writable(
    path: Path,
    inputs: Iterable[Path] = (),
    *,
    overwrite: bool = True,
    endings: Sequence[str] = WRITABLE,
) -> None:
    """Refuses a path that could not or should not be written, before any work is done; ``-`` is
    always taken.

    Raises FileExistsError where it exists and ``overwrite`` is not set, ValueError for all else
    that is wrong with it.
    """
    if is_standard(path):
        return
    if path.suffix.lower() not in endings:
        raise ValueError(
            f"Expected the output to end in {' or '.join(endings)}, but got {path.name!r}."
        )
    if path.is_dir():
        raise ValueError(f"Expected the output to be a file, but {str(path)!r} is a folder.")
    if not path.parent.is_dir():
        raise ValueError(
            f"Expected the output's folder to exist, but there is no {str(path.parent)!r}."
        )
    for other in inputs:
        if path.exists() and other.exists() and other.samefile(path):
            raise ValueError(
                f"Expected the output to be another file than the input, but both are {str(other)!r}."
            )
    if not overwrite and path.exists():
        raise FileExistsError(f"{path} exists: replace it with --overwrite.")


def plain(number: float) -> int | float | None:
    """A number as files hold it: a count as an integer, NaN as ``None``, anything else rounded to
    six digits.
    """
    if math.isnan(number):
        return None
    return int(number) if math.isfinite(number) and number == int(number) else round(number, 6)

"""Rows -> the bytes of a table."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from types import SimpleNamespace
from typing import Any

from estime_metric.files.formats import parquet
from estime_metric.files.lines import Row
from estime_metric.files.metadata import KEY, meta_json, write_meta
from estime_metric.files.replacing import replaced, resolved
from estime_metric.files.streams import is_standard, write_standard_output
from estime_metric.files.values import encodable, to_cell, to_json

#: Gives all rows from the first one on, each time it is called.
Rows = Callable[[], Iterator[Row]]
Meta = Mapping[str, Any] | None
Writer = Callable[[Path, Rows, Meta], None]


def write_rows(path: Path, rows: Sequence[Row], meta: Meta = None) -> None:
    """Writes rows as JSON Lines, CSV or Parquet, by the ending of ``path``; ``-`` is JSON Lines on
    standard output.

    A file that exists is replaced in one step. `read_meta` reads ``meta``; standard output has no
    place for it.
    """
    check_writable(path)
    if is_standard(path):
        write_standard_output(encode_json_lines(rows))
    else:
        replace_table(path, lambda: iter(rows), meta)


def replace_table(path: Path, rows: Rows, meta: Meta) -> None:
    """Writes a file in the format that its ending names, and its metadata; a file that exists is
    replaced in one step.
    """
    path = resolved(path)
    ending = path.suffix.lower()
    with replaced(path) as unfinished:
        WRITERS[ending](unfinished, rows, meta)
    if ending != PARQUET:
        write_meta(path, meta)


def _write_json_lines(path: Path, rows: Rows, _meta: Meta) -> None:
    with path.open("wb") as stream:
        stream.writelines(encode_json_lines([row]) for row in rows())


def _write_csv(path: Path, rows: Rows, _meta: Meta) -> None:
    columns = list(dict.fromkeys(name for row in rows() for name in row))
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
        # `csv` quotes a cell with a carriage return only if the line terminator has one, too.
        lines = SimpleNamespace(write=lambda row: stream.write(row.removesuffix("\r\n") + "\n"))
        writer = csv.writer(lines, lineterminator="\r\n")
        writer.writerow(columns)
        writer.writerows([to_cell(row.get(name)) for name in columns] for row in rows())


def _write_parquet(path: Path, rows: Rows, meta: Meta) -> None:
    parquet.write(path, rows, {KEY: meta_json(meta)} if meta else {})


PARQUET = ".parquet"  # which has a place for the metadata; others get a file next to them

#: The ending of a file's name -> what writes it.
WRITERS: dict[str, Writer] = {
    ".jsonl": _write_json_lines,
    ".csv": _write_csv,
    PARQUET: _write_parquet,
}
WRITABLE = tuple(WRITERS)
STANDARD = ".jsonl"  # the format of standard output


def encode_json_lines(rows: Iterable[Row]) -> bytes:
    r"""Rows as JSON Lines in UTF-8. A lone surrogate, which has no UTF-8, is written as JSON writes
    it: ``\ud800``.
    """
    return encodable("".join(f"{to_json(row)}\n" for row in rows)).encode("utf-8")


def check_writable(
    path: Path,
    inputs: Iterable[Path] = (),
    *,
    overwrite: bool = True,
    endings: Sequence[str] = WRITABLE,
) -> None:
    """Refuses a path that could not or should not be written, before any work is done; ``-`` is
    accepted if ``endings`` contain the format of standard output, ``.jsonl``.

    Raises FileExistsError if it exists and ``overwrite`` is not set, ImportError for Parquet without
    pyarrow, OSError if its folder cannot be written to, ValueError for everything else that is wrong
    with it.
    """
    if is_standard(path) and STANDARD in endings:
        return
    if path.suffix.lower() not in endings:
        raise ValueError(
            f"Expected the output to end in {' or '.join(endings)}, but got {path.name!r}."
        )
    if path.is_dir():
        raise ValueError(f"Expected the output to be a file, but {str(path)!r} is a folder.")
    folder = resolved(path).parent
    if not folder.is_dir():
        raise ValueError(f"Expected the output's folder to exist, but there is no {str(folder)!r}.")
    for other in inputs:
        if path.exists() and other.exists() and other.samefile(path):
            raise ValueError(
                f"Expected the output to differ from the input, but both are {str(other)!r}."
            )
    if not overwrite and path.exists():
        raise FileExistsError(f"{path} already exists. Use `overwrite` to replace it.")
    if path.suffix.lower() == PARQUET:
        parquet.import_pyarrow()
    if not path.exists() or path.is_file():  # a pipe is written to directly
        try:
            TemporaryFile(dir=folder).close()
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error

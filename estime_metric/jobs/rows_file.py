"""The rows that a job has scored: one file of JSON Lines, whatever the format of the output is.

Its first line is the record of the job. Each further line is a chunk: its rows, the number of its
invalid lines, and a digest of the input up to its end. A line without a line break is what a killed
run has left of a chunk, and is cut off.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from estime_metric.jobs.job import Job, rows_path
from estime_metric.jobs.job_record import NotResumableError, Record, check_same_job
from estime_metric.table.output import (
    check_writable,
    is_standard,
    locked,
    named,
    record_path,
    remove_unfinished,
)
from estime_metric.table.rows import Row
from estime_metric.table.table import encode_json_lines, record_of

EXISTING = ("refuse", "overwrite", "resume")  # what may be done with an output that exists


@dataclass(frozen=True)
class Chunk:
    """Pairs that were scored together.

    Attributes:
        rows: a row for each pair, with the columns of the output.
        skipped: how many lines between them are invalid.
        digest: digest of all lines of the job up to the end of the chunk.
    """

    rows: Sequence[Row]
    skipped: int
    digest: str


class RowsFile:
    """The file of rows, to which chunks are appended.

    Args:
        path: the file.
        record: the record of the job.
        resume: whether the file exists, and what it has is kept; otherwise it begins with the
            record.

    Attributes:
        pairs, skipped: how many pairs and invalid lines the chunks have.
        digest: digest of the lines of the input up to the end of the last chunk; empty if there is
            none.

    Raises:
        NotResumableError: an existing file is damaged or of another job.
        OSError: the file cannot be written.
    """

    def __init__(self, path: Path, record: Record, *, resume: bool = False) -> None:
        self._path = path
        self.pairs, self.skipped, self.digest = 0, 0, ""
        if resume:
            check_same_job(record, next(self._contents()))
            _cut_off_half_line(path)
            for chunk in self.chunks():
                self._count(chunk)
        else:
            path.write_bytes(b"")
            self._append(record)

    def append(self, chunk: Chunk) -> None:
        """Keeps a chunk; once this returns, it is on disk."""
        self._append(vars(chunk))
        self._count(chunk)

    def chunks(self) -> Iterator[Chunk]:
        """The chunks, in order."""
        for content in islice(self._contents(), 1, None):
            try:
                yield Chunk(**content)
            except TypeError as error:
                raise _damaged(self._path) from error

    def _count(self, chunk: Chunk) -> None:
        self.pairs += len(chunk.rows)
        self.skipped += chunk.skipped
        self.digest = chunk.digest

    def _append(self, content: dict[str, Any]) -> None:
        with named(self._path), self._path.open("ab") as stream:
            stream.write(encode_json_lines([content]))
            stream.flush()
            os.fsync(stream.fileno())

    def _contents(self) -> Iterator[Any]:
        """The record and the chunks, as JSON data."""
        with self._path.open("rb") as stream:
            for line in stream:
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise _damaged(self._path) from error


def _cut_off_half_line(path: Path) -> None:
    with path.open("rb+") as stream:
        stream.truncate(sum(len(line) for line in stream if line.endswith(b"\n")))


def _is_begun(path: Path) -> bool:
    """Whether there is a file of rows with its first line."""
    if not path.exists():
        return False
    with path.open("rb") as stream:
        return stream.readline().endswith(b"\n")


def is_finished(output: Path | None) -> bool:
    """Whether there is an output that no run has begun to write again."""
    if output is None or is_standard(output) or _is_begun(rows_path(output)):
        return False
    return output.exists() and output.stat().st_size > 0


def _damaged(path: Path) -> NotResumableError:
    return NotResumableError(f"{path} is damaged. Use `overwrite` to start again.")


@contextmanager
def opened_rows(job: Job, record: Record, existing: str) -> Iterator[RowsFile | None]:
    """The rows of a job, which no other run can write to meanwhile (BlockingIOError); ``None`` if
    the output is finished and is resumed.

    Rows that go to no file are in a temporary one.

    Args:
        job: what is scored into what.
        record: its record.
        existing: what to do with an existing output, one of `EXISTING`.

    Raises:
        FileExistsError: the output exists, and ``existing`` is ``"refuse"``.
        NotResumableError: it cannot be resumed, or it is of another job.
        OSError: it cannot be written.
    """
    if job.output is None or is_standard(job.output):
        with TemporaryDirectory() as folder:
            yield RowsFile(Path(folder) / "rows.jsonl", record)
        return
    path = rows_path(job.output)
    with locked(job.output):
        for written in (job.output, record_path(job.output)):
            remove_unfinished(written)
        is_begun = _is_begun(path)
        if existing == "refuse" and is_begun:
            raise FileExistsError(
                f"{job.output} is unfinished. Use `resume` to continue it, or `overwrite` to start "
                "again."
            )
        check_writable(job.output, overwrite=existing != "refuse")
        if existing == "resume" and is_finished(job.output):
            _check_finished(job.output, record)
            yield None
        else:
            yield RowsFile(path, record, resume=existing == "resume" and is_begun)


def _check_finished(output: Path, record: Record) -> None:
    try:
        meta = record_of(output)
    except ValueError:  # it is damaged
        meta = {}
    if not meta.get("finished"):
        raise NotResumableError(
            f"Expected {output} to have the record of a run, but it has none that can be read. Use "
            "`overwrite` to replace it."
        )
    check_same_job(record, meta)

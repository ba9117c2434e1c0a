"""The rows that a job has scored: one file of JSON Lines, whatever the format of the output is.

Its first line is the record of the job. Each further line is a chunk: its rows, the number of its
invalid lines, and a digest of the input up to its end. A line without a line break is what a killed
run has left of a chunk, and is cut off.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

from estime_metric import files
from estime_metric.jobs.job import Job
from estime_metric.jobs.record import NotResumableError, Record, check_same_job

EXISTING = ("refuse", "overwrite", "resume")  # what may be done with an output that exists


@dataclass(frozen=True)
class Chunk:
    """Pairs that were scored together.

    Attributes:
        rows: a row for each pair, with the columns of the output.
        skipped: how many lines between them are invalid.
        digest: digest of all lines of the job up to the end of the chunk.
    """

    rows: Sequence[files.Row]
    skipped: int
    digest: str


def rows_path(output: Path) -> Path:
    """The file of rows of an output that is not finished."""
    return output.with_name(f"{output.name}.rows.jsonl")


class RowsFile:
    """The file of rows, to which chunks are appended. Close it with ``with``.

    Args:
        path: the file.
        record: the record of the job. If it is ``None``, the file exists, and what it has is kept.

    Attributes:
        record: the record of the job.
        pairs, skipped: how many pairs and invalid lines the chunks have.
        digest: digest of the lines of the input up to the end of the last chunk; empty if there is
            none.

    Raises:
        NotResumableError: an existing file is damaged.
        OSError: the file cannot be written.
    """

    def __init__(self, path: Path, record: Record | None) -> None:
        self._path = path
        self.pairs, self.skipped, self.digest = 0, 0, ""
        if record is None:
            self.record, size = self._read()
            self._stream = path.open("ab")
            self._stream.truncate(size)
        else:
            self.record = record
            self._stream = path.open("wb")
            try:
                self._append(record.to_json())
            except BaseException:
                self.close()
                raise

    def __enter__(self) -> RowsFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file, complete or not."""
        with suppress(OSError):  # it still has what did not fit onto a full disk
            self._stream.close()

    def append(self, chunk: Chunk) -> None:
        """Keeps a chunk; once this returns, it is on disk."""
        self._append(vars(chunk))
        self._count(chunk)

    def chunks(self) -> Iterator[Chunk]:
        """The chunks, in order."""
        with self._path.open("rb") as stream:
            next(stream)
            for line in stream:
                yield Chunk(**json.loads(line))

    def _count(self, chunk: Chunk) -> None:
        self.pairs += len(chunk.rows)
        self.skipped += chunk.skipped
        self.digest = chunk.digest

    def _append(self, content: Any) -> None:
        with files.named(self._path):
            self._stream.write(files.encode_json_lines([content]))
            self._stream.flush()
            os.fsync(self._stream.fileno())

    def _read(self) -> tuple[Record, int]:
        """Counts the chunks of an existing file; returns its record, and how many bytes are whole
        lines.
        """
        size, record = 0, None
        with self._path.open("rb") as stream:
            for line in stream:
                if not line.endswith(b"\n"):
                    break
                try:
                    content = json.loads(line)
                    if record is None:
                        record = Record.from_json(content, self._path)
                    else:
                        self._count(Chunk(**content))
                except (TypeError, ValueError) as error:
                    if isinstance(error, NotResumableError):
                        raise
                    raise _damaged(self._path) from error
                size += len(line)
        if record is None:
            raise _damaged(self._path)
        return record, size


def _is_begun(path: Path) -> bool:
    """Whether there is a file of rows with its first line."""
    if not path.exists():
        return False
    with path.open("rb") as stream:
        return stream.readline().endswith(b"\n")


def _damaged(path: Path) -> NotResumableError:
    return NotResumableError(f"{path} is damaged. Use `overwrite` to start again.")


@contextmanager
def opened_rows(job: Job, record: Record, existing: str) -> Iterator[RowsFile | Record]:
    """The rows of a job, which no other run can write to meanwhile (BlockingIOError); if the output
    is finished and is resumed, its record.

    Rows that go to no file are in a temporary one.

    Args:
        job: what is scored into what.
        record: record of a run that starts.
        existing: what to do with an existing output, one of `EXISTING`.

    Raises:
        FileExistsError: the output exists, and ``existing`` is ``"refuse"``.
        NotResumableError: it cannot be resumed, or it is of other settings.
        OSError: it cannot be written.
    """
    if job.output is None or files.is_standard(job.output):
        with TemporaryDirectory() as folder, RowsFile(Path(folder) / "rows.jsonl", record) as rows:
            yield rows
        return
    path = rows_path(job.output)
    with files.locked(job.output):
        for written in (job.output, files.meta_path(job.output)):
            files.remove_unfinished(written)
        is_begun = _is_begun(path)
        if existing == "refuse" and is_begun:
            raise FileExistsError(
                f"{job.output} is unfinished. Use `resume` to continue it, or `overwrite` to start "
                "again."
            )
        files.check_writable(job.output, overwrite=existing != "refuse")
        is_there = job.output.exists() and job.output.stat().st_size > 0
        if existing == "resume" and not is_begun and is_there:
            yield _finished_record(job.output, record)
            return
        with RowsFile(path, None if existing == "resume" and is_begun else record) as rows:
            check_same_job(record, rows.record)
            yield rows


def _finished_record(output: Path, record: Record) -> Record:
    meta = files.read_meta(output)
    if not meta.get("finished"):
        raise NotResumableError(
            f"Expected {output} to be an unfinished run, but it cannot be resumed. Use `overwrite` "
            "to replace it."
        )
    earlier = Record.from_json(meta, output)
    check_same_job(record, earlier)
    return earlier

"""The output of a job, committed chunk by chunk: ``OUTPUT.progress`` says up to which byte.

A run that resumes it cuts off what follows. Once the job is done, the metadata of the output is the
same record.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from estime_metric import files
from estime_metric.jobs.earlier import rows_of
from estime_metric.jobs.job import Job
from estime_metric.jobs.record import (
    NotResumableError,
    Record,
    check_same_job,
    read_record,
    save_record,
)
from estime_metric.jobs.totals import Totals

_GROWING = (".jsonl", ".csv")  # endings of formats to which rows can be appended
EXISTING = ("refuse", "overwrite", "resume")  # what may be done with an output that exists


class Output:
    """Where the rows of a job go; this one keeps no rows, only the record.

    ``record`` is at first that of a run that starts or is resumed, then how far the job is.
    """

    def __init__(self, record: Record) -> None:
        self.record = record

    def commit(self, rows: Sequence[files.Row], digest: str, totals: Totals) -> None:
        """Writes the rows of the next chunk; only then do they count.

        Args:
            rows: the rows.
            digest: digest of all lines of the input up to the end of the chunk.
            totals: totals of all chunks so far.
        """
        self.record.digest, self.record.totals = digest, totals

    def finish(self) -> None:
        """Completes the output of a job that is done."""

    def written(self) -> Iterator[files.Row]:
        """The rows that earlier runs have written."""
        return iter(())


class FinishedOutput(Output):
    """An output that is done: nothing more is written to it."""

    def __init__(self, path: Path, record: Record) -> None:
        super().__init__(record)
        self._path = path

    def written(self) -> Iterator[files.Row]:
        """As `Output.written`."""
        return rows_of(self._path)


class StandardOutput(Output):
    """JSON Lines on standard output, which cannot be resumed."""

    def commit(self, rows: Sequence[files.Row], digest: str, totals: Totals) -> None:
        """As `Output.commit`."""
        files.write_standard_output(files.encode_json_lines(rows))
        super().commit(rows, digest, totals)


@dataclass(frozen=True)
class OutputFiles:
    """The files of one output.

    Attributes:
        final: the output.
        rows: what the rows are written to: the output itself if rows can be appended to its format,
            otherwise JSON Lines next to it, from which the output is made in the end.
        progress: the record of a run that is not finished.
    """

    final: Path
    rows: Path
    progress: Path

    @classmethod
    def of(cls, output: Path) -> OutputFiles:
        """The files of an output, by its name."""
        grows = output.suffix.lower() in _GROWING
        rows = output if grows else output.with_name(f"{output.name}.rows.jsonl")
        return cls(output, rows, output.with_name(f"{output.name}.progress"))

    @property
    def is_csv(self) -> bool:
        """Whether the rows are CSV; otherwise they are JSON Lines."""
        return self.rows.suffix.lower() == ".csv"

    @property
    def converts(self) -> bool:
        """Whether the output is made from the rows once they are complete."""
        return self.rows != self.final


class FileOutput(Output):
    """A file that a killed run leaves such that another run can resume it."""

    def __init__(self, paths: OutputFiles, record: Record, stream: BinaryIO) -> None:
        super().__init__(record)
        self._paths, self._stream = paths, stream

    def commit(self, rows: Sequence[files.Row], digest: str, totals: Totals) -> None:
        """As `Output.commit`; the rows are on disk before the record says so."""
        data = self._encoded(rows)
        with files.named(self._paths.rows):  # a full disk: what follows the last commit is cut off
            self._stream.write(data)
            self._stream.flush()
            os.fsync(self._stream.fileno())
        self.record.bytes += len(data)
        super().commit(rows, digest, totals)
        save_record(self.record, self._paths.progress)

    def finish(self) -> None:
        """As `Output.finish`: makes the output of the rows if need be, and writes the metadata."""
        self._stream.close()
        self.record.finished = True
        meta = self.record.to_meta()
        if self._paths.converts:
            files.replace_table(self._paths.final, self._rows, meta)
        else:
            files.write_meta(self._paths.final, meta)
        self._paths.progress.unlink(missing_ok=True)
        if self._paths.converts:
            self._paths.rows.unlink()

    def written(self) -> Iterator[files.Row]:
        """As `Output.written`."""
        return rows_of(self._paths.rows) if self.record.bytes else iter(())

    def close(self) -> None:
        """Closes the file, finished or not."""
        with suppress(OSError):  # it still has what did not fit onto a full disk
            self._stream.close()

    def _encoded(self, rows: Sequence[files.Row]) -> bytes:
        if not self._paths.is_csv:
            return files.encode_json_lines(rows)
        columns = self.record.columns
        header = b"" if self.record.bytes else files.encode_header(columns)
        return header + files.encode_csv(rows, columns)

    def _rows(self) -> Iterator[files.Row]:
        with self._paths.rows.open("rb") as stream:
            yield from map(json.loads, stream)


@contextmanager
def opened_output(job: Job, record: Record, existing: str) -> Iterator[Output]:
    """The output of a job, which no other run can write to meanwhile (BlockingIOError).

    Args:
        job: what is scored into what.
        record: record of a run that starts.
        existing: what to do with an existing output, one of `EXISTING`.

    Raises:
        FileExistsError: the output exists, and ``existing`` is ``"refuse"``.
        NotResumableError: it cannot be resumed, or it is of other settings.
        OSError: it cannot be written.
    """
    if job.output is None:
        yield Output(record)
    elif files.is_standard(job.output):
        yield StandardOutput(record)
    else:
        with files.locked(job.output):
            output = _open(OutputFiles.of(job.output), record, existing)
            try:
                yield output
            finally:
                if isinstance(output, FileOutput):
                    output.close()


def _open(paths: OutputFiles, record: Record, existing: str) -> Output:
    is_unfinished = paths.progress.exists()
    if existing == "refuse":
        _refuse_existing(paths, is_unfinished)
    if existing == "resume" and is_unfinished:
        return _resume(paths, record)
    if existing == "resume" and paths.final.exists() and paths.final.stat().st_size:
        return _take_finished(paths, record)
    files.check_writable(paths.final)
    return _begin(paths, record)


def _refuse_existing(paths: OutputFiles, is_unfinished: bool) -> None:
    if is_unfinished:
        raise FileExistsError(
            f"{paths.final} already exists and is unfinished. Use `resume` to continue it, or "
            "`overwrite` to replace it."
        )
    files.check_writable(paths.final, overwrite=False)


def _begin(paths: OutputFiles, record: Record) -> FileOutput:
    """Starts anew; an old output is only touched once the new one can begin."""
    stream = paths.rows.open("ab")
    try:
        save_record(record, paths.progress)
    except OSError:
        stream.close()
        raise
    stream.truncate(0)
    if paths.converts:
        paths.final.unlink(missing_ok=True)
    else:
        files.write_meta(paths.final, None)
    return FileOutput(paths, record, stream)


def _resume(paths: OutputFiles, record: Record) -> FileOutput:
    """Continues an unfinished run after its last commit."""
    earlier = read_record(paths.progress, paths.final)
    size = paths.rows.stat().st_size if paths.rows.exists() else 0
    if size < earlier.bytes:
        raise NotResumableError(
            f"Expected {paths.rows} to have at least the {earlier.bytes} bytes written so far, but "
            f"it has {size}. Use `overwrite` to start again."
        )
    _take_over(record, earlier)
    stream = paths.rows.open("ab")
    stream.truncate(earlier.bytes)
    return FileOutput(paths, earlier, stream)


def _take_finished(paths: OutputFiles, record: Record) -> Output:
    """The output of a job that is done."""
    found = files.read_meta(paths.final)
    if not found.get("finished"):
        raise NotResumableError(
            f"Expected {paths.final} to be an unfinished run, but it cannot be resumed. Use "
            "`overwrite` to replace it."
        )
    earlier = Record.from_json(found, paths.final)
    _take_over(record, earlier)
    if paths.converts:
        paths.rows.unlink(missing_ok=True)
    elif (size := paths.final.stat().st_size) != earlier.bytes:
        raise NotResumableError(
            f"Expected {paths.final} to have the {earlier.bytes} bytes that the earlier run wrote, "
            f"but it has {size}. Use `overwrite` to start again."
        )
    return FinishedOutput(paths.final, earlier)


def _take_over(new: Record, earlier: Record) -> None:
    check_same_job(new, earlier)
    earlier.inputs = new.inputs

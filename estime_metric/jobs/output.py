"""The output of a job: committed chunk by chunk, so that a killed run goes on where it was.

Beside the output stands ``OUTPUT.progress`` while a run is unfinished. It says up to which byte the output is
committed; what is behind that, such as half a line, is cut off by the run that goes on.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from estime_metric import files
from estime_metric.files.writing import write_parquet
from estime_metric.jobs.inputs import WHOLE, fingerprint
from estime_metric.jobs.job import Job
from estime_metric.jobs.totals import Totals

#: What may be done with an output that exists.
EXISTING = ("refuse", "overwrite", "resume")


@dataclass
class Progress:
    """How far a job is.

    Attributes:
        signature, options, columns: what has to be equal to go on. ``columns`` are those of CSV, else none.
        inputs: each input with its `fingerprint`.
        chunks: how many are committed.
        bytes: how long the output is with them.
        digest: that of the pairs in them.
        totals: those of the pairs in them.
    """

    signature: str
    options: dict[str, Any]
    inputs: list[list[Any]]
    columns: list[str] = field(default_factory=list)
    chunks: int = 0
    bytes: int = 0
    digest: str = ""
    totals: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def start(cls, job: Job, signature: str) -> Progress:
        """That of a job of which nothing is done."""
        return cls(signature, dict(job.options()), [[str(path), fingerprint(path)] for path in job.inputs])

    def check(self, earlier: Progress) -> None:
        """Refuses to go on with a run of other settings; warns where an input may have been changed.

        Raises:
            ValueError: the signature, an option or the inputs differ; the message shows both.
        """
        pairs: list[tuple[str, Any, Any]] = [("signature", self.signature, earlier.signature)]
        pairs += [(name, value, earlier.options.get(name)) for name, value in self.options.items()]
        pairs += [("inputs", _listed(self.inputs), _listed(earlier.inputs))]
        for name, own, other in pairs:
            if own != other:
                raise ValueError(
                    f"Expected the {name} of the unfinished run, to go on with it, but it differs:\n"
                    f"  then: {other}\n  now:  {own}\nStart anew with --overwrite."
                )
        for (path, own), (_, other) in zip(self.inputs, earlier.inputs, strict=True):
            if own is not None and own[0] > WHOLE and own != other:
                warnings.warn(
                    f"{path} was written to since the unfinished run began. Its scored rows and what was looked at of "
                    "the others are as they were; if it was changed elsewhere, the rest is scored as it is now.",
                    RuntimeWarning,
                    stacklevel=2,
                )


class Output:
    """Where the rows of a job go.

    Args:
        job: the job.
        fresh: the progress of a run that starts.
        existing: ``refuse`` raises where there is an output already, ``overwrite`` replaces it, ``resume`` goes on
            with it if there is one.

    Attributes:
        progress: how far the job is.
        finished: whether there is an output of this name that no run has left unfinished.

    Raises:
        FileExistsError: there is an output already.
        ValueError: it is of other settings.
        OSError: it cannot be written.
    """

    def __init__(self, job: Job, fresh: Progress, existing: str = "refuse") -> None:
        self.job = job
        self.progress = fresh
        self.finished = False
        self._stream: BinaryIO | None = None
        if job.output is None or job.streams:
            return
        self._final = job.output
        parquet = job.output.suffix.lower() == ".parquet"
        self._path = job.output.with_name(f"{job.output.name}.rows.jsonl") if parquet else job.output
        self._record = job.output.with_name(f"{job.output.name}.progress")
        unfinished = self._record.exists()
        if existing == "refuse" and unfinished:
            raise FileExistsError(
                f"{self._final} exists and is unfinished: go on with --resume, or replace it with --overwrite."
            )
        files.check_writable(self._final, overwrite=existing != "refuse")
        if existing == "resume" and unfinished:
            self._resume(Progress(**json.loads(self._record.read_text(encoding="utf-8"))))
        elif existing == "resume" and self._final.exists() and self._final.stat().st_size:
            self.finished = True
            if parquet:
                self._path.unlink(missing_ok=True)
        else:
            self._stream = self._path.open("ab")
            try:
                self._save()  # an old result is only touched once this one can go on
            except OSError:
                self.close()
                raise
            self._stream.truncate(0)
            if parquet:
                self._final.unlink(missing_ok=True)

    def _resume(self, earlier: Progress) -> None:
        self.progress.check(earlier)
        size = self._path.stat().st_size if self._path.exists() else 0
        if size < earlier.bytes:
            raise ValueError(
                f"Expected {self._path} to hold the {earlier.bytes} bytes that are scored, but it holds {size}: "
                "start anew with --overwrite."
            )
        earlier.inputs = self.progress.inputs
        self.progress = earlier
        self._stream = self._path.open("ab")
        self._stream.truncate(earlier.bytes)

    def commit(self, data: bytes, digest: str, totals: Totals) -> None:
        """Writes the rows of the next chunk; only then do they count."""
        progress = self.progress
        if self._stream is not None:
            with files.named(self._path):  # where the disk is full, what is behind the last commit is cut off later
                self._stream.write(data)
                self._stream.flush()
                os.fsync(self._stream.fileno())
        elif self.job.streams:
            sys.stdout.write(data.decode("utf-8"))
            sys.stdout.flush()
        progress.chunks += 1
        progress.bytes += len(data)
        progress.digest = digest
        progress.totals = totals.as_dict()
        if self._stream is not None:
            self._save()

    def finish(self) -> None:
        """Closes the output of a job that is done; nothing but the output is left."""
        if self._stream is None:
            return
        self._stream.close()
        if self._path != self._final:
            with files.replaced(self._final) as unfinished:
                write_parquet(unfinished, self._rows)
        with suppress(FileNotFoundError):
            self._record.unlink()
        if self._path != self._final:
            self._path.unlink()

    def close(self) -> None:
        """Lets go of the output of a job that is not done."""
        if self._stream is not None:
            with suppress(OSError):  # it still holds what a full disk did not take
                self._stream.close()

    def _rows(self) -> Iterator[files.Row]:
        return (row for _, row in files.read_rows(self._path) if isinstance(row, dict))

    def _save(self) -> None:
        """Replaces the record in one step: it is the old one or the new one, whenever the process is killed."""
        with files.replaced(self._record) as unfinished, unfinished.open("w", encoding="utf-8") as stream:
            json.dump(asdict(self.progress), stream)
            stream.flush()
            os.fsync(stream.fileno())


def _listed(inputs: list[list[Any]]) -> str:
    """The inputs, all but when they were written."""
    return ", ".join(
        f"{path} ({found[0]} bytes, digest {found[1][:8]})" if isinstance(found, list) else str(path)
        for path, found in inputs
    )


def holds_all(path: Path, chunks: Iterator[files.Pairs], prefix: str) -> bool:
    """Whether an output holds a row for each pair of the input, in order, and no other."""
    lines = (line for chunk in chunks for line in chunk.lines)
    for _, row in files.read_rows(path):
        if not isinstance(row, dict) or str(row.get(f"{prefix}line")) != str(next(lines, None)):
            return False
    return next(lines, None) is None

"""The output of a job, committed chunk by chunk: ``OUTPUT.progress`` says up to which byte.

The run that resumes it cuts off what follows. Once the job is done, `files.read_meta` reads the
same record.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, BinaryIO

from estime_metric import files
from estime_metric._version import __version__
from estime_metric.config import EstimeConfig
from estime_metric.jobs.inputs import WHOLE, fingerprint
from estime_metric.jobs.job import Job, Totals
from estime_metric.measures import RECOMMENDED
from estime_metric.operating_points import threshold_value

EXISTING = ("refuse", "overwrite", "resume")  # what may be done with an output that exists
_PACKAGES = ("torch", "transformers", "tokenizers", "numpy")  # whose versions are noted


@dataclass
class Record:
    """How far a job is, and of what it is. Signature, options and inputs have to be equal where it
    is resumed.
    """

    signature: str
    options: dict[str, Any]  # of the job
    config: dict[str, Any]  # the options of the measure
    inputs: list[list[Any]]  # each with its `fingerprint`
    columns: list[str] = field(default_factory=list)  # those of CSV, once the first rows are read
    bytes: int = 0  # how long the output is
    digest: str = ""  # with the totals: that of the rows of the input that are scored
    totals: dict[str, Any] = field(default_factory=dict)
    threshold: dict[str, float] = field(
        default_factory=dict
    )  # measure: the value from which on ``flag`` is 1, if any
    finished: bool = False  # whether the whole input is scored

    @classmethod
    def start(cls, job: Job, config: EstimeConfig) -> Record:
        """That of a job of which nothing is done."""
        named = {one.name: getattr(config, one.name) for one in fields(config)}
        options = {name: _shown(value) for name, value in named.items() if value is not None}
        inputs = [[str(path), fingerprint(path)] for path in job.inputs]
        made = cls(config.signature(), job.options(), options, inputs)
        if job.threshold is not None:
            made.threshold = {
                RECOMMENDED: threshold_value(job.threshold, RECOMMENDED, config.signature())
            }
        return made

    @classmethod
    def read(cls, found: Any, path: Path) -> Record:
        """A record as it was written; ValueError where it is damaged, or of another version."""
        try:
            return cls(**{one.name: found[one.name] for one in fields(cls)})
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"The record of {path} is damaged, or of another version: use --overwrite."
            ) from error

    def check(self, earlier: Record) -> None:
        """Refuses a run of another signature, options or inputs (ValueError); warns where an input
        may have changed.
        """
        own_values = {"signature": self.signature, **self.options, "inputs": _listed(self.inputs)}
        others = {
            "signature": earlier.signature,
            **earlier.options,
            "inputs": _listed(earlier.inputs),
        }
        for name, own in own_values.items():
            if own != (other := others.get(name)):
                came = f"another:\n  then: {other}\n  now:  {own}\nStart again with --overwrite."
                raise ValueError(
                    f"Expected the {name} of the earlier run, to resume it, but got {came}"
                )
        for (path, own), (_, other) in zip(self.inputs, earlier.inputs, strict=True):
            if own is not None and own[0] > WHOLE and own != other:
                said = f"{path} was written to since the unfinished run began. Its scored rows and the compared blocks"
                rest = " of the others are unchanged; if it was changed elsewhere, the rest is scored as it is now."
                warnings.warn(said + rest, RuntimeWarning, stacklevel=2)


class Output:
    """Where the rows of a job go, held by one run at a time (BlockingIOError); a context manager
    that releases it.

    ``record`` is at first that of a run that starts, then how far the job is. Raises
    FileExistsError, ValueError or OSError where the output exists, is of other settings, or cannot
    be written.
    """

    def __init__(self, job: Job, record: Record, existing: str = "refuse") -> None:
        self.job, self.record = job, record
        self._stream: BinaryIO | None = None
        if job.output is None or job.streams:
            return
        self._final = job.output
        self._parquet = job.output.suffix.lower() == ".parquet"
        self._path = (
            job.output.with_name(f"{job.output.name}.rows.jsonl") if self._parquet else job.output
        )
        self._progress = job.output.with_name(f"{job.output.name}.progress")
        with ExitStack() as held:
            held.enter_context(files.locked(self._final))
            self._open(existing)
            self._held = held.pop_all()

    def _open(self, existing: str) -> None:
        unfinished, earlier = self._progress.exists(), None
        if existing == "refuse" and unfinished:
            advice = "resume it with --resume, or replace it with --overwrite."
            raise FileExistsError(f"{self._final} exists and is unfinished: {advice}")
        files.check_writable(self._final, overwrite=existing != "refuse")
        if existing == "resume" and unfinished:
            with suppress(ValueError):
                earlier = json.loads(self._progress.read_text(encoding="utf-8"))
            self._resume(Record.read(earlier, self._final))
        elif existing == "resume" and self._final.exists() and self._final.stat().st_size:
            found = files.read_meta(self._final)
            if not found.get("finished"):
                raise ValueError(
                    f"{self._final} has no unfinished run to resume: replace it with --overwrite."
                )
            self._take(Record.read(found, self._final))
            if self._parquet:
                self._path.unlink(missing_ok=True)
        else:
            self._stream = self._path.open("ab")
            try:
                self._save()  # an old result is only touched once this one can begin
            except OSError:
                self._stream.close()
                raise
            self._stream.truncate(0)
            if self._parquet:
                self._final.unlink(missing_ok=True)
            else:
                files.write_meta(self._final, None)

    def _resume(self, earlier: Record) -> None:
        size = self._path.stat().st_size if self._path.exists() else 0
        if size < earlier.bytes:
            held = f"hold the {earlier.bytes} bytes that are scored, but it holds {size}"
            raise ValueError(f"Expected {self._path} to {held}: start again with --overwrite.")
        self._take(earlier)
        self._stream = self._path.open("ab")
        self._stream.truncate(earlier.bytes)

    def _take(self, earlier: Record) -> None:
        self.record.check(earlier)
        earlier.inputs = self.record.inputs
        self.record = earlier

    def commit(self, data: bytes, digest: str, totals: Totals) -> None:
        """Writes the rows of the next chunk; only then do they count."""
        if self._stream is not None:
            with files.named(
                self._path
            ):  # where the disk is full, what is behind the last commit is cut off later
                self._stream.write(data)
                self._stream.flush()
                os.fsync(self._stream.fileno())
        elif self.job.streams:
            sys.stdout.write(data.decode("utf-8"))
            sys.stdout.flush()
        self.record.bytes += len(data)
        self.record.digest, self.record.totals = digest, asdict(totals)
        if self._stream is not None:
            self._save()

    def finish(self) -> None:
        """Closes the output of a job that is done, and writes its metadata."""
        if self._stream is None:
            return
        self._stream.close()
        self.record.finished = True
        versions = {"estime-metric": __version__, "python": platform.python_version()}
        for name in _PACKAGES:
            with suppress(PackageNotFoundError):
                versions[name] = version(name)
        meta = {
            **asdict(self.record),
            "versions": versions,
            "date": f"{datetime.now(timezone.utc):%Y-%m-%d %H:%MZ}",
        }
        if self._parquet:
            with files.replaced(self._final) as unfinished:
                files.write_parquet(unfinished, self._rows, meta)
        else:
            files.write_meta(self._final, meta)
        self._progress.unlink(missing_ok=True)
        if self._parquet:
            self._path.unlink()

    def __enter__(self) -> Output:
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            with suppress(OSError):  # it still holds what a full disk did not take
                self._stream.close()
        if self.job.output is not None and not self.job.streams:
            self._held.close()

    def _rows(self) -> Iterator[files.Row]:
        return (row for _, row in files.read_rows(self._path) if isinstance(row, dict))

    def _save(self) -> None:
        """Replaces the record in one step: it is the old one or the new one, whenever the process
        is killed.
        """
        unfinished = self._progress.with_name(
            f"{self._progress.name}.part"
        )  # one name, since one run holds it
        try:
            with files.named(self._progress), unfinished.open("w", encoding="utf-8") as stream:
                json.dump(asdict(self.record), stream)
                stream.flush()
                os.fsync(stream.fileno())
            unfinished.replace(self._progress)
        finally:
            unfinished.unlink(missing_ok=True)


def _shown(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    return getattr(value, "__qualname__", str(value)) if callable(value) else value


def _listed(inputs: list[list[Any]]) -> str:
    return ", ".join(
        f"{path} ({found[0]} bytes, digest {found[1][:8]})"
        if isinstance(found, list)
        else str(path)
        for path, found in inputs
    )

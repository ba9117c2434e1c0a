"""How far a job is, and of what it is: the file ``OUTPUT.progress``, and later the metadata of the
output.
"""

from __future__ import annotations

import json
import os
import platform
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from estime_metric import files
from estime_metric._version import __version__
from estime_metric.config import EstimeConfig
from estime_metric.jobs.inputs import WHOLE, Fingerprint, fingerprint
from estime_metric.jobs.job import Job
from estime_metric.jobs.totals import Totals
from estime_metric.measures import RECOMMENDED
from estime_metric.operating_points import threshold_value
from estime_metric.signature import Signature
from estime_metric.stats.intervals import Interval

_PACKAGES = ("torch", "transformers", "tokenizers", "numpy")  # whose versions are noted


class NotResumableError(ValueError):
    """An earlier run cannot be resumed, because its output, its input or its options have changed."""


@dataclass
class Record:
    """How far a job is, and of what it is.

    Attributes:
        signature, options, inputs: the signature of the scores, the options of the job, and its
            files with their fingerprints, ``None`` for standard input and pipes. They have to be
            equal to resume a run.
        config: the options of the metric.
        columns: the columns of CSV, once they are known.
        bytes: length of the output.
        digest: digest of the scored lines of the input.
        totals: totals of the scored pairs.
        measures: once the whole input is scored, the mean of each measure (``alarms``, or
            ``alarms_layer12`` if there are several layers) with its 95% interval by source.
        few_sources: as `BootstrapMeans.few_sources`, once the whole input is scored.
        threshold: measure -> the value from which on ``flag`` is 1; empty without flags.
        finished: whether the whole input is scored.
    """

    signature: str
    options: dict[str, Any]
    config: dict[str, Any]
    inputs: dict[str, Fingerprint | None]
    columns: list[str] = field(default_factory=list)
    bytes: int = 0
    digest: str = ""
    totals: Totals = field(default_factory=Totals)
    measures: dict[str, Interval] = field(default_factory=dict)
    few_sources: int | None = None
    threshold: dict[str, float] = field(default_factory=dict)
    finished: bool = False

    @classmethod
    def start(cls, job: Job, config: EstimeConfig) -> Record:
        """The record of a job that has not started."""
        options = {one.name: getattr(config, one.name) for one in fields(config)}
        threshold = {}
        if job.threshold is not None:
            threshold[RECOMMENDED] = threshold_value(job.threshold, RECOMMENDED, config.signature())
        return cls(
            signature=config.signature(),
            options=job.options(),
            config={name: _shown(value) for name, value in options.items() if value is not None},
            inputs={str(path): fingerprint(path) for path in job.read_files},
            threshold=threshold,
        )

    @classmethod
    def from_json(cls, found: Any, path: Path) -> Record:
        """A record as `to_json` writes it; NotResumableError if it is damaged or of another
        version.
        """
        try:
            values = {one.name: found[one.name] for one in fields(cls)}
            values["totals"] = Totals.from_json(values["totals"])
            values["measures"] = {
                name: Interval.from_dict(one) for name, one in values["measures"].items()
            }
            values["inputs"] = {
                name: None if state is None else Fingerprint(**state)
                for name, state in values["inputs"].items()
            }
            return cls(**values)
        except (AttributeError, KeyError, TypeError) as error:
            raise NotResumableError(
                f"The run record of {path} is damaged or was written by another version. Use "
                "`overwrite` to start again."
            ) from error

    def to_json(self) -> dict[str, Any]:
        """The record as JSON data."""
        measures = {name: one.to_dict() for name, one in self.measures.items()}
        return {**asdict(self), "measures": measures}

    def to_meta(self) -> dict[str, Any]:
        """What the metadata of the finished output says: the record, the short form of the
        signature, the versions of packages, and the date.
        """
        versions = {"estime-metric": __version__, "python": platform.python_version()}
        for name in _PACKAGES:
            with suppress(PackageNotFoundError):
                versions[name] = version(name)
        return {
            **self.to_json(),
            "short_signature": Signature(self.signature).short,
            "versions": versions,
            "date": f"{datetime.now(timezone.utc):%Y-%m-%d %H:%MZ}",
        }


def read_record(progress: Path, output: Path) -> Record:
    """The record in a file; NotResumableError if it is damaged."""
    found: Any = None
    with suppress(ValueError):
        found = json.loads(progress.read_text(encoding="utf-8"))
    return Record.from_json(found, output)


def save_record(record: Record, progress: Path) -> None:
    """Replaces the record in one step: it is the old one or the new one, whenever the process is
    killed.
    """
    unfinished = progress.with_name(f"{progress.name}.part")  # one name, since one run has the lock
    try:
        with files.named(progress), unfinished.open("w", encoding="utf-8") as stream:
            json.dump(record.to_json(), stream)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(progress)
    finally:
        unfinished.unlink(missing_ok=True)


def check_same_job(new: Record, earlier: Record) -> None:
    """Refuses to resume a run of another signature, options or inputs (NotResumableError); warns
    if an input may have changed.
    """
    now, then = _compared(new), _compared(earlier)
    for name, value in now.items():
        if value != then.get(name):
            raise NotResumableError(
                f"Expected the same {name} as in the earlier run, but got a different one:\n"
                f"  earlier: {then.get(name)}\n  now:     {value}\nUse `overwrite` to start again."
            )
    for path, own in new.inputs.items():
        if own is not None and own.size > WHOLE and own != earlier.inputs[path]:
            warnings.warn(
                f"{path} was modified after the unfinished run started. The rows that are already "
                "scored and the sampled blocks of the rest are unchanged. If other parts were "
                "modified, they are scored in their current form.",
                RuntimeWarning,
                stacklevel=2,
            )


def _compared(record: Record) -> Mapping[str, Any]:
    inputs = [
        path if state is None else f"{path} ({state})" for path, state in record.inputs.items()
    ]
    return {"signature": record.signature, **record.options, "inputs": ", ".join(inputs)}


def _shown(value: Any) -> Any:
    """A value of an option as JSON data."""
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return list(value)
    return getattr(value, "__qualname__", str(value)) if callable(value) else value

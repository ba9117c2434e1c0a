"""What a job is of: the first line of its rows, and later the metadata of its output."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from estime_metric._version import __version__
from estime_metric.config import EstimeConfig
from estime_metric.jobs.inputs import WHOLE, Fingerprint, fingerprint
from estime_metric.jobs.job import Job
from estime_metric.measures import RECOMMENDED
from estime_metric.operating_points import threshold_value
from estime_metric.signature import Signature

_PACKAGES = ("torch", "transformers", "tokenizers", "numpy")  # whose versions are noted


class NotResumableError(ValueError):
    """An earlier run cannot be resumed, because its output, its input or its options have changed."""


@dataclass(frozen=True)
class Record:
    """What a job is of.

    Attributes:
        signature, options, inputs: the signature of the scores, the options of the job with the
            requested measures, and its files with their fingerprints, ``None`` for standard input
            and pipes. They have to be equal to resume a run.
        config: the options of the metric.
        threshold: measure -> the value from which on ``flag`` is 1; empty without flags.
    """

    signature: str
    options: dict[str, Any]
    config: dict[str, Any]
    inputs: dict[str, Fingerprint | None]
    threshold: dict[str, float]

    @classmethod
    def start(cls, job: Job, config: EstimeConfig) -> Record:
        """The record of a job that has not started."""
        options = {one.name: getattr(config, one.name) for one in fields(config)}
        threshold = {}
        if job.threshold is not None:
            threshold[RECOMMENDED] = threshold_value(job.threshold, RECOMMENDED, config.signature())
        return cls(
            signature=config.signature(),
            options={**job.options(), "measures": list(config.measures)},
            config={name: _shown(value) for name, value in options.items() if value is not None},
            inputs={str(path): fingerprint(path) for path in job.read_files},
            threshold=threshold,
        )

    @classmethod
    def from_json(cls, content: Any, path: Path) -> Record:
        """A record as `to_json` writes it; NotResumableError if it is damaged or of another
        version.
        """
        try:
            values = {one.name: content[one.name] for one in fields(cls)}
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
        return asdict(self)

    def to_meta(self) -> dict[str, Any]:
        """What the metadata of the finished output says of the job: the record, the short form of
        the signature, the versions of packages, and the date.
        """
        versions = {"estime-metric": __version__, "python": platform.python_version()}
        for name in _PACKAGES:
            with suppress(PackageNotFoundError):
                versions[name] = version(name)
        return {
            **self.to_json(),
            "finished": True,
            "short_signature": Signature(self.signature).short,
            "versions": versions,
            "date": f"{datetime.now(timezone.utc):%Y-%m-%d %H:%MZ}",
        }


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

"""What a job is of: the first line of its rows, and later the metadata of its output."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from estime_metric._version import __version__
from estime_metric.config import EstimeConfig
from estime_metric.jobs.job import Job
from estime_metric.measures import RECOMMENDED
from estime_metric.signature import Signature

#: JSON data: ``signature``, ``inputs`` (the files), ``options`` (of the job, and the requested
#: measures), ``config`` (the options of the metric), ``threshold`` (the measure and the value from
#: which on ``flag`` is 1; empty without flags), and ``versions`` of the packages that compute.
Record = dict[str, Any]

_DECISIVE = ("signature", "inputs", "threshold")  # in addition to all options
_PACKAGES = ("torch", "transformers", "tokenizers", "regex", "nltk")


class NotResumableError(ValueError):
    """An earlier run cannot be resumed, because its output, its input or its options have changed."""


def start_record(job: Job, config: EstimeConfig) -> Record:
    """The record of a job that starts."""
    signature = config.signature()
    record = {
        "signature": signature,
        "inputs": list(map(str, job.read_files)),
        "options": {**job.options(), "measures": config.measures},
        "config": {name: value for name, value in vars(config).items() if value is not None},
        "threshold": {} if job.threshold is None else {RECOMMENDED: job.threshold},
        "versions": _versions(),
    }
    as_json: Record = json.loads(json.dumps(record, default=_to_json))
    return as_json


def finished_meta(record: Record) -> dict[str, Any]:
    """What the metadata of a finished output says of its job: the record, the short form of the
    signature, and the date.
    """
    return {
        **record,
        "finished": True,
        "short_signature": Signature(record["signature"]).short,
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%MZ}",
    }


def check_same_job(new: Record, earlier: Any) -> None:
    """Refuses to resume a run that is damaged, or of another signature, or with other inputs or
    options (NotResumableError): whatever decides a column or a value. The versions of packages are
    compared unless the earlier run is finished, because nothing is computed then.
    """
    try:
        names = [*_DECISIVE, *([] if earlier.get("finished") else ["versions"])]
        then = {**earlier["options"], **{name: earlier[name] for name in names}}
    except (AttributeError, KeyError, TypeError) as error:
        raise NotResumableError(
            "The record of the earlier run is damaged or was written by another version. Use "
            "`overwrite` to start again."
        ) from error
    now = {**new["options"], **{name: new[name] for name in names}}
    for name, value in now.items():
        if value != then.get(name):
            raise NotResumableError(
                f"Expected the same {name} as in the earlier run:\n"
                f"  earlier: {then.get(name)}\n  now:     {value}\nUse `overwrite` to start again."
            )


def _versions() -> dict[str, str]:
    versions = {"estime-metric": __version__}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def _to_json(value: Any) -> Any:
    """A value of an option that JSON does not have: a set of tags, a function or a path."""
    return (
        sorted(value)
        if isinstance(value, frozenset)
        else getattr(value, "__qualname__", str(value))
    )

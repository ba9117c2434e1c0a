"""The options of the measure from a file: a JSON object of options, or the record of a scored file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from estime_metric.config import SPLITTERS, TAGGERS, EstimeConfig
from estime_metric.table.formats import parsed
from estime_metric.table.output import GZIP
from estime_metric.table.scores import Scores
from estime_metric.table.table import record_of

#: Options in a record that belong to the machine.
_MACHINE_OPTIONS = ("device", "token_budget")

#: Options that belong to an encoder; in a record they were resolved for it.
OF_ENCODER = ("revision", "layers", "window", "margin", "distance")


def contained(path: str | Path) -> tuple[dict[str, Any], bool]:
    """The options that a file contains, as they are written, and whether it is the record of a scored
    file, which has all of them except those of the machine.

    Args:
        path: a JSON object of options of `EstimeConfig` (``.json``), such as ``{"distance": 4}``; or a
            scored file, or its record (``.meta.json``).

    Raises:
        TypeError, ValueError: the file contains neither options nor a record, or names a function as
            splitter or tagger; an option is invalid.
        OSError, ImportError: the file cannot be read.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "options.json")
        ...     _ = path.write_text('{"distance": 4, "normalize": false}')
        ...     contained(path)
        ({'distance': 4, 'normalize': False}, False)
    """
    path = Path(path)
    content = _content(path)
    is_record = is_record_of_scores(content)
    options = options_of(content) if is_record else content
    if not content and path.suffix.lower() != ".json":
        raise ValueError(
            f"Expected {path.name} to contain a JSON object of options, or the record of a scored "
            "file (.meta.json), but found neither."
        )
    for name, choices in (("splitter", SPLITTERS), ("tagger", TAGGERS)):
        value = options.get(name)
        if value is not None and value not in choices:
            raise ValueError(
                f"Expected argument `{name}` in {path.name} to be one of {', '.join(choices)}, but got {value!r}. A file "
                "cannot contain a function; pass it in Python."
            )
    try:
        EstimeConfig.from_options(None, options)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Expected {path.name} to contain valid options. {error}") from error
    return options, is_record


def combined(path: str | Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options in a file, and those that override them. If another ``model`` is given than that of a
    record, whatever belongs to the encoder of the record is ignored: `OF_ENCODER`.
    """
    content, is_record = contained(path)
    if is_record and options.get("model", content.get("model")) != content.get("model"):
        content = {name: value for name, value in content.items() if name not in OF_ENCODER}
    return {**content, **options}


def is_record_of_scores(record: Mapping[str, Any]) -> bool:
    """Whether JSON is the record of a scored file."""
    return "signature" in record and isinstance(record.get("config"), dict)


def options_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """The options in the record of a scored file, without those of the machine."""
    return {name: value for name, value in record["config"].items() if name not in _MACHINE_OPTIONS}


def _content(path: Path) -> dict[str, Any]:
    """What is in a file of JSON, or the record of a table; nothing if there is none."""
    path.stat()  # raises OSError if there is no such file
    if path.suffix.lower() != ".json":
        if (
            path.suffix.lower() == GZIP
        ):  # the record may be that of the plain file, written again since
            return dict(Scores.read(path).record)
        return record_of(path)
    options, problem = parsed(path.read_text(encoding="utf-8-sig", errors="surrogateescape"))
    if problem:
        raise ValueError(
            f"Expected {path.name} to contain a JSON object of options, but it {problem}."
        )
    return options

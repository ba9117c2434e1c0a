"""The options of the measure from a file: a JSON object of options, or the record of a scored file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from estime_metric.config import SPLITTERS, TAGGERS, EstimeConfig
from estime_metric.table.table import record_of

if TYPE_CHECKING:
    from estime_metric.config import EstimeOptions

#: Options in a record that belong to the machine.
_MACHINE_OPTIONS = ("device", "token_budget")

#: Options that belong to an encoder; in a record they were resolved for it.
OF_ENCODER = ("revision", "layers", "window", "margin", "distance")


def read_config(path: str | Path, **options: Unpack[EstimeOptions]) -> EstimeConfig:
    """The configuration in a file, so that "the same settings as that file" is one argument.

    Args:
        path: a JSON object of options of `EstimeConfig` (``.json``), such as ``{"distance": 4}``; the
            record of a scored file (``.meta.json``, or a scored ``.parquet``, which contains its
            record). ``device`` and ``token_budget`` of a record are ignored.
        options: options of `EstimeConfig`; they override those in the file. If another ``model`` is
            given, whatever belongs to the encoder of a record is ignored: revision, layers, window,
            margin and distance.

    Raises:
        TypeError, ValueError: the file is not JSON, contains neither options nor a record, or names a
            function as splitter or tagger; an option is invalid.
        OSError, ImportError: the file cannot be read.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "options.json")
        ...     _ = path.write_text('{"distance": 4, "normalize": true}')
        ...     config = read_config(path, distance=3)
        >>> config.distance, config.normalize
        (3, True)
    """
    path = Path(path)
    content = _content(path)
    if not isinstance(content, dict):
        raise ValueError(
            f"Expected {path.name} to contain a JSON object of options, or the record of a scored "
            "file (.meta.json, or a scored .parquet), but found neither."
        )
    if "signature" in content and isinstance(content.get("config"), dict):
        content = content["config"]
        is_other = options.get("model", content.get("model")) != content.get("model")
        ignored = (*_MACHINE_OPTIONS, *OF_ENCODER) if is_other else _MACHINE_OPTIONS
        content = {name: value for name, value in content.items() if name not in ignored}
    for name, choices in (("splitter", SPLITTERS), ("tagger", TAGGERS)):
        value = content.get(name)
        if name not in options and value is not None and value not in choices:
            raise ValueError(
                f"Expected argument `{name}` in {path.name} to be one of {', '.join(choices)}, but got {value!r}. A file "
                "cannot contain a function; pass it in Python."
            )
    try:
        return EstimeConfig.from_options(None, {**content, **options})
    except (TypeError, ValueError) as error:
        raise type(error)(f"Expected {path.name} to contain valid options. {error}") from error


def _content(path: Path) -> Any:
    """What is in a file of JSON, or the record in one of Parquet; ``None`` if there is neither."""
    path.stat()  # raises OSError if there is no such file
    ending = path.suffix.lower()
    if ending != ".json":
        return (record_of(path) if ending == ".parquet" else None) or None
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"Expected JSON in {path.name}, but got: {error}.") from None

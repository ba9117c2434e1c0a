"""What a table of scores says of itself: signature, options, versions, totals.

Parquet has a place for it; next to JSON Lines and CSV is a file ``NAME.meta.json``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from estime_metric.files.formats.parquet import read_key
from estime_metric.files.replacing import replaced
from estime_metric.files.streams import GZIP, is_standard
from estime_metric.files.values import encodable

KEY = b"estime"  # of the entry in the metadata of Parquet


def meta_path(path: Path) -> Path:
    """The file of metadata next to a table of JSON Lines or CSV."""
    return path.with_name(f"{path.name}.meta.json")


def read_meta(path: str | Path) -> dict[str, Any]:
    """The metadata of a table of scores; empty if it has none.

    Raises ValueError if it is damaged, OSError or ImportError if it cannot be read.
    """
    path = Path(path)
    text = _meta_text(path)
    if text is None:
        return {}
    try:
        content = json.loads(text)
    except ValueError as error:
        raise ValueError(
            f"Expected the metadata of {path.name} to be JSON, but got: {error}."
        ) from error
    if not isinstance(content, dict):
        raise ValueError(f"Expected the metadata of {path.name} to be a JSON object.")
    return content


def _meta_text(path: Path) -> bytes | None:
    if path.suffix.lower() == ".parquet":
        return read_key(path, KEY)
    if is_standard(path):
        return None
    compressed = path.suffix.lower() == GZIP
    tables = [path, path.with_suffix("")] if compressed else [path]
    for stored in map(meta_path, tables):
        if stored.exists():
            return stored.read_bytes()
    return None


def write_meta(path: Path, meta: Mapping[str, Any] | None) -> None:
    """Writes the metadata next to a table; without metadata, removes the file of an earlier table."""
    if meta:
        with replaced(meta_path(path)) as unfinished:
            unfinished.write_bytes(meta_json(meta, indent=1) + b"\n")
    else:
        meta_path(path).unlink(missing_ok=True)


def meta_json(meta: Mapping[str, Any], indent: int | None = None) -> bytes:
    """Metadata as JSON in UTF-8."""
    return encodable(json.dumps(meta, ensure_ascii=False, indent=indent, default=str)).encode()

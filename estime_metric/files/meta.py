"""Metadata of a table of scores: signature, options, versions, date, totals.

Parquet holds it in its metadata; beside JSON Lines and CSV stands a file ``NAME.meta.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from estime_metric.files.formats import COMPRESSED, is_standard
from estime_metric.files.reading import Numbered, open_parquet, read_rows

#: Key in the metadata of Parquet.
KEY = b"estime"


def meta_path(path: Path) -> Path:
    """The file beside a table of JSON Lines or CSV."""
    return path.with_name(f"{path.name}.meta.json")


def read_meta(path: str | Path) -> dict[str, Any]:
    """The metadata of a table; empty if it has none.

    Raises:
        ValueError: it is damaged.
        OSError, ImportError: it cannot be read.
    """
    path = Path(path)
    if path.suffix.lower() == ".parquet":
        with open_parquet(path) as table:
            text = (table.schema_arrow.metadata or {}).get(KEY, b"{}")
    else:
        plain = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
        beside = next((one for one in map(meta_path, (path, plain)) if not is_standard(path) and one.exists()), None)
        text = beside.read_bytes() if beside else b"{}"
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"Expected the metadata of {path.name} to be JSON, but got: {error}.") from error
    return found if isinstance(found, dict) else {}


def read_scored(path: str | Path) -> Iterator[Numbered]:
    """The rows of a table as `read_rows` gives them, each with the column ``signature`` where one is known."""
    signature = read_meta(path).get("signature")
    for line, row in read_rows(Path(path)):
        if signature and isinstance(row, dict):
            row.setdefault("signature", signature)
        yield line, row


def read_signature(path: str | Path) -> str | None:
    """The signature of the scores in a table, wherever it stands; ``None`` where it has none.

    Raises:
        ValueError, OSError, ImportError: as `read_rows`.
    """
    stated = read_meta(path).get("signature")
    if stated is None:
        first = next((row for _, row in read_rows(Path(path)) if isinstance(row, dict)), {})
        stated = first.get("signature")
    return None if stated is None else str(stated)

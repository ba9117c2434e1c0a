"""The files of benchmarks: a row that lacks something is named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from estime_metric import files
from estime_metric.stats.checks import listed

Record = dict[str, Any]


def read_records(path: Path, fields: Sequence[str]) -> list[Record]:
    """The rows of a file of JSON Lines, JSON or CSV, each with some fields. Raises OSError if it
    cannot be read, ValueError for a damaged row or one that lacks a field."""
    rows = []
    for line in files.read_rows(path):
        number, row = line.number, line.row
        if line.problem:
            raise ValueError(
                f"Expected line {number} of {path.name} to be a record, but it {line.problem}."
            )
        if missing := [field for field in fields if field not in row]:
            raise ValueError(
                f"Expected line {number} of {path.name} to have {missing[0]!r}, but it is missing."
            )
        rows.append(row)
    return rows


def read_field(path: Path, field: str) -> dict[str, Any]:
    """``doc_id`` -> a field, of each row; raises as `read_records`."""
    return {str(row["doc_id"]): row[field] for row in read_records(path, ("doc_id", field))}


def by_key(
    rows: Iterable[Record], fields: Sequence[str], name: str
) -> dict[tuple[str, ...], Record]:
    """The rows by some of their fields; refuses two rows of one key (ValueError)."""
    keyed: dict[tuple[str, ...], Record] = {}
    for row in rows:
        key = tuple(str(row[field]) for field in fields)
        if key in keyed:
            raise ValueError(f"Expected {name} to contain each row once, but {key} occurs twice.")
        keyed[key] = row
    return keyed


def check_all(names: Iterable[Any], known: Iterable[Any], what: str) -> None:
    """Refuses names that are not known (ValueError); ``what`` is expected, for example "a source
    for each document".
    """
    inside = set(known)
    if lacking := list(dict.fromkeys(name for name in names if name not in inside)):
        raise ValueError(f"Expected {what}, but there is none for {listed(lacking)}.")


def digest(*content: Any) -> str:
    """Twelve digits that change with any content; JSON has to know it."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]

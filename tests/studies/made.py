"""The made-up data in ``data``, as they are and with other rows, and the real data."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.command import json_rows, write_jsonl
from tests.conftest import SUMMEVAL

DATA = Path(__file__).parent / "data"
#: Benchmark -> its file of judged summaries.
JUDGED = {"summeval": "summeval.jsonl"}


def made_rows(name: str) -> list[dict[str, Any]]:
    """The rows of `JUDGED`, which a test may change."""
    return json_rows(DATA / name / JUDGED[name])


def made_folder(folder: Path, name: str, rows: Sequence[Mapping[str, Any]] | None = None) -> Path:
    """A copy of a benchmark's data, with other rows in `JUDGED`."""
    shutil.copytree(DATA / name, folder, dirs_exist_ok=True)
    if rows is not None:
        write_jsonl(folder / JUDGED[name], rows)
    return folder


def real_folder(name: str) -> Path:
    """The real data of a benchmark; the test is skipped without it."""
    folder = SUMMEVAL.parent / name
    if not folder.is_dir():
        pytest.skip(f"shared/data/{name} is missing next to the repository")
    return folder

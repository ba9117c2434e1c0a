"""The made-up data in ``data``, as they are and with other rows, and the real data."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.command import json_rows, write_jsonl

DATA = Path(__file__).parent / "data"
#: Benchmark -> its file of judged summaries.
JUDGED = {
    "bump": "data/task1_dataset.json",
    "frank": "frank.jsonl",
    "ragtruth": "ragtruth.jsonl",
    "summedits": "data/summedits/summedits_news.json",
}


def made_rows(name: str) -> list[dict[str, Any]]:
    """The rows of `JUDGED`, which a test may change."""
    path = DATA / name / JUDGED[name]
    if path.suffix == ".jsonl":
        return json_rows(path)
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return rows


def made_folder(
    folder: Path, name: str, rows: Sequence[Mapping[str, Any]] | None = None, file: str = ""
) -> Path:
    """A copy of a benchmark's data, with other rows in `JUDGED` or in another file."""
    shutil.copytree(DATA / name, folder, dirs_exist_ok=True)
    path = folder / (file or JUDGED.get(name, ""))
    if rows is not None and path.suffix == ".jsonl":
        write_jsonl(path, rows)
    elif rows is not None:
        path.write_text(json.dumps(rows), encoding="utf-8")
    return folder

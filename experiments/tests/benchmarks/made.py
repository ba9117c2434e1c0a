"""Files of made-up data, and the real data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[4] / "shared" / "data"
SOURCE = "Anna bought the red boat. Peter sold the old house to the mayor on Monday."


def real(name: str = "") -> Path:
    """The real data of a benchmark; the test is skipped without it."""
    if not (DATA / name).is_dir():
        pytest.skip(f"shared/data/{name} is missing next to the repository")
    return DATA / name


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Rows as JSON Lines or as a JSON array."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row) for row in rows]
    text = "\n".join(lines) if path.suffix == ".jsonl" else f"[{','.join(lines)}]"
    path.write_text(text, encoding="utf-8")
    return path


def bump_folder(folder: Path) -> Path:
    """BUMP with six pairs of three articles, and two published measures."""
    dae = [(2, 1), (3, 1), (1, 1), (1, 2), (5, 4), (3, 2)]
    new = [(0, 1), (0, 0), (2, 1), (2, 3), (4, 4), (4, 3)]
    types = ("Coreference Error", "Intrinsic Entity Error", "Strange Error")
    rows = [
        {
            "id": 10 + number,
            "article_id": 100 + number // 2,
            "article": f"{SOURCE} {number // 2}",
            "reference_summary": "Anna bought the red boat.",
            "edited_summary": "Peter bought the red boat.",
            "error_type": "Coreference Error",
            "corrected_error_type": types[number % 3],
            "scores": {
                f"{name}_{version}": pair[place]
                for name, pair in (("DAE", dae[number]), ("New", new[number]))
                for place, version in enumerate(("reference", "edited"))
            },
        }
        for number in range(6)
    ]
    write(folder / "data" / "task1_dataset.json", rows)
    return folder

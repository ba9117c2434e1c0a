"""Made-up data in the layout of BUMP's authors: three articles, two pairs each; the real data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from estime_metric.studies.benchmarks.bump.data import Bump, read
from tests.conftest import SUMMEVAL
from tests.families import SENTENCES

BUMP = SUMMEVAL.parent / "bump"
#: Scores of two published measures, reference and edited, by pair.
SCORES = {
    "DAE": [(3, 1), (3, 2), (5, 5), (5, 6), (1, 0), (1, 0)],
    "New": [(0, 1), (0, 0), (2, 1), (2, 3), (4, 4), (4, 3)],
}
TYPES = ("Intrinsic Entity Error", "Coreference Error", "Strange Error")


def made_rows() -> list[dict[str, Any]]:
    """The type asked for is always a coreference error, the corrected type varies."""
    rows = []
    for index in range(6):
        article = index // 2
        first, second = SENTENCES[2 * article], SENTENCES[2 * article + 1]
        edited = " ".join([*first.split()[:-2], *second.split()[2:4]])
        scores = {
            f"{name}_{version}": pair[side]
            for name, pairs in SCORES.items()
            for pair in [pairs[index]]
            for side, version in enumerate(("reference", "edited"))
        }
        rows.append(
            {
                "id": 10 + index,
                "article_id": 100 + article,
                "article": f"{first} {second}",
                "reference_summary": first,
                "edited_summary": edited if index % 2 else edited.upper(),
                "error_type": "Coreference Error",
                "corrected_error_type": TYPES[index % 3],
                "scores": scores,
            }
        )
    return rows


def write_folder(folder: Path, rows: list[dict[str, Any]], task: int = 1) -> Path:
    """The layout of the authors' repository."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    path = folder / "data" / f"task{task}_dataset.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "BUMP", made_rows())


@pytest.fixture
def data(folder: Path) -> Bump:
    return read(folder)


@pytest.fixture(scope="session")
def bump() -> Bump:
    """Task 1 of BUMP."""
    if not (BUMP / "data" / "task1_dataset.json").is_file():
        pytest.skip("BUMP is missing: it is looked for in shared/data/bump next to the repository")
    return read(BUMP)

"""Made-up data in the layout of SummEdits' authors: two known domains and a strange one; the real
data.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from estime_metric.studies.benchmarks.summedits.data import SummEdits, read
from tests.conftest import SUMMEVAL
from tests.families import SENTENCES

SUMMEDITS = SUMMEVAL.parent / "summedits"
#: Domain -> document -> labels of its summaries.
LABELS = {
    "news": {"a": [1, 0, 0], "b": [1, 0], "c": [0, 1, 1]},
    "podcast": {"a": [1, 0], "d": [0, 1]},
    "strange": {"e": [1, 0, 0]},
}


def made_rows(domain: str) -> list[dict[str, Any]]:
    """A document is two sentences; a consistent summary is the first of them."""
    rows = []
    for document, labels in LABELS[domain].items():
        place = ord(document) - ord("a")
        first, second = SENTENCES[2 * place], SENTENCES[2 * place + 1]
        for number, label in enumerate(labels):
            words = [*first.split()[:-1], *second.split()[number : number + 2]]
            rows.append(
                {
                    "id": f"{document}_{number}",
                    "doc": f"{first} {second}",
                    "summary": first if label else " ".join(words),
                    "label": label,
                    "original_summary": first,
                    "edit_types": [] if label else ["antonym_swap"],
                }
            )
    return rows


def write_folder(folder: Path, rows: dict[str, list[dict[str, Any]]]) -> Path:
    """The layout of the authors' repository."""
    place = folder / "data" / "summedits"
    place.mkdir(parents=True)
    for domain, of_domain in rows.items():
        (place / f"summedits_{domain}.json").write_text(json.dumps(of_domain), encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "factualNLG", {domain: made_rows(domain) for domain in LABELS})


@pytest.fixture
def data(folder: Path) -> SummEdits:
    return read(folder)


@pytest.fixture(scope="session")
def summedits() -> SummEdits:
    """The domains of SummEdits that there are."""
    if not (SUMMEDITS / "data").is_dir():
        pytest.skip(
            "SummEdits is missing: it is looked for in shared/data/summedits next to the repository"
        )
    return read(SUMMEDITS)

"""Input for jobs: pairs of the examples, made many and different."""

from __future__ import annotations

from pathlib import Path

import pytest

from estime_metric import files
from tests.command import SHORT, write_jsonl
from tests.families import SENTENCES

#: An encoder that a separate process loads without ``transformers``, and little of it.
QUICK = ["-m", "embedded-small", "--layers", "1", "--distance", "2", "-q", *SHORT]


def rows(number: int) -> list[files.Row]:
    """Pairs of which about three share a source, as datasets have them."""
    made = []
    for index in range(number):
        source = " ".join(SENTENCES[(index // 3 + step) % len(SENTENCES)] for step in range(2))
        summary = f"{SENTENCES[index % len(SENTENCES)]} {index}"
        made.append({"id": index, "source": source, "summary": summary, "note": 'a "b",\nü'})
    return made


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs that do not say how large their chunks are have small ones."""
    monkeypatch.setattr("estime_metric.jobs.job.PAIRS", 8)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "pairs.jsonl", rows(40))

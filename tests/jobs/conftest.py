"""Input for jobs: pairs of the examples, made many and different."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from estime_metric import files
from tests.families import SENTENCES

SHORT = ["--window", "60", "--margin", "10", "--look-ahead", "8"]

#: An encoder that a process of its own loads without ``transformers``, and little of it.
QUICK = ["-m", "embedded-small", "--layers", "1", "--distance", "2", "-q", *SHORT]


def rows(number: int) -> list[files.Row]:
    """Pairs of which about three share a source, as data sets have them."""
    made = []
    for index in range(number):
        source = " ".join(SENTENCES[(index // 3 + step) % len(SENTENCES)] for step in range(2))
        summary = f"{SENTENCES[index % len(SENTENCES)]} {index}"
        made.append({"id": index, "source": source, "summary": summary, "note": 'a "b",\nü'})
    return made


def write_jsonl(path: Path, table: list[files.Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in table), encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "pairs.jsonl", rows(40))

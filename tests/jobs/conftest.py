"""Input for jobs: pairs of the examples, made many and different; and jobs that are interrupted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from estime_metric import EstimeResult, EstimeScorer
from estime_metric.jobs import Job, score_files
from estime_metric.jobs.journal import Chunk, Journal
from estime_metric.table.formats import Row
from tests.command import SHORT, write_jsonl
from tests.families import SENTENCES

#: An encoder that a separate process loads without ``transformers``, and little of it.
QUICK = ["-m", "embedded-small", "--layers", "1", "--distance", "2", "-q", *SHORT]


def rows(number: int) -> list[Row]:
    """Pairs of which about three share a source, as datasets have them."""
    made = []
    for index in range(number):
        source = " ".join(SENTENCES[(index // 3 + step) % len(SENTENCES)] for step in range(2))
        summary = f"{SENTENCES[index % len(SENTENCES)]} {index}"
        made.append({"id": index, "source": source, "summary": summary, "note": 'a "b",\nü'})
    return made


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks are small."""
    monkeypatch.setattr("estime_metric.jobs.journal.LINES", 8)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "pairs.jsonl", rows(40))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


@pytest.fixture
def job(table: Path, out: Path) -> Job:
    """A job of forty pairs."""
    return Job(inputs=(table,), output=out)


@pytest.fixture(scope="session")
def scorer(bert_folder: str) -> EstimeScorer:
    return EstimeScorer(model=bert_folder, window=60, margin=10)


def result_of(scorer: EstimeScorer, pairs: Sequence[Row]) -> EstimeResult:
    """What the library gives for the pairs of some rows."""
    return scorer.score([row["summary"] for row in pairs], [row["source"] for row in pairs])


def score_chunks(job: Job, scorer: EstimeScorer, number: int, **options: Any) -> int:
    """Interrupts a job once it has kept some chunks; gives the number of pairs that are kept."""
    sizes: list[int] = []

    def append(journal: Journal, chunk: Chunk) -> None:
        real(journal, chunk)
        sizes.append(len(chunk.rows))
        if len(sizes) == number:
            raise KeyboardInterrupt

    real = Journal.append
    with mock.patch.object(Journal, "append", append), pytest.raises(KeyboardInterrupt):
        score_files(job, scorer, **options)
    return sum(sizes)

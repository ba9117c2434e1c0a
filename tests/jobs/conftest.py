"""Input for jobs: pairs of the examples, made many and different; and jobs that are watched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeResult, EstimeScorer
from estime_metric.jobs import Job, Progress, Report, score_files
from estime_metric.table.rows import Row
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
    """Jobs that do not say how large their chunks are have small ones."""
    monkeypatch.setattr("estime_metric.jobs.job.PAIRS", 8)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "pairs.jsonl", rows(40))


@pytest.fixture(scope="session")
def scorer(bert_folder: str) -> EstimeScorer:
    return EstimeScorer(model=bert_folder, window=60, margin=10)


def result_of(scorer: EstimeScorer, pairs: Sequence[Row]) -> EstimeResult:
    """What the library gives for the pairs of some rows."""
    return scorer.score([row["summary"] for row in pairs], [row["source"] for row in pairs])


class Watched(Progress):
    """Remembers how many pairs each chunk adds, and what is wrong with lines; interrupts the job
    after some chunks.
    """

    def __init__(self, stop_after: int | None = None) -> None:
        self.chunks: list[int] = []
        self.problems: list[str] = []
        self.kept = 0
        self._stop_after = stop_after

    def start(self, resumed: int) -> None:
        self.kept = resumed

    def keep(self, pairs: int, problems: Sequence[str]) -> None:
        self.chunks.append(pairs - self.kept)
        self.kept = pairs
        self.problems += problems
        if len(self.chunks) == self._stop_after:
            raise KeyboardInterrupt


def score(job: Job, scorer: EstimeScorer, existing: str = "refuse", **options: Any) -> Report:
    """Scores a job."""
    return score_files(job, scorer, existing=existing, **options)


def score_chunks(job: Job, scorer: EstimeScorer, number: int, existing: str = "refuse") -> int:
    """Interrupts a job after its first chunks; gives the number of pairs that are kept."""
    watched = Watched(number)
    with pytest.raises(KeyboardInterrupt):
        score_files(job, scorer, existing=existing, progress=watched)
    return watched.kept

"""The cost of a job, estimated before it starts: what is counted is exact, what is timed is plausible."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import fields, replace
from pathlib import Path

import pytest

from estime_metric import EstimeScorer
from estime_metric.jobs import Job, estimate_job
from tests.command import run_command, write_jsonl
from tests.jobs.conftest import SHORT, rows

CAT, BIRD = "the cat sat on the mat.", "a bird sang."


@pytest.fixture(scope="module")
def scorer() -> EstimeScorer:
    return EstimeScorer(model="embedded-small", window=60, margin=10, distance=2)


def write(path: Path, *pairs: tuple[str, str]) -> Path:
    return write_jsonl(path, [{"source": source, "summary": summary} for source, summary in pairs])


def test_the_work_is_counted_by_hand(
    tmp_path: Path, scorer: EstimeScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source has 7 tokens, masked in 2 windows; "the dog sat." has 4, of which 3 are in the
    source, masked in 2 windows too; of "dog" nothing is. Each window has two special tokens."""
    path = write(tmp_path / "a.jsonl", *[(CAT, "the dog sat.")] * 2, (CAT, "dog"))
    with path.open("a") as stream:
        stream.write("{bad\n")
    found = estimate_job(Job(inputs=(path,)), scorer)
    assert (found.pairs, found.skipped, found.sources) == (3, 1, 1)
    assert (found.tokens, found.windows, found.positions) == (7 + 4 + 1, 2 + 2, 2 * 9 + 2 * 6)
    monkeypatch.setattr(
        "estime_metric.scorer.EMBEDDED_BYTES", 1
    )  # a source that continues is still encoded once
    again = estimate_job(Job(inputs=(path,)), scorer)
    assert (again.tokens, again.windows, again.positions) == (
        found.tokens,
        found.windows,
        found.positions,
    )


def test_equal_sources_count_once_within_the_look_ahead_and_what_a_measure_needs_is_counted(
    tmp_path: Path, scorer: EstimeScorer
) -> None:
    path = write(tmp_path / "a.jsonl", (CAT, "cat"), (BIRD, "bird"), (CAT, "mat"))
    near = estimate_job(Job(inputs=(path,)), scorer)
    far = estimate_job(Job(inputs=(path,), look_ahead=1), scorer)
    assert near.sources == far.sources == 2
    assert (near.tokens, far.tokens) == (7 + 4 + 3, 7 + 4 + 7 + 3)
    assert (near.windows, far.windows) == (2 + 2 + 3, 2 + 2 + 2 + 3)
    path = write(tmp_path / "a.jsonl", (CAT, "dog"))
    every = EstimeScorer(replace(scorer.config, measures=("coherence",)))
    assert (
        estimate_job(Job(inputs=(path,)), scorer).windows == 0
    )  # nothing to compare: nothing is encoded
    assert estimate_job(Job(inputs=(path,)), every).windows == 2 + 1
    blank = estimate_job(Job(inputs=(write(tmp_path / "a.jsonl", (" ", " ")),)), scorer)
    assert (blank.tokens, blank.windows) == (0, 0)
    assert math.isfinite(blank.seconds)


def test_the_estimate_grows_with_the_rows(
    tmp_path: Path, scorer: EstimeScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = (write_jsonl(tmp_path / f"{number}.jsonl", rows(number)) for number in (20, 60))
    timed = estimate_job(Job(inputs=(few,)), scorer)
    assert math.isfinite(timed.seconds)
    assert timed.seconds > 0
    assert timed.memory is None or timed.memory > 10_000_000
    monkeypatch.setattr("estime_metric.jobs.estimate._ENOUGH", 2.0)
    monkeypatch.setattr(
        "estime_metric.jobs.estimate.perf_counter", itertools.count().__next__
    )  # a call: a second
    one, three = (estimate_job(Job(inputs=(path,)), scorer) for path in (few, many))
    assert one.calibrated == three.calibrated == 4 + 8
    assert 2 < three.seconds / one.seconds < 4


def test_the_command_says_it_and_writes_nothing(
    table: Path, tmp_path: Path, bert_folder: str
) -> None:
    arguments = ["--dry-run", "-m", bert_folder, "-q", *SHORT]
    shown = run_command("score", table, "-o", tmp_path / "out.jsonl", *arguments).stdout
    assert "40 pairs of 14 different sources, 0 rows skipped" in shown
    assert "expected time: " in shown
    assert "40 timed pairs" in shown
    assert list(tmp_path.iterdir()) == [table]
    found = json.loads(run_command("score", table, "--json", *arguments).stdout)
    expected = estimate_job(
        Job(inputs=(table,), look_ahead=8), EstimeScorer(model=bert_folder, window=60, margin=10)
    )
    assert found.keys() == {one.name for one in fields(expected)}
    for name in ("pairs", "skipped", "sources", "tokens", "windows", "positions", "longest"):
        assert found[name] == getattr(expected, name)
    assert found["seconds"] > 0
    piped = run_command(
        "score", "-", *arguments, stdin=table.read_text() + "{bad\n", status=1
    ).stdout
    assert "40 pairs of 14 different sources, 1 row skipped" in piped
    assert (
        "Expected pairs on standard input, but got none."
        in run_command("score", "-", *arguments, status=2).stderr
    )

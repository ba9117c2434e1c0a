"""The cost of a job, estimated before it starts: what is counted is exact, what is timed is
plausible.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from dataclasses import fields
from functools import partial
from pathlib import Path

import pytest

from estime_metric import EstimeScorer
from estime_metric.jobs import Estimate, Job, estimate_job
from tests.command import run_command, write_jsonl
from tests.jobs.conftest import QUICK, rows

CAT, BIRD = "the cat sat on the mat.", "a bird sang."


@pytest.fixture(scope="module")
def scorer() -> EstimeScorer:
    return EstimeScorer(model="embedded-small", window=60, margin=10, distance=2)


def write(path: Path, *pairs: tuple[str, str]) -> Path:
    return write_jsonl(path, [{"source": source, "summary": summary} for source, summary in pairs])


def test_pairs_sources_and_characters_are_counted(tmp_path: Path, scorer: EstimeScorer) -> None:
    """A source counts once within a chunk."""
    path = write(tmp_path / "a.jsonl", (CAT, "cat"), (BIRD, "bird"), (CAT, "mat"))
    path.write_text(path.read_text() + "{bad\n")
    near, far = (estimate_job(Job(inputs=(path,), look_ahead=pairs), scorer) for pairs in (None, 1))
    for estimate in (near, far):
        assert (estimate.pairs, estimate.skipped, estimate.sources) == (3, 1, 2)
    assert near.characters == len(CAT) + len(BIRD) + 3 + 4 + 3
    assert far.characters == near.characters + len(CAT)
    blank = estimate_job(Job(inputs=(write(tmp_path / "a.jsonl", (" ", " ")),)), scorer)
    assert math.isfinite(blank.seconds_high)


def test_the_estimate_grows_with_the_characters(
    tmp_path: Path, scorer: EstimeScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = (write_jsonl(tmp_path / f"{number}.jsonl", rows(number)) for number in (20, 60))

    def estimate(path: Path) -> Estimate:
        return estimate_job(Job(inputs=(path,)), scorer)

    timed = estimate(few)
    assert 0 < timed.seconds_low <= timed.seconds_high < math.inf
    assert timed.memory is None or timed.memory > 10_000_000
    monkeypatch.setattr("estime_metric.jobs.estimate._ENOUGH", 2.0)
    monkeypatch.setattr(
        "estime_metric.jobs.estimate.perf_counter", itertools.count().__next__
    )  # a call: a second
    of_few, of_many = estimate(few), estimate(many)
    assert of_few.timed == of_many.timed == 4 + 8
    assert of_few.seconds_low < of_few.seconds_high
    assert 2 < of_many.seconds_high / of_few.seconds_high < 4
    longer = write(tmp_path / "long.jsonl", *[(CAT, "cat")] * 200, (CAT * 200_000, "cat"))
    shorter = write(tmp_path / "short.jsonl", *[(CAT, "cat")] * 200)
    needed = [estimate(path).memory for path in (longer, shorter)]
    assert None in needed or needed[0] > 1.5 * needed[1]


def test_the_command_says_it_and_writes_nothing(table: Path, tmp_path: Path) -> None:
    run = partial(run_command, "score", "--dry-run", *QUICK)
    shown = run(table, "-o", tmp_path / "out.jsonl").stdout
    assert "40 pairs of 14 different sources, 0 rows skipped, " in shown
    assert re.search(r"expected time: [\d.]+ seconds( to [\d.]+ seconds)?; expected memory", shown)
    assert "40 timed pairs" in shown
    assert list(tmp_path.iterdir()) == [table]
    content = json.loads(run(table, "--json").stdout)
    assert content.keys() == {field.name for field in fields(Estimate)}
    assert (content["pairs"], content["skipped"], content["sources"]) == (40, 0, 14)
    assert content["seconds_low"] > 0
    piped = run("-", stdin=table.read_text() + "{bad\n", status=1).stdout
    assert "40 pairs of 14 different sources, 1 row skipped" in piped
    assert "Expected pairs on standard input, but got none." in run("-", status=2).stderr

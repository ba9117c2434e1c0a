"""The cost of a job, estimated before it starts: what is counted is exact, what is timed is
plausible.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from dataclasses import fields
from pathlib import Path

import pytest

from estime_metric import EstimeScorer
from estime_metric.jobs import Job, estimate_job
from tests.command import SHORT, run_command, write_jsonl
from tests.jobs.conftest import rows

CAT, BIRD = "the cat sat on the mat.", "a bird sang."


@pytest.fixture(scope="module")
def scorer() -> EstimeScorer:
    return EstimeScorer(model="embedded-small", window=60, margin=10, distance=2)


def write(path: Path, *pairs: tuple[str, str]) -> Path:
    return write_jsonl(path, [{"source": source, "summary": summary} for source, summary in pairs])


def test_pairs_sources_and_characters_are_counted(tmp_path: Path, scorer: EstimeScorer) -> None:
    """A source counts once within a chunk."""
    path = write(tmp_path / "a.jsonl", (CAT, "cat"), (BIRD, "bird"), (CAT, "mat"))
    with path.open("a") as stream:
        stream.write("{bad\n")
    near = estimate_job(Job(inputs=(path,)), scorer)
    far = estimate_job(Job(inputs=(path,), look_ahead=1), scorer)
    assert (near.pairs, near.skipped, near.sources) == (far.pairs, far.skipped, far.sources)
    assert (near.pairs, near.skipped, near.sources) == (3, 1, 2)
    assert near.characters == len(CAT) + len(BIRD) + 3 + 4 + 3
    assert far.characters == near.characters + len(CAT)
    blank = estimate_job(Job(inputs=(write(tmp_path / "a.jsonl", (" ", " ")),)), scorer)
    assert math.isfinite(blank.seconds_high)


def test_the_estimate_grows_with_the_characters(
    tmp_path: Path, scorer: EstimeScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = (write_jsonl(tmp_path / f"{number}.jsonl", rows(number)) for number in (20, 60))
    timed = estimate_job(Job(inputs=(few,)), scorer)
    assert 0 < timed.seconds_low <= timed.seconds_high < math.inf
    assert timed.memory is None or timed.memory > 10_000_000
    monkeypatch.setattr("estime_metric.jobs.estimate._ENOUGH", 2.0)
    monkeypatch.setattr(
        "estime_metric.jobs.estimate.perf_counter", itertools.count().__next__
    )  # a call: a second
    one, three = (estimate_job(Job(inputs=(path,)), scorer) for path in (few, many))
    assert one.timed == three.timed == 4 + 8
    assert one.seconds_low < one.seconds_high
    assert 2 < three.seconds_high / one.seconds_high < 4
    longer = write(tmp_path / "long.jsonl", *[(CAT, "cat")] * 200, (CAT * 50_000, "cat"))
    shorter = write(tmp_path / "short.jsonl", *[(CAT, "cat")] * 200)
    needed = [estimate_job(Job(inputs=(path,)), scorer).memory for path in (longer, shorter)]
    assert None in needed or needed[0] > 1.5 * needed[1]


def test_the_command_says_it_and_writes_nothing(
    table: Path, tmp_path: Path, bert_folder: str
) -> None:
    arguments = ["--dry-run", "-m", bert_folder, "-q", *SHORT]
    shown = run_command("score", table, "-o", tmp_path / "out.jsonl", *arguments).stdout
    assert "40 pairs of 14 different sources, 0 rows skipped, " in shown
    assert re.search(r"expected time: [\d.]+ seconds( to [\d.]+ seconds)?; expected memory", shown)
    assert "40 timed pairs" in shown
    assert list(tmp_path.iterdir()) == [table]
    found = json.loads(run_command("score", table, "--json", *arguments).stdout)
    expected = estimate_job(
        Job(inputs=(table,)), EstimeScorer(model=bert_folder, window=60, margin=10)
    )
    assert found.keys() == {one.name for one in fields(expected)}
    for name in ("pairs", "skipped", "sources", "characters"):
        assert found[name] == getattr(expected, name)
    assert found["seconds_low"] > 0
    piped = run_command(
        "score", "-", *arguments, stdin=table.read_text() + "{bad\n", status=1
    ).stdout
    assert "40 pairs of 14 different sources, 1 row skipped" in piped
    assert (
        "Expected pairs on standard input, but got none."
        in run_command("score", "-", *arguments, status=2).stderr
    )

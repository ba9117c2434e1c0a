"""``estime calibrate`` as its user meets it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from estime_metric.table.table import write
from estime_metric.table.threshold import calibrate
from tests.command import csv_rows, run_command, write_jsonl

SOURCE = "Anna bought the red boat. Peter sold the old house."
LABELS = {
    "Anna bought the red boat.": 1,
    "Peter sold the old house.": 1,
    "Anna sold the old boat.": 0,
    "Nobody knows anything about zebras.": 0,
}

run = partial(run_command, "calibrate")


def pair(summary: str | None, label: object) -> dict[str, object]:
    return {"source": SOURCE, "summary": summary, "label": label}


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "judged.jsonl", [pair(*item) for item in LABELS.items()])


def check_threshold(
    printed: str, column: str, scores: Sequence[float], labels: Sequence[int], **options: Any
) -> None:
    """The threshold is that of the library, and so is what it promises for new summaries."""
    expected = calibrate(scores, labels, **options)
    side = "<=" if options.get("higher_is_better") else ">="
    interval = expected.out_of_bag
    estimate = f"{interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
    if not np.isfinite(interval.mean):
        estimate = "not possible from so few"
    words = " ".join(printed.split())
    assert f"threshold {expected.threshold}: review summaries with {column} {side} this" in words
    assert f"found {expected.found:.3f}, spared {expected.spared:.3f}, flagged" in words
    assert f"for new summaries: {estimate}" in words


def test_summaries_of_one_source_are_drawn_together(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores, labels = rng.random(60).round(3).tolist(), (rng.random(60) < 0.5).astype(int).tolist()
    sources = [f"source {index // 4}" for index in range(60)]
    rows = [
        {"inconsistency": score, "label": label, "url": source}
        for score, label, source in zip(scores, labels, sources, strict=True)
    ]
    path = write_jsonl(tmp_path / "judged.jsonl", rows)
    shown = run(path, "--source-column", "url").stdout
    check_threshold(shown, "inconsistency", scores, labels, groups=sources)
    assert "The summaries have 15 different sources." in " ".join(shown.split())


def test_few_summaries_of_one_source_give_no_estimate(tmp_path: Path) -> None:
    rows = [
        {"source": SOURCE, "label": label, "mine": mine} for mine, label in enumerate((0, 0, 1, 1))
    ]
    shown = run(write_jsonl(tmp_path / "judged.jsonl", rows), "--score", "mine", "--higher")
    assert "4 summaries, 2 consistent" in shown.stdout
    assert "estimate for new summaries: not possible from so few" in shown.stdout
    assert "All summaries have the same source" in shown.stdout
    assert "One class has fewer than 10 summaries." in shown.stderr


def test_rows_without_a_label_or_a_score_are_named_and_skipped(tmp_path: Path) -> None:
    """As `estime score` does it, in every format, with exit status 1."""
    csv = tmp_path / "judged.csv"
    csv.write_text(
        "inconsistency;label\n0.1;TRUE\n;1\n0.2;\nx;0\n0.9;False\n0.8;0.0\ninf;1\n1;2;3\n"
    )
    shown = run(csv, "--delimiter", ";", status=1)
    assert shown.stderr.splitlines()[:5] == [
        "skipped judged.csv line 8: has more than the 2 columns of the header (line 9 of the file)",
        "skipped line 2: column 'inconsistency' should be a number, but is missing",
        "skipped line 3: column 'label' should be 0 or 1, but is missing",
        "skipped line 4: column 'inconsistency' should be a number, but is 'x'",
        "skipped line 7: column 'inconsistency' should be a number, but is 'inf'",
    ]
    assert "3 summaries, 1 consistent" in shown.stdout


def test_the_direction_of_a_measure_is_known_with_its_layer_and_its_prefix(
    judged: Path, encoder: list[str], tmp_path: Path
) -> None:
    scored = tmp_path / "scores.csv"
    options = ["--layers", "1,2", "--measures", "soft", "--prefix", "my_", "-o", scored]
    run_command("score", judged, *encoder, *options)
    values = [float(row["my_soft_layer1"]) for row in csv_rows(scored)]
    shown = run(scored, "--score", "soft_layer1").stdout
    of_one_source = {"groups": [SOURCE] * len(LABELS), "higher_is_better": True}
    check_threshold(shown, "soft_layer1", values, [*LABELS.values()], **of_one_source)


def test_scores_of_others_have_the_direction_that_is_named(tmp_path: Path) -> None:
    """The wrong one gets a warning."""
    labels = [number > 9 for number in range(20)]
    rows = [{"mine": number, "label": label} for number, label in enumerate(labels)]
    path = write_jsonl(tmp_path / "mine.jsonl", rows)
    assert "Pass --higher if higher scores are better" in run(path, "--score", "mine").stderr
    shown = run(path, "--score", "mine", "--higher")
    check_threshold(shown.stdout, "mine", range(20), labels, higher_is_better=True)
    assert not shown.stderr


def test_what_cannot_be_calibrated_is_refused(judged: Path, tmp_path: Path) -> None:
    unusable = write_jsonl(tmp_path / "unusable.jsonl", [{"inconsistency": 0.1, "label": -1}] * 2)
    header = tmp_path / "header.csv"
    header.write_text("source,summary,label\n")
    scored = tmp_path / "scored.jsonl"
    rated = [{"soft": 0.5, "coherence": 4, "label": 1}]  # people's ratings are not the measure
    write(scored, rated, {"signature": "ESTIME|made", "measures": {"soft": {}}})
    for arguments, message in (
        ([judged], "'estime score judged.jsonl -o FILE' computes it"),
        ([judged, "--score", "soft"], "'estime score judged.jsonl --measures soft -o FILE'"),
        ([scored, "--score", "sotf"], "Did you mean 'soft'?"),
        ([scored, "--score", "coherence"], "Expected a column 'coherence' in scored.jsonl"),
        ([judged, "--score", "label"], "--label to name another column than --score, but both"),
        ([judged, "--label", "mine"], "Expected a column 'mine' in judged.jsonl"),
        ([header], "it has no rows (the first row is read as the header)"),
        ([unusable], "but got none (line 1: column 'label' should be 0 or 1, but is -1)."),
    ):
        refused = run(*arguments, status=2)
        assert message in refused.stderr
        assert refused.stdout == ""

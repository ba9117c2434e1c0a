"""``estime calibrate`` as its user meets it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from estime_metric.comparison.detection import calibrate
from tests.command import csv_rows, run_command, write_jsonl


def test_scores_of_a_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = rng.random(50) < 0.6
    rows = [
        {
            "inconsistency": round(0.4 * float(rng.random()) + 0.2 * (not label), 3),
            "label": bool(label),
            "mine": index,
        }
        for index, label in enumerate(labels)
    ]
    judged = write_jsonl(tmp_path / "judged.jsonl", rows)
    shown = run_command("calibrate", judged, "-o", tmp_path / "curve.csv")
    expected = calibrate([row["inconsistency"] for row in rows], [row["label"] for row in rows])
    out = " ".join(shown.stdout.split())
    assert (
        f"threshold {expected.threshold:.4f}: review summaries with inconsistency >= this value"
        in out
    )
    assert (
        f"for new summaries: {expected.expected:.3f} [{expected.low:.3f}, {expected.high:.3f}]"
        in out
    )
    assert len(csv_rows(tmp_path / "curve.csv")) == len(expected.curve)
    shown = run_command(
        "calibrate", judged, "--score", "mine", "--higher", "-o", tmp_path / "curve.png"
    )
    assert "with mine <= this value" in shown.stdout
    assert (tmp_path / "curve.png").stat().st_size > 5000


def test_texts_are_scored_where_there_is_no_score(bert_folder: str, tmp_path: Path) -> None:
    source = "Anna bought the red boat. Peter sold the old house."
    summaries = {"Anna bought the red boat.": 1, "Nobody knows anything about zebras.": 0}
    rows = [
        {"source": source, "summary": text, "label": label} for text, label in summaries.items()
    ]
    shown = run_command(
        "calibrate", write_jsonl(tmp_path / "judged.jsonl", rows), "-m", bert_folder, "-q"
    )
    assert "2 summaries, 1 consistent; area under the ROC curve 1.000" in shown.stdout
    assert "One class has fewer than 10 summaries." in shown.stderr

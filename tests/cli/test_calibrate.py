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
    assert not (tmp_path / "curve.svg").exists()  # it writes what it says
    assert shown.stdout.splitlines()[-1] == f"wrote the plot to {tmp_path / 'curve.png'}"


def test_summaries_of_one_source_are_drawn_together(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores, labels = rng.random(60).round(3).tolist(), (rng.random(60) < 0.5).astype(int).tolist()
    sources = [f"source {index // 4}" for index in range(60)]
    for column in ("source", "document"):
        rows = [
            {"inconsistency": score, "label": label, column: source}
            for score, label, source in zip(scores, labels, sources, strict=True)
        ]
        path = write_jsonl(tmp_path / f"{column}.jsonl", rows)
        out = " ".join(run_command("calibrate", path).stdout.split())
        expected = calibrate(scores, labels, groups=sources)
        assert (
            f"for new summaries: {expected.expected:.3f} [{expected.low:.3f}, {expected.high:.3f}]"
            in out
        )
        assert "The summaries have 15 different sources." in out
        assert expected.low != calibrate(scores, labels).low


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
    assert "estimate for new summaries: not possible from so few" in shown.stdout
    assert "All summaries have the same source" in shown.stdout
    assert "One class has fewer than 10 summaries." in shown.stderr


def test_rows_without_a_label_a_score_or_a_text_are_named_and_skipped(
    bert_folder: str, tmp_path: Path
) -> None:
    """As `estime score` does it, in every format, with exit status 1."""
    source = "Anna bought the red boat. Peter sold the old house."
    texts = [
        {"source": source, "summary": "Anna bought the red boat.", "label": 1},
        {"source": source, "summary": None, "label": 1},
        {"source": source, "summary": "Peter sold the boat.", "label": None},
        {"source": source, "summary": "Peter sold the boat.", "label": "maybe"},
        {"source": source, "summary": "Nobody knows anything about zebras.", "label": 0},
    ]
    table = write_jsonl(tmp_path / "judged.jsonl", texts)
    shown = run_command("calibrate", table, "-m", bert_folder, "-q", status=1)
    assert shown.stderr.splitlines()[:3] == [
        "skipped line 2: column 'summary' should contain text, but is missing",
        "skipped line 3: column 'label' should be 0 or 1, but is missing",
        "skipped line 4: column 'label' should be 0 or 1, but is 'maybe'",
    ]
    assert "2 summaries, 1 consistent" in shown.stdout
    csv = tmp_path / "judged.csv"
    csv.write_text(
        "inconsistency,label\n0.1,TRUE\n,1\n0.2,\nx,0\n0.9,False\n0.8,0.0\ninf,1\n1,2,3\n"
    )
    shown = run_command("calibrate", csv, status=1)
    assert shown.stderr.splitlines()[:5] == [
        "skipped line 2: column 'inconsistency' should be a number, but is missing",
        "skipped line 3: column 'label' should be 0 or 1, but is missing",
        "skipped line 4: column 'inconsistency' should be a number, but is 'x'",
        "skipped line 7: column 'inconsistency' should be a number, but is 'inf'",
        "skipped line 8: has more than the 2 columns of the header (line 9 of the file)",
    ]
    assert "3 summaries, 1 consistent; area under the ROC curve 1.000" in shown.stdout
    csv.write_text("inconsistency,label\n0.1,\n")
    refused = run_command("calibrate", csv, status=2)
    assert "Expected labeled summaries in" in refused.stderr


def test_a_table_with_another_delimiter_and_encoding(tmp_path: Path) -> None:
    path = tmp_path / "judged.csv"
    path.write_bytes("inconsistency;label;für\n0,5;0;é\n".encode("latin-1").replace(b"0,5", b"0.5"))
    options = ["--delimiter", ";", "--encoding", "latin-1"]
    assert "to contain both 0 and 1" in run_command("calibrate", path, *options, status=2).stderr
    assert "separated by ';'" not in run_command("calibrate", path, *options, status=2).stderr

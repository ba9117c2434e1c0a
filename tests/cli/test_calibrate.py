"""``estime calibrate`` as its user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from estime_metric import EstimeScorer
from estime_metric.stats.detection import calibrate
from tests.command import csv_rows, run_command, write_jsonl

SOURCE = "Anna bought the red boat. Peter sold the old house."
JUDGED = {
    "Anna bought the red boat.": 1,
    "Peter sold the old house.": 1,
    "Anna sold the old boat.": 0,
    "Nobody knows anything about zebras.": 0,
}


def judged_rows() -> list[dict[str, object]]:
    return [{"source": SOURCE, "summary": text, "label": label} for text, label in JUDGED.items()]


def threshold_line(scores: list[float], column: str, *, higher: bool) -> str:
    """What the command says of these scores of `JUDGED`."""
    found = calibrate(scores, list(JUDGED.values()), higher_is_better=higher)
    side = "<=" if higher else ">="
    return f"threshold {found.threshold:.4f}: review summaries with {column} {side} this value"


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
    for column in ("source", "url"):
        rows = [
            {"inconsistency": score, "label": label, column: source}
            for score, label, source in zip(scores, labels, sources, strict=True)
        ]
        path = write_jsonl(tmp_path / f"{column}.jsonl", rows)
        shown = run_command("calibrate", path, "--source-column", column).stdout
        out = " ".join(shown.split())
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
        "skipped judged.csv line 8: has more than the 2 columns of the header (line 9 of the file)",
        "skipped line 2: column 'inconsistency' should be a number, but is missing",
        "skipped line 3: column 'label' should be 0 or 1, but is missing",
        "skipped line 4: column 'inconsistency' should be a number, but is 'x'",
        "skipped line 7: column 'inconsistency' should be a number, but is 'inf'",
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


def test_the_direction_of_a_measure_is_known_with_its_layer_and_its_prefix(
    bert_folder: str, tmp_path: Path
) -> None:
    table = write_jsonl(tmp_path / "judged.jsonl", judged_rows())
    options = ["-m", bert_folder, "-q", "--layers", "1,2", "--measures", "soft"]
    result = EstimeScorer(model=bert_folder, layers=(1, 2), measures=("soft",)).score(
        list(JUDGED), [SOURCE] * len(JUDGED)
    )
    for prefix in ("", "my_"):
        scored = tmp_path / f"{prefix}scores.jsonl"
        run_command("score", table, *options, "--prefix", prefix, "-o", scored)
        for measure, higher in (("soft", True), ("inconsistency", False)):
            values = [round(value, 6) for value in result.values(measure, 1).tolist()]
            column = f"{measure}_layer1"
            shown = run_command("calibrate", scored, "--score", column).stdout
            assert threshold_line(values, column, higher=higher) in shown.splitlines()


@pytest.mark.parametrize(("measure", "higher"), [("soft", True), ("tokens", False)])
def test_any_measure_can_be_computed_from_the_texts(
    bert_folder: str, tmp_path: Path, measure: str, higher: bool
) -> None:
    table = write_jsonl(tmp_path / "judged.jsonl", judged_rows())
    further = ("soft",) if measure == "soft" else ()
    scorer = EstimeScorer(model=bert_folder, measures=further)
    values = scorer.score(list(JUDGED), [SOURCE] * len(JUDGED)).values(measure).tolist()
    shown = run_command("calibrate", table, "-m", bert_folder, "-q", "--score", measure)
    assert threshold_line(values, measure, higher=higher) in shown.stdout.splitlines()
    assert str(scorer.signature) in shown.stdout


def test_what_cannot_be_calibrated_is_refused_before_anything_is_scored(
    bert_folder: str, tmp_path: Path
) -> None:
    table = write_jsonl(tmp_path / "judged.jsonl", judged_rows())
    options = ["-m", bert_folder, "-q"]
    refused = run_command("calibrate", table, *options, "--layers", "1,2", status=2)
    assert "Expected --layers to be one layer" in refused.stderr
    assert "ESTIME|" not in refused.stdout
    refused = run_command("calibrate", table, *options, "--score", "mine", status=2).stderr
    assert "Expected a column 'mine' in judged.jsonl" in refused
    assert "Name the right one with --score, or a measure to compute: inconsistency" in refused
    bare = write_jsonl(tmp_path / "bare.jsonl", [{"text": "x", "label": 1}])
    refused = run_command("calibrate", bare, *options, "--score", "soft", status=2).stderr
    assert "column 'soft' in bare.jsonl, or the columns 'source' and 'summary'" in refused
    # These come before the encoder, which does not exist.
    missing = ["-m", "nobody/nothing", "-q"]
    refused = run_command("calibrate", table, *missing, "--seed", "-1", status=2).stderr
    assert '"-1" for --seed' in refused


def test_a_summary_without_a_value_is_skipped(bert_folder: str, tmp_path: Path) -> None:
    rows = [*judged_rows(), {"source": SOURCE, "summary": "", "label": 0}]
    table = write_jsonl(tmp_path / "judged.jsonl", rows)
    options = ["-m", bert_folder, "-q", "--score", "alarm_rate"]
    shown = run_command("calibrate", table, *options, status=1)
    assert "skipped line 5: column 'alarm_rate' should be a number, but is missing" in shown.stderr


def test_standard_input_is_read_once_and_standard_output_has_only_the_rows(
    bert_folder: str, tmp_path: Path
) -> None:
    table = write_jsonl(tmp_path / "judged.jsonl", judged_rows())
    options = ["-m", bert_folder, "-q"]
    typed = run_command("calibrate", "-", *options, stdin=table.read_text())
    assert typed.stdout == run_command("calibrate", table, *options).stdout
    piped = run_command("calibrate", "-", *options, "-o", "-", stdin=table.read_text())
    run_command("calibrate", table, *options, "-o", tmp_path / "curve.jsonl")
    assert piped.stdout == (tmp_path / "curve.jsonl").read_text()
    assert all("threshold" in json.loads(line) for line in piped.stdout.splitlines())
    for line in typed.stdout.splitlines():
        assert line in piped.stderr


def test_the_first_invalid_rows_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    rows = [{"inconsistency": 0.1, "label": 1}, {"inconsistency": 0.9, "label": 0}]
    table = write_jsonl(tmp_path / "judged.jsonl", [*rows, *[{"label": 1}] * 30])
    said = run_command("calibrate", table, status=1).stderr.splitlines()
    assert sum(line.startswith("skipped line ") for line in said) == 20
    assert "skipped 10 more rows" in said

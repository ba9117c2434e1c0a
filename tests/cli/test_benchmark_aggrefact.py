"""``estime benchmark aggrefact`` as its user meets it: the screen, the files, the exit status."""

from __future__ import annotations

from pathlib import Path

from tests.command import csv_rows, run_command
from tests.studies.aggrefact.conftest import authors, cliff

__all__ = ["authors", "cliff"]


def test_all_measures_beside_the_detectors(authors: Path, bert_folder: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ("benchmark", "aggrefact", authors, "-m", bert_folder, "--resamples", 5, "-o", out, "-q")
    shown = run_command(*arguments, columns=100)
    rows = {row["measure"]: row for row in csv_rows(out / "aggrefact.csv")}
    assert {"(-)inconsistency-4", "(-)absent share", "(-)new trigrams", "(-)length", "DAE", "QAFactEval"} <= set(rows)
    assert round(float(rows["DAE"]["CNN/DailyMail CLIFF recent (150)"]), 3) == 0.730
    assert "QAFactEval" in shown.stdout
    again = run_command(*arguments, "--resume")
    assert "Scores of the earlier run: ESTIME by token, Trivial, Published detectors" in again.stdout
    assert (out / "plots" / "areas.png").exists()


def test_word_by_word(cliff: Path, bert_folder: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ("benchmark", "aggrefact", cliff, "--words", "--split", "val", "-m", bert_folder, "-o", out, "-q")
    shown = run_command(*arguments, columns=100)
    assert "CNN/DailyMail, only summaries with an error" in shown.stdout
    rows = csv_rows(out / "words.csv")
    assert [row["flagged words"] for row in rows[:3]] == ["alarms", "absent", "both"]
    assert (out / "words-curve.png").exists()

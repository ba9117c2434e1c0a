"""``estime benchmark bump``, ``summedits``, ``aggrefact``, ``frank`` and ``systems`` as their user meets
them: options, screen, files, exit status.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.command import csv_rows, run_command
from tests.studies.made import DATA

#: Command -> a table on the screen, a row of it, options for a part of the data, and its summaries.
COMMANDS: dict[str, tuple[str, str, list[object], int]] = {
    "bump": ("bump-tests", "(-)length", ["--split", "valid", "--limit", 1], 4),
    "summedits": ("summedits", "people (ten domains: 90.9)", ["--limit", 1], 8),
    "aggrefact": ("aggrefact", "QAFactEval", [], 162),
    "frank": ("frank", "QAGS", ["--split", "valid"], 5),
    "systems": ("systems", "(-)graded_alarms_per_token-4", [], 210),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_screen_shows_tables_and_a_later_run_resumes(
    name: str, bert_folder: str, tmp_path: Path
) -> None:
    table, label, part, summaries = COMMANDS[name]
    out = tmp_path / "new" / "out"
    arguments = [DATA / name, "-m", bert_folder, "--resamples", 5, "-q"]
    shown = run_command("benchmark", name, *arguments, "-o", out, columns=120)
    rows = {row["measure"]: row for row in csv_rows(out / f"{table}.csv")}
    assert {"(-)inconsistency-4", "(-)new words", label} <= set(rows)
    assert label in shown.stdout
    assert f"{table}.md" in shown.stdout
    assert "|" not in shown.stderr  # no progress bar
    again = run_command("benchmark", name, *arguments, "-o", out, "--resume")
    assert "Scores of the earlier run: ESTIME by token, Trivial" in again.stdout
    if part:
        run_command("benchmark", name, *arguments, *part, "-o", out, "--overwrite")
    assert len(csv_rows(out / "scores.csv")) == summaries


def test_a_measure_that_fails_is_named_and_the_exit_status_is_1(
    bert_folder: str, tmp_path: Path
) -> None:
    table = pd.DataFrame({"pair": ["strange"], "version": ["edited"], "guess": [1.0]})
    table.to_csv(tmp_path / "mine.csv", index=False)
    folder = DATA / "bump"
    options = ["-m", bert_folder, "--resamples", 5, "-q", "--scores", tmp_path / "mine.csv"]
    shown = run_command("benchmark", "bump", folder, *options, status=1)
    assert "Scores of mine: Expected 'mine' to score summaries of bump, task 1 (all)" in " ".join(
        shown.stderr.split()
    )
    assert "DAE" in shown.stdout


def test_word_by_word(bert_folder: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ["--words", "--split", "val", "-m", bert_folder, "-o", out, "-q"]
    shown = run_command("benchmark", "aggrefact", DATA / "aggrefact-lines", *options, columns=100)
    assert "CNN/DailyMail, only summaries with an error" in shown.stdout
    rows = csv_rows(out / "words.csv")
    assert [row["flagged words"] for row in rows[:3]] == ["alarms", "absent", "both"]

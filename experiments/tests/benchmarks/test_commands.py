"""``python -m experiments.benchmarks`` as its user meets it: options, screen, files, exit status."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from estime_metric.cli.console import run
from experiments.benchmarks.__main__ import app
from experiments.tests.benchmarks.made import DATA
from tests.command import csv_rows

#: Runs a command; returns its exit status, and what is on the screen and on stderr.
Run = Callable[..., tuple[int, str, str]]

#: Command -> a table on the screen, a row of it, options for a part of the data, and its summaries.
COMMANDS: dict[str, tuple[str, str, list[object], int]] = {
    "bump": ("bump-tests", "(-)length", ["--split", "valid", "--limit", 1], 4),
    "summedits": ("summedits", "people (ten domains: 0.909)", ["--limit", 1], 8),
    "aggrefact": ("aggrefact", "QAFactEval", [], 162),
    "frank": ("frank", "QAGS", ["--split", "valid"], 5),
    "ragtruth": ("ragtruth", "flag everything", ["--limit", 2], 6),
    "limits": ("limits", "copied_density", ["--limit", 2], 15),
    "systems": ("systems", "copied_density", [], 212),
}


@pytest.fixture
def run_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("COLUMNS", "120")

    def run_tokens(*tokens: object) -> tuple[int, str, str]:
        status = run(app, [*map(str, tokens)])
        return status, *capsys.readouterr()

    return run_tokens


@pytest.mark.parametrize("name", COMMANDS)
def test_the_screen_shows_tables_and_a_later_run_resumes(
    name: str, bert_folder: str, tmp_path: Path, run_command: Run
) -> None:
    table, label, part, summaries = COMMANDS[name]
    out = tmp_path / "new" / "out"
    folder = DATA / {"limits": "ragtruth"}.get(name, name)
    arguments = [folder, "-m", bert_folder, "--resamples", 5, "-q"]
    status, screen, stderr = run_command(name, *arguments, "-o", out)
    assert status == 0, stderr
    rows = {row["measure"]: row for row in csv_rows(out / f"{table}.csv")}
    assert {"(-)inconsistency-4", "(-)new words", label} <= set(rows)
    assert label in screen
    assert f"{table}.md" in screen
    assert "|" not in stderr  # no progress bar
    _, again, _ = run_command(name, *arguments, "-o", out, "--resume")
    assert "Scores of the earlier run: ESTIME by token, Trivial" in again
    if part:
        run_command(name, *arguments, *part, "-o", out, "--overwrite")
    assert len(csv_rows(out / "scores.csv")) == summaries


def test_a_measure_that_fails_is_named_and_the_exit_status_is_1(
    bert_folder: str, tmp_path: Path, run_command: Run
) -> None:
    table = pd.DataFrame({"pair": ["strange"], "version": ["edited"], "guess": [1.0]})
    table.to_csv(tmp_path / "mine.csv", index=False)
    folder = DATA / "bump"
    options = ["-m", bert_folder, "--resamples", 5, "-q", "--scores", tmp_path / "mine.csv"]
    status, screen, stderr = run_command("bump", folder, *options)
    assert status == 1
    expected = "Scores of mine: Expected 'mine' to score summaries of bump, task 1 (all)"
    assert expected in " ".join(stderr.split())
    assert "DAE" in screen


def test_word_by_word(bert_folder: str, tmp_path: Path, run_command: Run) -> None:
    out = tmp_path / "out"
    options = ["--words", "-m", bert_folder, "-o", out, "-q"]
    _, screen, _ = run_command("ragtruth", DATA / "ragtruth", *options)
    assert "only summaries with an error" in screen
    assert "new name" in {row["flagged words"] for row in csv_rows(out / "words.csv")}
    options += ["--split", "val", "--overwrite"]
    _, screen, _ = run_command("aggrefact", DATA / "aggrefact-lines", *options)
    assert "CNN/DailyMail, only summaries with an error" in screen
    rows = csv_rows(out / "words.csv")
    assert [row["flagged words"] for row in rows[:3]] == ["alarms", "absent", "both"]

"""``estime benchmark frank``, ``aggrefact``, ``bump`` and ``summedits`` as their user meets them: the
screen, the files, the exit status.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from tests.command import csv_rows, run_command
from tests.studies.benchmarks.aggrefact.conftest import authors, cliff
from tests.studies.benchmarks.bump import conftest as bump
from tests.studies.benchmarks.frank.conftest import folder, made_rows
from tests.studies.benchmarks.summedits import conftest as summedits

__all__ = ["authors", "cliff", "folder"]  # fixtures
run = partial(run_command, "benchmark", "frank", "-q")


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
def test_the_screen_shows_what_the_folder_holds(
    folder: Path, bert_folder: str, tmp_path: Path
) -> None:
    out = tmp_path / "new" / "out"
    shown = run(folder, "-m", bert_folder, "--resamples", 5, "-o", out, columns=100)
    table = csv_rows(out / "frank.csv")
    lines = shown.stdout.splitlines()
    for row in table:
        (line,) = (line for line in lines if line.strip().startswith(f"{row['measure']} "))
        assert not row["all r"] or f"{float(row['all r']):.3f}".replace("0.", ".", 1) in line
    assert {"(-)unsupported_rate-4", "soft-4", "QAGS"} <= {row["measure"] for row in table}
    assert "Summaries without a score, excluded from that row: " in shown.stdout
    again = run(folder, "-m", bert_folder, "--resamples", 5, "-o", out, "--resume")
    assert "Scores of the earlier run: ESTIME by token, Trivial, Published metrics" in again.stdout
    run(folder, "-m", bert_folder, "--split", "valid", "--resamples", 5, "-o", tmp_path / "half")
    assert len(csv_rows(tmp_path / "half" / "scores.csv")) == 5


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
def test_scores_of_files_and_blanc_are_added(
    folder: Path, bert_folder: str, tmp_path: Path
) -> None:
    judged = [row for row in made_rows() if row["split"] == "test"]
    table = pd.DataFrame(
        {"document": [row["doc_id"] for row in judged], "system": [row["system"] for row in judged]}
    )
    table["errors"] = [1.0 - row["factuality"] for row in judged]
    table.sample(frac=1, random_state=1).iloc[1:].to_csv(tmp_path / "mine.csv", index=False)
    out = tmp_path / "out"
    options = [
        "--limit",
        3,
        "--resamples",
        5,
        "--scores",
        tmp_path / "mine.csv",
        "--lower",
        "errors",
    ]
    shown = run(folder, "-m", bert_folder, *options, "-o", out)
    (row,) = (row for row in csv_rows(out / "frank.csv") if row["measure"] == "(-)errors [mine]")
    assert float(row["all r"]) == pytest.approx(1)
    assert "mine: no row for 1 of 15 summaries" in " ".join(shown.stdout.split())
    best = csv_rows(out / "frank-differences.csv")
    assert next(row for row in best if row["measure"] == "(-)errors [mine]")["all r less"] == "0.0"


def test_all_measures_and_the_detectors(authors: Path, bert_folder: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = (
        "benchmark",
        "aggrefact",
        authors,
        "-m",
        bert_folder,
        "--resamples",
        5,
        "-o",
        out,
        "-q",
    )
    shown = run_command(*arguments, columns=100)
    rows = {row["measure"]: row for row in csv_rows(out / "aggrefact.csv")}
    assert {
        "(-)inconsistency-4",
        "(-)new words",
        "(-)new trigrams",
        "(-)length",
        "DAE",
        "QAFactEval",
    } <= set(rows)
    assert round(float(rows["DAE"]["CNN/DailyMail CLIFF recent (150)"]), 3) == 0.730
    assert "QAFactEval" in shown.stdout
    again = run_command(*arguments, "--resume")
    assert (
        "Scores of the earlier run: ESTIME by token, Trivial, Published detectors" in again.stdout
    )
    assert (out / "plots" / "areas.png").exists()


def test_word_by_word(cliff: Path, bert_folder: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = (
        "benchmark",
        "aggrefact",
        cliff,
        "--words",
        "--split",
        "val",
        "-m",
        bert_folder,
        "-o",
        out,
        "-q",
    )
    shown = run_command(*arguments, columns=100)
    assert "CNN/DailyMail, only summaries with an error" in shown.stdout
    rows = csv_rows(out / "words.csv")
    assert [row["flagged words"] for row in rows[:3]] == ["alarms", "absent", "both"]
    assert (out / "words-curve.png").exists()


@pytest.mark.usefixtures("no_pictures")
def test_bump_by_split_with_scores_of_files(bert_folder: str, tmp_path: Path) -> None:
    folder = bump.write_folder(tmp_path / "BUMP", bump.made_rows())
    out = tmp_path / "out"
    guess = [
        {"pair": 10 + index // 2, "version": name, "guess": 1 - index % 2}
        for index, name in enumerate(["reference", "edited"] * 6)
    ]
    pd.DataFrame(guess).to_csv(tmp_path / "mine.csv", index=False)
    arguments = ("benchmark", "bump", folder, "-m", bert_folder, "--resamples", 5, "-q")
    shown = run_command(*arguments, "-o", out, "--scores", tmp_path / "mine.csv", columns=100)
    rows = {row["measure"]: row for row in csv_rows(out / "bump.csv")}
    assert float(rows["guess [mine]"]["consistency value"]) == 100
    assert {"(-)inconsistency-4", "(-)new words", "DAE"} <= set(rows)
    assert "BUMP: paired tests of each measure" in shown.stdout
    again = run_command(*arguments, "-o", out, "--resume")
    assert "Scores of the earlier run: ESTIME by token, Trivial, Published" in again.stdout
    run_command(*arguments, "--split", "valid", "--limit", 1, "-o", tmp_path / "one")
    assert len(csv_rows(tmp_path / "one" / "scores.csv")) == 4


@pytest.mark.usefixtures("no_pictures")
def test_summedits_next_to_models_and_people(bert_folder: str, tmp_path: Path) -> None:
    made = {domain: summedits.made_rows(domain) for domain in ("news", "podcast")}
    folder = summedits.write_folder(tmp_path / "factualNLG", made)
    out = tmp_path / "out"
    arguments = ("benchmark", "summedits", folder, "-m", bert_folder, "--resamples", 5, "-q")
    shown = run_command(*arguments, "-o", out, columns=120)
    rows = {row["measure"]: row for row in csv_rows(out / "summedits.csv")}
    assert {"(-)inconsistency-4", "(-)new trigrams", "people (ten domains: 90.9)"} <= set(rows)
    assert "SummEdits: area under the ROC curve" in shown.stdout
    again = run_command(*arguments, "-o", out, "--resume")
    assert "Scores of the earlier run: ESTIME by token, Trivial" in again.stdout
    run_command(*arguments, "--limit", 2, "-o", tmp_path / "two")
    assert len(csv_rows(tmp_path / "two" / "scores.csv")) == 9

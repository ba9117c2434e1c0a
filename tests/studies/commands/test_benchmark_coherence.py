"""``estime benchmark coherence``: what it prints, what it writes, what it refuses."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from estime_metric.studies.benchmarks.coherence_scores.data import read
from estime_metric.studies.benchmarks.coherence_scores.statistics import analyze
from estime_metric.studies.benchmarks.shared.scored import Scored
from tests.command import csv_rows, json_rows, run_command
from tests.studies.conftest import DATA


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(DATA / "coherence_scores", tmp_path / "data")


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
def test_runs_and_seed_are_options(folder: Path) -> None:
    intervals = set()
    for seed, runs in enumerate((2, 0)):
        out = folder / str(seed)
        options = ["--resamples", 20, "--runs", runs, "--seed", seed]
        shown = run_command("benchmark", "coherence", folder, "-o", out, *options)
        assert "Table 4 of Steen & Markert 2022" in shown.stdout
        assert ("table1.md" in shown.stdout) == (out / "table1.md").exists() == (runs > 0)
        intervals.add((out / "table3-intervals.md").read_text(encoding="utf-8"))
    assert len(intervals) == 2
    rows = csv_rows(folder / "0" / "shuffle.csv")
    assert [(row["measure"], row["paper"]) for row in rows] == [("BAS", "0.896"), ("GRN", "0.504")]


def test_annotators_and_entities(folder: Path) -> None:
    frames = analyze(Scored(data := read(folder), frame=data.table), runs=0, intervals=False)
    rows = json_rows(folder / "summeval" / "annotations.jsonl")
    experts = np.array([row["expert"]["coherence"] for row in rows])
    expected = stats.kendalltau(experts[:, 0], experts[:, 1:].mean(axis=1)).statistic
    assert frames["annotators.csv"].loc[0, "τ_sum"] == pytest.approx(expected)
    overlap = frames["entities.csv"].set_index("corpus").loc["CNN/DM Ref."]
    assert (overlap["documents"], overlap["sentences"]) == (0, 0)


def test_what_the_data_lack_is_named(folder: Path) -> None:
    path = folder / "coherence_scores" / "gruen.csv"
    path.write_text(path.read_text().replace("d3,M22,", "d3,M99,"))
    assert (
        "Expected gruen.csv to have each summary, but there is none for (d3, M22)"
        in run_command("benchmark", "coherence", folder, status=2).stderr
    )


def test_without_matplotlib_there_are_tables_and_no_plots(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "estime_metric.show.plot", None)
    options = ["--resamples", 5, "--runs", 1, "-o", folder / "out", "-q"]
    assert "plots: " in run_command("benchmark", "coherence", folder, *options, status=1).stderr
    assert (folder / "out" / "table3.md").exists()
    assert not list(folder.rglob("*.png"))

"""``estime benchmark coherence``: what it prints, what it writes, what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import csv_rows, run_command
from tests.conftest import SUMMEVAL
from tests.studies.benchmarks.coherence_scores.made import write_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path)


@pytest.mark.slow
def test_prints_both_tables_with_here_and_paper_told_apart() -> None:
    if not SUMMEVAL.is_dir():
        pytest.skip("the published scores are missing")
    shown = run_command("benchmark", "coherence", SUMMEVAL.parent, columns=80)
    text = " ".join(shown.stdout.split())
    for line in (
        "BAS .896 .896 yes .5",
        "GRN .504 .504 yes .5",
        "HUM .76 .75 .81 .81 .82 .81 .92 .91 .77 .77",
    ):
        assert line in text
    assert "16 systems whose judgements are available; paper: as printed, on 17 systems" in text
    assert shown.stdout.count(" yes") == 16


@pytest.mark.slow
def test_writes_tables_and_pictures(folder: Path, request: pytest.FixtureRequest) -> None:
    out = folder / "out"
    shown = run_command("benchmark", "coherence", folder, "-o", out, "--resamples", 20, "--runs", 2)
    tables = ("table1", "table3", "table3-intervals", "table4", "lengths")
    kinds = ("same-document", "all-documents")
    pictures = ["scores-bartscore", "scores-gruen", "intra-system", "lengths"]
    pictures += [f"bias-{measure}-{kind}" for measure in ("bartscore", "gruen") for kind in kinds]
    expected = {f"{name}.{ending}" for name in tables for ending in ("csv", "md", "tex")}
    expected |= {
        f"{name}.csv"
        for name in ("agreement", "shuffle", "confounders", "agreement-with-length", "scores")
    }
    assert {path.name for path in out.iterdir()} == {*expected, "run.json", "plots"}
    drawn = {f"{name}.{ending}" for name in pictures for ending in ("png", "svg")}
    assert {path.name for path in (out / "plots").iterdir()} == drawn
    rows = csv_rows(out / "table4.csv")
    assert [row["measure"] for row in rows] == ["BAS", "GRN"]
    assert [row["paper"] for row in rows] == ["0.896", "0.504"]
    assert [float(row["here"]) * 9 for row in rows] == pytest.approx(
        [round(float(row["here"]) * 9) for row in rows]
    )
    intervals = (out / "table3-intervals.md").read_text(encoding="utf-8")
    assert "[0.08, 0.26]" in intervals  # printed for BAS, τ_intra
    assert "table3-intervals.md" in shown.stdout
    out = folder / "other"
    request.getfixturevalue("no_pictures")  # they were looked at above
    run_command(
        "benchmark", "coherence", folder, "-o", out, "--resamples", 20, "--runs", 0, "--seed", 1
    )
    assert not (out / "table1.md").exists()
    assert (out / "table3-intervals.md").read_text(encoding="utf-8") != intervals


def test_what_the_data_lack_is_named(folder: Path) -> None:
    path = folder / "coherence_scores" / "gruen.csv"
    path.write_text(path.read_text().replace("d3,M22,", "d3,M99,"))
    assert (
        "'gruen' lacks 1, first ('d3', 'M22')"
        in run_command("benchmark", "coherence", folder, status=2).stderr
    )

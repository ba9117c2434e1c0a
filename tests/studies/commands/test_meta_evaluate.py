"""``estime meta-evaluate`` as its user meets it."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from estime_metric.studies.meta import (
    evaluate_all,
    read_grids,
)
from tests.command import csv_rows, run_command
from tests.studies.meta.conftest import made_up

run = partial(run_command, "meta-evaluate", columns=120)


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    """Two measures and two judgements of 9 documents by 6 systems, in files of different kinds and
    column names.
    """
    grid, other = made_up(), made_up(seed=1)
    scores, judgements = tmp_path / "scores.csv", tmp_path / "judgements.jsonl"
    keys = grid.cells.reset_index()[["document", "system"]]
    keys.rename(columns={"document": "doc"}).assign(
        alarms=-grid.scores.ravel(), soft=other.scores.ravel(), text="a text"
    ).to_csv(scores, index=False)
    keys.rename(columns={"document": "doc_id"}).assign(
        consistency=grid.judgements.ravel(), fluency=other.judgements.ravel()
    ).to_json(judgements, orient="records", lines=True, double_precision=15)
    return scores, judgements


def test_the_output_and_the_screen_show_the_values(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    options = ["--levels", "system", "--methods", "kendall_b,accuracy", "-n", 50, "--seed", 3]
    shown = run(*tables, *options, "-o", out)
    grids = read_grids(*tables, directions={"alarms": False, "soft": True})
    expected = evaluate_all(
        grids, levels=["system"], methods=["kendall_b", "accuracy"], n=50, seed=3
    )
    pd.testing.assert_frame_equal(
        pd.read_csv(out / "agreement.csv")[list(expected)], expected, check_dtype=False
    )
    for title in ("consistency, kendall_b", "fluency, accuracy"):
        assert title in shown.stdout
    assert "9 documents, 6 systems; intervals from 50 resamples of documents and s" in shown.stdout
    line = next(line for line in shown.stdout.splitlines() if line.strip().startswith("alarms"))
    assert f"{expected['value'][0]:.3f}".lstrip("0") in line
    assert shown.stderr == ""


def test_directions_are_those_of_the_package_or_are_asked_for(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    scores, judgements = tables
    table = pd.read_csv(scores)
    table.assign(mine=-table["alarms"]).to_csv(scores, index=False)
    options = ["--judgements", "fluency", "-n", 20]
    refused = run(scores, judgements, *options, status=2).stderr
    message = r"direction for every measure, but it is unknown for mine.* .--higher, --lower.\."
    assert re.search(message, refused)
    out = tmp_path / "out"
    table.assign(mine_layer3=-table["alarms"]).to_csv(scores, index=False)
    options += ["--levels", "system,system", "-o", out, "--overwrite"]
    for direction, sign in (("--higher", 1), ("--lower", -1)):
        run(scores, judgements, *options, direction, "mine")
        values = pd.read_csv(out / "agreement.csv").set_index("measure")["value"]
        assert list(values["mine_layer3"]) == pytest.approx(list(sign * values["alarms"]))


def test_empty_cells_missing_systems_and_constant_groups_are_said(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    scores, judgements = tmp_path / "flat.csv", tmp_path / "few.jsonl"
    table = pd.read_csv(tables[0])
    counts = {"line": range(54), "overlap": range(54), "coverage": range(54)}  # no measures
    table.assign(alarms=table["system"].str[1].astype(int) % 2, **counts).to_csv(scores)
    lines = tables[1].read_text().splitlines()
    judgements.write_text("\n".join(line for line in lines if not re.search("s[345]", line)))
    options = ["--judgements", "fluency", "-n", 5]
    refused = run(scores, judgements, *options, status=2).stderr
    assert "system without judgements: s3, s4, s5. With missing=" in refused
    options += ["--drop-missing", "--methods", "kendall_b"]
    shown = run(scores, judgements, *options)
    assert shown.stderr.splitlines() == ["excluded: system without judgements: s3, s4, s5"]
    assert "9 documents, 3 systems" in shown.stdout
    assert "correlations exclude groups with constant values, at most 3 of" in shown.stdout
    line = next(line for line in shown.stdout.splitlines() if line.strip().startswith("alarms"))
    assert line.rstrip().endswith("–")
    options += ["--levels", "system", "--methods", "pearson", "--significance", "williams"]
    assert "Empty cells: Expected at least 4 systems" in run(scores, judgements, *options).stdout


def test_how_many_summaries_each_measure_and_each_two_have_is_said(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    table = pd.read_csv(tables[0])
    table.loc[table.index % 5 == 0, "alarms"] = None
    table.loc[table.index % 7 == 0, "soft"] = None
    table.to_csv(tables[0], index=False)
    options = ["--judgements", "fluency", "--levels", "summary", "--methods", "spearman"]
    options += ["--drop-missing", "--significance", "williams", "-o", tmp_path / "out"]
    shown = run(*tables, *options)
    for line in (
        "9 documents, 6 systems, 43 summaries: alarms with fluency.",
        "9 documents, 6 systems, 46 summaries: soft with fluency.",
        f"alarms and soft: {len(table.dropna())} summaries in common.",
    ):
        assert line in shown.stdout
    assert "'soft' is missing for (d0, s0)" in shown.stderr
    (row,) = csv_rows(tmp_path / "out" / "differences.csv")
    assert (row["first"], row["second"]) == ("alarms", "soft")
    refused = run(*tables, "--significance", "williams", status=2).stderr
    assert "--levels to be one of system, summary, but got 'pairwise'" in refused

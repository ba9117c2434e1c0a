"""Tables on disk: which files, columns and measures are found in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from estime_metric.studies.meta import join, read_grids

CELLS = [(f"d{row}", f"s{column}") for row in range(3) for column in range(2)]
SCORES = pd.DataFrame(CELLS, columns=["doc", "system"]).assign(
    line=range(6), alarms=[4, 2, 0, 7, 1, 3], winners=[9, 1, 4, 2, 2, 5], text="a text"
)
JUDGEMENTS = pd.DataFrame(CELLS, columns=["doc_id", "system"]).assign(
    consistency=[1, 5, 4, 2, 3, 3.5], fluency=[2, 2, 5, 1, 4, 4]
)


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    SCORES.to_csv(tmp_path / "scores.csv", index=False)
    JUDGEMENTS.to_json(tmp_path / "judgements.jsonl", orient="records", lines=True)
    return tmp_path / "scores.csv", tmp_path / "judgements.jsonl"


def test_columns_and_measures_are_found(paths: tuple[Path, Path]) -> None:
    grids = read_grids(*paths, not_measures=["line"])
    assert [(grid.judgement, grid.measure) for grid in grids] == [
        (quality, measure)
        for quality in ("consistency", "fluency")
        for measure in ("alarms", "winners")
    ]
    expected = join(SCORES, JUDGEMENTS, "winners", "fluency", lower_is_better=True)
    np.testing.assert_array_equal(grids[-1].scores, expected.scores)
    np.testing.assert_array_equal(grids[-1].judgements, expected.judgements)
    assert (grids[-1].documents, grids[-1].systems) == (("d0", "d1", "d2"), ("s0", "s1"))
    with pytest.raises(
        ValueError, match=r"'judgements.jsonl' to have a column of documents .title., but its col"
    ):
        read_grids(*paths, document="title")


def test_what_is_no_measure_is_taken_only_where_it_is_asked_for(paths: tuple[Path, Path]) -> None:
    table = SCORES.rename(columns={"winners": "winners_layer3"})
    table.to_csv(paths[0], index=False)
    skipped = ("line", "winners")
    assert {grid.measure for grid in read_grids(*paths, not_measures=skipped)} == {"alarms"}
    options = {"qualities": ["fluency"], "not_measures": skipped}
    directions = {"winners": True, "line": True}
    grids = read_grids(
        *paths, measures=["winners_layer3", "line"], directions=directions, **options
    )
    assert [grid.measure for grid in grids] == ["winners_layer3", "line"]
    with pytest.raises(
        ValueError,
        match=r"'scores.csv' to have a column of numbers to be compared, but it has none",
    ):
        read_grids(*paths, not_measures=("line", "winners", "alarms"))


def test_a_folder_has_a_measure_in_each_file(paths: tuple[Path, Path], tmp_path: Path) -> None:
    folder = tmp_path / "measures"
    folder.mkdir()
    SCORES[["doc", "system", "alarms"]].to_csv(folder / "mine.csv", index=False)
    SCORES[["doc", "system", "alarms", "winners"]].to_csv(folder / "both.csv", index=False)
    (folder / "notes.txt").write_text("no table")
    (folder / "mine.csv.meta.json").write_text("{}")
    directions = {"mine": True, "alarms": False, "winners": True}
    grids = read_grids(folder, paths[1], qualities=["fluency"], directions=directions)
    assert [grid.measure for grid in grids] == ["both.alarms", "both.winners", "mine"]
    with pytest.raises(ValueError, match=r"\(both.alarms, both.winners, mine\), but got 'yours'"):
        read_grids(folder, paths[1], measures=["yours"])
    SCORES[["doc", "system", "alarms"]].to_csv(folder / "mine.tsv", index=False, sep="\t")
    with pytest.raises(ValueError, match=r"two of them are called 'mine'. Rename mine.tsv"):
        read_grids(folder, paths[1], directions=directions)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="'empty' to have a column of numbers to be compared"):
        read_grids(tmp_path / "empty", paths[1])

"""BUMP: the authors' layout, which articles are for choosing; consistency, ties, areas and paired tests by
hand on made-up scores; the printed values of the published measures on BUMP itself.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from estime_metric.studies.benchmarks.shared.benchmark import Results, run
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.own_scores import own_block
from experiments.benchmarks.bump import BENCHMARK
from experiments.benchmarks.bump.data import chosen_articles, error_types, read
from experiments.benchmarks.bump.statistics import CONSISTENCY, TESTS
from experiments.benchmarks.running import published_block
from experiments.tests.benchmarks.made import DATA, made_folder, made_rows
from tests.studies.conftest import drawn_rows, ends, rows
from tests.studies.made import real_folder


@pytest.fixture(scope="module")
def data() -> Summaries:
    return read(DATA / "bump")


def test_a_pair_is_a_reference_and_its_edit(data: Summaries) -> None:
    rows = made_rows("bump")
    assert data.origin == "bump, task 1 (all)"
    assert data.documents == ["10", "11", "12", "13", "14", "15"]
    assert data.table["article"][::2].tolist() == ["100", "100", "101", "101", "102", "102"]
    assert data.keys[:3] == [("10", "reference"), ("10", "edited"), ("11", "reference")]
    assert data.key_names == ("pair", "version")
    assert len(data) == len(data.sources) == 12
    assert data.summaries[2:4] == [rows[1]["reference_summary"], rows[1]["edited_summary"]]
    assert data.sources[4] == data.sources[5] == rows[2]["article"]
    assert list(data.published) == ["DAE", "New"]
    assert data.published["New"].tolist() == [0, 1, 0, 0, 2, 1, 2, 3, 4, 4, 4, 3]


def test_the_corrected_type_counts_and_strange_ones_come_last(
    data: Summaries, tmp_path: Path
) -> None:
    assert [str(error) for error in error_types(data.table["error"]).values()] == [
        "entity, intrinsic",
        "coreference",
        "Strange Error",
    ]
    for row in (rows := made_rows("bump")):
        del row["corrected_error_type"]
    second = read(made_folder(tmp_path / "two", "bump", rows, "data/task2_dataset.json"), task=2)
    assert set(second.table["error"]) == {"Coreference Error"}
    assert second.origin == "two, task 2 (all)"
    assert read(tmp_path / "two" / "data", task=2).keys == second.keys


def test_the_articles_with_the_smallest_hashes_are_for_choosing() -> None:
    names = ["100", "101", "102"]
    by_hash = sorted(names, key=lambda name: hashlib.sha256(name.encode("utf-8")).hexdigest())
    assert chosen_articles(names, 2) == set(by_hash[:2])
    assert chosen_articles([*names, *reversed(names)], 2) == set(by_hash[:2])
    assert chosen_articles(names) == set(names)  # fewer than fifty
    assert set(read(DATA / "bump", split="valid").table["article"]) == set(names)
    with pytest.raises(ValueError, match="to have pairs of the split 'test', but there are none"):
        read(DATA / "bump", split="test")


def test_the_real_articles_are_split_once() -> None:
    folder = real_folder("bump")
    bump = read(folder)
    parts = {split: set(read(folder, split=split).table["article"]) for split in ("valid", "test")}
    assert (len(parts["valid"]), len(parts["test"])) == (50, 49)
    assert parts["valid"] | parts["test"] == set(bump.table["article"])
    assert parts["valid"] == chosen_articles(bump.table["article"])
    assert len(bump.documents) == 693
    # Recorded when the split was made: choices rest on it.
    names = ",".join(sorted(parts["valid"]))
    assert hashlib.sha256(names.encode()).hexdigest()[:12] == "80bcda109291"


def test_a_folder_that_does_not_fit_is_refused_by_name(tmp_path: Path) -> None:
    rows = made_rows("bump")
    gap = {**rows[0], "scores": {"DAE_reference": 1.0}}
    word = {**rows[0], "scores": {**rows[0]["scores"], "New_edited": "high"}}
    for number, (bad, message) in enumerate(
        (
            ([*rows[1:], gap], "a score 'New_reference' for each pair .* record 6 lacks it"),
            ([word, *rows[1:]], "scores in task1_dataset.json to be numbers"),
            ([], "to have pairs of the split 'all'"),
        )
    ):
        folder = made_folder(tmp_path / str(number), "bump", bad)
        with pytest.raises(ValueError, match=message):
            read(folder)
    with pytest.raises(ValueError, match="`split` to be one of valid, test, all"):
        read(DATA / "bump", split="half")
    with pytest.raises(ValueError, match="`task` to be one of 1, 2"):
        read(folder, task=3)


#: Consistency and area in percent as printed (Ma et al. 2023, task 1), from the list that comes
#: with the data.
PRINTED = {
    "BARTScore": (91.9, 60.1),
    "CoCo": (90.8, 56.4),
    "DAE": (87.9, 63.7),
    "QAFactEval": (84.0, 71.5),
    "BERTScore": (81.4, 55.0),
    "QuestEval": (78.6, 62.0),
    "BLEURT": (74.5, 55.1),
    "SummaC": (68.4, 55.9),
    "ROUGE-2": (67.2, 53.2),
    "BLEU": (66.1, 50.6),
    "Q2": (65.7, 64.2),
    "FactCC": (59.5, 57.2),
}


@pytest.fixture(scope="module")
def results(data: Summaries) -> Results[Summaries]:
    guess = pd.DataFrame(data.keys, columns=["pair", "version"])
    guess["guess"] = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 2.0, None]
    blocks = [published_block(data), own_block(guess, "mine")]
    return run(BENCHMARK, data, blocks, resamples=40)


def test_the_published_measures_have_their_printed_values() -> None:
    bump = read(real_folder("bump"))
    frames = run(BENCHMARK, bump, [published_block(bump)], resamples=2).frames
    overall = frames[CONSISTENCY].query("error == 'all'").set_index("measure")
    assert list(overall.index) == list(PRINTED)
    for name, (consistency, area) in PRINTED.items():
        assert f"{overall.loc[name, 'consistency']:.1f}" == f"{consistency:.1f}", name
        assert f"{overall.loc[name, 'area']:.1f}" == f"{area:.1f}", name
    assert overall.loc["Q2", "ties"] == 123
    by_type = frames[CONSISTENCY].query("measure == 'Q2' and error != 'all'")
    assert by_type["pairs"].sum() == 693
    assert by_type["ties"].sum() == 123


def test_by_hand(results: Results[Summaries]) -> None:
    frame = results.frames[CONSISTENCY].set_index(["measure", "error"])
    dae, new = (frame.xs(name, level="measure") for name in ("DAE", "New"))
    # DAE prefers the reference in four of six pairs and ties in one; New in two and ties in two.
    assert (dae.loc["all", "consistency"], dae.loc["all", "ties"]) == (pytest.approx(400 / 6), 1)
    assert (new.loc["all", "consistency"], new.loc["all", "ties"]) == (pytest.approx(200 / 6), 2)
    # Types alternate: entity 0 and 3, coreference 1 and 4, strange 2 and 5.
    expected = {
        "Intrinsic Entity Error": (0, 0),
        "Coreference Error": (0, 2),
        "Strange Error": (100, 0),
    }
    for error, (consistency, ties) in expected.items():
        row = new.loc[error]
        assert (row["pairs"], row["consistency"], row["ties"]) == (2, consistency, ties)
    assert dae.loc["Intrinsic Entity Error", "consistency"] == 50
    # References 2, 4 against edited 1, 3: three of four.
    assert new.loc["Strange Error", "area"] == 75


def test_intervals_draw_articles_with_all_their_pairs(results: Results[Summaries]) -> None:
    frame = results.frames[CONSISTENCY].query("error == 'all'").set_index("measure")
    new = results.scores.data.published["New"].to_numpy()
    preferred = new[::2] > new[1::2]
    articles = results.scores.data.table["article"][::2]
    drawn = [100 * preferred[taken].mean() for taken in drawn_rows(articles, 40)]
    assert ends(drawn) == (
        frame.loc["New", "consistency_low"],
        frame.loc["New", "consistency_high"],
    )


def test_tests_against_the_nearest_published_measure(results: Results[Summaries]) -> None:
    frame = results.frames[TESTS].query("column == 'mine:guess'").set_index("other")
    dae, new = frame.loc["published:DAE"], frame.loc["published:New"]
    # Over the five pairs that all score: guess prefers 0 to 3, DAE 0, 1 and 4, New 2 alone.
    assert (dae["difference"], dae["only_first"], dae["only_second"]) == (pytest.approx(20), 2, 1)
    assert (new["difference"], new["only_first"], new["only_second"]) == (pytest.approx(60), 3, 0)
    assert dae["p_mcnemar"] == 1
    assert new["p_mcnemar"] == pytest.approx(2 / 2**3)
    assert dae["nearest"]
    assert not new["nearest"]
    assert dae["difference_low"] <= 20 <= dae["difference_high"]
    guess, theirs = np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 1]])  # pairs that are preferred
    drawn = drawn_rows(["a", "a", "b", "b", "c"], 40)
    differences = [100 * (guess[taken].mean() - theirs[taken].mean()) for taken in drawn]
    assert ends(differences) == (dae["difference_low"], dae["difference_high"])
    less = min(sum(value <= 0 for value in differences), sum(value >= 0 for value in differences))
    assert dae["p_bootstrap"] == pytest.approx(min(1, 2 * (1 + less) / 41))
    (row,) = (row for row in rows(results.tables["bump-tests"]) if row["measure"] == "guess [mine]")
    assert row["nearest published"] == "DAE"


def test_one_article_has_no_interval_and_no_p_value_of_the_bootstrap() -> None:
    data = read(DATA / "bump", limit=1)
    guess = pd.DataFrame(data.keys, columns=["pair", "version"]).assign(guess=[1.0, 0.0, 1.0, 0.0])
    blocks = [published_block(data), own_block(guess, "mine")]
    tests = run(BENCHMARK, data, blocks, resamples=20).frames[TESTS]
    assert tests[["difference_low", "difference_high", "p_bootstrap"]].isna().all(axis=None)
    assert tests["p_mcnemar"].notna().all()

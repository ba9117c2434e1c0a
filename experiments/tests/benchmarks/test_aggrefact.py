"""Both layouts, detectors as printed, cells and flagged words against plain loops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from estime_metric.explanation import Evidence, Explanation, UnitVerdict
from estime_metric.studies.benchmarks.shared.benchmark import run
from estime_metric.studies.benchmarks.shared.own_scores import own_block
from experiments.benchmarks.accuracy import areas, choose_threshold
from experiments.benchmarks.aggrefact import BENCHMARK, data
from experiments.benchmarks.aggrefact.data import Place
from experiments.benchmarks.aggrefact.marked import locate, signals
from experiments.benchmarks.aggrefact.published import DETECTORS, TABLE_8
from experiments.benchmarks.detection import DETECTION, MEAN
from experiments.benchmarks.running import blocks_without_encoder
from experiments.benchmarks.words import judged_words
from experiments.tests.benchmarks.made import DATA, made_folder

#: The place that the made-up data have.
PLACE = Place("cnndm", "CLIFF", "recent")


@pytest.fixture
def authors(tmp_path: Path) -> Path:
    return made_folder(tmp_path / "AggreFact", "aggrefact")


VERDICT = {"m": "match", "a": "alarm", "-": "absent"}


def test_both_layouts_hold_the_same(authors: Path) -> None:
    theirs, lines = data.read(authors), data.read(DATA / "aggrefact-lines")
    columns = [
        "dataset",
        "origin",
        "document",
        "group",
        "split",
        "source",
        "summary",
        "label",
        "spans",
    ]
    pd.testing.assert_frame_equal(theirs.table[columns], lines.table[columns], check_dtype=False)
    assert (theirs.left_out, lines.left_out) == (1, 0)
    assert list(theirs.published) == list(DETECTORS)
    assert theirs.keys[0] == ("CLIFF/val000", "BART")
    assert len(set(theirs.keys)) == len(theirs)
    (
        authors / "data" / "aggre_fact_final.csv"
    ).unlink()  # CLIFF's list of errors suffices for CLIFF
    alone = data.read(authors)
    pd.testing.assert_frame_equal(alone.table[columns], lines.table[columns], check_dtype=False)


def test_a_document_that_a_system_summarized_twice_is_numbered(authors: Path) -> None:
    path = authors / "data" / "aggre_fact_final.csv"
    table = pd.read_csv(path).assign(id="one", model_name="T5")
    table.to_csv(path, index=False)
    assert data.read(authors).keys[:3] == [
        ("CLIFF/one", "T5"),
        ("CLIFF/one#2", "T5"),
        ("CLIFF/one#3", "T5"),
    ]


def test_accuracies_of_the_detectors_scores_are_the_printed_ones(authors: Path) -> None:
    summaries = data.read(authors)
    result = run(BENCHMARK, summaries, blocks_without_encoder(summaries), resamples=20)
    frame = result.frames[DETECTION].set_index("measure")
    for name, printed in TABLE_8.loc[PLACE, DETECTORS].items():
        assert round(frame.loc[name, "accuracy"], 3) == printed
        assert frame.loc[name, "accuracy_low"] < printed < frame.loc[name, "accuracy_high"]
    assert any(
        "at most 0.000 from what is printed" in note for note in result.tables["aggrefact"].notes
    )


def test_without_scores_the_printed_accuracies_stand_there() -> None:
    summaries = data.read(DATA / "aggrefact-lines")
    own = pd.DataFrame(summaries.keys, columns=["document", "system"]).assign(
        guess=summaries.table["label"] * 1.0
    )
    result = run(
        BENCHMARK,
        summaries,
        [*blocks_without_encoder(summaries), own_block(own, "mine")],
        resamples=20,
    )
    rows = {
        row[0]: row[1] for section in result.tables["aggrefact"].sections for row in section.rows
    }
    assert [rows[f"{name}, printed"] for name in DETECTORS] == list(TABLE_8.loc[PLACE, DETECTORS])
    assert rows["guess [mine]"] == 1
    frame = result.frames[DETECTION].set_index("measure")
    labels, test = summaries.table["label"].to_numpy(), summaries.table["split"] == "test"
    values = -np.array([len(text.split()) for text in summaries.summaries], dtype=float)
    row = frame.loc["(-)length"]
    assert row["threshold"] == choose_threshold(labels[~test], values[~test])
    predicted = values[test] > row["threshold"]
    assert row["accuracy"] == np.mean(
        [(predicted[labels[test] == label] == label).mean() for label in (0, 1)]
    )
    assert row["area"] == areas(labels[test], values[test])[0]


def test_the_mean_gives_each_cell_the_same_weight(authors: Path) -> None:
    path = authors / "data" / "aggre_fact_final.csv"
    table = pd.read_csv(path)
    second = table.assign(dataset="FRANK")
    second = second[(second["cut"] == "val") | (second.index % 2 == 0)]
    pd.concat([table, second]).to_csv(path, index=False)
    summaries = data.read(authors)
    result = run(BENCHMARK, summaries, blocks_without_encoder(summaries), resamples=5)
    frame = result.frames[DETECTION].set_index(["measure", "dataset"])
    first, two, mean = (frame.loc["DAE", name] for name in ("CLIFF", "FRANK", MEAN))
    assert (first["summaries"], mean["summaries"]) == (150, 150 + two["summaries"])
    assert mean["accuracy"] == pytest.approx((first["accuracy"] + two["accuracy"]) / 2)
    row = next(
        row
        for section in result.tables["aggrefact"].sections
        for row in section.rows
        if row[0] == "DAE"
    )
    assert mean["accuracy"] in row


def test_what_is_no_such_folder_is_refused(authors: Path, tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"to have aggre_fact_final.csv, or the folders cliff and frank"
    ):
        data.read(tmp_path / "nothing")
    path = authors / "data" / "aggre_fact_final.csv"
    pd.read_csv(path).drop(columns="cut").to_csv(path, index=False)
    with pytest.raises(ValueError, match="to have the column 'cut'"):
        data.read(authors)
    path.unlink()
    with pytest.raises(ValueError, match="`split` to be one of val, test"):
        data.of_split(data.read(authors), "valid")


def explained(text: str, verdicts: str, margins: list[float]) -> Explanation:
    """Words of one text with a verdict each; the best similarity is 10 throughout."""
    units, cursor, left = [], 0, iter(margins)
    for word, verdict in zip(text.split(), verdicts, strict=True):
        start = text.index(word, cursor)
        cursor = start + len(word)
        margin = None if verdict == "-" else next(left)
        units.append(
            UnitVerdict(start, cursor, VERDICT[verdict], Evidence(0, 1, 10.0), None, margin)
        )
    return Explanation(text, "x", tuple(units), "word", 1, "signature", {})


def test_signals_by_hand() -> None:
    explanations = [
        explained("Anna sold red boats today", "aamm-", [-4.0, -1.0, 2.0, 3.0]),
        explained("Peter slept well", "m-a", [1.0, -2.0]),
    ]
    words = judged_words(
        explanations, [locate(explanations[0].prediction, ["Anna", "boats", "today"]), []]
    )
    assert signals(words) == {
        "alarms": {"flagged": 3, "precision": 1 / 3, "recall": 1 / 3, "lift": (1 / 3) / (2 / 6)},
        "absent": {"flagged": 2, "precision": 1 / 2, "recall": 1 / 3, "lift": (1 / 2) / (3 / 8)},
        "both": {"flagged": 5, "precision": 2 / 5, "recall": 2 / 3, "lift": (2 / 5) / (3 / 8)},
    }
    assert words["margin"][:4].tolist() == [-0.4, -0.1, 0.2, 0.3]
    assert np.isnan(words["margin"][4])
    nothing = signals(words[:0])["alarms"]
    assert nothing["flagged"] == 0
    assert np.isnan(nothing["precision"])


def test_spans_are_found_in_order_as_whole_words() -> None:
    text = "three in thirty-three, then three ( 656 ft ) of art in parts"
    places = locate(text, ["then", "three", "art", "no such", "( 656 ft )", "thirt"])
    names = ["then", "three", "art", "( 656 ft )", "thirt"]
    assert [text[start:end] for start, end in places] == names
    assert places[1] == (28, 33)
    assert places[2][0] == text.index("art in")
    marked = judged_words([explained("par part", "mm", [1.0, 1.0])], [locate("par part", ["part"])])
    assert marked["marked"].tolist() == [False, True]
    with pytest.raises(
        ValueError, match="`places` to have one entry for each of 1 explanations, but got 0"
    ):
        judged_words([explained("a", "m", [1.0])], [])

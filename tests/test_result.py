"""Results: every measure from the statistics, in input order, with its signature."""

from __future__ import annotations

import math
import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from estime_metric import EstimeConfig, EstimeResult, EstimeScorer
from estime_metric.compare import read_scores
from estime_metric.measures import (
    BASE_MEASURES,
    MEASURES,
    STATISTICS,
)
from estime_metric.table.formats import WRITABLE
from estime_metric.table.intervals import source_id

CONFIG = EstimeConfig(model="m", revision="r", layers=(2, 5))


def statistics(**columns: list[list[float]]) -> torch.Tensor:
    """(pairs, layers, statistics), each column given as pairs of layers, with zeros for whatever is missing."""
    known = {name: torch.tensor(column, dtype=torch.float64) for name, column in columns.items()}
    zeros = torch.zeros_like(next(iter(known.values())))
    return torch.stack([known.get(name, zeros) for name in STATISTICS], dim=-1)


@pytest.fixture
def result() -> EstimeResult:
    counts = statistics(
        alarms=[[1, 2], [0, 0], [3, 0]],
        graded_alarms=[[1.5, 2], [0, 0], [2.5, 1]],
        new_words=[[0.2, 0.2], [1, 1], [0, 0]],
        new_trigrams=[[0.4, 0.4], [1, 1], [0.2, 0.2]],
        winners=[[4, 8], [0, 0], [9, 0]],
        overlap=[[4, 4], [0, 0], [5, 5]],
        tokens=[[6, 6], [2, 2], [8, 8]],
        ties=[[1, 0], [0, 0], [1, 3]],
    )
    return EstimeResult(counts, CONFIG)


def single(**columns: list[float]) -> EstimeResult:
    """A result of one layer, with zeros for whatever is missing."""
    table = {name: [[value] for value in column] for name, column in columns.items()}
    return EstimeResult(statistics(**table), EstimeConfig(model="m", revision="r", layers=5))


def test_values_are_the_callers_to_change(result: EstimeResult) -> None:
    with torch.inference_mode():  # as if scored there
        result = EstimeResult(result._statistics.clone(), CONFIG)
        inside = {measure: result.values(measure, 2) for measure in BASE_MEASURES}
    for measure, values in inside.items():
        expected = values.tolist()
        values += 1
        assert result.values(measure, 2).tolist() == pytest.approx(expected, nan_ok=True)


@pytest.mark.filterwarnings("ignore:.* is undefined")
@pytest.mark.parametrize(
    ("measure", "layer", "expected", "mean"),
    [
        ("alarm_rate", 2, [0.25, math.nan, 0.6], 0.425),
        ("winners", 5, [8, 0, 0], 8 / 3),
    ],
)
def test_values_of_each_layer_in_order(
    result: EstimeResult, measure: str, layer: int, expected: list[float], mean: float
) -> None:
    for values in (result.values(measure, layer), result[measure, layer]):
        assert values.tolist() == pytest.approx(expected, nan_ok=True)
    assert result.mean(measure, layer) == pytest.approx(mean)


def test_measures_are_attributes() -> None:
    result = single(alarms=[3, 1], overlap=[4, 2], tokens=[5, 2])
    typed = {name for name, kind in EstimeResult.__annotations__.items() if kind == "Tensor"}
    assert typed == MEASURES.keys()
    for name in BASE_MEASURES:
        assert getattr(result, name).equal(result[name]), name
    assert set(BASE_MEASURES) <= set(dir(result)) - {"soft"}
    assert pickle.loads(pickle.dumps(result)).alarms.tolist() == [3, 1]
    with pytest.raises(AttributeError, match=r"'alarm'\..* inconsistency, .* mean 'alarms'"):
        _ = result.alarm  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="`measures` to include 'soft' when"):
        _ = result.soft


def test_a_warning_for_each_measure_says_how_many_are_excluded_from_its_mean(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = single(alarms=[1, 0, 0, 0], overlap=[2, 0, 0, 0], tokens=[4, 3, 0, 0])
    assert result.mean("alarms") == 0.25  # every pair has a number of alarms
    message = "is undefined for 3 of 4 pairs.* no token that occurs in the source"
    with pytest.warns(UserWarning, match=f"alarm_rate {message}"):
        assert result.mean("alarm_rate") == 0.5
    assert result.mean("alarm_rate") == 0.5  # no second warning
    assert result.mean("unsupported_rate") == 0.9375  # (3 / 4 + 3) / 4
    assert (result.unchecked_indices, result.blank_indices) == ([1, 2, 3], [2, 3])
    monkeypatch.setitem(MEASURES, "other", replace(MEASURES["alarm_rate"], name="other"))
    with pytest.warns(UserWarning, match=f"other {message}"):
        result.mean("other")


@pytest.mark.parametrize(
    ("tokens", "sources", "line"),
    [
        ([4, 3, 0], "abc", "Blank summaries, inconsistency 1: 1 (index 2)"),
        (
            [0] * 12,
            "abcdefghijkl",
            "Blank summaries, inconsistency 1: 12 (index 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...)",
        ),
        (
            [4, 3],
            "ab",
            "Summaries without a token of their source, so nothing was checked: 1 (index 1)",
        ),
        ([4, 4], "aa", "There is only one source, so there are no intervals."),
    ],
)
def test_printing_it_says_what_is_missing_and_the_signature(
    tokens: list[float], sources: str, line: str
) -> None:
    overlap = [number * (number == 4) for number in tokens]
    made = single(tokens=tokens, overlap=overlap, alarms=[1.0] * len(tokens))
    lines = str(EstimeResult(made._statistics, made.config, list(sources))).splitlines()
    assert line in lines
    assert lines[-1] == str(made.signature)


def test_the_worst_come_first() -> None:
    config = EstimeConfig(model="m", layers=5, measures="coherence")
    columns = {"graded_alarms": [1.0, 3, 2, 3], "coherence": [0.5, -1, 1, 0]}
    result = EstimeResult(single(**columns, tokens=[1] * 4)._statistics, config)
    assert result.worst(9, "graded_alarms") == [1, 3, 2, 0]  # equal ones in their order
    assert result.worst(2, "coherence") == [1, 3]  # higher is better
    rates = single(alarms=[1, 0, 2], overlap=[4, 0, 4], tokens=[4, 4, 4])
    assert rates.worst(3, "alarm_rate") == [1, 2, 0]  # the second has no rate
    with pytest.raises(ValueError, match="`number` to be at least 0"):
        result.worst(-1)
    with pytest.raises(ValueError, match="`measure` to be one of"):
        result.worst(1, "tokens")


def test_it_explains_its_pairs_as_its_scorer_does(bert_folder: str) -> None:
    source = "The cat sat on the mat while the dog slept."
    options: dict[str, Any] = {"model": bert_folder, "layers": [1, 2], "distance": 3}
    scorer = EstimeScorer(device="cpu", **options)
    result = pickle.loads(pickle.dumps(scorer.score(["The cat.", "The dog sat."], [source] * 2)))
    assert result.explain(-1, layer=2) == scorer.explain("The dog sat.", source, layer=2)
    with pytest.raises(IndexError, match="`index` to be that of one of 2 pairs, but got 2"):
        result.explain(2, layer=1)
    with pytest.raises(ValueError, match="`layer` to be one of 1, 2"):
        result.explain(0)
    with pytest.raises(ValueError, match="a result with its texts to explain"):
        EstimeResult(result._statistics, result.config).explain(0)


def test_what_depends_on_a_layer_needs_one_of_several(result: EstimeResult) -> None:
    assert all(f"inconsistency_layer{layer} " in str(result) for layer in (2, 5))
    for layer, message in ((None, "2, 5, since several were read, but got None"), (3, "2, 5, but")):
        with pytest.raises(ValueError, match=f"`layer` to be one of {message}"):
            result.values("alarms", layer)
    with pytest.raises(
        ValueError, match=r"`measure` to be one of inconsistency, .*, but got 'alarm'"
    ):
        result.values("alarm", 2)
    with pytest.raises(TypeError, match="Expected the name of a measure, or a name and a layer"):
        result[5, "alarms"]  # type: ignore[index]
    with pytest.raises(AttributeError, match=r"`values\('alarms', layer\)` with one of 2, 5"):
        _ = result.alarms
    assert (result.ties(2), result.ties(5)) == (2, 3)


def test_no_pairs() -> None:
    empty = EstimeResult(torch.zeros(0, 2, len(STATISTICS), dtype=torch.float64), CONFIG)
    assert len(empty) == empty.ties(2) == len(empty.table()) == 0
    assert all(math.isnan(empty.mean(measure, 5)) for measure in empty.measures)
    assert re.search(r"alarms_layer5 +– +–", str(empty))


def test_flags_are_of_values_at_the_threshold_or_worse(result: EstimeResult) -> None:
    """As files have them: a threshold between a value and what is written of it flags the row."""
    values = result.table()["inconsistency_layer2"].tolist()
    limit = sorted(values)[1]
    assert result.flags(limit, layer=2).tolist() == [value >= limit for value in values]
    exact = result.values("inconsistency", 2)
    for value, rounded in zip(exact.tolist(), values, strict=True):
        if rounded > value:
            assert result.flags(rounded, layer=2)[exact == value].all()
    rates = result.values("alarm_rate", 2)
    assert (
        result.flags(1.0, "alarm_rate", 2).tolist() == rates.isnan().tolist()
    )  # nothing was checked
    assert result.flags(np.float64(limit), layer=2).equal(result.flags(limit, layer=2))


@pytest.mark.parametrize(
    ("threshold", "measure", "message"),
    [
        (math.nan, "inconsistency", "from 0 to 1, .* but got nan"),
        (1, "tokens", "`measure` to be one of"),
        (-1, "winners", "at least 0, as values of winners are, but got -1"),
    ],
)
def test_a_bad_threshold_is_refused(
    result: EstimeResult, threshold: Any, measure: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        result.flags(threshold, measure, 2)


def test_rows_have_the_base_measures_and_the_requested_ones() -> None:
    config = EstimeConfig(model="m", layers=5, measures="winners, soft")
    result = EstimeResult(statistics(**{name: [[2]] for name in STATISTICS}), config)
    assert result.measures == (*BASE_MEASURES, "winners", "soft")
    (row,) = result
    assert list(row) == list(result.columns()) == list(result.measures)
    assert list(result.columns(["overlap"])) == ["overlap"]
    assert row["winners"] == 2


@pytest.mark.parametrize("ending", WRITABLE)
def test_the_table_is_what_is_saved_and_read(
    result: EstimeResult, tmp_path: Path, ending: str
) -> None:
    sources, summaries = ["a b", "a b", "c"], ["x", "", "y"]
    result = EstimeResult(result._statistics / 3, CONFIG, sources, summaries)
    result.save(tmp_path / f"scores{ending}")
    saved, table = read_scores(tmp_path / f"scores{ending}"), result.table()
    assert saved.columns.tolist() == table.columns.tolist()
    for name in ("alarms_layer2", "alarm_rate_layer5"):
        assert saved[name].tolist() == pytest.approx(table[name].tolist(), nan_ok=True, abs=0)
    assert table["source_id"].tolist() == list(map(source_id, sources))
    assert table.attrs["record"] == {"signature": str(result.signature)}
    assert table["alarms_layer2"].tolist() == [0.333333, 0, 1]
    torch.set_default_device("meta")  # a device on which nothing can be calculated
    try:
        assert result.table().equals(table)
    finally:
        torch.set_default_device(None)
    texts = result.table(["alarms"], texts=True)
    assert texts[["source", "summary"]].to_numpy().T.tolist() == [sources, summaries]
    assert [name for name in texts if "layer" in name] == ["alarms_layer2", "alarms_layer5"]

"""Which of two systems is better, and when no verdict is given."""

from __future__ import annotations

import dataclasses
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric import EstimeConfig, EstimeResult, EstimeScorer
from estime_metric.comparison import compare_results, compare_rows
from estime_metric.comparison.verdicts import clusters_of
from estime_metric.measures import STATISTICS
from estime_metric.studies.meta import compare_paired
from tests.command import json_rows

A, B = [5, 3, 4, 6, 2, 7, 5, 4], [1, 3, 2, 4, 3, 2, 1, 0]


def rows(values: list, measure: str = "alarms", **further: list) -> list[dict]:
    columns = {measure: values, **further}
    return [
        {"id": index, "signature": "s", **{name: column[index] for name, column in columns.items()}}
        for index in range(len(values))
    ]


def test_the_numbers_are_those_of_the_paired_tests() -> None:
    found = compare_rows(rows(A), rows(B), n=300, confidence=0.8, seed=3)
    expected = compare_paired(A, B, higher_is_better=False, n=300, confidence=0.8, seed=3)
    assert found.pair("alarms").test == expected
    assert (found.examples, found.matched_by, found.signature) == (8, "id", "s")
    assert found.better("alarms") == "B"
    row = found.to_rows()[0]
    assert (row["mean_a"], row["mean_b"], row["difference"]) == (4.5, 2.0, 2.5)
    assert (row["low"], row["high"]) == (expected.bootstrap.low, expected.bootstrap.high)
    assert (row["a_better"], row["ties"], row["b_better"]) == (1, 1, 6)
    assert compare_rows(rows(A, "soft"), rows(B, "soft"), measures=["soft"]).better("soft") == "A"


def test_what_has_no_value_is_left_out_on_both_sides_and_told() -> None:
    a, b = [*A, math.nan, 1, None], [*B, 9, "", 9]
    found = compare_rows(rows(a), rows(b))
    of_known = compare_paired(A, B, higher_is_better=False)
    assert found.pair("alarms").test == dataclasses.replace(of_known, left_out=3)
    assert (
        "alarms: 3 of 11 examples are excluded because at least one of the two systems has no value."
        in found.notes
    )


def test_nothing_has_a_value() -> None:
    found = compare_rows(rows([math.nan] * 3), rows([1, 2, 3]))
    assert found.better("alarms") is None
    assert found.verdict("alarms") == "no example has a value on both sides"
    assert (found.to_rows()[0]["mean_a"], found.to_dict()["rankings"]["alarms"][0]["mean"]) == (
        None,
        None,
    )


def test_no_winner_where_little_was_checked() -> None:
    """Summaries of gibberish raise no alarm."""
    checked = rows(A, coverage=[0.95] * 8)
    found = compare_rows(checked, rows([0] * 8, coverage=[0.125] * 8))
    assert found.pair("alarms").test.better == "second"
    assert found.better("alarms") is None
    assert (
        found.verdict("alarms") == "no winner is declared: only 12% of the tokens of B were checked"
    )
    assert any("a low number of alarms does not mean" in note for note in found.notes)
    assert found.to_rows()[0]["better"] is None
    assert compare_rows(checked, rows([0] * 8, coverage=[0.5] * 8)).better("alarms") == "B"


def test_blank_summaries_win_nothing() -> None:
    """Eleven blank summaries and a copy raise no alarm; an honest system raises some."""
    honest = rows([1] * 12, tokens=[20] * 12, coverage=[0.9] * 12)
    blank = rows([0] * 12, tokens=[0] * 11 + [20], coverage=[None] * 11 + [1.0])
    found = compare_rows(honest, blank)
    assert [system.blank for system in found.systems] == [0, 11]
    assert (found.better("alarms"), found.to_rows()[0]["blank_b"]) == (None, 11)
    assert found.verdict("alarms") == (
        "no winner is declared: only 8% of the tokens of B were checked (11 summaries are blank)"
    )


def known(values: list) -> list[dict]:
    """Rows of different documents."""
    return rows(values, document=[f"d{index}" for index in range(len(values))])


def test_few_examples_are_pointed_out() -> None:
    notes = compare_rows(known([1, 2, 3, 4, 0]), known([2, 3, 4, 5, 0])).notes
    assert notes[0].startswith("There are only 5 examples.")
    assert notes[1] == "alarms: only 4 of 5 examples differ; significance needs at least 6."
    assert compare_rows(known([0, 1] * 30), known([1, 2] * 30)).notes == []
    assert compare_rows(rows([0] * 6), rows([1] * 6)).better("alarms") == "A"
    assert compare_rows(rows([0] * 5), rows([1] * 5)).better("alarms") is None


def test_the_default_measures_are_those_that_are_there() -> None:
    both = rows(A, inconsistency=[0.1] * 8), rows(B, inconsistency=[0.2] * 8)
    assert list(compare_rows(*both).pairs) == ["inconsistency", "alarms"]
    layers = (
        rows(A, "alarms_layer3", **{"alarms_layer4": A}),
        rows(B, "alarms_layer3", **{"alarms_layer4": A}),
    )
    assert list(compare_rows(*layers).pairs) == ["alarms_layer3", "alarms_layer4"]
    assert list(compare_rows(*layers, measures=["alarms_layer4"]).pairs) == ["alarms_layer4"]
    for values, measures, message in [
        (B, ["soft"], "a column 'soft' in A, but its columns are id, signature, alarms"),
        (B, ["tokens"], r"`measures` to name some of inconsistency, .* but got 'tokens'"),
        (["many"] * 8, None, "a number in column 'alarms', but got 'many'"),
    ]:
        with pytest.raises(ValueError, match=message):
            compare_rows(rows(A), rows(values), measures=measures)


SOURCES = [
    "The cat sat on the mat and the dog slept in the sun.",
    "Rain fell on the town. The river rose by night.",
]


def test_results_are_compared_in_order(bert_folder: str) -> None:
    scorer = EstimeScorer(model=bert_folder, window=60, margin=10, layers=[1, 2])
    a = scorer.score([source[:22] for source in SOURCES], SOURCES)
    b = scorer.score(["The sun fell on the dog and the river slept."] * 2, SOURCES)
    found = compare_results(a, b, measures=["alarms", "winners"])
    assert list(found.pairs) == [
        "alarms_layer1",
        "alarms_layer2",
        "winners_layer1",
        "winners_layer2",
    ]
    for layer in (1, 2):
        assert found.pair(f"alarms_layer{layer}").test.mean_first == pytest.approx(
            a.mean("alarms", layer)
        )
        assert found.pair(f"winners_layer{layer}").test.mean_second == pytest.approx(
            b.mean("winners", layer)
        )
    assert found.signature == scorer.signature
    overlap, tokens = b.values("overlap", 1), b.values("tokens", 1)
    assert found.systems[1].means["coverage"] == pytest.approx(float((overlap / tokens).mean()))
    with pytest.raises(ValueError, match="same sources, but got 2 and 1 pairs"):
        compare_results(a, scorer.score(["x"], ["x"]))
    assert (
        compare_results(a, b, a, measures=["alarms"])
        .verdict("alarms_layer1", "C", "A")
        .startswith("no significant")
    )


def test_scores_that_differ_by_rounding_are_ties(tmp_path: Path) -> None:
    """Equal summaries that were scored in another batch: 300 of 400."""
    rng = np.random.default_rng(0)
    statistics = torch.zeros(400, 1, len(STATISTICS), dtype=torch.float64)
    for name, low, high in (("tokens", 10, 30), ("overlap", 5, 10), ("graded_alarms", 0, 5)):
        values = torch.tensor(rng.uniform(low, high, 400))
        statistics[:, 0, STATISTICS.index(name)] = values
    other = statistics.clone()
    noise = torch.tensor(rng.uniform(-1e-5, 1e-5, 300))
    other[:300, 0, STATISTICS.index("graded_alarms")] += noise
    other[300:, 0, STATISTICS.index("graded_alarms")] += 1
    config = EstimeConfig(model="m", revision="r", layers=5)
    results = [EstimeResult(each, config) for each in (statistics, other)]
    a, b = (result.values("inconsistency") for result in results)
    assert int((a == b).sum()) < 150
    assert 0 < float((a - b).abs()[:300].max()) < 5e-7
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, result in zip(paths, results, strict=True):
        result.save(path)
    found = compare_results(*results, measures="inconsistency", n=200).pair("inconsistency").test
    assert (found.ties, found.better_first, found.better_second) == (300, 100, 0)
    of_files = compare_rows(*map(json_rows, paths), measures="inconsistency", n=200)
    test = of_files.pair("inconsistency").test
    assert (test.ties, test.better_first, test.better_second) == (300, 100, 0)


@settings(max_examples=150, deadline=None)
@given(
    count=st.integers(0, 6),
    differing=st.sets(
        st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda p: p[0] < p[1])
    ),
)
def test_clusters_are_the_maximal_sets_without_a_difference(
    count: int, differing: set[tuple[int, int]]
) -> None:
    names = [f"s{place}" for place in range(count)]
    pairs = [(names[i], names[j]) for i, j in differing if j < count]
    alike = [
        set(some)
        for size in range(1, count + 1)
        for some in itertools.combinations(names, size)
        if not any(set(pair) <= set(some) for pair in pairs)
    ]
    expected = {frozenset(one) for one in alike if not any(one < other for other in alike)}
    found = clusters_of(names, pairs)
    assert {frozenset(cluster) for cluster in found} == expected
    assert found == sorted(found)  # in the order of the names, as are their members
    assert all(list(cluster) == sorted(cluster) for cluster in found)

"""Summaries of one source are not independent: whole sources are drawn and swapped."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric import EstimeConfig, EstimeResult
from estime_metric.comparison import Comparison, compare_results, compare_rows, to_table
from estime_metric.comparison.rows import join_rows
from estime_metric.measures import STATISTICS
from estime_metric.studies.meta import (
    approximate_randomization,
    compare_paired,
    paired_bootstrap,
)

#: The source and the scores of two systems for each example.
examples_of_sources = st.lists(
    st.tuples(st.sampled_from("uvwxyz"), st.integers(0, 5), st.integers(0, 5)),
    min_size=1,
    max_size=14,
)


def result_of(alarms: Sequence[float], sources: Sequence[str] | None) -> EstimeResult:
    """A result with these alarms in summaries of ten tokens."""
    statistics = torch.zeros(len(alarms), 1, len(STATISTICS), dtype=torch.float64)
    for name, values in {
        "tokens": [10.0] * len(alarms),
        "overlap": [10.0] * len(alarms),
        "alarms": [float(value) for value in alarms],
    }.items():
        statistics[:, 0, STATISTICS.index(name)] = torch.tensor(values, dtype=torch.float64)
    return EstimeResult(statistics, EstimeConfig(model="m", revision="r", layers=5), sources)


def rows(values: Sequence[Any], **columns: Sequence[Any]) -> list[dict[str, Any]]:
    return [
        {"line": line, "alarms": value, "signature": "s"}
        | {name: column[line - 1] for name, column in columns.items()}
        for line, value in enumerate(values, start=1)
    ]


@given(examples=examples_of_sources)
@settings(max_examples=60, deadline=None)
def test_the_bootstrap_is_what_copied_sources_give(examples: list[tuple[str, int, int]]) -> None:
    sources, first, second = zip(*examples, strict=True)
    found = paired_bootstrap(first, second, groups=sources, n=150, confidence=0.8, seed=5)
    names = list(dict.fromkeys(sources))
    assert found.difference == pytest.approx(sum(first) / len(first) - sum(second) / len(second))
    if len(names) == 1:
        assert np.isnan([found.p_value, found.low, found.high]).all()
        return
    drawn = []
    for row in np.random.default_rng(5).integers(len(names), size=(150, len(names))):
        copies: list[int] = []
        for place in row:
            copies += [a - b for source, a, b in examples if source == names[place]]
        drawn.append(sum(copies) / len(copies))
    assert [found.low, found.high] == pytest.approx(list(np.quantile(drawn, [0.1, 0.9])), abs=1e-12)
    smaller = min(sum(each <= 0 for each in drawn), sum(each >= 0 for each in drawn))
    assert found.p_value == pytest.approx(min(1, 2 * (1 + smaller) / 151))


@given(examples=examples_of_sources)
@settings(max_examples=60, deadline=None)
def test_randomization_swaps_whole_sources(examples: list[tuple[str, int, int]]) -> None:
    sources, first, second = zip(*examples, strict=True)
    found = approximate_randomization(first, second, groups=sources)
    names = sorted(set(sources))
    drawn = []
    for swapped in itertools.product((False, True), repeat=len(names)):
        is_swapped = dict(zip(names, swapped, strict=True))
        drawn.append(sum((b - a if is_swapped[source] else a - b) for source, a, b in examples))
    observed = abs(sum(first) - sum(second))
    assert found.exact
    assert found.p_value == pytest.approx(sum(abs(each) >= observed for each in drawn) / len(drawn))


def test_random_swaps_of_sources_come_near_the_exact_value(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    sources = np.repeat(np.arange(14), 3)
    first, second = rng.normal(0.4, size=14)[sources], rng.normal(size=42)
    exact = approximate_randomization(first, second, groups=sources)
    monkeypatch.setattr("estime_metric.stats.paired._ENUMERATED", 0)
    drawn = approximate_randomization(first, second, groups=sources, n=20_000)
    assert (exact.trials, drawn.exact) == (2**14, False)
    assert drawn.p_value == pytest.approx(exact.p_value, abs=4 * np.sqrt(exact.p_value / 20_000))


@pytest.mark.parametrize("examples", [1, 2, 12, 40])
def test_sources_that_occur_once_change_nothing(examples: int) -> None:
    rng = np.random.default_rng(examples)
    first, second = rng.normal(size=examples), rng.normal(size=examples)
    names = [f"source {number}" for number in rng.permutation(examples)]
    options: dict[str, Any] = {"higher_is_better": False, "n": 700, "seed": 3}
    alone = compare_paired(first, second, **options)
    assert repr(compare_paired(first, second, groups=names, **options)) == repr(alone)
    sides = [rows(values.tolist()) for values in (first, second)]
    with_sources = [rows(values.tolist(), document=names) for values in (first, second)]
    plain, found = (
        compare_rows(*each, id_column="line", n=700).to_dict() for each in (sides, with_sources)
    )
    for numbers, count in ((plain, None), (found, examples)):
        assert [row.pop("sources") for row in numbers["pairs"]] == [count]
        assert numbers.pop("sources") == count
        del numbers["notes"]
    assert found == plain


def test_sums_that_cancel_are_no_difference() -> None:
    """0.1 + 0.2 - 0.3 is not 0 in floating point."""
    found = compare_paired(
        [0.1, 0.2, -0.3, 1.0], [0.0] * 4, higher_is_better=True, groups=["x", "x", "x", "y"]
    )
    assert (found.groups, found.groups_differing, found.examples) == (2, 1, 4)
    assert found.randomization.trials == 2


def test_groups_that_do_not_fit() -> None:
    for groups, error, message in [
        (["x"], ValueError, "`groups` to have a value for each of 2 examples, but got 1"),
        ([["x"], ["y"]], TypeError, "`groups` to contain hashable values, but got unhashable"),
    ]:
        for test in (paired_bootstrap, approximate_randomization):
            with pytest.raises(error, match=message):
                test([1, 2], [3, 4], groups=groups)


def test_an_example_without_a_score_leaves_the_others_of_its_source() -> None:
    first, second = [1.0, math.nan, 3.0, 5.0, 2.0], [0.0, 2.0, 1.0, math.nan, 2.5]
    options: dict[str, Any] = {"higher_is_better": False, "n": 300}
    found = compare_paired(first, second, groups="xxyzy", **options)
    known = compare_paired([1, 3, 2], [0, 1, 2.5], groups="xyy", **options)
    assert (found.groups, found.left_out) == (2, 2)
    assert (found.bootstrap, found.randomization) == (known.bootstrap, known.randomization)
    a, b = rows(first, document=list("xxyzy")), rows(second, document=list("xxyzy"))
    compared = compare_rows(a, b, n=300)
    assert compared.pair("alarms").test.bootstrap == found.bootstrap
    own = paired_bootstrap([1, 3, 2], [0, 0, 0], groups="xyy", n=300)
    ranked = {one.system.name: one for one in compared.ranking("alarms")}
    assert (ranked["A"].low, ranked["A"].high) == (own.low, own.high)


def no_true_difference(seed: int) -> Comparison:
    """Two systems that are equally good on average, but not on each of 20 sources, which have ten
    summaries each.
    """
    rng = np.random.default_rng(seed)
    sources = [f"source {number // 10}" for number in range(200)]
    sides = [rng.poisson(np.repeat(rng.gamma(9.0, 1.0, 20), 10)).tolist() for _ in range(2)]
    return compare_results(
        *(result_of(alarms, sources) for alarms in sides), measures="alarms", n=300, seed=seed
    )


def test_systems_that_do_not_differ_are_rarely_called_different() -> None:
    """At a level of 5%, more than 8 of 60 would be called different in 0.3% of the cases. If single
    summaries were swapped and drawn, it would be 25.
    """
    found = [no_true_difference(seed).pair("alarms").test for seed in range(60)]
    assert sum(one.better is not None for one in found) <= 8
    assert sum(one.bootstrap.p_value < 0.05 for one in found) <= 8
    assert sum(not one.bootstrap.low <= 0 <= one.bootstrap.high for one in found) <= 8


def test_intervals_are_those_of_the_result() -> None:
    rng = np.random.default_rng(3)
    sources = [f"source {number // 10}" for number in range(600)]
    alarms = rng.poisson(np.repeat(rng.gamma(4.0, 2.0, 60), 10)).tolist()
    result = result_of(alarms, sources)
    found = compare_results(result, result_of(alarms[::-1], sources), measures="alarms", n=2000)
    ranked = next(one for one in found.ranking("alarms") if one.system.name == "A")
    own = result.interval("alarms")
    width = own.high - own.low
    assert (ranked.low, ranked.high) == pytest.approx((own.low, own.high), abs=0.1 * width)
    alone = compare_results(
        result_of(alarms, None), result_of(alarms[::-1], None), measures="alarms", n=2000
    ).ranking("alarms")[0]
    assert alone.high - alone.low < 0.6 * width


def test_rows_in_any_order_have_the_same_sources() -> None:
    rng = np.random.default_rng(4)
    sources, ids = [f"text {n // 4}" for n in range(48)], [n % 4 for n in range(48)]
    sides = [rows(rng.integers(0, 9, 48).tolist(), source=sources, id=ids) for _ in range(2)]
    found = compare_rows(*sides, n=400)
    assert (found.matched_by, found.number_of_sources) == ("source, id", 12)
    for side in sides:
        random.Random(7).shuffle(side)
    assert compare_rows(*sides, n=400).to_dict() == found.to_dict()
    by_hand = compare_paired(
        *([row["alarms"] for row in sorted(side, key=key)] for side in sides),
        groups=[row["source"] for row in sorted(sides[0], key=key)],
        higher_is_better=False,
        n=400,
    )
    assert found.pair("alarms").test == by_hand


def key(row: dict[str, Any]) -> tuple[str, str]:
    return row["source"], str(row["id"])


@pytest.mark.parametrize(
    ("columns", "options", "expected"),
    [
        ({"source": "ttuu", "document": "wxyz", "id": "1234"}, {}, "ttuu"),
        ({"url": "ttuu", "id": "1234"}, {"source_column": "url"}, "ttuu"),
        ({"doc_id": "ttuu", "id": "1234"}, {}, "ttuu"),
        ({"document": [7, 7, 8, 8]}, {}, "7788"),
        ({"id": "ttuu"}, {}, "ttuu"),  # joined by line
        ({"id": [0, 0, 1, 1]}, {}, "0011"),
        ({"id": "1234"}, {}, None),
        ({}, {}, None),
        ({"document": ["t", "t", None, ""]}, {"id_column": "line"}, None),
    ],
)
def test_which_column_identifies_the_source(
    columns: dict[str, Sequence[Any]], options: dict[str, Any], expected: str | None
) -> None:
    side = rows([1, 2, 3, 4], **columns)
    found = join_rows([side, side], "AB", **options).sources
    assert found == (None if expected is None else tuple(expected))


def test_one_system_knows_the_sources() -> None:
    bare, full = rows([1, 2, 3], id="abc"), rows([1, 2, 3], id="abc", source="xyx")
    assert join_rows([bare, full], "AB").sources == ("x", "y", "x")


def test_what_is_known_of_the_sources_is_noted() -> None:
    values = [(n * 7) % 5 for n in range(80)]
    repeated = rows(values, document=[n // 2 for n in range(80)])
    assert compare_rows(repeated, repeated).notes[0] == (
        "The 80 examples have 40 different sources. Summaries of one source are not independent, so "
        "the tests draw and swap whole sources."
    )
    unknown = rows(values, id=range(80))
    (note,) = compare_rows(unknown, unknown).notes
    assert note.startswith("The sources are not known, so each example is treated as independent.")
    few = compare_rows(
        rows(values, document=[n // 16 for n in range(80)]),
        rows([value + 1 for value in values], document=[n // 16 for n in range(80)]),
    )
    assert few.notes[0].startswith("There are only 5 different sources.")
    assert "alarms: only 5 of 5 sources differ; significance needs at least 6." in few.notes
    assert few.better("alarms") is None
    one = compare_rows(rows([1, 2], document="xx"), rows([2, 2], document="xx"))
    assert one.notes[0] == (
        "All examples have the same source, so there are no intervals, and no difference can be "
        "significant."
    )
    assert not any("different source" in note for note in one.notes)


def test_results_about_different_sources_are_refused() -> None:
    sources = ["x", "y", "z" * 100]
    one, two = result_of([1, 2, 3], sources), result_of([1, 2, 3], sources[::-1])
    unknown = result_of([1, 2, 3], None)
    message = "same sources in the same order, but at index 0 A has 'x' and C has 'z{59}…'"
    with pytest.raises(ValueError, match=message):
        compare_results(one, unknown, two, measures="alarms")
    with pytest.raises(ValueError, match="but at index 0 old has 'x' and new has 'z"):
        compare_results(one, two, names=["old", "new"])
    assert compare_results(unknown, two, measures="alarms").sources == tuple(sources[::-1])
    assert compare_results(unknown, unknown, measures="alarms").sources is None


def test_blank_sources_are_one_source() -> None:
    result = result_of([1, 2, 3], ["", "x", ""])
    assert compare_results(result, result, measures="alarms").number_of_sources == 2


def test_one_example_has_neither_an_interval_nor_a_significant_difference() -> None:
    found = compare_results(result_of([3], ["x"]), result_of([4], ["x"]), measures="alarms", n=100)
    test = found.pair("alarms").test
    assert (test.bootstrap.difference, test.randomization.p_value) == (-1, 1)
    assert np.isnan([test.bootstrap.p_value, test.bootstrap.low, test.bootstrap.high]).all()
    assert all(np.isnan([one.low, one.high]).all() for one in found.ranking("alarms"))
    (row,) = found.to_rows()
    assert (row["low"], row["high"], row["p_bootstrap"], row["p_randomization"]) == (
        None,
        None,
        None,
        1,
    )
    cells = dict(to_table(found).sections[0].rows)
    assert (cells["95% interval"], cells["p, paired bootstrap"], cells["to"]) == ("–", "–", "–")
    assert cells["A - B"] == "-1.0000"
    assert found.notes == [
        "There is only one example, so there are no intervals, and no difference can be significant.",
        "alarms: only 1 of 1 examples differ; significance needs at least 6.",
    ]

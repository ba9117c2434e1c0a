"""The numbers of a comparison, against a computation that shares nothing with the package."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from estime_metric.compare import (
    compare_scores,
    notes,
    to_dict,
    to_rows,
)
from estime_metric.compare.examples import PROPERTIES
from estime_metric.compare.pairwise import COVERAGE_GAP
from estime_metric.compare.plot import plot_copying
from estime_metric.wording.source import novelty
from tests.compare.tables import compared, result_of, table

NAMES = ["copier", "lead", "abstractor", "bart", "t5"]
EXAMPLES = 60


@pytest.fixture(scope="module")
def scores() -> np.ndarray:
    """Alarms of five systems for the same sources: easy and hard ones, ties, two systems that are
    alike.
    """
    rng = np.random.default_rng(0)
    hard = rng.gamma(2, 1, EXAMPLES)
    return np.stack([rng.poisson(hard * factor) for factor in (0.3, 0.95, 2.2, 1.0, 1.3)])


def tables_of(scores: np.ndarray, *, shuffled: bool = False) -> dict[str, Any]:
    tables = {}
    for name, values in zip(NAMES, scores, strict=True):
        rows = table(alarms=values.tolist(), tokens=40, coverage=0.9, copied_density=len(name))
        tables[name] = rows.sample(frac=1, random_state=len(name)) if shuffled else rows
    return tables


def mean_difference(first: np.ndarray, second: np.ndarray, axis: int) -> np.ndarray:
    return (first - second).mean(axis=axis)


@pytest.mark.parametrize("baseline", [None, 3])
def test_every_two_systems_or_each_with_a_baseline(
    scores: np.ndarray, baseline: int | None
) -> None:
    """Against a test of scipy, and Holm's rule."""
    pairs = list(itertools.combinations(range(5), 2))
    if baseline is not None:
        pairs = [(baseline, other) for other in range(5) if other != baseline]
    name = None if baseline is None else NAMES[baseline]
    comparison = compare_scores(tables_of(scores), measures="alarms", baseline=name)
    shuffled = tables_of(scores, shuffled=True)
    again = compare_scores(shuffled, measures="alarms", baseline=name)
    assert to_dict(again) == to_dict(comparison)
    ranked = [NAMES[index] for index in np.argsort(scores.mean(axis=1))]
    assert comparison.ranking("alarms") == ranked
    rows = to_rows(comparison)
    assert [(row["system_a"], row["system_b"]) for row in rows] == [
        (NAMES[i], NAMES[j]) for i, j in pairs
    ]
    least = 0.0
    for rank, row in enumerate(sorted(rows, key=lambda row: row["p_value"])):
        both = [scores[NAMES.index(row[f"system_{side}"])].astype(float) for side in "ab"]
        test = stats.permutation_test(
            both, mean_difference, permutation_type="samples", n_resamples=20_000, random_state=1
        )
        assert row["p_value"] == pytest.approx(test.pvalue, abs=0.01)
        least = max(least, min(1.0, (len(rows) - rank) * row["p_value"]))
        assert row["p_holm"] == pytest.approx(least)
        differences = both[0] - both[1]
        assert row["difference"] == pytest.approx(differences.mean())
        assert [row["a_better"], row["ties"], row["b_better"]] == [
            int((np.sign(differences) == sign).sum()) for sign in (-1, 0, 1)
        ]


def test_means_are_those_of_the_result(scores: np.ndarray) -> None:
    """With their intervals, by source."""
    sources = [f"source {number // 3}" for number in range(EXAMPLES)]
    results = {
        name: result_of(values, sources) for name, values in zip("AB", scores[:2], strict=True)
    }
    comparison = compare_scores({name: result.table() for name, result in results.items()})
    means = comparison.means.query("measure == 'alarms'").set_index("system")
    for name, result in results.items():
        assert means.loc[name, ["mean", "low", "high", "count"]].to_dict() == vars(
            result.interval("alarms")
        )
    assert comparison.sources == EXAMPLES // 3
    alone = compared(*(result_of(values).table() for values in scores[:2]), id_column="line")
    assert alone.sources is None


def test_an_example_without_a_value_is_excluded_for_all() -> None:
    nan = float("nan")
    comparison = compared(
        table(alarms=[1.0, nan, 3.0, 5.0]),
        table(alarms=[0.0, 2.0, 1.0, pd.NA]),
        table(alarms=[9.0, 9, 9, 5.0]),
    )
    row = to_rows(comparison)[0]
    assert [row[name] for name in ("examples", "left_out", "mean_a", "mean_b")] == [2, 2, 2.0, 0.5]
    assert comparison.means["mean"].tolist() == [2.0, 0.5, 9.0]
    assert comparison.means["count"].tolist() == [2, 2, 2]
    nothing = to_rows(compared(table(alarms=[nan, nan]), table(alarms=[1.0, 2.0])))[0]
    assert [nothing[name] for name in ("mean_a", "low", "p_holm", "better_score")] == [None] * 4


@pytest.mark.parametrize(
    ("measure", "rounding"),
    [("inconsistency", 0.9e-6), ("alarms_adjusted", 200 * 1.4e-6), ("graded_alarms", 200 * 5e-6)],
)
def test_scores_that_differ_by_rounding_are_ties(measure: str, rounding: float) -> None:
    """Equal pairs in other batches: of a count, rounding moves each of 200 tokens."""
    values = np.random.default_rng(0).uniform(0, 1, 22)
    moved = values + rounding * np.linspace(-1, 1, 22)
    a, b = (table(**{measure: scores.tolist()}, tokens=200) for scores in (values, moved))
    (row,) = to_rows(compared(a, b, measures=measure))
    assert [row[name] for name in ("ties", "p_value")] == [22, 1]
    apart = table(**{measure: (values + 0.01).tolist()}, tokens=200)
    assert to_rows(compared(a, apart, measures=measure))[0]["better_score"] == "A"


def test_a_difference_whose_interval_includes_0_is_none() -> None:
    """Two outliers: p is .0475, but many resamples have one of them more than once."""
    b = [0.3, 0.8, -2.3, 0.8, 0.9, -0.1, 0.7, 0.7, 1.0, 0.5, 0.4, 0.9, 0.0, 0.9, 0.5, 0.9]
    comparison = compared(table(mine=[0.0] * 16), table(mine=b), measures="mine", lower="mine")
    (row,) = to_rows(comparison)
    assert row["p_holm"] < 0.05
    assert row["low"] < 0 < row["high"]
    assert row["better_score"] is None


def test_any_column_of_numbers_can_be_compared() -> None:
    """ROUGE of others and a detector's verdict, from files without a signature."""
    rouge = np.random.default_rng(0).uniform(0.2, 0.4, 20)
    a = table(rouge=rouge.tolist(), verdict=[True] * 20).drop(columns="signature")
    b = a.assign(rouge=(rouge + 0.1).astype(str), verdict="false", tokens="many")
    comparison = compared(a, b, measures="rouge, verdict", higher="rouge", lower="verdict")
    assert comparison.pairs["better_score"].tolist() == ["B", "B"]
    assert comparison.signature == ""
    assert comparison.ranking("rouge") == ["B", "A"]
    assert comparison.systems[["blank", *PROPERTIES]].isna().all(axis=None)


def test_the_copying_is_computed_from_texts_that_are_there() -> None:
    sources = [f"The council of town {number} closed the old bridge." for number in range(12)]
    copies, words = [source[:-1] for source in sources], ["It shut."] * 11 + [""]
    a, b = (
        table(source=sources, summary=summaries, mine=1.0).drop(columns="signature")
        for summaries in (copies, words)
    )
    systems = compared(a, b, measures="mine").systems
    expected = [np.mean(novelty(texts, sources)["copied_density"]) for texts in (copies, words)]
    assert systems["copied_density"].tolist() == pytest.approx(expected)
    assert systems["blank"].tolist() == [0, 1]
    twice = pd.concat([a[6:], a[:6]]).set_axis([*range(6), *range(6)])  # each label two times
    again = compared(twice, b, measures="mine").tables["A"]["copied_density"]
    assert again.tolist() == novelty(copies, sources)["copied_density"]
    a["copied_density"] = 99.0  # a column of one's own with that name is another one
    (row,) = to_rows(compared(a, b, measures="copied_density"))  # needs no scores either
    for name in ("mean", "copied_density"):
        assert (row[f"{name}_a"], row[f"{name}_b"]) == pytest.approx(expected)
    assert (row["better_score"], row["p_value"] < 0.05) == (None, True)  # it has no direction
    partly = compared(a, b.assign(summary=[*words[:11], None]), measures="mine").systems
    assert partly.loc["B", "copied_density"] == pytest.approx(
        np.mean(novelty(words[:11], sources[:11])["copied_density"])
    )


def test_columns_may_be_named_by_integers() -> None:
    a = table(alarms=[1, 2]).assign(**{"note": "x"}).rename(columns={"note": 0})
    assert compared(a, a).measures == ["alarms"]


def test_summaries_of_one_source_are_drawn_and_swapped_together(scores: np.ndarray) -> None:
    """Ten equal summaries of each source say as much as one."""
    sources = [f"source {number}" for number in range(EXAMPLES)]
    once, tenfold = (
        compared(
            *(
                table(source=sources * times, alarms=alarms.tolist() * times)
                for alarms in scores[:2]
            )
        )
        for times in (1, 10)
    )
    columns = ["difference", "low", "high", "p_value", "units"]
    assert tenfold.pairs[columns].equals(once.pairs[columns])
    assert tenfold.examples == 10 * once.examples


def test_the_default_measures_are_those_that_are_there() -> None:
    both = table(alarms=[1, 2], inconsistency=[0.1, 0.2], soft=[1.0, 0.9])
    assert compared(both, both).measures == ["inconsistency", "alarms"]
    layers = table(alarms_layer3=[1, 2], alarms_layer4=[1, 2])
    assert compared(layers, layers).measures == ["alarms_layer3", "alarms_layer4"]
    assert compared(layers, layers, measures=["alarms_layer4"]).measures == ["alarms_layer4"]
    soft = layers.assign(soft_layer3=0.5)
    assert compared(soft, soft, measures="soft", higher="soft").higher_is_better == {
        "soft_layer3": True
    }
    twice = compared(layers, layers, measures=["alarms", "alarms_layer4"])
    assert twice.pairs["measure"].tolist() == ["alarms_layer3", "alarms_layer4"]


def test_what_was_hardly_checked_ranks_last_where_only_checked_tokens_count() -> None:
    comparison = compared(
        table(alarms=[3] * 9, inconsistency=[0.3] * 9, coverage=0.9),
        table(alarms=[0] * 9, inconsistency=[0.9] * 9, coverage=0.2),
        table(alarms=[1] * 9, inconsistency=[0.1] * 9, coverage=0.9 - COVERAGE_GAP),
    )
    assert comparison.ranking("alarms") == ["C", "A", "B"]
    assert comparison.ranking("inconsistency") == ["C", "A", "B"]
    assert comparison.systems.loc["B", "coverage"] == pytest.approx(0.2)


def test_the_plot_shows_every_system_and_its_mean(scores: np.ndarray) -> None:
    tables = tables_of(scores)
    (axes,) = plot_copying(compare_scores(tables), "alarms").axes
    assert {text.get_text() for text in axes.texts} == set(NAMES)
    assert not any(text.get_parse_math() for text in axes.texts)  # "$" in a name
    points = {tuple(point) for point in axes.collections[-1].get_offsets().round(6).tolist()}
    assert points == {
        (len(name), round(float(values.mean()), 6))
        for name, values in zip(NAMES, scores, strict=True)
    }
    bare = {name: rows.drop(columns="copied_density") for name, rows in tables.items()}
    with pytest.raises(ValueError, match="'copied_density' for the plot, but copier has none"):
        plot_copying(compare_scores(bare), "alarms")


@pytest.mark.parametrize(
    ("b", "options", "message"),
    [
        (
            {"signature": "other"},
            {},
            r"to have the same signature, (.|\n)*A: ESTIME\|made\n  B: other",
        ),
        ({"signature": ["x", "y"]}, {}, r"(.|\n)*B: x\n  B: y"),
        ({"signature": [None, "x"]}, {}, "'signature' in each row of B, but line 1 has none"),
        ({"alarms": ["many", 2]}, {}, "'alarms' of B to contain finite numbers, but line 1 has"),
        ({"alarms": [1, float("inf")]}, {}, "finite numbers, but line 2 has inf"),
        (
            {"mine": [1, 2]},
            {"measures": ["copyed"]},
            "'copyed' in A, but its columns are source, .*, mine. Did you mean 'copied_density'",
        ),
        (
            {},
            {"measures": "alarms", "higher": "alarms"},
            "`higher` to name columns in which higher is better, but in alarms lower is better",
        ),
        (
            {"tokens": 1},
            {"measures": "tokens", "lower": "tokens"},
            "in which lower is better, but in tokens neither is",
        ),
        (
            {"mine": 1},
            {"measures": "mine", "higher": "mine", "lower": "mine"},
            "in only one of `higher` and `lower`, but got 'mine' in both",
        ),
        ({}, {"higher": "hhem"}, "columns, which are alarms, but got 'hhem'. Add it to `measures`"),
        ({}, {"baseline": "Z"}, "`baseline` to be one of A, B, but got 'Z'"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    b: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    a = table(alarms=[1, 2], tokens=3, mine=4)
    with pytest.raises(ValueError, match=message):
        compared(a, a.assign(**b), **options)
    with pytest.raises(ValueError, match="two systems or more, but got 1"):
        compared(a)


@pytest.mark.parametrize(("scale", "differs"), [(1e-9, 1e-9), (1e300, 1e299)])
def test_numbers_of_others_have_any_size(scale: float, differs: float) -> None:
    """Differences, intervals and p-values are those of the same numbers near 1."""
    rng = np.random.default_rng(3)
    a = rng.random(24)
    b = a + differs / scale * (1 + rng.normal(0, 0.3, 24))
    near_1, scaled = (
        compared(*(table(x=(values * size).tolist()) for values in (a, b)), measures="x", lower="x")
        for size in (1.0, scale)
    )
    (row,), (expected,) = to_rows(scaled), to_rows(near_1)
    for name in ("difference", "low", "high", "mean_a", "mean_b"):
        assert row[name] == pytest.approx(expected[name] * scale, rel=1e-6)
    assert (row["better_score"], row["p_value"]) == ("A", expected["p_value"])
    assert row["difference"] == pytest.approx(np.mean(a - b) * scale)


def test_a_column_of_others_never_describes_a_system() -> None:
    """Nor is its name that of an end of another's interval."""
    further = {"summaries": 3, "system": 4.0, "ppl": [5.0, 6, 7], "ppl_low": 0.5, "blank": 1}
    a = table(**further, copied_density=99).drop(columns="signature")
    b = a.assign(ppl=[7.0, 8, 9])
    comparison = compared(a, b, measures="ppl, ppl_low, summaries, system", lower="ppl")
    assert comparison.means["mean"].tolist() == [6, 8, 0.5, 0.5, 3, 3, 4, 4]
    assert comparison.systems["summaries"].tolist() == [3, 3]
    assert comparison.systems[["blank", "copied_density"]].isna().all(axis=None)
    with pytest.raises(
        ValueError, match="'blank' in A to be computed by ESTIME, but it is a column of"
    ):
        compared(a, b, measures="blank")
    scores = [table(blank=[flag] * 8, new_numbers=[1 - flag] * 8, tokens=9) for flag in (0, 1)]
    both = compared(*scores, measures="blank, new_numbers")
    assert both.pairs["better_score"].tolist() == [None, None]
    assert both.pairs["why_not"].tolist() == ["", "8 of 8 summaries of B are blank"]


def test_without_a_direction_nothing_is_better() -> None:
    a, b = table(x=[0.5] * 9), table(x=[0.9] * 9)
    comparison = compared(a, b, measures="x")
    (row,) = to_rows(comparison)
    assert (row["better_score"], row["a_better"], row["ties"]) == (None, None, 0)
    assert row["p_value"] < 0.05
    assert any(line.startswith("x has no direction") for line in notes(comparison))


def test_the_direction_and_the_p_value_are_of_the_same_numbers() -> None:
    """The raw means favor the other system, but only by scores that count as equal."""
    a, b = [0.0] * 10 + [1e-6] * 200, [5e-6] * 10 + [0.0] * 200
    tables = (table(new_words=values) for values in (a, b))
    (row,) = to_rows(compared(*tables, measures="new_words"))
    assert [row[name] for name in ("a_better", "ties", "b_better")] == [10, 200, 0]
    assert row["mean_a"] > row["mean_b"]
    assert (row["better_score"], round(row["p_holm"], 3)) == ("A", 0.002)


def test_a_column_is_compared_by_its_name_only() -> None:
    tables = {name: pd.DataFrame({"id": range(3), 0: range(3)}) for name in "AB"}
    with pytest.raises(TypeError, match="`measures` to contain only names, but got 0"):
        compare_scores(tables, measures=[0], id_column="id")  # type: ignore[list-item]

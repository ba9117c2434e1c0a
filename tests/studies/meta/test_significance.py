"""Intervals and significance, against copied rows and the textbook's formula."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from estime_metric.studies import meta
from estime_metric.studies.meta import (
    Grid,
    bootstrap,
    bootstrap_difference,
    compare_all,
)
from estime_metric.studies.meta.grid import by_system
from estime_metric.studies.meta.resampling import draw, resampled
from estime_metric.studies.meta.significance import (
    TESTS,
    williams,
    williams_test,
)
from estime_metric.table.significance import holm
from tests.studies.meta import oracle
from tests.studies.meta.conftest import grid_of, made_up


def lacking(grid: Grid, excluded: np.ndarray, measure: str = "m") -> Grid:
    """The grid without some of its summaries."""
    sides = (np.where(excluded, np.nan, side) for side in (grid.scores, grid.judgements))
    return grid_of(*sides, measure)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("kind", meta.RESAMPLES)
@pytest.mark.parametrize(
    ("steps", "gaps"), [(2, 0), (5, 0), (5, 0.6)], ids=["many ties", "few ties", "gaps"]
)
def test_weights_equal_copied_rows(kind: str, seed: int, steps: int, gaps: float) -> None:
    grid = made_up(seed=seed, steps=steps)
    grid = lacking(grid, np.random.default_rng(seed).random(grid.scores.shape) < gaps)
    computed = resampled(grid, draw(grid.scores.shape, kind, 8, seed), meta.LEVELS, meta.METHODS)
    for index, (scores, judgements) in enumerate(
        oracle.resample(grid.scores, grid.judgements, kind, 8, seed)
    ):
        for level in oracle.LEVELS:
            expected = [
                oracle.value(scores, judgements, level, method) for method in oracle.METHODS
            ]
            np.testing.assert_allclose(
                computed[level][:, index], expected, rtol=0, atol=1e-12, err_msg=level
            )


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bootstrap(made_up(), n=50)
    monkeypatch.setattr("estime_metric.studies.meta.resampling._TOGETHER", 7 * 54)
    pd.testing.assert_frame_equal(
        bootstrap(made_up(), n=50), whole, check_exact=False, rtol=0, atol=1e-12
    )


def test_the_table_holds_quantiles_of_the_resamples() -> None:
    grid = made_up()
    computed = bootstrap(grid, levels=["pairwise", "system"], methods=["kendall_b"], n=60, seed=4)
    assert list(computed["level"]) == ["pairwise", "system"]
    assert list(computed["groups"]) == [9, 1]
    for _, row in computed.iterrows():
        drawn = [
            oracle.value(x, y, row["level"], "kendall_b")
            for x, y in oracle.resample(grid.scores, grid.judgements, "both", 60, 4)
        ]
        assert row["value"] == pytest.approx(
            oracle.value(grid.scores, grid.judgements, row["level"], "kendall_b")
        )
        assert [row["low"], row["high"]] == pytest.approx(
            list(np.nanquantile(drawn, [0.025, 0.975]))
        )
        assert row["undefined"] == np.isnan(drawn).sum()


def test_each_system_has_its_own_correlation() -> None:
    grid = made_up(12, 5, seed=2)
    computed = meta.evaluate_all(by_system(grid), levels=["summary"], methods=["kendall_b"], n=1)
    groups = oracle.groups(grid.scores, grid.judgements, "intra_system", "kendall_b")
    expected = [oracle.correlation(*group, "kendall_b") for group in groups]
    assert list(computed["value"]) == pytest.approx(expected)


def rivals(documents: int = 9, systems: int = 6, seed: int = 0) -> tuple[Grid, Grid]:
    """A measure and one that follows the judgements less, in other units."""
    first = made_up(documents, systems, seed)
    noise = np.random.default_rng(seed + 100).normal(size=first.scores.shape) * 4
    return first, grid_of(np.round(first.judgements * 5 + noise * 5), first.judgements, "other")


@pytest.mark.parametrize("level", oracle.LEVELS)
@pytest.mark.parametrize("method", ["kendall_b", "spearman", "accuracy"])
def test_differences_are_resampled_in_pairs(level: str, method: str) -> None:
    first, second = rivals()
    computed = bootstrap_difference(first, second, level=level, method=method, n=40, seed=2)
    samples = [
        oracle.resample(each.scores, each.judgements, "both", 40, 2) for each in (first, second)
    ]
    drawn = np.subtract(
        *[[oracle.value(*tables, level, method) for tables in some] for some in samples]
    )
    known = drawn[~np.isnan(drawn)]
    assert computed.undefined == len(drawn) - len(known)
    assert [computed.low, computed.high] == pytest.approx(list(np.quantile(known, [0.025, 0.975])))
    smaller = min((known <= 1e-12).sum(), (known >= -1e-12).sum())
    assert computed.p_value == pytest.approx(min(1, 2 * (1 + smaller) / (1 + len(known))))
    assert computed.first_value == pytest.approx(
        oracle.value(first.scores, first.judgements, level, method)
    )
    assert computed.difference == computed.first_value - computed.second_value


@pytest.mark.parametrize("level", oracle.LEVELS)
def test_a_measure_does_not_differ_from_itself_in_other_units(level: str) -> None:
    first = made_up(20, 8)
    again = grid_of(first.scores * 100 - 3, first.judgements)
    for method in ("pearson", "kendall_b"):
        assert bootstrap_difference(first, again, level=level, method=method, n=100).p_value == 1
    if level in ("system", "summary"):
        assert williams_test(first, again, level=level).p_value == 1


def test_williams_is_the_textbook_formula() -> None:
    for first, second, between, n in [
        (0.4, 0.5, 0.1, 103),
        (0.9, 0.7, 0.6, 16),
        (-0.2, 0.3, 0.5, 40),
    ]:
        determinant = np.linalg.det([[1, first, second], [first, 1, between], [second, between, 1]])
        mean = (first + second) / 2
        t = (first - second) * np.sqrt(
            (n - 1)
            * (1 + between)
            / (2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - between) ** 3)
        )
        computed = williams(first, second, between, n)
        assert computed == pytest.approx((t, 2 * stats.t.sf(abs(t), n - 3)))
    assert williams(0.5, 0.5, 0.2, 10) == williams(0.5, 0.5, 1.0, 10) == (0.0, 1.0)
    assert williams(1.0, 0.0, 0.0, 10)[1] < 1e-3


def test_williams_of_fewer_than_four_systems_is_an_empty_cell_with_a_note() -> None:
    grids = [
        grid_of(made_up(5, 3, seed).scores, made_up(5, 3).judgements, f"m{seed}") for seed in (1, 2)
    ]
    computed = compare_all(
        grids, test="williams", levels=("system", "summary"), methods=("pearson",)
    )
    assert list(computed["p_value"].isna()) == [True, False]
    assert list(computed["note"]) == [
        "Expected at least 4 systems or summaries for the test of Williams, but got 3.",
        "",
    ]


def test_a_single_document_has_no_interval_and_no_p_value() -> None:
    """All its resamples are itself: an interval of no width would look certain."""
    first, second = rivals(1)
    computed = bootstrap(first, levels=["summary"], resample="documents", n=20)
    assert computed["value"].notna().all()
    assert computed[["low", "high"]].isna().all(axis=None)
    assert set(computed["undefined"]) == {20}
    difference = bootstrap_difference(
        first, second, level="summary", method="spearman", resample="documents", n=20
    )
    assert np.isnan([difference.p_value, difference.low, difference.high]).all()
    assert not np.isnan(difference.difference)


@pytest.mark.parametrize("level", ["system", "summary"])
def test_williams_on_grids_takes_systems_or_summaries(level: str) -> None:
    first, second = rivals(30, 12)
    columns = [first.scores, second.scores, first.judgements]
    if level == "system":
        columns = [side.mean(axis=0) for side in columns]
    table = np.corrcoef([side.ravel() for side in columns])
    expected = williams(table[0, 2], table[1, 2], table[0, 1], columns[0].size)
    computed = williams_test(first, second, level=level)
    assert computed.p_value == pytest.approx(expected.p_value)
    assert computed.first_value == pytest.approx(table[0, 2])


def named(measure: str, judgement: str, seed: int, scores: np.ndarray | None = None) -> Grid:
    grid = made_up(12, 6, seed=0 if judgement == "coherence" else 1)
    noise = np.random.default_rng(seed).normal(size=grid.scores.shape)
    return grid_of(
        grid.scores + seed * noise if scores is None else scores,
        grid.judgements,
        measure,
        judgement,
    )


GRIDS = [
    named(f"m{seed}", judgement, seed)
    for judgement in ("coherence", "fluency")
    for seed in (1, 2, 9)
]
OPTIONS = {"levels": ("summary", "system"), "methods": ("pearson",)}


@pytest.mark.parametrize("test", TESTS)
def test_differences_are_those_of_each_pair_alone(test: str) -> None:
    options = {} if test == "williams" else {"n": 30, "seed": 2}
    computed = compare_all(GRIDS, test=test, **OPTIONS, **options)
    assert len(computed) == 2 * 2 * 3
    for judgement, level in itertools.product(("coherence", "fluency"), OPTIONS["levels"]):
        part = computed[(computed["judgement"] == judgement) & (computed["level"] == level)]
        rivals = [grid for grid in GRIDS if grid.judgement == judgement]
        pairs = itertools.combinations(rivals, 2)
        expected = [TESTS[test](*pair, level=level, method="pearson", **options) for pair in pairs]
        assert list(part["p_value"]) == [each.p_value for each in expected]
        assert list(part["difference"]) == [each.difference for each in expected]
        assert list(part["p_holm"]) == holm([each.p_value for each in expected]).tolist()
        assert part["low"].notna().all() == (test == "bootstrap")


@pytest.mark.parametrize("test", TESTS)
def test_two_measures_rest_on_the_summaries_that_both_have(test: str) -> None:
    grids = rivals()
    gaps = [np.random.default_rng(seed).random((9, 6)) < 0.2 for seed in (1, 2)]
    compared = [lacking(*parts) for parts in zip(grids, gaps, "ab", strict=True)]
    unknown = np.logical_or(*gaps)
    in_common = [lacking(grid, unknown) for grid in grids]
    computed = compare_all(compared, test=test, levels=("summary", "system"), methods=("spearman",))
    for row in computed.itertuples():
        values = [
            oracle.value(grid.scores, grid.judgements, row.level, "spearman") for grid in in_common
        ]
        assert [row.first_value, row.second_value] == pytest.approx(values)
        assert row.note == f"a and b: {(~unknown).sum()} summaries in common"


def test_a_measure_without_a_value_is_noted() -> None:
    flat = named("flat", "coherence", 0, np.tile(np.arange(6) % 2, (12, 1)))
    computed = compare_all([*GRIDS[:2], flat], test="bootstrap", levels=("intra_system",), n=20)
    assert [note.endswith("6 of 6 groups are constant.") for note in computed["note"]] == [
        False,
        True,
        True,
    ]
    assert list(computed["p_value"].isna()) == [False, True, True]
    assert computed["p_holm"][0] == computed["p_value"][0]
    assert "p_holm" in compare_all(GRIDS[:1]).columns
    assert compare_all([]).empty

"""Correlations against scipy and against loops over pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from estime_metric.studies.meta import (
    LEVELS,
    METHODS,
    UndefinedCorrelationError,
    correlate,
)
from estime_metric.studies.meta.correlations import (
    Correlation,
    defined,
    observed,
    p_value,
    tallies,
)
from tests.studies.meta import oracle
from tests.studies.meta.conftest import made_up

EXACT = {"rel": 0, "abs": 1e-12}
EVERY = [(level, method) for level in LEVELS for method in METHODS]

#: Few values, so that ties, constant documents and constant systems are common.
few = st.integers(0, 3).map(float)
shapes = st.tuples(st.integers(1, 6), st.integers(1, 6))
tables = shapes.flatmap(
    lambda shape: st.tuples(*[arrays.arrays(np.float64, shape, elements=few)] * 2)
)


@pytest.mark.parametrize(("level", "method"), EVERY)
@settings(max_examples=40, deadline=None)
@given(table=tables, data=st.data())
def test_any_table_agrees_with_scipy_and_with_loops(
    level: str, method: str, table: tuple, data: st.DataObject
) -> None:
    scores, judgements = table
    flags = arrays.arrays(bool, scores.shape)
    gaps = data.draw(st.just(np.zeros(scores.shape, dtype=bool)) | flags)
    scores, judgements = (np.where(gaps, np.nan, side) for side in table)
    expected = oracle.value(scores, judgements, level, method)
    if np.isnan(expected):
        with pytest.raises(UndefinedCorrelationError, match=f"that vary on level '{level}'"):
            defined(scores, judgements, level, method)
    else:
        assert defined(scores, judgements, level, method) == pytest.approx(expected, **EXACT)
        if not gaps.any():
            computed = correlate(scores, judgements, level=level, method=method)
            assert computed == pytest.approx(expected, **EXACT)
    groups = oracle.groups(scores, judgements, level, method)
    values = [oracle.correlation(x, y, method) for x, y in groups]
    computed = [METHODS[method](counts)[0] for counts in tallies(scores, judgements, level)]
    np.testing.assert_allclose(computed, values, rtol=0, atol=1e-12)


def test_a_tied_prediction_is_wrong_and_a_tied_judgement_is_not_asked() -> None:
    assert correlate([[1, 1, 2]], [[1, 2, 3]], level="pairwise", method="accuracy") == 2 / 3
    assert correlate([[1, 3, 2]], [[1, 1, 3]], level="pairwise", method="accuracy") == 1 / 2


def test_system_means_that_differ_by_rounding_are_tied() -> None:
    scores = np.array([[0.1, 0.3, 1.0], [0.2, 0.0, 1.0], [0.3, 0.3, 1.0]])
    assert scores.mean(axis=0)[0] != scores.mean(axis=0)[1]
    judgements = np.array([[1.0, 2.0, 3.0]] * 3)
    assert correlate(scores, judgements, level="system", method="accuracy") == 2 / 3
    assert correlate(scores * 1e-30, judgements, level="system", method="accuracy") == 2 / 3


def test_groups_that_say_nothing_are_left_out_and_counted() -> None:
    scores = np.array([[1.0, 2, 3], [5, 5, 5], [1, 2, 3], [3, 2, 1]])
    judgements = np.array([[1.0, 2, 3], [1, 2, 3], [4, 4, 4], [1, 2, 3]])
    for method, expected in (
        ("kendall_b", (0.0, 4, 2)),
        ("kendall_a", (0.0, 4, 1)),
        ("accuracy", (3 / 9, 4, 1)),
    ):
        computed = observed(scores, judgements, "pairwise", [method])[method]
        assert computed == Correlation(*expected)


def test_p_values_are_those_of_scipy_and_only_of_one_correlation() -> None:
    grid = made_up(12, 7)
    means = [np.round(side.mean(axis=0), 9) for side in (grid.scores, grid.judgements)]
    items = {"summary": (grid.scores.ravel(), grid.judgements.ravel()), "system": means}
    tests = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}
    tests |= {f"kendall_{kind}": stats.kendalltau for kind in "abc"}
    for method in METHODS:
        for level in LEVELS:
            computed = p_value(grid.scores, grid.judgements, level, method)
            if level in items and method in tests:
                assert computed == pytest.approx(tests[method](*items[level]).pvalue), method
            else:
                assert np.isnan(computed)
    varied, constant = made_up(4, 3).judgements, np.ones((4, 3))
    for sides in ((varied, constant), (constant, varied)):
        assert np.isnan(p_value(*sides, "summary", "spearman"))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", LEVELS)
def test_rising_scales_change_nothing(level: str, method: str) -> None:
    grid = made_up()
    before = correlate(grid.scores, grid.judgements, level=level, method=method)
    for scores in (grid.scores * 1e200, grid.scores / 1e200, grid.scores * 7 - 9):
        computed = correlate(scores, grid.judgements, level=level, method=method)
        assert computed == pytest.approx(before, **EXACT)


def test_many_summaries_do_not_need_a_matrix_of_all_pairs_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grid = made_up(40, 10)
    whole = correlate(grid.scores, grid.judgements, level="summary", method="kendall_b")
    monkeypatch.setattr("estime_metric.studies.meta.concordance._BLOCK", 3000)  # 7 of 400 rows
    assert correlate(grid.scores, grid.judgements, level="summary", method="kendall_b") == whole

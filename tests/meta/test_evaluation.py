"""Several measures at once: the same numbers as one by one, and what cannot be said is said."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from estime_metric.meta import (
    TESTS,
    Grid,
    bootstrap,
    bootstrap_difference,
    compare_all,
    evaluate_all,
    holm,
    permutation_test,
    williams_test,
)
from tests.meta.conftest import made_up


def named(measure: str, judgement: str, seed: int, scores: np.ndarray | None = None) -> Grid:
    grid = made_up(12, 6, seed=0 if judgement == "coherence" else 1)
    noise = np.random.default_rng(seed).normal(size=grid.scores.shape)
    scores = grid.scores + seed * noise if scores is None else scores
    return Grid(grid.documents, grid.systems, scores, grid.judgements, measure, judgement)


GRIDS = [named(f"m{seed}", judgement, seed) for judgement in ("coherence", "fluency") for seed in (1, 2, 9)]
OPTIONS = {"levels": ("summary", "system"), "methods": ("pearson",)}


def test_agreement_is_that_of_each_measure_alone() -> None:
    found = evaluate_all(GRIDS, **OPTIONS, n=30, seed=2)
    assert len(found) == 6 * 2
    for grid in GRIDS:
        part = found[(found["measure"] == grid.measure) & (found["judgement"] == grid.judgement)]
        alone = bootstrap(grid, **OPTIONS, n=30, seed=2)
        pd.testing.assert_frame_equal(part[list(alone.columns)].reset_index(drop=True), alone)


@pytest.mark.parametrize("test", TESTS)
def test_differences_are_those_of_each_pair_alone(test: str) -> None:
    alone = {"permutation": permutation_test, "bootstrap": bootstrap_difference, "williams": williams_test}[test]
    options = {} if test == "williams" else {"n": 30, "seed": 2}
    found = compare_all(GRIDS, test=test, **OPTIONS, **options)
    assert len(found) == 2 * 2 * 3
    for judgement, level in itertools.product(("coherence", "fluency"), OPTIONS["levels"]):
        part = found[(found["judgement"] == judgement) & (found["level"] == level)]
        rivals = [grid for grid in GRIDS if grid.judgement == judgement]
        expected = [
            alone(first, second, level=level, method="pearson", **options)
            for first, second in itertools.combinations(rivals, 2)
        ]
        assert list(part["p_value"]) == [each.p_value for each in expected]
        assert list(part["difference"]) == [each.difference for each in expected]
        assert list(part["p_holm"]) == holm([each.p_value for each in expected]).tolist()
        assert part["low"].notna().all() == (test == "bootstrap")


def test_a_measure_without_a_value_is_noted() -> None:
    flat = named("flat", "coherence", 0, np.tile(np.arange(6) % 2, (12, 1)))
    found = compare_all([*GRIDS[:2], flat], test="permutation", levels=("intra_system",), n=20)
    assert list(found["note"]) == ["", "one of the two has no value", "one of the two has no value"]
    assert list(found["p_value"].isna()) == [False, True, True]
    assert found["p_holm"][0] == found["p_value"][0]


def test_no_grids_and_one() -> None:
    assert evaluate_all([]).empty
    assert compare_all([]).empty
    assert compare_all(GRIDS[:1]).empty
    assert "p_holm" in compare_all([]).columns


def test_holm_keeps_order_and_bounds() -> None:
    assert holm([]).tolist() == []
    assert holm([0.2, 0.9]).tolist() == pytest.approx([0.4, 0.9])
    p = np.random.default_rng(0).random(20)
    corrected = holm(p)
    assert (np.diff(corrected[np.argsort(p)]) >= 0).all()
    assert (corrected >= p).all()
    assert corrected.max() <= 1
    assert corrected.min() == pytest.approx(min(1, 20 * p.min()))

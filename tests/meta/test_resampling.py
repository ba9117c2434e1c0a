"""Resampling by weights against resampling by copied rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from estime_metric.meta import LEVELS, METHODS, RESAMPLES, bootstrap, bootstrap_groups, group_values
from estime_metric.meta.resampling import draw, resampled
from tests.meta import oracle
from tests.meta.conftest import grid_of, made_up


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("kind", RESAMPLES)
@pytest.mark.parametrize("steps", [2, 5], ids=["many ties", "few ties"])
def test_weights_equal_copied_rows(kind: str, seed: int, steps: int) -> None:
    grid = made_up(seed=seed, steps=steps)
    found = resampled(grid, draw(grid.scores.shape, kind, 8, seed), LEVELS, METHODS)
    for index, (scores, judgements) in enumerate(oracle.resample(grid.scores, grid.judgements, kind, 8, seed)):
        for level in oracle.LEVELS:
            expected = [oracle.value(scores, judgements, level, method) for method in oracle.METHODS]
            np.testing.assert_allclose(found[level][:, index], expected, rtol=0, atol=1e-12, err_msg=level)


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bootstrap(made_up(), n=50)
    monkeypatch.setattr("estime_metric.meta.resampling._TOGETHER", 7 * 54)
    pd.testing.assert_frame_equal(bootstrap(made_up(), n=50), whole, check_exact=False, rtol=0, atol=1e-12)


def test_the_table_holds_quantiles_of_the_resamples() -> None:
    grid = made_up()
    found = bootstrap(grid, levels=["pairwise", "system"], methods=["kendall_b"], n=60, confidence=0.9, seed=4)
    assert list(found.columns) == ["level", "method", "value", "low", "high", "groups", "left_out", "undefined"]
    assert list(found["level"]) == ["pairwise", "system"]
    assert list(found["groups"]) == [9, 1]
    for _, row in found.iterrows():
        drawn = [
            oracle.value(x, y, row["level"], "kendall_b")
            for x, y in oracle.resample(grid.scores, grid.judgements, "both", 60, 4)
        ]
        assert row["value"] == pytest.approx(oracle.value(grid.scores, grid.judgements, row["level"], "kendall_b"))
        assert [row["low"], row["high"]] == pytest.approx(list(np.nanquantile(drawn, [0.05, 0.95])))
        assert row["undefined"] == np.isnan(drawn).sum()


def test_what_is_undefined_is_counted_and_not_hidden() -> None:
    judgements = np.random.default_rng(0).integers(1, 6, size=(8, 4)).astype(float)
    confounder = np.tile([0.0, 1.0, 1.0, 0.0], (8, 1))
    found = bootstrap(grid_of(confounder, judgements), methods=["kendall_b"], n=300).set_index("level")
    inside = found.loc["intra_system"]
    assert np.isnan([inside["value"], inside["low"], inside["high"]]).all()
    assert (inside["left_out"], inside["undefined"]) == (4, 300)
    system = found.loc["system"]  # all four drawn systems have one score in 2 of 16 resamples
    assert 0 < system["undefined"] < 100
    assert system["low"] <= system["value"] <= system["high"]


@pytest.mark.parametrize(("level", "kind"), [("intra_system", "documents"), ("pairwise", "systems")])
def test_intervals_of_each_group(level: str, kind: str) -> None:
    grid = made_up(12, 5, seed=2)
    found = bootstrap_groups(grid, level=level, method="kendall_b", n=40, seed=7)
    assert tuple(found["group"]) == (grid.systems if level == "intra_system" else grid.documents)
    values = group_values(grid.scores, grid.judgements, level=level, method="kendall_b")
    np.testing.assert_array_equal(found["value"], values)
    samples = [
        [oracle.of_group(x, y, "kendall_b") for x, y in oracle.groups(*sample, level, "kendall_b")]
        for sample in oracle.resample(grid.scores, grid.judgements, kind, 40, 7)
    ]
    assert list(found["undefined"]) == np.isnan(samples).sum(axis=0).tolist()
    np.testing.assert_allclose(found[["low", "high"]].T, np.nanquantile(samples, [0.025, 0.975], axis=0))

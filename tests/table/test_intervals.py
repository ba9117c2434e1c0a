"""Bootstrap intervals by source: against a plain bootstrap, and independent of order and batches."""

from __future__ import annotations

import math

import numpy as np
import pytest

from estime_metric.table.intervals import Interval, intervals, source_id
from tests.compare.tables import result_of

RNG = np.random.default_rng(1)
SOURCES = [f"source {number // 4}" for number in range(400)]  # four summaries of each
OF_SOURCE = np.repeat(RNG.normal(0.3, 0.1, 100), 4)
VALUES = (OF_SOURCE + RNG.normal(0, 0.02, 400)).tolist()


def interval_of(sources: list[str], values: list[float | None]) -> Interval:
    return intervals([source_id(source) for source in sources], {"x": values})["x"]


def plain_bootstrap(groups: list[list[float]], resamples: int = 4000) -> tuple[float, float]:
    """Percentiles of the means of resamples of whole groups, drawn with replacement."""
    rng = np.random.default_rng(0)
    drawn = [
        np.mean(
            np.concatenate([groups[index] for index in rng.integers(len(groups), size=len(groups))])
        )
        for _ in range(resamples)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def test_the_interval_is_that_of_a_bootstrap_over_sources() -> None:
    interval = interval_of(SOURCES, VALUES)
    low, high = plain_bootstrap([VALUES[start : start + 4] for start in range(0, 400, 4)])
    assert interval.mean == pytest.approx(math.fsum(VALUES) / 400, abs=1e-6)
    assert interval.count == 400
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=0.1 * (high - low))
    by_pair = interval_of([str(number) for number in range(400)], VALUES)
    assert interval.high - interval.low > 1.7 * (
        by_pair.high - by_pair.low
    )  # about twice: 4 of each


def test_order_and_the_sources_drawn_together_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = interval_of(SOURCES, VALUES)
    order = np.random.default_rng(2).permutation(400).tolist()
    monkeypatch.setattr("estime_metric.table.intervals._TOGETHER", 37)
    assert interval_of([SOURCES[i] for i in order], [VALUES[i] for i in order]) == whole


@pytest.mark.parametrize("scale", [3e-9, 1.0, 7e11])
def test_sums_of_numbers_of_any_size_have_no_order(scale: float) -> None:
    """Also if one source has most of the numbers, and is drawn several times."""
    ids = [source_id(f"source {number % 50 if number < 100 else 0}") for number in range(400)]
    values = (RNG.normal(size=400) * scale).tolist()
    whole = intervals(ids, {"x": values}, of_others={"x"})["x"]
    order = np.random.default_rng(2).permutation(400).tolist()
    moved = intervals([ids[i] for i in order], {"x": [values[i] for i in order]}, of_others={"x"})
    assert moved["x"] == whole
    assert whole.mean == pytest.approx(math.fsum(values) / 400, rel=1e-9)


def test_what_is_undefined_is_left_out() -> None:
    """Values of one source have no interval."""
    interval = interval_of(["a", "a", "b", "c"], [1.0, None, math.nan, 3.0])
    assert (interval.mean, interval.count) == (2.0, 2)
    nothing = interval_of([], [])
    assert nothing.to_dict() == {"mean": None, "low": None, "high": None, "count": 0}
    ids = [source_id(source) for source in "abbc"]
    means = intervals(ids, {"x": [None, 3.0, 4.0, math.nan], "y": [1.0, 2.0, 2.0, None]})
    assert means["x"].to_dict() == {"mean": 3.5, "low": None, "high": None, "count": 2}
    assert means["y"].low < means["y"].high


def test_a_result_has_intervals_by_source_and_everything_as_a_dictionary() -> None:
    alarms = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    sources = [f"s{index // 2}" for index in range(8)]
    result = result_of(alarms, sources)
    assert result.interval("alarms") == interval_of(sources, alarms)
    everything = result.to_dict()
    assert everything["measures"]["alarms"] == result.interval("alarms").to_dict()
    assert [everything[name] for name in ("pairs", "blank", "unchecked")] == [8, 0, 0]
    assert everything["short_signature"] == result.signature.short

"""Formulas by hand, bounds; what is behind ``soft`` and ``coherence``."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.engine.statistics import concordance, cosine_sum, distinct_positions, tau_c
from estime_metric.measures import (
    ALARM_WEIGHT,
    MEASURES,
    NEW_SHARE,
    NUMBER_WEIGHT,
    STATISTICS,
    compute,
)


def row(**named: float) -> torch.Tensor:
    """Statistics with these values and zeros elsewhere."""
    return torch.tensor([named.get(name, 0.0) for name in STATISTICS], dtype=torch.float64)


#: Ten summary units, eight of which occur in the source, three of these alarms, five of all ten.
PAIR = row(
    alarms=3,
    graded_alarms=2.4,
    new_words=0.25,
    new_bigrams=0.5,
    new_trigrams=0.75,
    winners=7,
    ties=1,
    overlap=8,
    tokens=10,
    missing=5,
    alarms_alltokens=5,
    cosines=6.5,
    coherence=0.25,
    copied_density=1.4,
    repetition=0.125,
    new_names=2,
    new_numbers=3,
)
#: Four words of which the source has none; three begin with its tokens, so they are alarms.
FOREIGN = row(tokens=4, alarms=3, new_words=1, new_bigrams=1, new_trigrams=1)
#: Three words that the encoder cannot read: they occur in the source, but nothing is checked.
UNREADABLE = row(tokens=3)
#: The value of each measure for `PAIR`, a summary without units, and `FOREIGN`.
BY_HAND = {
    "inconsistency": (
        1
        - (1 - (1 - NEW_SHARE) * (0.25 + ALARM_WEIGHT * 2.4 / 10) - NEW_SHARE * 0.75)
        * (1 - 2 * NUMBER_WEIGHT * 3 / 4)
        * (10 / 15),
        1,
        1,
    ),
    "graded_alarms": (2.4, 0, 0),
    "new_words": (0.25, 1, 1),
    "new_bigrams": (0.5, 1, 1),
    "new_trigrams": (0.75, 1, 1),
    "alarms": (3, 0, 3),
    "alarm_rate": (3 / 8, math.nan, math.nan),
    "alarms_adjusted": (3 * 10 / 8, 0, 4),
    "winners": (7, 0, 0),
    "unsupported": (3 + 2, 0, 4),
    "unsupported_rate": (0.5, 1, 1),
    "overlap": (8, 0, 0),
    "tokens": (10, 0, 4),
    "coverage": (0.8, 0, 0),
    "blank": (0, 1, 0),
    "new_names": (2, 0, 0),
    "new_numbers": (3, 0, 0),
    "copied_density": (1.4, 0, 0),
    "repetition": (0.125, 1, 0),
    "alarms_alltokens": (5, 0, 0),
    "soft": (0.65, 0, 0),
    "coherence": (0.25, 0, 0),
}


@pytest.mark.parametrize("measure", MEASURES)
def test_formulas_by_hand_for_any_shape_of_statistics(measure: str) -> None:
    stacked = torch.stack([PAIR, row(), FOREIGN]).expand(2, 3, -1)
    values = compute(measure, stacked)
    assert values.dtype == torch.float64
    assert values.shape == (2, 3)
    assert values[0].tolist() == pytest.approx(BY_HAND[measure], abs=1e-12, nan_ok=True)
    assert compute(measure, stacked[:0]).shape == (0, 3)
    for alarms in (0, 4):  # if nothing overlaps, the number of alarms changes no other measure
        foreign = row(tokens=4, alarms=alarms, new_words=1, new_bigrams=1, new_trigrams=1)
        alone = compute(measure, foreign).item()
        assert alone == pytest.approx(
            alarms if measure == "alarms" else BY_HAND[measure][2], nan_ok=True
        )


def test_what_the_encoder_cannot_read_is_not_the_best() -> None:
    assert compute("new_words", UNREADABLE).item() == 0
    assert compute("inconsistency", UNREADABLE).item() == 1
    assert compute("inconsistency", row(tokens=3, overlap=1)).item() == 0  # one is enough


def test_new_numbers_remove_more_and_more_but_never_two_fifths_of_what_is_left() -> None:
    values = [
        compute("inconsistency", row(tokens=10, overlap=10, new_numbers=count)).item()
        for count in (0, 1, 2, 3, 1000)
    ]
    assert values[:4] == pytest.approx([0, 0.2, 0.8 / 3, 0.3])
    assert values[3] < values[4] < 0.4


@st.composite
def possible_statistics(draw: st.DrawFn) -> torch.Tensor:
    tokens = draw(st.integers(0, 200))
    overlap = draw(st.integers(0, tokens))
    return row(
        tokens=tokens,
        overlap=overlap,
        alarms=draw(st.integers(0, overlap)),
        graded_alarms=draw(st.floats(0, overlap)),
        new_words=draw(st.floats(0, 1)),
        new_bigrams=draw(st.floats(0, 1)),
        new_trigrams=draw(st.floats(0, 1)),
        winners=draw(st.integers(0, 10_000)),
        alarms_alltokens=draw(st.integers(0, tokens)),
        cosines=draw(st.floats(-tokens, tokens)),
        coherence=draw(st.floats(-1, 1)),
        copied_density=draw(st.floats(0, 200)),
        repetition=draw(st.floats(0, 1)),
        new_numbers=draw(st.integers(0, 200)),
        missing=draw(st.integers(0, 200)),
    )


@settings(deadline=None)
@given(possible_statistics())
def test_values_lie_within_their_bounds(statistics: torch.Tensor) -> None:
    value = {name: compute(name, statistics).item() for name in MEASURES}
    for name, measure in MEASURES.items():
        high = value[measure.high] if isinstance(measure.high, str) else measure.high
        if measure.kind == "rate" and not value["overlap"]:
            assert math.isnan(value[name])
        else:
            assert measure.low <= value[name] <= (math.inf if high is None else high) + 1e-9
    if value["overlap"]:
        # The share of units that are checked and raise no alarm, both ways.
        assert value["coverage"] * (1 - value["alarm_rate"]) == pytest.approx(
            1 - value["unsupported_rate"]
        )
    assert value["alarms_adjusted"] >= value["alarms"]


def kendall_tau_c(best_at: torch.Tensor, most_products: int) -> torch.Tensor:
    balance = concordance(best_at, most_products).double()
    positions = distinct_positions(best_at).double()
    return tau_c(balance, positions, torch.full_like(balance, best_at.shape[1]))


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), max_size=25), st.integers(1, 60))
def test_tau_c_is_scipys(positions: list[int], most_products: int) -> None:
    kendalltau = pytest.importorskip("scipy.stats").kendalltau
    layers = [positions, positions[::-1]]
    taus = kendall_tau_c(torch.tensor(layers, dtype=torch.int64), most_products).tolist()
    if len(set(positions)) <= 1:
        assert taus == [0, 0]
    else:
        scipys = [kendalltau(range(len(each)), each, variant="c").correlation for each in layers]
        assert taus == pytest.approx(scipys, abs=1e-12)


def test_cosines_are_summed_in_float32_and_that_of_zeros_is_zero() -> None:
    positions = torch.arange(3)[None]
    some = torch.randn(3, 4).bfloat16()
    assert cosine_sum(some, some, positions).item() == pytest.approx(3, abs=1e-5)
    assert cosine_sum(torch.zeros(3, 4), some, positions).item() == 0

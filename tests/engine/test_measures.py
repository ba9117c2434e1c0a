"""Formulas by hand, ranges, names; the tensors behind ``soft`` and ``coherence`` against naive ones."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.config import ALL_UNIT_MEASURES, BASE_MEASURES
from estime_metric.engine.measures import MEASURES, STATISTICS, compute
from estime_metric.engine.statistics import cosine_sum, kendall_tau_c


def row(**named: float) -> torch.Tensor:
    """Statistics with these values and zeros elsewhere."""
    return torch.tensor([named.get(name, 0.0) for name in STATISTICS], dtype=torch.float64)


#: Ten summary units, eight of which occur in the source, three of these alarms; and five of all ten.
PAIR = row(alarms=3, winners=7, ties=1, overlap=8, tokens=10, alarms_alltokens=5, cosines=6.5, coherence=0.25)
BY_HAND = {
    "alarms": 3,
    "alarm_rate": 3 / 8,
    "alarms_adjusted": 3 * 10 / 8,
    "winners": 7,
    "unsupported": 3 + 2,
    "unsupported_rate": 0.5,
    "overlap": 8,
    "tokens": 10,
    "coverage": 0.8,
    "alarms_alltokens": 5,
    "soft": 0.65,
    "coherence": 0.25,
}


def test_there_is_a_value_by_hand_for_each_measure() -> None:
    assert tuple(BY_HAND) == tuple(MEASURES)


@pytest.mark.parametrize("measure", MEASURES)
def test_formulas(measure: str) -> None:
    assert compute(measure, PAIR).item() == pytest.approx(BY_HAND[measure], abs=1e-12)


#: Those that divide by the number of units, or of those that overlap.
RATES = {"alarm_rate", "unsupported_rate", "coverage", "soft"}


@pytest.mark.parametrize("measure", MEASURES)
def test_an_empty_summary_has_counts_of_0_and_no_rate(measure: str) -> None:
    value = compute(measure, row()).item()
    assert math.isnan(value) if measure in RATES else value == 0


@pytest.mark.parametrize("alarms", [0, 3, 4])  # with the unit word, those whose first token the source lacks are alarms
def test_without_overlap_every_unit_is_unsupported_and_there_is_no_alarm_rate(alarms: int) -> None:
    foreign = row(tokens=4, alarms=alarms)
    assert compute("alarms", foreign).item() == alarms
    assert math.isnan(compute("alarm_rate", foreign).item())
    names = ("alarms_adjusted", "unsupported", "unsupported_rate", "coverage")
    assert [compute(name, foreign).item() for name in names] == [4, 4, 1, 0]


@pytest.mark.parametrize("measure", MEASURES)
def test_any_shape_of_statistics(measure: str) -> None:
    stacked = PAIR.expand(2, 3, -1)
    values = compute(measure, stacked)
    assert values.shape == (2, 3)
    assert values.dtype == torch.float64
    assert (values == compute(measure, PAIR)).all()
    assert compute(measure, PAIR.new_empty(0, 2, len(STATISTICS))).shape == (0, 2)


@pytest.mark.parametrize("measure", ["", "alarm", "ESTIME", "ties", "Alarms"])
def test_unknown_names_are_refused(measure: str) -> None:
    with pytest.raises(ValueError, match=rf"argument `measure` to be one of alarms, .*, but got {measure!r}"):
        compute(measure, PAIR)


def test_the_names_are_those_of_the_options() -> None:
    assert tuple(MEASURES) == BASE_MEASURES + ALL_UNIT_MEASURES
    assert not set(BASE_MEASURES) & set(ALL_UNIT_MEASURES)


@pytest.mark.parametrize("measure", MEASURES)
def test_each_measure_says_what_it_is(measure: str) -> None:
    entry = MEASURES[measure]
    assert entry.name == measure
    assert ".." in entry.range
    assert entry.meaning.endswith(".")
    assert entry.source
    assert entry.higher_is_better in (True, False, None)


def test_directions() -> None:
    by_direction = {
        direction: {name for name, entry in MEASURES.items() if entry.higher_is_better is direction}
        for direction in (True, False, None)
    }
    assert by_direction[True] == {"soft", "coherence"}
    assert by_direction[None] == {"overlap", "tokens", "coverage"}


@st.composite
def possible_statistics(draw: st.DrawFn) -> torch.Tensor:
    """Statistics that a pair can have."""
    tokens = draw(st.integers(0, 200))
    overlap = draw(st.integers(0, tokens))
    return row(
        tokens=tokens,
        overlap=overlap,
        alarms=draw(st.integers(0, overlap)),
        alarms_alltokens=draw(st.integers(0, tokens)),
        cosines=draw(st.floats(-tokens, tokens)),
        coherence=draw(st.floats(-1, 1)),
    )


@settings(deadline=None)
@given(possible_statistics())
def test_values_lie_within_the_ranges(statistics: torch.Tensor) -> None:
    value = {name: compute(name, statistics).item() for name in MEASURES}
    assert 0 <= value["alarms"] <= value["overlap"] <= value["tokens"]
    assert value["alarms"] <= value["unsupported"] <= value["tokens"]
    for name in ("alarm_rate", "unsupported_rate", "coverage"):
        assert math.isnan(value[name]) or 0 <= value[name] <= 1
    if value["overlap"]:
        # The share of units that are checked and raise no alarm, both ways.
        assert value["coverage"] * (1 - value["alarm_rate"]) == pytest.approx(1 - value["unsupported_rate"])
    assert 0 <= value["alarms_adjusted"] <= value["tokens"] + 1e-9
    assert value["alarms_adjusted"] >= value["alarms"]
    assert 0 <= value["alarms_alltokens"] <= value["tokens"]
    assert math.isnan(value["soft"]) if not value["tokens"] else -1 <= value["soft"] <= 1
    assert -1 <= value["coherence"] <= 1


# Kendall's tau-c


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=25), st.integers(1, 60))
def test_tau_c_is_scipys(positions: list[int], chunk: int) -> None:
    kendalltau = pytest.importorskip("scipy.stats").kendalltau
    found = kendall_tau_c(torch.tensor([positions]), chunk=chunk).item()
    if len(set(positions)) == 1:
        assert found == 0
    else:
        expected = kendalltau(range(len(positions)), positions, variant="c").correlation
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("length", [0, 1])
def test_tau_c_of_fewer_than_two_units_is_0(length: int) -> None:
    assert kendall_tau_c(torch.zeros(3, length, dtype=torch.int64)).tolist() == [0, 0, 0]


def test_tau_c_takes_each_layer_by_itself() -> None:
    rows = torch.tensor([[0, 1, 2, 3], [3, 2, 1, 0], [5, 5, 5, 5], [0, 0, 1, 1]])
    taus = kendall_tau_c(rows)
    assert taus.dtype == torch.float64
    assert taus.tolist() == [1, -1, 0, 1]
    assert [kendall_tau_c(rows[k : k + 1]).item() for k in range(4)] == taus.tolist()


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=25))
def test_tau_c_of_the_reversed_order_is_its_negative(positions: list[int]) -> None:
    there, back = kendall_tau_c(torch.tensor([positions, positions[::-1]])).tolist()
    assert there == pytest.approx(-back, abs=1e-12)
    assert abs(there) <= 1


# Sums of cosines


@pytest.mark.parametrize(("units", "sources", "layers"), [(1, 1, 1), (5, 9, 2), (30, 4, 3)])
def test_the_sum_of_cosines_is_the_naive_one(units: int, sources: int, layers: int) -> None:
    summary, source = torch.randn(units, 7), torch.randn(sources, 7)
    best_at = torch.randint(sources, (layers, units))
    expected = [
        sum(
            float(summary[i] @ source[j]) / math.sqrt(float(summary[i] @ summary[i]) * float(source[j] @ source[j]))
            for i, j in enumerate(best)
        )
        for best in best_at.tolist()
    ]
    assert cosine_sum(summary, source, best_at).tolist() == pytest.approx(expected, abs=1e-5)


def test_the_sum_of_cosines_at_its_edges() -> None:
    some, none = torch.randn(3, 4), torch.empty(0, 4)
    positions = torch.zeros(2, 3, dtype=torch.int64)
    assert cosine_sum(none, some, positions[:, :0]).tolist() == [0, 0]
    assert cosine_sum(some, none, positions).tolist() == [0, 0]
    assert cosine_sum(torch.zeros(3, 4), some, positions).tolist() == [0, 0]  # a padding token's embedding is zero
    assert cosine_sum(some, some, torch.arange(3)[None]).item() == pytest.approx(3, abs=1e-6)
    assert cosine_sum(some.to(torch.bfloat16), some.to(torch.bfloat16), positions).dtype == torch.float32

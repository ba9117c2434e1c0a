"""Formulas by hand, bounds, the table of the documentation; the tensors behind ``soft`` and ``coherence``."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.engine.statistics import CHUNK, _order, _tau_c, cosine_sum
from estime_metric.measures import ALARM_WEIGHT, FURTHER_MEASURES, MEASURES, RECOMMENDED, STATISTICS, compute

ROOT = Path(__file__).resolve().parents[2]


def row(**named: float) -> torch.Tensor:
    """Statistics with these values and zeros elsewhere."""
    return torch.tensor([named.get(name, 0.0) for name in STATISTICS], dtype=torch.float64)


#: Ten summary units, eight of which occur in the source, three of these alarms, five of all ten; fragments: 3, 2, 1.
PAIR = row(
    alarms=3, winners=7, ties=1, overlap=8, tokens=10, alarms_alltokens=5, cosines=6.5, coherence=0.25,
    copied=6, copied_squares=14,
)  # fmt: skip
#: Its value, and that of a summary without units; each measure has its line.
BY_HAND = {
    "alarms": (3, 0), "inconsistency": ((2 + ALARM_WEIGHT * 3) / 10, 1), "alarm_rate": (3 / 8, math.nan),
    "alarms_adjusted": (3 * 10 / 8, 0), "winners": (7, 0), "unsupported": (3 + 2, 0), "unsupported_rate": (0.5, 1),
    "overlap": (8, 0), "tokens": (10, 0), "coverage": (0.8, 0), "blank": (0, 1), "copied": (0.6, 0),
    "copied_density": (1.4, 0), "alarms_alltokens": (5, 0), "soft": (0.65, 0), "coherence": (0.25, 0),
}  # fmt: skip


@pytest.mark.parametrize("measure", MEASURES)
def test_formulas_by_hand_for_any_shape_of_statistics(measure: str) -> None:
    stacked = torch.stack([PAIR, row()]).expand(3, 2, -1)
    values = compute(measure, stacked)
    assert values.dtype == torch.float64
    assert values.shape == (3, 2)
    assert values[0].tolist() == pytest.approx(BY_HAND[measure], abs=1e-12, nan_ok=True)
    assert compute(measure, stacked[:0]).shape == (0, 2)


def test_a_blank_summary_has_the_worst_value_of_what_judges_and_is_no_count() -> None:
    empty = {name: compute(name, row()).item() for name in MEASURES}
    for name, measure in MEASURES.items():
        if measure.kind == "share" and measure.higher_is_better is False:
            assert empty[name] == measure.high == 1
    assert MEASURES[RECOMMENDED].kind == "share"
    for name in ("", "alarm", "ESTIME", "ties", "Alarms"):
        with pytest.raises(ValueError, match=rf"argument `measure` to be one of alarms, .*, but got {name!r}"):
            compute(name, PAIR)


@pytest.mark.parametrize("alarms", [0, 3, 4])  # with the unit word, those whose first token the source lacks are alarms
def test_without_overlap_every_unit_is_unsupported_and_there_is_no_alarm_rate(alarms: int) -> None:
    foreign = row(tokens=4, alarms=alarms)
    assert compute("alarms", foreign).item() == alarms
    assert math.isnan(compute("alarm_rate", foreign).item())
    names = ("alarms_adjusted", "unsupported", "unsupported_rate", "inconsistency", "coverage")
    assert [compute(name, foreign).item() for name in names] == [4, 4, 1, 1, 0]


def test_the_page_has_a_row_for_each_measure_with_what_its_entry_says() -> None:
    page = (ROOT / "docs/measures.md").read_text(encoding="utf-8")
    tables = ["\n".join(re.findall(r"^\| `.*$", part, re.M)) for part in page.split("measures=", 1)]
    for name, measure in MEASURES.items():
        high = f"to `{measure.high}`" if isinstance(measure.high, str) else f"to {measure.high}"
        high = "and up" if measure.high is None else high
        better = {True: "higher", False: "lower", None: ""}[measure.higher_is_better]
        cells = (f"`{name}`", f"{measure.low:g} {high}", better, measure.meaning)
        line = f"| {' | '.join(cells)} |".replace("  ", " ")
        assert line in tables[name in FURTHER_MEASURES].splitlines(), "put this line into docs/measures.md"


@st.composite
def possible_statistics(draw: st.DrawFn) -> torch.Tensor:
    """Statistics that a pair can have."""
    tokens = draw(st.integers(0, 200))
    overlap = draw(st.integers(0, tokens))
    lengths = draw(st.lists(st.integers(1, 20), max_size=overlap // 20))
    return row(
        tokens=tokens, overlap=overlap, alarms=draw(st.integers(0, overlap)), winners=draw(st.integers(0, 10_000)),
        alarms_alltokens=draw(st.integers(0, tokens)), cosines=draw(st.floats(-tokens, tokens)),
        coherence=draw(st.floats(-1, 1)), copied=sum(lengths), copied_squares=sum(length**2 for length in lengths),
    )  # fmt: skip


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
    assert value["inconsistency"] <= value["unsupported_rate"]
    if value["overlap"]:
        # The share of units that are checked and raise no alarm, both ways.
        assert value["coverage"] * (1 - value["alarm_rate"]) == pytest.approx(1 - value["unsupported_rate"])
    assert value["alarms_adjusted"] >= value["alarms"]


def kendall_tau_c(best_at: torch.Tensor, chunk: int = CHUNK) -> torch.Tensor:
    order, distinct = _order(best_at, chunk).double()
    return _tau_c(order, distinct, torch.full_like(order, best_at.shape[1]))


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


def test_tau_c_takes_each_layer_by_itself() -> None:
    taus = kendall_tau_c(torch.tensor([[0, 1, 2, 3], [3, 2, 1, 0], [5, 5, 5, 5], [0, 0, 1, 1]]))
    assert taus.dtype == torch.float64
    assert taus.tolist() == [1, -1, 0, 1]
    for length in (0, 1):
        assert kendall_tau_c(torch.zeros(3, length, dtype=torch.int64)).tolist() == [0, 0, 0]


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

"""Results: every measure from the statistics, in input order, with its signature."""

from __future__ import annotations

import builtins
import math

import pytest
import torch

from estime_metric import EstimeConfig, EstimeResult
from estime_metric.config import BASE_MEASURES
from estime_metric.engine.measures import MEASURES, STATISTICS, compute

CONFIG = EstimeConfig(model="m", revision="r", layers=(2, 5))


def statistics(**columns: list[list[float]]) -> torch.Tensor:
    """(pairs, layers, statistics), each column given as pairs of layers; what was not asked for is NaN."""
    missing = torch.full_like(torch.tensor(columns["alarms"], dtype=torch.float64), torch.nan)
    columns.setdefault("checked", columns["overlap"])
    found = {name: torch.tensor(column, dtype=torch.float64) for name, column in columns.items()}
    return torch.stack([found.get(name, missing) for name in STATISTICS], dim=-1)


@pytest.fixture
def result() -> EstimeResult:
    return EstimeResult(
        statistics(
            alarms=[[1, 2], [0, 0], [3, 0]],
            winners=[[4, 8], [0, 0], [9, 0]],
            overlap=[[4, 4], [0, 0], [5, 5]],
            tokens=[[6, 6], [2, 2], [7, 7]],
            ties=[[1, 0], [0, 0], [1, 3]],
        ),
        CONFIG,
    )


@pytest.mark.parametrize(
    ("measure", "layer", "expected"),
    [
        ("alarms", 2, [1, 0, 3]),
        ("alarms", 5, [2, 0, 0]),
        ("alarm_rate", 2, [0.25, 0, 0.6]),
        ("alarm_rate", 5, [0.5, 0, 0]),
        ("winners", 2, [4, 0, 9]),
        ("winners", 5, [8, 0, 0]),
        ("overlap", 5, [4, 0, 5]),
        ("tokens", 2, [6, 2, 7]),
    ],
)
def test_values_come_for_each_layer_in_input_order(
    result: EstimeResult, measure: str, layer: int, expected: list[float]
) -> None:
    values = result.values(measure, layer)
    assert values.tolist() == expected
    assert values.dtype == torch.float64
    assert values.shape == (3,)
    assert result.mean(measure, layer) == pytest.approx(sum(expected) / 3, abs=1e-12)


def test_layers_are_in_the_order_asked_for() -> None:
    turned = EstimeResult(statistics(**{name: [[1, 2]] for name in STATISTICS}), EstimeConfig(model="m", layers=[5, 2]))
    assert turned.layers == (5, 2)
    assert turned.values("alarms", 5).tolist() == [1]
    assert turned.values("alarms", 2).tolist() == [2]


def test_one_layer_need_not_be_named() -> None:
    single = EstimeResult(statistics(**{name: [[3], [1]] for name in STATISTICS}), EstimeConfig(model="m", layers=5))
    assert single.values().tolist() == single.values("alarms", 5).tolist() == [3, 1]
    assert single.mean() == 2.0
    assert single.ties() == 4


def test_ties_are_counted_over_all_pairs(result: EstimeResult) -> None:
    assert (result.ties(2), result.ties(5)) == (2, 3)


def test_pairs_with_nothing_to_check_are_named(result: EstimeResult) -> None:
    assert result.unchecked == [1]


def test_its_size_and_line(result: EstimeResult) -> None:
    assert len(result) == 3
    assert result.signature == CONFIG.signature()
    assert repr(result) == f"EstimeResult(3 pairs, {CONFIG.signature()})"


@pytest.mark.parametrize(
    ("measure", "layer", "message"),
    [
        (
            "alarm",
            2,
            "`measure` to be one of alarms, alarm_rate, .*, but got 'alarm'",
        ),
        ("alarms", 3, "`layer` to be one of 2, 5, but got 3"),
        ("alarms", -1, "`layer` to be one of 2, 5, but got -1"),
        ("alarms", None, "`layer` to be one of 2, 5, since several were read, but got None"),
    ],
)
def test_a_bad_ask_is_refused_by_name(result: EstimeResult, measure: str, layer: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        result.values(measure, layer)
    with pytest.raises(ValueError, match=message):
        result.mean(measure, layer)


def test_no_pairs() -> None:
    empty = EstimeResult(torch.zeros(0, 2, len(STATISTICS), dtype=torch.float64), CONFIG)
    assert len(empty) == 0
    assert empty.unchecked == []
    assert empty.mean("alarm_rate", 5) == 0.0
    assert empty.ties(2) == 0
    assert len(empty.to_pandas()) == 0


def test_the_table_has_a_row_for_each_pair_and_layer(result: EstimeResult) -> None:
    table = result.to_pandas()
    assert list(table.columns) == ["pair", "layer", *BASE_MEASURES]
    assert table["pair"].tolist() == [0, 0, 1, 1, 2, 2]
    assert table["layer"].tolist() == [2, 5] * 3
    for measure in BASE_MEASURES:
        for layer in (2, 5):
            assert table[table["layer"] == layer][measure].tolist() == result.values(measure, layer).tolist()


def test_the_table_says_how_to_install_what_it_needs(result: EstimeResult, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_pandas(name: str, *others: object, **named: object) -> object:
        if name == "pandas":
            raise ImportError(name)
        return real(name, *others, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(ImportError, match=r"pip install 'estime-metric\[meta\]'"):
        result.to_pandas()


def test_every_measure_states_its_range_and_direction() -> None:
    for name, measure in MEASURES.items():
        assert measure.name == name
        assert measure.meaning.endswith(".")
        assert measure.range
        assert measure.source
    directions = {name: measure.higher_is_better for name, measure in MEASURES.items()}
    assert {name for name, higher in directions.items() if higher} == {"soft", "coherence"}
    assert {name for name, higher in directions.items() if higher is None} == {"overlap", "tokens"}


@pytest.mark.parametrize("measure", list(MEASURES))
def test_nothing_checked_gives_a_number(measure: str) -> None:
    assert math.isfinite(compute(measure, torch.zeros(len(STATISTICS), dtype=torch.float64)).item())

"""The masking schedule: what it promises, for every length, subset and setting."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.engine.masking import Window, check_schedule, plan_token_windows
from tests.oracle import schedule


@st.composite
def plans(draw: st.DrawFn) -> tuple[int, list[int], dict[str, int]]:
    """Any text, any subset of its positions, any legal setting."""
    margin = draw(st.integers(0, 12))
    window = draw(st.integers(2 * margin + 1, 2 * margin + 40))
    distance = draw(st.integers(1, 50))
    length = draw(st.integers(0, 160) | st.sampled_from([window - 1, window, window + 1]))
    wanted = sorted(draw(st.sets(st.integers(0, length - 1)))) if length else []
    if draw(st.booleans()):
        wanted = list(range(length))
    return length, wanted, {"window": window, "margin": margin, "distance": distance}


def assert_promises(
    length: int, wanted: list[int], windows: list[Window], window: int, margin: int, distance: int
) -> None:
    masked = [position for w in windows for position in w.masked]
    assert sorted(masked) == list(wanted)  # each wanted position exactly once, no other
    left = set(wanted)
    for w in windows:
        assert 0 <= w.start < w.stop <= length
        assert len(w) == w.stop - w.start <= window
        assert w.stop - w.start == window or w.stop == length  # no window is shorter than it may be
        assert w.masked[0] == min(left)  # the leftmost that is left opens the window
        assert all(b - a >= distance for a, b in pairwise(w.masked))
        for position in w.masked:
            assert w.start == 0 or position >= w.start + margin
            assert w.stop == length or position < w.stop - margin
        assert w.read == w.masked
        assert [wanted[row] for row in w.rows] == list(w.read)
        left -= set(w.masked)


@given(plans())
@settings(max_examples=300, deadline=None)
def test_every_plan_keeps_its_promises(plan: tuple[int, list[int], dict[str, int]]) -> None:
    length, wanted, setting = plan
    assert_promises(length, wanted, plan_token_windows(length, wanted, **setting), **setting)


@given(plans())
@settings(max_examples=300, deadline=None)
def test_every_plan_is_that_of_figure_1(plan: tuple[int, list[int], dict[str, int]]) -> None:
    length, wanted, setting = plan
    planned = plan_token_windows(length, wanted, **setting)
    assert [(w.start, w.stop, list(w.masked)) for w in planned] == schedule(length, set(wanted), **setting)


@pytest.mark.parametrize("length", [0, 1, 449, 450, 451, 899, 1000])
def test_default_setting_is_that_of_figure_1(length: int) -> None:
    planned = plan_token_windows(length, range(length))
    assert_promises(length, list(range(length)), planned, 450, 50, 8)
    assert [(w.start, w.stop, list(w.masked)) for w in planned] == schedule(length, set(range(length)), 450, 50, 8)


def test_a_text_of_one_window_takes_as_many_passes_as_the_distance() -> None:
    planned = plan_token_windows(450, range(450))
    assert [w.masked[:2] for w in planned] == [(first, first + 8) for first in range(8)]
    assert {(w.stop) for w in planned} == {450}


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_a_very_long_text_ends(step: int) -> None:
    wanted = list(range(0, 100_000, step))
    windows = plan_token_windows(100_000, wanted)
    assert_promises(100_000, wanted, windows, 450, 50, 8) if step > 1 else None
    assert sorted(position for w in windows for position in w.masked) == wanted
    assert len(windows) <= 100_000 / (450 - 2 * 50) * 8 + 8  # never more than the densest schedule needs


@pytest.mark.parametrize(
    "setting",
    [
        {"window": 1, "margin": 0, "distance": 1},
        {"window": 1, "margin": 0, "distance": 100},
        {"window": 3, "margin": 1, "distance": 1},
        {"window": 101, "margin": 50, "distance": 8},
        {"window": 450, "margin": 0, "distance": 1},
        {"window": 1000, "margin": 50, "distance": 5000},
    ],
)
@pytest.mark.parametrize("length", [1, 2, 3, 100, 101, 102, 460])
def test_extreme_legal_settings(length: int, setting: dict[str, int]) -> None:
    wanted = list(range(length))
    check_schedule(**setting)
    assert_promises(length, wanted, plan_token_windows(length, wanted, **setting), **setting)


def test_nothing_wanted_needs_no_window() -> None:
    assert plan_token_windows(1000, []) == []
    assert plan_token_windows(0, []) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"margin": -1}, "`margin` to be at least 0, but got -1"),
        ({"window": 100}, r"`window` to be more than twice `margin` \(50\), but got 100"),
        ({"window": 0, "margin": 0}, r"`window` to be more than twice `margin` \(0\), but got 0"),
        ({"distance": 0}, "`distance` to be at least 1, but got 0"),
        ({"distance": -8}, "`distance` to be at least 1, but got -8"),
    ],
)
def test_illegal_settings_are_refused_by_name(changes: dict[str, int], message: str) -> None:
    setting = {"window": 450, "margin": 50, "distance": 8, **changes}
    with pytest.raises(ValueError, match=message):
        check_schedule(**setting)
    with pytest.raises(ValueError, match=message):
        plan_token_windows(10, range(10), **setting)


@pytest.mark.parametrize(
    ("length", "wanted", "message"),
    [
        (3, [0, 3], r"`wanted` to ascend strictly within range\(3\), but got 3 after 0"),
        (3, [-1], r"`wanted` to ascend strictly within range\(3\), but got -1 after -1"),
        (3, [1, 1], r"`wanted` to ascend strictly within range\(3\), but got 1 after 1"),
        (3, [2, 0], r"`wanted` to ascend strictly within range\(3\), but got 0 after 2"),
        (0, [0], r"`wanted` to ascend strictly within range\(0\), but got 0 after -1"),
    ],
)
def test_positions_out_of_order_or_range_are_refused(length: int, wanted: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan_token_windows(length, wanted)

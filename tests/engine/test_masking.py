"""The masking schedule: what it promises, for every length, subset and setting."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.engine.masking import plan_token_windows
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


def assert_promises(length: int, wanted: list[int], window: int, margin: int, distance: int) -> None:
    setting = {"window": window, "margin": margin, "distance": distance}
    windows = plan_token_windows(length, wanted, **setting)
    assert [(w.start, w.stop, list(w.masked)) for w in windows] == schedule(length, set(wanted), **setting)
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
        assert left.issuperset(w.masked)
        left -= set(w.masked)
    assert not left  # each wanted position exactly once, no other


@given(plans())
@settings(max_examples=300, deadline=None)
def test_every_plan_is_that_of_figure_1(plan: tuple[int, list[int], dict[str, int]]) -> None:
    length, wanted, setting = plan
    assert_promises(length, wanted, **setting)


def test_a_text_of_one_window_takes_as_many_passes_as_the_distance() -> None:
    planned = plan_token_windows(450, range(450))
    assert [w.masked[:2] for w in planned] == [(first, first + 8) for first in range(8)]
    assert {w.stop for w in planned} == {450}
    papers = plan_token_windows(1000, range(1000), window=450, margin=50, distance=8)
    assert plan_token_windows(1000, range(1000)) == papers


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_a_very_long_text_ends(step: int) -> None:
    wanted = list(range(0, 100_000, step))
    windows = plan_token_windows(100_000, wanted)
    assert sorted(position for w in windows for position in w.masked) == wanted
    assert len(windows) <= 100_000 / (450 - 2 * 50) * 8 + 8  # never more than the densest schedule needs


@pytest.mark.parametrize(
    "setting", [(450, 50, 8), (1, 0, 1), (1, 0, 100), (3, 1, 1), (101, 50, 8), (450, 0, 1), (1000, 50, 5000)]
)
@pytest.mark.parametrize("length", [0, 1, 2, 3, 100, 101, 102, 449, 450, 451, 460, 899])
def test_extreme_legal_settings(length: int, setting: tuple[int, int, int]) -> None:
    assert_promises(length, list(range(length)), *setting)

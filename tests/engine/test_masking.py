"""The masking schedules: what they promise for every text and setting, beside naive copies of the sources' loops."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.engine.masking import Window, plan_token_windows, plan_word_windows
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


@st.composite
def texts(draw: st.DrawFn, longest: int = 60) -> dict:
    """A text of words, some of them wanted, and a legal setting."""
    sizes = draw(st.lists(st.one_of(st.just(1), st.integers(1, 4), st.integers(1, longest)), max_size=40))
    wanted = draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)))
    margin = draw(st.integers(0, 8))
    words, first = [], 0
    for size in sizes:
        words.append((first, first + size))
        first += size
    return {
        "length": first, "words": [word for word, want in zip(words, wanted, strict=True) if want],
        "indices": [position for position, want in enumerate(wanted) if want],
        "window": draw(st.integers(2 * margin + 1, 2 * margin + 40)), "margin": margin,
        "distance": draw(st.integers(1, 10)),
    }  # fmt: skip


def released_schedule(
    length: int, words: list[tuple[int, int]], indices: list[int], window: int, margin: int, distance: int
) -> list[tuple[int, int, list[tuple[int, int]]]]:
    """Section 3 of the specification, read by sentence: start, stop, masked words of each window. Words must fit."""
    groups, left = [], list(zip(indices, words, strict=True))
    while left:  # groups first, over the whole text: greedily, words at least ``distance`` apart
        group = [left[0]]
        for position, word in left[1:]:
            if position - group[-1][0] >= distance:
                group.append((position, word))
        groups.append([word for _, word in group])
        left = [item for item in left if item not in group]
    windows = []
    for group in groups:  # then each group is windowed
        while group:
            start = max(0, group[0][0] - margin)
            masked = []
            for word in group:
                if all(token <= start + window - margin for token in range(*word)):
                    masked.append(word)
                else:
                    break
            windows.append((start, min(length, start + window), masked))
            group = group[len(masked) :]
    return windows


def too_long(case: dict) -> list[tuple[int, int]]:
    """The words that do not fit between the margins of their own window."""
    return [
        (first, stop)
        for first, stop in case["words"]
        if stop - 1 > max(0, first - case["margin"]) + case["window"] - max(case["margin"], 1)
    ]


def read_words(windows: list[Window]) -> list[int]:
    return [row for window in windows for row in window.rows]


@settings(deadline=None, max_examples=200)
@given(texts())
def test_every_plan_of_words_keeps_its_promises(case: dict) -> None:
    windows = plan_word_windows(**case)
    assert sorted(read_words(windows)) == list(range(len(case["words"])))
    long = too_long(case)
    for window in windows:
        words, indices = ([case[name][row] for row in window.rows] for name in ("words", "indices"))
        assert words  # so there are no more windows than words
        assert window.read == tuple(first for first, _ in words)
        assert window.masked == tuple(token for first, stop in words for token in range(first, min(stop, window.stop)))
        assert window.start == max(0, window.read[0] - case["margin"])
        assert 0 <= window.start <= window.masked[0] <= window.masked[-1] < window.stop <= case["length"]
        assert len(window) <= case["window"]
        assert all(later - earlier >= case["distance"] for earlier, later in pairwise(indices))
        if any(word in long for word in words):
            assert len(words) == 1
        else:
            assert window.masked[-1] <= window.start + case["window"] - case["margin"]


@settings(deadline=None)
@given(texts(longest=4))
def test_it_is_the_released_codes_schedule(case: dict) -> None:
    if too_long(case) or case["margin"] == 0:  # without a margin, that code may read beyond its own window
        return
    found = [
        (window.start, window.stop, [case["words"][row] for row in window.rows]) for window in plan_word_windows(**case)
    ]
    assert found == released_schedule(**case)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([1000], [(0, 450, 0, 450)]), ([401], [(0, 401, 0, 401)]), ([402], [(0, 402, 0, 402)]),
        ([449], [(0, 449, 0, 449)]), ([60, 1000], [(0, 450, 0, 60), (10, 460, 60, 460)]),
        ([60, 351], [(0, 411, 0, 60), (10, 411, 60, 411)]),
        ([60, 351, 200], [(0, 450, 0, 60), (10, 460, 60, 411), (361, 611, 411, 611)]),
        ([60, 352, 200], [(0, 450, 0, 60), (10, 460, 60, 412), (362, 612, 412, 612)]),
    ],
)  # fmt: skip
def test_long_words(sizes: list[int], expected: list[tuple[int, int, int, int]]) -> None:
    words = [(stop - size, stop) for size, stop in zip(sizes, accumulate(sizes), strict=True)]
    windows = plan_word_windows(sum(sizes), words, list(range(len(sizes))))
    assert [(w.start, w.stop, w.masked[0], w.masked[-1] + 1) for w in windows] == expected


def test_the_margin_holds_at_the_end_of_the_text_too_and_without_one_the_window_is_not_left() -> None:
    """Unlike the paper's schedule: token 401 waits for a window of its own, though the text ends at 449."""
    windows = plan_word_windows(450, [(0, 1), (400, 401), (401, 402)], [0, 400, 449])
    assert [window.masked for window in windows] == [(0, 400), (401,)]
    words = [(token, token + 1) for token in range(30)]
    for distance in (9, 10):
        windows = plan_word_windows(30, words, list(range(30)), window=10, margin=0, distance=distance)
        assert sorted(read_words(windows)) == list(range(30))
        assert max(window.masked[-1] - window.start for window in windows) == (9 if distance == 9 else 0)

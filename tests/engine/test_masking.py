"""Masking: schedules that keep their promises, as naive loops have them; batches that lose no
window or position.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.engine.masking import (
    SpecialTokens,
    TextWindow,
    Window,
    assemble,
    pack,
    plan_token_windows,
    plan_word_windows,
)
from tests.oracle import schedule


@st.composite
def plans(draw: st.DrawFn) -> tuple[int, list[int], int, int, int]:
    """Any text, any subset of its positions, any legal setting."""
    margin = draw(st.integers(0, 12))
    window = draw(st.integers(2 * margin + 1, 2 * margin + 40))
    distance = draw(st.integers(1, 50))
    length = draw(st.integers(0, 160) | st.sampled_from([window - 1, window, window + 1]))
    wanted = sorted(draw(st.sets(st.integers(0, length - 1)))) if length else []
    if draw(st.booleans()):
        wanted = list(range(length))
    return length, wanted, window, margin, distance


@given(plans())
@settings(max_examples=300, deadline=None)
def test_every_plan_is_that_of_figure_1(plan: tuple[int, list[int], int, int, int]) -> None:
    length, wanted, window, margin, distance = plan
    windows = plan_token_windows(length, wanted, window=window, margin=margin, distance=distance)
    expected = schedule(length, set(wanted), window, margin, distance)
    assert [(w.start, w.stop, list(w.masked)) for w in windows] == expected
    for w in windows:
        assert [*w.read] == [*w.masked] == [wanted[row] for row in w.rows]


def test_a_text_of_one_window_takes_as_many_passes_as_the_distance() -> None:
    planned = plan_token_windows(450, range(450))
    assert [[*w.masked[:2]] for w in planned] == [[first, first + 8] for first in range(8)]
    assert {w.stop for w in planned} == {450}


@st.composite
def texts(draw: st.DrawFn) -> dict:
    """A text of words, some of them wanted, and a legal setting; in half of the texts all words are
    short.
    """
    longest = draw(st.sampled_from([4, 60]))
    sizes = draw(
        st.lists(st.one_of(st.just(1), st.integers(1, 4), st.integers(1, longest)), max_size=40)
    )
    wanted = draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)))
    margin = draw(st.integers(0, 8))
    words, first = [], 0
    for size in sizes:
        words.append((first, first + size))
        first += size
    return {
        "length": first,
        "words": [word for word, want in zip(words, wanted, strict=True) if want],
        "indices": [position for position, want in enumerate(wanted) if want],
        "window": draw(st.integers(2 * margin + 1, 2 * margin + 40)),
        "margin": margin,
        "distance": draw(st.integers(1, 10)),
    }


def released_schedule(
    length: int,
    words: list[tuple[int, int]],
    indices: list[int],
    window: int,
    margin: int,
    distance: int,
) -> list[tuple[int, int, list[int], list[int]]]:
    """Section 3 of the specification, read by sentence: start, stop, masked tokens and masked words of each
    window.
    """
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
            stop = min(length, start + window)
            masked = []
            for word in group:
                if all(token <= start + window - max(margin, 1) for token in range(*word)):
                    masked.append(word)
                else:
                    break
            masked = masked or group[:1]  # too long: alone, as far as its window reaches
            tokens = [token for word in masked for token in range(*word) if token < stop]
            windows.append((start, stop, tokens, [words.index(word) for word in masked]))
            group = group[len(masked) :]
    return windows


@settings(deadline=None, max_examples=300)
@given(texts())
def test_every_plan_of_words_is_that_of_the_released_code(case: dict) -> None:
    windows = plan_word_windows(**case)
    planned = [(window.start, window.stop, [*window.masked], [*window.rows]) for window in windows]
    assert planned == released_schedule(**case)
    for window in windows:
        assert [*window.read] == [case["words"][row][0] for row in window.rows]


@given(st.lists(st.integers(1, 60), max_size=80), st.integers(1, 300))
def test_packing_takes_each_once_and_keeps_the_budget(lengths: list[int], budget: int) -> None:
    lengths = sorted(lengths, reverse=True)
    batches = pack(lengths, budget)
    assert [number for batch in batches for number in batch] == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) >= 1
        padded = len(batch) * lengths[batch.start]
        assert padded <= budget or len(batch) == 1
    for batch in batches[:-1]:  # none is cut short
        assert (len(batch) + 1) * lengths[batch.start] > budget


def test_large_batches_end_where_padding_would_grow() -> None:
    lengths = sorted([*range(1, 400)] * 20, reverse=True)
    batches = pack(lengths, 65_536)
    filled = [len(batch) * lengths[batch.start] for batch in batches]
    assert 1 - sum(lengths) / sum(filled) < 0.025
    assert len(batches) < 50  # and yet no batch is small


def test_special_tokens_may_be_missing() -> None:
    bare = SpecialTokens(before=(), after=(), mask=104, padding=0)  # none on either side
    masked = np.array([2])
    window = Window(0, 5, masked=masked, read=masked, rows=np.array([0]))
    batch = assemble([TextWindow(np.arange(1000, 1005), window, 0)], bare)
    assert batch.ids.tolist() == [[1000, 1001, 104, 1003, 1004]]
    assert (batch.row.tolist(), batch.column.tolist()) == ([0], [2])

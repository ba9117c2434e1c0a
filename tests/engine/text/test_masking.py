"""Masking: schedules that keep their promises, as naive loops have them; batches that lose no
window or position.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.engine.encoder.batching import (
    SpecialTokens,
    TextWindow,
    assemble,
    pack,
    text_windows,
)
from estime_metric.engine.text.masking import MaskedText, plan_token_windows, plan_word_windows
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


def assert_promises(
    length: int, wanted: list[int], window: int, margin: int, distance: int
) -> None:
    windows = plan_token_windows(length, wanted, window=window, margin=margin, distance=distance)
    expected = schedule(length, set(wanted), window, margin, distance)
    assert [(w.start, w.stop, list(w.masked)) for w in windows] == expected
    for w in windows:
        assert (
            w.stop - w.start == len(w) == window or w.stop == length
        )  # no window is shorter than it may be
        assert all(b - a >= distance for a, b in pairwise(w.masked))
        for position in w.masked:
            assert w.start == 0 or position >= w.start + margin
            assert w.stop == length or position < w.stop - margin
        assert w.read == w.masked == tuple(wanted[row] for row in w.rows)
    assert sorted(row for w in windows for row in w.rows) == list(
        range(len(wanted))
    )  # each exactly once


@given(plans())
@settings(max_examples=300, deadline=None)
def test_every_plan_is_that_of_figure_1(plan: tuple[int, list[int], int, int, int]) -> None:
    assert_promises(*plan)


def test_a_text_of_one_window_takes_as_many_passes_as_the_distance() -> None:
    planned = plan_token_windows(450, range(450))
    assert [w.masked[:2] for w in planned] == [(first, first + 8) for first in range(8)]
    assert {w.stop for w in planned} == {450}
    papers = plan_token_windows(1000, range(1000), window=450, margin=50, distance=8)
    assert plan_token_windows(1000, range(1000)) == papers
    for step in (1, 3, 1000):  # a very long text ends
        wanted = list(range(0, 100_000, step))
        windows = plan_token_windows(100_000, wanted)
        assert sorted(position for w in windows for position in w.masked) == wanted
        assert (
            len(windows) <= 100_000 / (450 - 2 * 50) * 8 + 8
        )  # never more than the densest schedule needs


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
) -> list[tuple[int, int, list[tuple[int, int]]]]:
    """Section 3 of the specification, read by sentence: start, stop, masked words of each window.
    Words must fit.
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


@settings(deadline=None, max_examples=300)
@given(texts())
def test_every_plan_of_words_keeps_its_promises_and_is_that_of_the_released_code(
    case: dict,
) -> None:
    windows = plan_word_windows(**case)
    assert sorted(row for window in windows for row in window.rows) == list(
        range(len(case["words"]))
    )
    long = too_long(case)
    for window in windows:
        words, indices = ([case[name][row] for row in window.rows] for name in ("words", "indices"))
        assert words  # so there are no more windows than words
        assert {*window.read} <= {*window.masked}
        assert window.read == tuple(first for first, _ in words)
        assert window.masked == tuple(
            token for first, stop in words for token in range(first, min(stop, window.stop))
        )
        assert window.start == max(0, window.read[0] - case["margin"])
        assert (
            0
            <= window.start
            <= window.masked[0]
            <= window.masked[-1]
            < window.stop
            <= case["length"]
        )
        assert len(window) <= case["window"]
        assert all(later - earlier >= case["distance"] for earlier, later in pairwise(indices))
        if any(word in long for word in words):
            assert len(words) == 1
        else:
            assert window.masked[-1] <= window.start + case["window"] - case["margin"]
    if case["margin"] and not long:  # without a margin, that code may read beyond its own window
        planned = [
            (window.start, window.stop, [case["words"][row] for row in window.rows])
            for window in windows
        ]
        assert planned == released_schedule(**case)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([1000], [(0, 450, 0, 450)]),
        ([401], [(0, 401, 0, 401)]),
        ([402], [(0, 402, 0, 402)]),
        ([449], [(0, 449, 0, 449)]),
        ([60, 1000], [(0, 450, 0, 60), (10, 460, 60, 460)]),
        ([60, 351], [(0, 411, 0, 60), (10, 411, 60, 411)]),
        ([60, 351, 200], [(0, 450, 0, 60), (10, 460, 60, 411), (361, 611, 411, 611)]),
        ([60, 352, 200], [(0, 450, 0, 60), (10, 460, 60, 412), (362, 612, 412, 612)]),
    ],
)
def test_long_words(sizes: list[int], expected: list[tuple[int, int, int, int]]) -> None:
    words = [(stop - size, stop) for size, stop in zip(sizes, accumulate(sizes), strict=True)]
    windows = plan_word_windows(sum(sizes), words, list(range(len(sizes))))
    assert [(w.start, w.stop, w.masked[0], w.masked[-1] + 1) for w in windows] == expected


SPECIAL = SpecialTokens(before=(101,), after=(102, 103), mask=104, padding=100)


def masked_text(
    length: int, wanted: list[int] | None = None, first_id: int = 1000, **setting: int
) -> MaskedText:
    """A text of ids that count up from ``first_id``, so that each id identifies its position."""
    wanted = list(range(length)) if wanted is None else wanted
    setting = {"window": 30, "margin": 5, "distance": 4, **setting}
    return MaskedText(
        np.arange(first_id, first_id + length),
        plan_token_windows(length, wanted, **setting),
        len(wanted),
    )


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
    assert [number for batch in batches for number in batch] == list(range(len(lengths)))
    filled = [len(batch) * lengths[batch.start] for batch in batches]
    assert max(filled) <= 65_536
    assert 1 - sum(lengths) / sum(filled) < 0.025
    assert len(batches) < 50  # and yet no batch is small
    # The windows of one source and its summaries, at a CPU's budget.
    lengths = sorted([430] * 4 + [*range(50, 130, 5)] * 2, reverse=True)
    batches = pack(lengths, 2_000)
    filled = sum(len(batch) * lengths[batch.start] for batch in batches)
    assert 1 - sum(lengths) / filled < 0.03
    assert len(batches) < 10


@pytest.mark.parametrize("budget", [1, 40, 200, 10_000])
def test_every_position_is_masked_read_and_sent_to_its_row(budget: int) -> None:
    texts = [
        masked_text(12),
        masked_text(0),
        masked_text(70, first_id=2000),
        masked_text(9, [3, 8], first_id=3000),
    ]
    windows = text_windows(texts)
    assert len(windows) == sum(len(text.windows) for text in texts)
    assert all(len(a.window) >= len(b.window) for a, b in pairwise(windows))
    assert all(
        text_window.offset == {1000: 0, 2000: 12, 3000: 82}[int(text_window.ids[0])]
        for text_window in windows
    )
    ids_by_row = {}
    for numbers in pack(
        [len(text_window.window) + SPECIAL.around for text_window in windows], budget
    ):
        chosen = [windows[number] for number in numbers]
        batch = assemble(chosen, SPECIAL)
        assert batch.ids.shape == (
            len(chosen),
            max(len(text_window.window) for text_window in chosen) + 3,
        )
        for row, text_window in enumerate(chosen):
            end = 1 + len(text_window.window)
            expected = text_window.ids[text_window.window.start : text_window.window.stop].copy()
            expected[
                [position - text_window.window.start for position in text_window.window.masked]
            ] = SPECIAL.mask
            padding = [SPECIAL.padding] * (batch.ids.shape[1] - end - 2)
            assert batch.ids[row].tolist() == [101, *expected.tolist(), 102, 103, *padding]
            if batch.attended is None:
                assert not padding
            else:
                assert batch.attended[row].tolist() == [True] * (end + 2) + [False] * len(padding)
        assert (batch.ids[batch.row, batch.column] == SPECIAL.mask).all()
        assert batch.slot.tolist() == [
            slot for text_window in chosen for slot in range(len(text_window.window.read))
        ]
        assert batch.most == max(batch.slot.tolist()) + 1
        places = (batch.row.tolist(), batch.column.tolist(), batch.target.tolist())
        for row, column, target in zip(*places, strict=True):
            text_window = chosen[row]
            assert target not in ids_by_row
            ids_by_row[target] = int(text_window.ids[text_window.window.start + column - 1])
    expected = [*range(1000, 1012), *range(2000, 2070), 3003, 3008]
    assert [ids_by_row[row] for row in range(len(expected))] == expected
    assert texts[0].ids.tolist() == list(range(1000, 1012))  # the text itself stays as it is


def test_special_tokens_may_be_missing() -> None:
    bare = SpecialTokens(before=(), after=(), mask=104, padding=0)  # none on either side
    text = masked_text(5, distance=100)
    batch = assemble([TextWindow(text.ids, text.windows[2], 0)], bare)
    assert batch.ids.tolist() == [[1000, 1001, 104, 1003, 1004]]
    assert (batch.row.tolist(), batch.column.tolist(), batch.target.tolist()) == ([0], [2], [2])

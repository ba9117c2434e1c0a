"""Units -> windows, in which each unit is masked once -> batches under a token budget: the masking
schedules of the paper and of the released code.

Axes: ``b`` windows in a batch, ``p`` positions in the longest of them, ``r`` positions read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from estime_metric.checks import check_window
from estime_metric.config import EstimeConfig
from estime_metric.engine.units import IntArray, Units


@dataclass(frozen=True, eq=False, slots=True)
class Window:
    """One input of the encoder, in positions of the text: from ``start`` to one before ``stop``."""

    start: int
    stop: int
    masked: IntArray  # ascending
    read: IntArray  # the masked positions with a hidden state that is read, ascending
    rows: IntArray  # for each of ``read``, its index among the wanted positions

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, eq=False, slots=True)
class MaskedText:
    """One text with its windows."""

    ids: IntArray  # token ids of the whole text, of shape (n,)
    windows: Sequence[Window]  # in any order
    wanted: int  # how many positions are read in all windows together


def mask_units(units: Units, config: EstimeConfig) -> MaskedText:
    """The windows in which the units of a text are masked, by the schedule of ``config.unit``."""
    length = len(units.tokens)
    first = units.first.tolist()
    if config.unit == "word":
        words = list(zip(first, units.stop.tolist(), strict=True))
        windows = plan_word_windows(length, words, units.index.tolist(), **config.schedule)
    else:
        windows = plan_token_windows(length, first, **config.schedule)
    return MaskedText(units.tokens, windows, len(units))


def plan_token_windows(
    length: int, wanted: Sequence[int], *, window: int = 450, margin: int = 50, distance: int = 8
) -> list[Window]:
    """Plans the windows for the tokens of one text.

    While a wanted position is left, the leftmost, ``t``, opens a window at ``max(0, t - margin)``
    with up to ``window`` positions. From ``t`` on, left to right, each wanted position that is left
    and at least ``distance`` after the last masked one is masked, up to ``margin`` before the
    window's right edge, or up to the edge itself if the text ends there. The algorithm ends for
    every input, because ``t`` itself is always masked.

    Args:
        length: number of tokens in the text.
        wanted: positions that want an embedding, strictly ascending, within ``range(length)``.
        window, margin, distance: as in `EstimeConfig`.

    Source: Vasilyev & Bohannon 2021, section 2; preprint, Figure 1.

    Example:
        >>> for w in plan_token_windows(6, range(6), window=6, margin=1, distance=3):
        ...     print(w.start, w.stop, w.masked)
        0 6 [0 3]
        0 6 [1 4]
        1 6 [2 5]
    """
    check_window(window, margin)
    windows: list[Window] = []
    positions = np.asarray(wanted, dtype=np.int64)
    done = np.zeros(len(positions), dtype=np.bool_)
    first = 0
    while first < len(positions):
        start = max(0, int(positions[first]) - margin)
        stop = min(length, start + window)
        limit = stop if stop == length else stop - margin
        end = int(np.searchsorted(positions, limit))
        left = first + np.flatnonzero(~done[first:end])
        rows = left[_apart(positions[left], distance)]
        done[rows] = True
        windows.append(Window(start, stop, positions[rows], positions[rows], rows))
        # No window before reached further than this one.
        first = next(iter(left[~done[left]]), end)
    return windows


def _apart(positions: IntArray, distance: int) -> slice | list[int]:
    """The first of some ascending positions, and from left to right each that is at least ``distance``
    after the last one chosen; their indices.
    """
    gaps = np.diff(positions)
    if gaps.size and (gaps == gaps[0]).all():  # all tokens of a text, or what one pass has left
        return slice(None, None, -(-distance // int(gaps[0])))
    following = np.searchsorted(positions, positions + distance).tolist()
    chosen = []
    index = 0
    while index < len(following):
        chosen.append(index)
        index = following[index]
    return chosen


def plan_word_windows(
    length: int,
    words: Sequence[tuple[int, int]],
    indices: Sequence[int],
    *,
    window: int = 450,
    margin: int = 50,
    distance: int = 8,
) -> list[Window]:
    """Plans the windows for the words of one text, as the authors' released code does.

    Groups are formed first, over the whole text: from left to right, each word that is left and at
    least ``distance`` words after the last chosen word joins the group. Each group is then
    windowed: its leftmost word that is left, with first token ``t``, opens a window at ``max(0, t -
    margin)`` with up to ``window`` tokens, and every word of the group up to token ``start + window
    - margin`` is masked in it, at the end of the text too. All tokens of a word are masked
    together; the hidden state is read at its first.

    A word that is too long for that is masked alone, as far as its window reaches; the released
    code never ends there.

    Args:
        length: number of tokens in the text.
        words: first and one past the last token of each word that wants an embedding; ascending,
            not overlapping.
        indices: index of each of these words in the text, ascending; what ``distance`` counts.
        window, margin, distance: as in `EstimeConfig`.

    Source: the authors' released code, ``blanc`` 0.3.4.

    Example:
        >>> for w in plan_word_windows(5, [(0, 2), (2, 3), (3, 5)], [0, 1, 2], window=5, margin=1, distance=2):
        ...     print(w.start, w.stop, w.masked, w.read)
        0 5 [0 1 3 4] [0 3]
        1 5 [2] [2]
    """
    check_window(window, margin)
    windows = []
    for group in _groups_apart(indices, distance):
        while group:
            first = words[group[0]][0]
            start = max(0, first - margin)
            stop = min(length, start + window)
            last = start + window - max(margin, 1)  # the last token that may be masked
            taken = next((i for i, row in enumerate(group) if words[row][1] - 1 > last), len(group))
            rows, group = group[: max(taken, 1)], group[max(taken, 1) :]
            masked = [
                token for row in rows for token in range(words[row][0], min(words[row][1], stop))
            ]
            read = [words[row][0] for row in rows]
            windows.append(Window(start, stop, *map(np.array, (masked, read, rows))))
    return windows


def _groups_apart(indices: Sequence[int], distance: int) -> Iterator[list[int]]:
    """Rows of ``indices`` in groups whose members are at least ``distance`` apart, formed greedily."""
    left = list(range(len(indices)))
    while left:
        group, rest = left[:1], list[int]()
        for row in left[1:]:
            (group if indices[row] - indices[group[-1]] >= distance else rest).append(row)
        yield group
        left = rest


#: A batch of a quarter of the budget, within these positions, justifies a separate forward pass: it
#: ends at this fraction of padding. A batch of fewer positions than the last number is short: a forward
#: pass costs the host as much as one of a large batch.
_BUSY, _MOST_PADDING, _MOST_PADDING_OF_SHORT = (500, 4_000), 0.03, 0.1


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """Ids that the encoder's tokenizer puts around a text, and its mask and padding."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    mask: int
    padding: int

    @property
    def around(self) -> int:
        """The number of positions of an input that are special tokens."""
        return len(self.before) + len(self.after)


@dataclass(frozen=True, eq=False, slots=True)
class WindowBatch:
    """One input of the encoder: several windows side by side, and the positions that are read, window
    by window.

    Attributes:
        ids: masked, padded token ids, int64 of shape (b, p).
        attended: True except on padding, bool of shape (b, p); ``None`` if nothing is padded.
        positions: ``row``, ``column``, ``slot`` and ``target``, int64 of shape (4, r).
        most: how many are read in one window, at most.
    """

    ids: Tensor
    attended: Tensor | None
    positions: Tensor
    most: int

    @property
    def row(self) -> Tensor:
        """The window of each hidden state that is read, int64 of shape (r,)."""
        return self.positions[0]

    @property
    def column(self) -> Tensor:
        """Its position in the window, int64 of shape (r,)."""
        return self.positions[1]

    @property
    def slot(self) -> Tensor:
        """Its number among those of its window, int64 of shape (r,)."""
        return self.positions[2]

    @property
    def target(self) -> Tensor:
        """The row of the result that it goes to, int64 of shape (r,)."""
        return self.positions[3]


@dataclass(frozen=True, slots=True)
class TextWindow:
    """One window of one text, and the row of the result at which that text begins."""

    ids: IntArray
    window: Window
    offset: int

    def __len__(self) -> int:
        return len(self.window)


def text_windows(texts: Sequence[MaskedText]) -> list[TextWindow]:
    """All windows of all texts, longest first, so that neighbors need little padding."""
    windows = []
    offset = 0
    for text in texts:
        windows += [TextWindow(text.ids, window, offset) for window in text.windows]
        offset += text.wanted
    return sorted(windows, key=len, reverse=True)


def pack(lengths: Sequence[int], budget: int, padded: bool = True) -> list[range]:
    """Cuts a descending list of lengths into batches of at most ``budget`` positions, padding
    included.

    An input longer than the budget forms a separate batch. A batch that is large enough to keep a
    device busy also ends if more than a few percent of it would be padding, or a tenth if it is short. If ``padded`` is False,
    all inputs of a batch have the same length.
    """
    least, most = _BUSY
    busy = min(max(budget // 4, least), most)
    batches = []
    start = 0
    while start < len(lengths):
        longest = lengths[start]
        last = min(len(lengths), start + max(1, budget // longest))
        stop = start + 1
        padding = 0
        while stop < last:
            padding += longest - lengths[stop]
            if padding and not padded:
                break
            size = (stop + 1 - start) * longest
            most_padding = _MOST_PADDING_OF_SHORT if size <= most else _MOST_PADDING
            if size > busy and padding > most_padding * size:
                break
            stop += 1
        batches.append(range(start, stop))
        start = stop
    return batches


def assemble(windows: Sequence[TextWindow], special: SpecialTokens) -> WindowBatch:
    """Lays windows side by side: special tokens around each, masks put in, short ones padded."""
    longest = max(map(len, windows)) + special.around
    ids = np.full((len(windows), longest), special.padding, dtype=np.int64)
    attended = np.zeros((len(windows), longest), dtype=np.bool_)
    columns, targets = [], []
    for number, text_window in enumerate(windows):
        window = text_window.window
        shift = len(special.before) - window.start  # a position of the text -> its column
        tokens = text_window.ids[window.start : window.stop]
        begin = len(special.before)
        end = begin + len(tokens)
        stop = end + len(special.after)
        ids[number, :begin] = special.before
        ids[number, begin:end] = tokens
        ids[number, end:stop] = special.after
        ids[number, shift + window.masked] = special.mask
        attended[number, :stop] = True
        columns.append(shift + window.read)
        targets.append(text_window.offset + window.rows)
    sizes = [len(column) for column in columns]
    row = np.repeat(np.arange(len(windows)), sizes)
    slot = np.concatenate([np.arange(size) for size in sizes])
    positions = np.array([row, np.concatenate(columns), slot, np.concatenate(targets)])
    return WindowBatch(
        ids=torch.from_numpy(ids),
        attended=None if attended.all() else torch.from_numpy(attended),
        positions=torch.from_numpy(positions),
        most=max(sizes),
    )

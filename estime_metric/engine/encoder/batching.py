"""Windows of many texts -> batches under a token budget.

Axes: ``b`` windows in a batch, ``p`` positions in the longest of them, ``r`` positions read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from estime_metric.engine.text.masking import MaskedText, Window
from estime_metric.engine.text.units import BoolArray, IntArray

#: A batch of a quarter of the budget, within these positions, justifies a separate forward pass: it
#: ends at this fraction of padding.
_BUSY, _MOST_PADDING = (500, 4_000), 0.03


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
    """One input of the encoder: several windows side by side.

    Attributes:
        ids: masked, padded token ids, of shape (b, p).
        attended: True except on padding, of shape (b, p); ``None`` if nothing is padded.
        row, column: where hidden states are read, of shape (r,).
        target: the row of the result that each of them goes to, of shape (r,).
        slot: the number of each among the positions read in its window, of shape (r,).
        most: the most positions that are read in one window.
    """

    ids: IntArray
    attended: BoolArray | None
    row: IntArray
    column: IntArray
    target: IntArray
    slot: IntArray
    most: int


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
    device busy also ends if more than a few percent of it would be padding. If ``padded`` is False,
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
            if size > busy and padding > _MOST_PADDING * size:
                break
            stop += 1
        batches.append(range(start, stop))
        start = stop
    return batches


def assemble(windows: Sequence[TextWindow], special: SpecialTokens) -> WindowBatch:
    """Lays windows side by side: special tokens around each, masks put in, short ones padded."""
    before = len(special.before)
    longest = max(map(len, windows)) + special.around
    ids = np.full((len(windows), longest), special.padding, dtype=np.int64)  # (b, p)
    attended = np.zeros((len(windows), longest), dtype=np.bool_)  # (b, p)
    row: list[int] = []
    column: list[int] = []
    target: list[int] = []
    slot: list[int] = []
    for number, one in enumerate(windows):
        window = one.window
        shift = before - window.start  # a position of the text -> its column
        filled = [*special.before, *one.ids[window.start : window.stop], *special.after]
        ids[number, : len(filled)] = filled
        ids[number, [shift + position for position in window.masked]] = special.mask
        attended[number, : len(filled)] = True
        row += [number] * len(window.read)
        column += [shift + position for position in window.read]
        target += [one.offset + wanted for wanted in window.rows]
        slot += range(len(window.read))
    return WindowBatch(
        ids=ids,
        attended=None if attended.all() else attended,
        row=np.array(row, dtype=np.int64),
        column=np.array(column, dtype=np.int64),
        target=np.array(target, dtype=np.int64),
        slot=np.array(slot, dtype=np.int64),
        most=max(len(one.window.read) for one in windows),
    )

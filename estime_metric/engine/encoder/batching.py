"""Windows of many texts -> batches under a token budget.

Axes: ``b`` windows in a batch, ``p`` positions in the longest of them, ``r`` positions read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from estime_metric.engine.encoder.memory import put
from estime_metric.engine.masking import MaskedText, Window
from estime_metric.engine.units import IntArray

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
    """One input of the encoder: several windows side by side, and the positions that are read, window
    by window.

    Attributes:
        ids: masked, padded token ids, int64 of shape (b, p).
        attended: True except on padding, bool of shape (b, p); ``None`` if nothing is padded.
        row, column: window and position of each hidden state that is read, int64 of shape (r,).
        slot: its number among those of its window, int64 of shape (r,).
        target: the row of the result that it goes to, int64 of shape (r,).
        most: how many are read in one window, at most.
    """

    ids: Tensor
    attended: Tensor | None
    row: Tensor
    column: Tensor
    slot: Tensor
    target: Tensor
    most: int

    def to(self, device: torch.device) -> WindowBatch:
        """The batch on a device; all of it is known before the device is asked."""
        positions = put(torch.cat([self.row, self.column, self.slot, self.target]), device)
        row, column, slot, target = torch.split(positions, len(self.row))
        attended = None if self.attended is None else put(self.attended, device)
        return WindowBatch(
            ids=put(self.ids, device),
            attended=attended,
            row=row,
            column=column,
            slot=slot,
            target=target,
            most=self.most,
        )


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
    longest = max(map(len, windows)) + special.around
    ids = np.full((len(windows), longest), special.padding, dtype=np.int64)
    attended = np.zeros((len(windows), longest), dtype=np.bool_)
    row: list[int] = []
    column: list[int] = []
    slot: list[int] = []
    target: list[int] = []
    for number, text_window in enumerate(windows):
        window = text_window.window
        shift = len(special.before) - window.start  # a position of the text -> its column
        tokens = text_window.ids[window.start : window.stop]
        whole = [*special.before, *tokens, *special.after]
        ids[number, : len(whole)] = whole
        ids[number, [shift + position for position in window.masked]] = special.mask
        attended[number, : len(whole)] = True
        row += [number] * len(window.read)
        column += [shift + position for position in window.read]
        slot += range(len(window.read))
        target += [text_window.offset + wanted for wanted in window.rows]
    return WindowBatch(
        ids=torch.from_numpy(ids),
        attended=None if attended.all() else torch.from_numpy(attended),
        row=_integers(row),
        column=_integers(column),
        slot=_integers(slot),
        target=_integers(target),
        most=max(len(text_window.window.read) for text_window in windows),
    )


def _integers(numbers: list[int]) -> Tensor:
    return torch.tensor(numbers, dtype=torch.int64, device="cpu")

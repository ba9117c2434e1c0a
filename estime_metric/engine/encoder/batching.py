"""Windows of many texts -> batches under a token budget.

Axes: ``b`` windows in a batch, ``p`` positions in the longest of them, ``r`` positions read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from estime_metric.engine.text.masking import MaskedText, Window
from estime_metric.engine.text.units import BoolArray, IntArray

#: A batch of a quarter of the budget, within these positions, is worth a forward pass of its own:
#: it ends at this share of padding.
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
        """How many positions of an input the special tokens take."""
        return len(self.before) + len(self.after)


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """One input of the encoder."""

    ids: IntArray  # masked, padded token ids, of shape (b, p)
    attended: (
        BoolArray | None
    )  # True where ``ids`` is no padding, of shape (b, p); ``None`` where nothing is padded
    row: IntArray  # with ``column``: where to read hidden states, of shape (r,)
    column: IntArray
    target: IntArray  # row of the result that each goes to, of shape (r,)
    slot: IntArray  # number of each among the positions read in its window, of shape (r,)
    most: int  # positions read in one window, at most


@dataclass(frozen=True, slots=True)
class Job:
    """One window of one text, and the row of the result at which that text begins."""

    ids: IntArray
    window: Window
    offset: int


def jobs_of(texts: Sequence[MaskedText]) -> list[Job]:
    """All windows of all texts, longest first, so that neighbours need little padding."""
    jobs = []
    offset = 0
    for text in texts:
        jobs += [Job(text.ids, window, offset) for window in text.windows]
        offset += text.wanted
    return sorted(jobs, key=lambda job: -len(job.window))


def pack(lengths: Sequence[int], budget: int, padded: bool = True) -> list[range]:
    """Cuts a descending list of lengths into batches of at most ``budget`` positions, padding
    included.

    An input longer than the budget makes a batch of its own. A batch that is large enough to keep a
    device busy also ends where more than a few percent of it would be padding. Where ``padded`` is
    False, a batch has one length.
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


def assemble(jobs: Sequence[Job], special: SpecialTokens) -> Batch:
    """Lays windows side by side: special tokens around each, masks put in, short ones padded."""
    longest = max(len(job.window) for job in jobs) + special.around
    ids = np.full((len(jobs), longest), special.padding, dtype=np.int64)  # (b, p)
    attended = np.zeros((len(jobs), longest), dtype=np.bool_)  # (b, p)
    places: tuple[list[int], ...] = ([], [], [], [])
    row, column, target, slot = places
    shift = len(special.before)
    for number, job in enumerate(jobs):
        window = job.window
        end = shift + len(window)
        ids[number, :shift] = special.before
        ids[number, shift:end] = job.ids[window.start : window.stop]
        ids[number, end : end + len(special.after)] = special.after
        ids[number, [shift + position - window.start for position in window.masked]] = special.mask
        attended[number, : end + len(special.after)] = True
        row += [number] * len(window.read)
        column += [shift + position - window.start for position in window.read]
        target += [job.offset + wanted for wanted in window.rows]
        slot += range(len(window.read))
    fields: list[Any] = [np.asarray(numbers, dtype=np.int64) for numbers in places]
    fields.append(max(len(job.window.read) for job in jobs))
    return Batch(ids, None if attended.all() else attended, *fields)

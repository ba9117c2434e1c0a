"""Wanted positions -> windows of masked positions: the masking schedule, pure integers.

The schedule is the paper's (Figure 1 of the preprint, edges as in section 2 of the published version). Each window is
one input of the encoder; every wanted position is masked in exactly one window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """One input of the encoder, in positions of the text.

    Attributes:
        start: first position that the window holds.
        stop: one past the last position.
        masked: positions that are masked, ascending.
        read: those masked positions whose hidden state is read, ascending.
        rows: for each of ``read``, its index among the wanted positions.
    """

    start: int
    stop: int
    masked: tuple[int, ...]
    read: tuple[int, ...]
    rows: tuple[int, ...]

    def __len__(self) -> int:
        return self.stop - self.start


def check_schedule(window: int, margin: int, distance: int) -> None:
    """Refuses a setting under which some position could never be masked.

    Raises:
        ValueError: ``margin`` is negative, ``window`` is not more than twice ``margin``, or ``distance`` is below one.
    """
    if margin < 0:
        raise ValueError(f"Expected argument `margin` to be at least 0, but got {margin}.")
    if window <= 2 * margin:
        raise ValueError(f"Expected argument `window` to be more than twice `margin` ({margin}), but got {window}.")
    if distance < 1:
        raise ValueError(f"Expected argument `distance` to be at least 1, but got {distance}.")


def plan_token_windows(
    length: int, wanted: Sequence[int], *, window: int = 450, margin: int = 50, distance: int = 8
) -> list[Window]:
    """Plans the windows for the tokens of one text.

    While a wanted position is left, the leftmost, ``t``, opens a window at ``max(0, t - margin)`` that holds up to
    ``window`` positions. From ``t`` on, left to right, each wanted position that is left and at least ``distance``
    after the last one masked is masked, up to ``margin`` before the window's right edge, or up to the edge itself
    where the text ends there. It ends for every input, since ``t`` itself is always masked.

    Args:
        length: number of tokens in the text.
        wanted: positions that want an embedding, strictly ascending, within ``range(length)``.
        window: most positions in a window (``W``).
        margin: positions at a window's edge that are not masked, unless the text ends there (``M``).
        distance: least distance of two masked positions in one window (``L``).

    Returns:
        The windows in the order in which they are opened; none where nothing is wanted.

    Raises:
        ValueError: an illegal setting, or ``wanted`` is not strictly ascending within the text.

    Source: Vasilyev & Bohannon 2021, section 2; preprint, Figure 1.

    Example:
        >>> for w in plan_token_windows(6, range(6), window=6, margin=1, distance=3):
        ...     print(w.start, w.stop, w.masked)
        0 6 (0, 3)
        0 6 (1, 4)
        1 6 (2, 5)
    """
    check_schedule(window, margin, distance)
    _check_wanted(length, wanted)
    windows: list[Window] = []
    done = bytearray(len(wanted))
    first = 0
    while first < len(wanted):
        start = max(0, wanted[first] - margin)
        stop = min(length, start + window)
        limit = stop if stop == length else stop - margin
        rows = []
        free = wanted[first]  # the leftmost position that is far enough from the last one masked
        for row in range(first, len(wanted)):
            position = wanted[row]
            if position >= limit:
                break
            if not done[row] and position >= free:
                done[row] = 1
                rows.append(row)
                free = position + distance
        masked = tuple(wanted[row] for row in rows)
        windows.append(Window(start, stop, masked, masked, tuple(rows)))
        while first < len(wanted) and done[first]:
            first += 1
    return windows


def _check_wanted(length: int, wanted: Sequence[int]) -> None:
    before = -1
    for position in wanted:
        if not before < position < length:
            raise ValueError(
                f"Expected argument `wanted` to ascend strictly within range({length}), "
                f"but got {position} after {before}."
            )
        before = position

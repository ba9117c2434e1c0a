"""A signal that ends a job after its current chunk."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any


class Stop:
    """Within ``with Stop() as stop`` the first signal, Ctrl-C or SIGTERM, sets ``stop.signal``,
    which was 0, and calls ``on_stop``; a second Ctrl-C interrupts immediately.
    """

    def __init__(self, on_stop: Callable[[], None] = lambda: None) -> None:
        self.signal, self._on_stop = 0, on_stop
        self._before: dict[int, Any] = {}

    @property
    def requested(self) -> bool:
        """Whether a signal came."""
        return self.signal != 0

    def __enter__(self) -> Stop:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main:  # elsewhere Python does not accept handlers
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        if not self.requested:
            self.signal = number
            self._on_stop()

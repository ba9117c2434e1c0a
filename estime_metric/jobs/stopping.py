"""Ctrl-C and SIGTERM end a job after the current chunk, not in it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any


class Stop:
    """Within ``with Stop() as stop`` the first signal sets ``stop.signal``; a second Ctrl-C interrupts at once.

    Args:
        said: called at the first signal.

    Attributes:
        signal: the number of the signal that came, 0 while none has.
    """

    def __init__(self, said: Callable[[], None] = lambda: None) -> None:
        self.signal = 0
        self._said = said
        self._before: dict[int, Any] = {}

    @property
    def asked(self) -> bool:
        """Whether a signal came."""
        return self.signal != 0

    def __enter__(self) -> Stop:
        if threading.current_thread() is threading.main_thread():  # elsewhere Python takes no handlers
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        if not self.asked:
            self.signal = number
            self._said()

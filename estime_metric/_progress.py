"""The one progress bar."""

from __future__ import annotations

import sys
from typing import Any

from tqdm import tqdm

_LINES = 10  # of a log, about


class Bar(tqdm):  # type: ignore[misc]
    """A bar on stderr; if that is not a terminal, about ten lines."""

    n: int
    disable: bool

    def __init__(self, *, disable: bool = False, **options: Any) -> None:
        self._is_log = sys.stderr is None or not sys.stderr.isatty()
        self._logged = 0
        super().__init__(
            unit="pair",
            dynamic_ncols=True,
            delay=0.001,
            mininterval=0 if self._is_log else 0.1,
            disable=disable or sys.stderr is None,
            **options,
        )

    def display(self, msg: str | None = None, pos: int | None = None) -> bool:
        """Draws the bar; in a log, a line once another tenth is done."""
        if not self._is_log:
            return bool(super().display(msg, pos))
        if self.n - self._logged >= max((self.total or 0) / _LINES, 1):
            self._log()
        return True

    def clear(self, *arguments: Any, **options: Any) -> None:
        """Makes room for another line."""
        if not self._is_log:
            super().clear(*arguments, **options)

    def close(self) -> None:
        """Leaves the last state."""
        if self._is_log and not self.disable:
            if self.n > self._logged:
                self._log()
            self.disable = True
            self._decr_instances(self)
        super().close()

    def _log(self) -> None:
        self._logged = self.n
        self.fp.write(f"{self}\n")

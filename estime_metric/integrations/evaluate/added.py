"""What was added to an evaluation and has not been computed yet."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

Row = TypeVar("Row")


class Added(Generic[Row]):
    """The examples that wait for `compute`.

    A `compute` that succeeds forgets them. After one that fails they are kept for another, and what
    is added next begins anew: whoever runs a cell of a notebook again adds the same examples again.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._failed = False  # whether the last `compute` failed

    def add(self, rows: Sequence[Row]) -> None:
        """Adds examples; the first after a failed `compute` drop what is there, with a warning."""
        if self._failed and self.rows:
            warnings.warn(
                f"{len(self.rows)} examples that were added before the last `compute`, which failed, are dropped: "
                "adding begins anew.",
                stacklevel=3,
            )
            self.rows = []
        self._failed = False
        self.rows = [*self.rows, *rows]

    @contextmanager
    def computing(self) -> Iterator[list[Row]]:
        """The examples for a `compute`, which are forgotten if no error is raised within; an error
        says how many are kept.
        """
        try:
            yield list(self.rows)
        except BaseException as error:
            self._failed = True
            if self.rows:
                _say(
                    error,
                    f"The {len(self.rows)} examples that were added before are kept for the next `compute`; adding "
                    "others begins anew.",
                )
            raise
        self.rows = []
        self._failed = False


def _say(error: BaseException, said: str) -> None:
    """Adds a sentence to an error, in its message if it has one."""
    if len(error.args) == 1 and isinstance(error.args[0], str):
        end = "" if error.args[0].endswith((".", "!", "?")) else "."
        error.args = (f"{error.args[0]}{end} {said}",)
    elif sys.version_info >= (3, 11):
        error.add_note(said)

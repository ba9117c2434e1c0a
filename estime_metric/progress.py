"""A progress bar that counts pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm


@contextmanager
def progress_bar(pairs: int, shown: bool) -> Iterator[Callable[[int, float], None]]:
    """A bar on stderr; what it yields takes a number of pairs and the share of them that was done since."""
    done = 0.0
    with tqdm(total=pairs, unit="pair", disable=not shown, dynamic_ncols=True) as bar:

        def advance(some: int, share: float) -> None:
            nonlocal done
            done += some * share
            bar.update(round(done) - bar.n)

        yield advance

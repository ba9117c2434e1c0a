"""Who scores the chunks of a job: this process, or several as ``torchrun`` starts them, of which the first one writes.

A chunk goes to whichever process is free, so that work is shared by what it costs; it is scored by one process as it
would be alone, so the file is the same. All read the whole input, which is cheap compared with scoring.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from torch._C._distributed_c10d import Store

T = TypeVar("T")
S = TypeVar("S")

#: Chunks that a process may be ahead of the file, for each process: bounds what the first one holds.
_AHEAD = 4

#: Seconds that the first process waits for the others to leave a job that is done.
_PATIENCE = 30.0


class Workers(Protocol):
    """What scores the chunks of a job: `Alone`, `Team`, or `estime_metric.integrations.ray.RayTeam`."""

    @property
    def rank(self) -> int:
        """Number of this process; the one of rank 0 writes."""

    def share(self, make: Callable[[], T]) -> T:
        """What ``make`` gives on the first process, on all of them."""

    def run(self, chunks: Iterator[S], score: Callable[[S], T], stop: Callable[[], bool]) -> Iterator[T]:
        """Scores the chunks; the first process gets the results of all, in order, the others get none."""


class Alone:
    """This process."""

    rank = 0

    def share(self, make: Callable[[], T]) -> T:
        """What ``make`` gives: no other process needs it."""
        return make()

    def run(self, chunks: Iterator[S], score: Callable[[S], T], stop: Callable[[], bool]) -> Iterator[T]:
        """Scores the chunks, one after the other."""
        return map(score, chunks)


class Team:
    """The processes of one job.

    Attributes:
        rank: number of this process; the one of rank 0 writes.
        size: how many there are.
    """

    def __init__(self, store: Store, rank: int, size: int) -> None:
        self._store = store
        self.rank = rank
        self.size = size

    @classmethod
    def of_environment(cls) -> Team | None:
        """The processes that ``torchrun`` started; ``None`` where this one is alone."""
        if int(os.environ.get("WORLD_SIZE", "1")) < 2:
            return None
        from torch.distributed.rendezvous import rendezvous

        store, rank, size = next(iter(rendezvous("env://")))
        return cls(store, rank, size)

    def share(self, make: Callable[[], T]) -> T:
        """What ``make`` gives on the first process, on all of them.

        Raises:
            OSError: it failed there.
        """
        if self.rank:
            kind, value = pickle.loads(self._store.get("start"))
            if kind == "failed":
                raise OSError("the first process could not start: its message says why.")
            return value  # type: ignore[no-any-return]
        try:
            made = make()
        except BaseException:
            self._put("start", ("failed", None))
            raise
        self._put("start", ("made", made))
        return made

    def leave(self) -> None:
        """Ends the part of this process in the job. The first one waits for the others, for some seconds at most.

        ``torchrun`` ends all processes once one has failed, so the one that reports invalid rows goes last.
        """
        left = self._store.add("left", 1)
        waited = 0.0
        while not self.rank and left < self.size and waited < _PATIENCE:
            time.sleep(0.02)
            waited += 0.02
            left = self._counter("left")

    def run(self, chunks: Iterator[S], score: Callable[[S], T], stop: Callable[[], bool]) -> Iterator[T]:
        """Scores the chunks; the first process gets the results of all, in order, the others get none."""
        own: dict[int, T] = {}
        number = 0
        mine = self._claim()
        for number, chunk in enumerate(chunks, start=1):
            if number != mine:
                continue
            while number > self._counter("written") + _AHEAD * self.size and not stop():
                yield from self._ready(own)
                time.sleep(0.02)
            if stop():
                return
            result = score(chunk)
            if self.rank:
                self._put(f"chunk{number}", result)
            else:
                own[number] = result
            yield from self._ready(own)
            mine = self._claim()
        while not self.rank and self._counter("written") < number and not stop():
            yield from self._ready(own)
            time.sleep(0.02)

    def _put(self, key: str, value: object) -> None:
        self._store.set(key, pickle.dumps(value))  # type: ignore[arg-type]  # its stub says str, it takes bytes

    def _claim(self) -> int:
        return self._store.add("claimed", 1)

    def _counter(self, name: str) -> int:
        return self._store.add(name, 0)

    def _ready(self, own: dict[int, Any]) -> Iterator[Any]:
        """On the first process the results that come next, as far as they are there."""
        number = self._counter("written") + 1
        while not self.rank:
            if number in own:
                yield own.pop(number)
            elif self._store.check([f"chunk{number}"]):
                yield pickle.loads(self._store.get(f"chunk{number}"))
                self._store.delete_key(f"chunk{number}")
            else:
                return
            number = self._store.add("written", 1) + 1

"""Who scores the chunks of a job: this process, or several of ``torchrun``, which all read; the
first one writes.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from torch._C._distributed_c10d import Store

T = TypeVar("T")
S = TypeVar("S")

_AHEAD = 4  # chunks that a process may be ahead of the file, for each process: bounds what the first one holds
_PATIENCE = 30.0  # seconds that the first process waits for the others to leave a job that is done


class Workers:
    """What scores the chunks of a job: this process; `Team` and Ray's `RayTeam` are several."""

    rank = 0  # number of this process; the one of rank 0 writes

    def share(self, make: Callable[[], T]) -> T:
        """What ``make`` gives on the first process, on all of them."""
        return make()

    def run(
        self, chunks: Iterator[S], score: Callable[[S], T], stop: Callable[[], bool]
    ) -> Iterator[T]:
        """Scores the chunks; the first process gets the results of all, in order, the others get
        none.
        """
        return map(score, chunks)


class Team(Workers):
    """The processes of one job: ``size`` of them, which talk through a store."""

    def __init__(self, store: Store, rank: int, size: int) -> None:
        self._store, self.rank, self.size = store, rank, size

    @classmethod
    def of_environment(cls) -> Team | None:
        """The processes that ``torchrun`` started; ``None`` where this one is alone."""
        if int(os.environ.get("WORLD_SIZE", "1")) < 2:
            return None
        from torch.distributed.rendezvous import rendezvous

        store, rank, size = next(iter(rendezvous("env://")))
        return cls(store, rank, size)

    def share(self, make: Callable[[], T]) -> T:
        """As `Workers.share`; OSError on the others where it failed on the first."""
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
        """Ends the part of this process in the job. The first one waits for the others, for some
        seconds at most: ``torchrun`` ends all processes once one has failed, so the one that
        reports invalid rows goes last.
        """
        self._store.add("left", 1)
        waited = 0.0
        while not self.rank and self._counter("left") < self.size and waited < _PATIENCE:
            time.sleep(0.02)
            waited += 0.02

    def run(
        self, chunks: Iterator[S], score: Callable[[S], T], stop: Callable[[], bool]
    ) -> Iterator[T]:
        """As `Workers.run`."""
        number, mine = 0, self._store.add("claimed", 1)
        for number, chunk in enumerate(chunks, start=1):
            if number != mine:
                continue
            while number > self._counter("written") + _AHEAD * self.size and not stop():
                yield from self._ready()
                time.sleep(0.02)
            if stop():
                return
            self._put(f"chunk{number}", score(chunk))
            yield from self._ready()
            mine = self._store.add("claimed", 1)
        while not self.rank and self._counter("written") < number and not stop():
            yield from self._ready()
            time.sleep(0.02)

    def _put(self, key: str, value: object) -> None:
        self._store.set(key, pickle.dumps(value))  # type: ignore[arg-type]  # its stub says str, it takes bytes

    def _counter(self, name: str) -> int:
        return self._store.add(name, 0)

    def _ready(self) -> Iterator[Any]:
        """On the first process the results that come next, as far as they are there."""
        while not self.rank and self._store.check([key := f"chunk{self._counter('written') + 1}"]):
            yield pickle.loads(self._store.get(key))
            self._store.delete_key(key)
            self._store.add("written", 1)

"""Who scores the chunks of a job: this process, or several of ``torchrun``, which all read; the
first one writes.

The processes exchange JSON, so what reaches their port can be wrong but runs nothing.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from estime_metric import files
from estime_metric.jobs.chunks import Chunk
from estime_metric.jobs.totals import Totals

if TYPE_CHECKING:
    from torch._C._distributed_c10d import Store

#: Chunks that a process may be ahead of the file, for each process: bounds what the first one keeps.
_AHEAD = 4
_PATIENCE = 30.0  # seconds that the first process waits for the others to leave a job that is done
_MEETING = 300.0  # seconds within which all processes have to be there
_PAUSE = 0.02  # seconds between two looks at the store
_PIECE = 4_000_000  # characters of a value in the store, which accepts 8 MB at most

#: A variable that ``torchrun`` sets. Schedulers set WORLD_SIZE and RANK too, for other programs.
_LAUNCHED = "TORCHELASTIC_RUN_ID"


@dataclass(frozen=True)
class ChunkScores:
    """What scoring a chunk gives: the ``values`` of its pairs by column, and its ``totals``."""

    values: Mapping[str, list[files.Number]]
    totals: Totals


class Workers:
    """What scores the chunks of a job: this process; `Team` and Ray's `RayTeam` are several."""

    rank = 0  # number of this process; rank 0 writes

    def share(self, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Returns on all processes what ``make`` returns on the first one; it must be JSON data."""
        return make()

    def run(
        self,
        chunks: Iterator[Chunk],
        score: Callable[[Chunk], ChunkScores],
        stop: Callable[[], bool],
    ) -> Iterator[tuple[Chunk, ChunkScores]]:
        """Scores the chunks; the first process gets all chunks with their scores, in order, the
        others get none.
        """
        for chunk in chunks:
            yield chunk, score(chunk)


class Team(Workers):
    """The processes of one job: ``size`` of them, which talk through a store."""

    def __init__(self, store: Store, rank: int, size: int) -> None:
        self._store, self.rank, self.size = store, rank, size

    @classmethod
    def of_environment(cls) -> Team | None:
        """The processes that ``torchrun`` started; ``None`` if this one is alone.

        Raises OSError if the others are not there after five minutes.
        """
        if not is_launched():
            return None
        from torch.distributed import DistError
        from torch.distributed.rendezvous import rendezvous

        try:
            meeting = rendezvous("env://", timeout=timedelta(seconds=_MEETING))
            store, rank, size = next(iter(meeting))
        except DistError as error:
            host, port = (os.environ.get(name, "?") for name in ("MASTER_ADDR", "MASTER_PORT"))
            raise OSError(
                f"The processes of torchrun did not meet at {host}, port {port}, within "
                f"{_MEETING:.0f} seconds."
            ) from error
        return cls(store, rank, size)

    def share(self, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """As `Workers.share`; OSError on the others if it failed on the first one, or if it needs
        more than five minutes.
        """
        if self.rank:
            made: dict[str, Any] | None = self._wait_for("start")
            if made is None:
                raise OSError("The first process could not start. See its error message.")
            return made
        try:
            made = make()
        except BaseException:
            self._put("start", None)
            raise
        self._put("start", made)
        return made

    def leave(self) -> None:
        """Ends the part of this process in the job. The first one waits for the others, for some
        seconds at most: ``torchrun`` ends all processes once one has failed, so the one that
        reports invalid rows goes last.
        """
        self._store.add("left", 1)
        waited = 0.0
        while not self.rank and self._counter("left") < self.size and waited < _PATIENCE:
            time.sleep(_PAUSE)
            waited += _PAUSE

    def run(
        self,
        chunks: Iterator[Chunk],
        score: Callable[[Chunk], ChunkScores],
        stop: Callable[[], bool],
    ) -> Iterator[tuple[Chunk, ChunkScores]]:
        """As `Workers.run`. All processes go through all chunks; each one scores those that it has
        claimed.
        """
        unwritten: deque[Chunk] = deque()  # on the first process, what it has read
        claimed = self._claim()
        number = 0
        for number, chunk in enumerate(chunks, start=1):
            if not self.rank:
                unwritten.append(chunk)
            if number != claimed:
                continue
            while self._is_too_far_ahead(number) and not stop():
                yield from self._scored(unwritten)
                time.sleep(_PAUSE)
            if stop():
                return
            scores = score(chunk)
            self._put(_key(number), {"values": scores.values, "totals": scores.totals.to_json()})
            yield from self._scored(unwritten)
            claimed = self._claim()
        while unwritten and not stop():
            yield from self._scored(unwritten)
            time.sleep(_PAUSE)

    def _claim(self) -> int:
        """The number of the next chunk that nobody has claimed."""
        return self._store.add("claimed", 1)

    def _is_too_far_ahead(self, number: int) -> bool:
        return number > self._counter("written") + _AHEAD * self.size

    def _scored(self, unwritten: deque[Chunk]) -> Iterator[tuple[Chunk, ChunkScores]]:
        """The chunks that are to be written next, with their scores, as far as these are there."""
        while unwritten and self._is_there(key := _key(self._counter("written") + 1)):
            found = self._get(key)
            self._store.delete_key(key)
            self._store.add("written", 1)
            scores = ChunkScores(found["values"], Totals.from_json(found["totals"]))
            yield unwritten.popleft(), scores

    def _wait_for(self, key: str) -> Any:
        waited = 0.0
        while not self._is_there(key):
            if waited > _MEETING:
                raise OSError(
                    f"The first process of torchrun did not start within {_MEETING:.0f} seconds."
                )
            time.sleep(_PAUSE)
            waited += _PAUSE
        return self._get(key)

    def _put(self, key: str, value: Any) -> None:
        """Stores a value in pieces; their number comes last, so that it is there when they are."""
        text = json.dumps(value)
        pieces = [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
        for index, piece in enumerate(pieces):
            self._store.set(f"{key}/{index}", piece)
        self._store.set(key, str(len(pieces)))

    def _get(self, key: str) -> Any:
        names = [f"{key}/{index}" for index in range(int(self._store.get(key)))]
        text = b"".join(self._store.get(name) for name in names)
        for name in names:
            if key != "start":  # which all processes read
                self._store.delete_key(name)
        return json.loads(text)

    def _is_there(self, key: str) -> bool:
        return self._store.check([key])

    def _counter(self, name: str) -> int:
        return self._store.add(name, 0)


def is_launched() -> bool:
    """Whether ``torchrun`` has started this process with others."""
    return _LAUNCHED in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1


def _key(number: int) -> str:
    return f"chunk{number}"

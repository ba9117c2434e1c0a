"""Actors of a Ray cluster on one job: each scores whole chunks, this process reads and writes.

A chunk goes to whichever actor is free, and is scored there as one process would, so the file is the same. An actor
that is lost with its node is replaced as soon as the cluster holds another; its chunk goes to the next free one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from estime_metric.integrations.ray.loading import actors_that_fit, connect, import_ray
from estime_metric.jobs.team import Alone

T = TypeVar("T")
S = TypeVar("S")

#: Chunks that may be read ahead of the file, for each actor: bounds what this process holds.
_AHEAD = 4

#: Actors that a chunk may cost before the job is given up: it may be what they die of.
_LOST = 5

#: Seconds after which the cluster is asked anew how many actors it holds.
_ASKED = 5.0


class RayTeam(Alone):
    """The actors of one job.

    Args:
        address: of the cluster, as ``ray.init`` takes it; ``None`` for the one that runs here, else one that is started
            on this machine. A process that is connected stays so.
        num_gpus, num_cpus: what each actor takes; ``num_gpus=None`` is one where the cluster has GPUs, else none.

    Raises:
        ImportError: Ray is not installed.
        ConnectionError: there is no cluster at the address.
    """

    def __init__(self, address: str | None = None, *, num_gpus: float | None = None, num_cpus: float = 1) -> None:
        self._ray = import_ray()
        self._connected = not self._ray.is_initialized()
        if self._connected:
            connect(self._ray, address)
        if num_gpus is None:
            num_gpus = 1 if self._ray.cluster_resources().get("GPU", 0) else 0
        self._needs = num_gpus, num_cpus

    def run(self, chunks: Iterator[S], score: Callable[[S], T], stop: Callable[[], bool]) -> Iterator[T]:
        """Scores the chunks on all actors; the results in order.

        Raises:
            RuntimeError: a chunk has cost several actors.
            Exception: what ``score`` raises.
        """
        actors = _Actors(self._ray, score, *self._needs)
        tasks: dict[int, S] = {}
        lost: list[int] = []  # chunks to be scored again
        losses: dict[int, int] = {}
        done: dict[int, T] = {}
        read = written = 0
        exhausted = False
        try:
            while not stop():
                actors.start_missing()
                while actors.idle and not stop():
                    if not lost and not exhausted and read - written < _AHEAD * actors.size:
                        chunk = next(chunks, None)
                        exhausted = chunk is None
                        if chunk is not None:
                            read += 1
                            tasks[read] = chunk
                            lost.append(read)
                    if not lost:
                        break
                    number = min(lost)
                    lost.remove(number)
                    actors.give(number, tasks[number])
                if exhausted and written == read:
                    return
                for number, result, gone in actors.finished():
                    if gone is None:
                        done[number] = result
                        continue
                    losses[number] = losses.get(number, 0) + 1
                    if losses[number] == _LOST:
                        raise RuntimeError(f"chunk {number} was lost with {_LOST} actors one after the other: {gone}")
                    lost.append(number)
                while written + 1 in done and not stop():
                    written += 1
                    del tasks[written]
                    yield done.pop(written)
        finally:
            actors.kill_all()

    def close(self) -> None:
        """Leaves the cluster, if this team has connected to it."""
        if self._connected:
            self._ray.shutdown()


class _Actors:
    """The actors: those that wait for a chunk, and those that have one."""

    def __init__(self, ray: Any, score: Callable[[Any], Any], num_gpus: float, num_cpus: float) -> None:
        self._ray = ray
        self._needs = num_gpus, num_cpus
        self._score = ray.put(score)
        self._actor = ray.remote(_Scorer).options(num_gpus=num_gpus, num_cpus=num_cpus, max_restarts=0)
        self._starting: dict[Any, Any] = {}
        self._busy: dict[Any, tuple[Any, int]] = {}
        self._asked = -_ASKED
        self.idle: list[Any] = []
        self.size = 0

    def start_missing(self) -> None:
        """Starts as many actors as the cluster holds, where it has fewer."""
        now = time.monotonic()
        if now - self._asked < _ASKED:
            return
        self._asked = now
        self.size = actors_that_fit(self._ray, *self._needs)
        for _ in range(self.size - len(self.idle) - len(self._starting) - len(self._busy)):
            actor = self._actor.remote(self._score)
            self._starting[actor.ready.remote()] = actor

    def give(self, number: int, chunk: Any) -> None:
        """Has an actor that waits score a chunk."""
        actor = self.idle.pop()
        self._busy[actor.score.remote(chunk)] = actor, number

    def finished(self) -> Iterator[tuple[int, Any, Exception | None]]:
        """Waits a moment: number and result of each chunk that is scored, or the loss of the actor that had it."""
        errors = self._ray.exceptions
        waited = [*self._starting, *self._busy]
        for answer in self._ray.wait(waited, num_returns=1, timeout=0.2)[0] if waited else ():
            starts = answer in self._starting
            actor, number = (self._starting.pop(answer), 0) if starts else self._busy.pop(answer)
            try:
                result = self._ray.get(answer)
            except errors.RayTaskError as error:
                raise (error.cause or error) from None
            except (errors.RayActorError, errors.ObjectLostError, errors.OutOfMemoryError) as error:
                self._ray.kill(actor)
                self._asked = -_ASKED
                if not starts:
                    yield number, None, error
                continue
            self.idle.append(actor)
            if not starts:
                yield number, result, None

    def kill_all(self) -> None:
        """Ends all of them."""
        actors = [*self.idle, *self._starting.values(), *(actor for actor, _ in self._busy.values())]
        for actor in actors:
            self._ray.kill(actor)


class _Scorer:
    """What an actor runs: holds one encoder in what scores a chunk."""

    def __init__(self, score: Callable[[Any], Any]) -> None:
        self._score = score

    def ready(self) -> None:
        """Answers once the actor runs."""

    def score(self, chunk: Any) -> Any:
        return self._score(chunk)

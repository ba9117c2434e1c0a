"""Ray: `score_dataset` adds the measures to a Ray Data dataset, `RayTeam` scores a job on a
cluster.

Importing this module imports no Ray.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from heapq import heappop, heappush
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from estime_metric import files
from estime_metric.config import EstimeConfig
from estime_metric.jobs.chunks import Chunk
from estime_metric.jobs.job import BYTES
from estime_metric.jobs.team import ChunkScores, Workers
from estime_metric.validation import check_column, integer

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from estime_metric.config import EstimeOptions

_KEY = "__estime_source"  # column of the hash of the source, while rows are grouped
_ANSWER = 10.0  # seconds within which the machine of a cluster has to answer; Ray would wait for more than a minute
_AHEAD = 4  # chunks per actor that may be read ahead of the output; this limits the memory of this process
_LOST = 5  # actors that may be lost with one chunk before the job fails: the chunk may be the cause
_ASKED = 5.0  # seconds between two checks of how many actors the cluster has room for

_log = logging.getLogger(__name__)


def score_dataset(
    dataset: Any,
    config: EstimeConfig | None = None,
    *,
    source_column: str = "source",
    summary_column: str = "summary",
    prefix: str = "",
    group_sources: bool = True,
    look_ahead: int = 256,
    num_gpus: float | None = None,
    num_cpus: float | None = None,
    concurrency: int | tuple[int, int] | None = None,
    **options: Unpack[EstimeOptions],
) -> Any:
    """Scores every row of a Ray dataset. Execution is lazy, as usual in Ray Data.

    Each actor loads one encoder. The scores are the same as those of `EstimeScorer.map_batch`,
    regardless of which actor scores a row and of failures during the run. Invalid rows are skipped
    and logged.

    Args:
        dataset: a ``ray.data.Dataset`` whose blocks are Arrow tables, as all readers make them.
        config: an `EstimeConfig`; the default uses the bundled encoder ``"embedded"``.
        source_column, summary_column: the columns that are scored.
        prefix: what the names of the added columns begin with.
        group_sources: sort the rows by a hash of their source, so that equal sources meet on one
            actor and are encoded once. It moves all data between nodes.
        look_ahead: pairs that an actor scores together; up to twice as many if they share a source.
        num_gpus, num_cpus: resources per actor. The default is one CPU, plus one GPU if the cluster
            has GPUs.
        concurrency: number of actors, or the least and the most; by default 1 up to the number that
            fits on the cluster now.
        options: options of `EstimeConfig`, which override those in ``config``.

    Returns:
        A ``ray.data.Dataset`` with a column of float64 for each measure, NaN if it is undefined;
        with several layers ``alarms_layer12`` and so on.

    Raises:
        ImportError: Ray is not installed.
        ValueError: an invalid option; or, when the first block runs, a column that is missing or
            clashes with a measure's.
    """
    ray = _import_ray()
    config = EstimeConfig.from_options(config, options)
    look_ahead = integer("look_ahead", look_ahead, least=1)
    needs = _needs(ray, num_gpus, num_cpus)
    if isinstance(concurrency, int):
        compute = ray.data.ActorPoolStrategy(size=concurrency)
    else:
        least, most = concurrency or (1, _actors_that_fit(ray, *needs))
        compute = ray.data.ActorPoolStrategy(min_size=least, max_size=most)
    whole: dict[str, Any] = {
        "batch_size": None,
        "batch_format": "pyarrow",
    }  # a block: all rows of its sources
    if group_sources:
        dataset = dataset.map_batches(_add_key, **whole, fn_kwargs={"column": source_column}).sort(
            _KEY
        )
    return dataset.map_batches(
        _BlockScorer,
        **whole,
        fn_constructor_args=(config, source_column, summary_column, prefix, look_ahead),
        compute=compute,
        num_gpus=needs[0] or None,
        num_cpus=needs[1],
    )


def _add_key(table: Any, column: str) -> Any:
    import pyarrow

    check_column(column, table.column_names)
    texts = (str(text).encode("utf-8", "replace") for text in table.column(column).to_pylist())
    keys = [
        int.from_bytes(blake2b(text, digest_size=8).digest(), "big", signed=True) for text in texts
    ]
    return table.append_column(_KEY, pyarrow.array(keys, pyarrow.int64()))


class _BlockScorer:
    def __init__(
        self, config: EstimeConfig, source: str, summary: str, prefix: str, look_ahead: int
    ) -> None:
        from estime_metric.scorer import EstimeScorer

        self.scorer = EstimeScorer(config)
        self.layout = files.Layout(source_column=source, summary_column=summary)
        self.prefix, self.look_ahead = prefix, look_ahead

    def __call__(self, table: Any) -> Iterator[Any]:
        """The valid rows of a block with their measures, one chunk at a time."""
        if _KEY in table.column_names:
            table = table.drop_columns([_KEY])
        for column in (self.layout.source_column, self.layout.summary_column):
            check_column(column, table.column_names)
        limits = files.ChunkLimits(pairs=self.look_ahead, size=BYTES)
        # A block without rows still says which columns there are.
        for chunk in list(files.cut(self._lines(table), self.layout, limits)) or [[]]:
            yield self._scored(table, chunk)

    def _lines(self, table: Any) -> Iterator[files.Line]:
        """The rows of a table; the number of each is its index."""
        source, summary = self.layout.source_column, self.layout.summary_column
        rows = table.select(list(dict.fromkeys((source, summary)))).to_pylist()
        for index, row in enumerate(rows):
            problem = files.pair_problem(row, source, summary)
            yield files.Line(Path(), index, {} if problem else row, problem)

    def _scored(self, table: Any, chunk: Sequence[files.Line]) -> Any:
        import pyarrow

        problems = [line.problem for line in chunk if line.problem]
        if problems:
            _log.warning("skipped %d invalid rows; the first one %s", len(problems), problems[0])
        lines = [line for line in chunk if not line.problem]
        table = table.take(pyarrow.array([line.number for line in lines], pyarrow.int64()))
        batch = {
            "source": [line.row[self.layout.source_column] for line in lines],
            "summary": [line.row[self.layout.summary_column] for line in lines],
        }
        for measure, values in self.scorer.map_batch(batch).items():
            name = self.prefix + measure
            if name in table.column_names:
                raise ValueError(
                    f"The dataset has a column {name!r}, which is also the name of an output column. Rename the output "
                    "columns with `prefix`."
                )
            table = table.append_column(name, pyarrow.array(values, pyarrow.float64()))
        return table


class RayTeam(Workers):
    """Actors of a Ray cluster on one job: each scores whole chunks, this process reads and writes.

    An actor that is lost with its node is replaced as soon as the cluster has room for another one,
    and its chunk goes to the next free actor. The output file is the same as that of a single
    process.

    Args:
        address: of the cluster, in the format of ``ray.init``; ``None`` uses a cluster running on
            this machine, or starts one if there is none. A process that is already connected stays
            connected.
        num_gpus, num_cpus: resources per actor; ``num_gpus=None`` is one GPU if the cluster has
            GPUs, otherwise none.

    Raises:
        ImportError: Ray is not installed.
        ConnectionError: there is no cluster at the address.
    """

    def __init__(
        self, address: str | None = None, *, num_gpus: float | None = None, num_cpus: float = 1
    ) -> None:
        self._ray = _import_ray()
        self._connected = not self._ray.is_initialized()
        if self._connected:
            _connect(self._ray, address)
        self._needs = _needs(self._ray, num_gpus, num_cpus)

    def run(
        self,
        chunks: Iterator[Chunk],
        score: Callable[[Chunk], ChunkScores],
        stop: Callable[[], bool],
    ) -> Iterator[tuple[Chunk, ChunkScores]]:
        """As `Workers.run`. Raises RuntimeError if several actors were lost with the same chunk."""
        actors = _Actors(self._ray, score, *self._needs)
        numbered = enumerate(chunks, start=1)
        tasks: dict[int, Chunk] = {}  # what is read and not written
        waiting: list[int] = []  # chunks that no actor has, as a heap
        losses: Counter[int] = Counter()
        done: dict[int, ChunkScores] = {}
        written = 0
        try:
            while not stop():
                actors.start_missing()
                while actors.idle and not stop():
                    if not waiting and len(tasks) < _AHEAD * actors.size:
                        read = dict(islice(numbered, 1))
                        tasks |= read
                        waiting += read
                    if not waiting:
                        break
                    number = heappop(waiting)
                    actors.give(number, tasks[number])
                if actors.idle and not tasks:  # nothing is left to read
                    return
                for number, result, gone in actors.finished():
                    if gone is None:
                        done[number] = result
                        continue
                    losses[number] += 1
                    if losses[number] == _LOST:
                        raise RuntimeError(
                            f"chunk {number} failed {_LOST} times, because each actor that scored it was lost: {gone}"
                        )
                    heappush(waiting, number)
                while written + 1 in done and not stop():
                    written += 1
                    yield tasks.pop(written), done.pop(written)
        finally:
            actors.kill_all()

    def close(self) -> None:
        """Leaves the cluster, if this team has connected to it."""
        if self._connected:
            self._ray.shutdown()


class _Actors:
    """The actors of a team, those that start and that have a chunk by what each will answer; chunk
    0: it starts.
    """

    def __init__(
        self, ray: Any, score: Callable[[Any], Any], num_gpus: float, num_cpus: float
    ) -> None:
        self._ray, self._needs, self._score = ray, (num_gpus, num_cpus), ray.put(score)
        self._actor = ray.remote(_ChunkScorer).options(
            num_gpus=num_gpus, num_cpus=num_cpus, max_restarts=0
        )
        self._busy: dict[Any, tuple[Any, int]] = {}
        self._asked = -_ASKED
        self.idle: list[Any] = []
        self.size = 0

    def start_missing(self) -> None:
        """Starts actors until the cluster has no room for more."""
        now = time.monotonic()
        if now - self._asked < _ASKED:
            return
        self._asked = now
        self.size = _actors_that_fit(self._ray, *self._needs)
        for _ in range(self.size - len(self.idle) - len(self._busy)):
            actor = self._actor.remote(self._score)
            self._busy[actor.__ray_ready__.remote()] = actor, 0

    def give(self, number: int, chunk: Any) -> None:
        actor = self.idle.pop()
        self._busy[actor.score.remote(chunk)] = actor, number

    def finished(self) -> Iterator[tuple[int, Any, Exception | None]]:
        """Waits a moment: number and result of each chunk that is scored, or the loss of the actor
        that had it.
        """
        errors = self._ray.exceptions
        for answer in (
            self._ray.wait(list(self._busy), num_returns=1, timeout=0.2)[0] if self._busy else ()
        ):
            actor, number = self._busy.pop(answer)
            result, gone = None, None
            try:
                result = self._ray.get(answer)
                self.idle.append(actor)
            except errors.RayTaskError as error:
                raise (error.cause or error) from None
            except (errors.RayActorError, errors.ObjectLostError, errors.OutOfMemoryError) as error:
                self._ray.kill(actor)
                self._asked = -_ASKED
                gone = error
            if number:
                yield number, result, gone

    def kill_all(self) -> None:
        for actor in [*self.idle, *(actor for actor, _ in self._busy.values())]:
            self._ray.kill(actor)


class _ChunkScorer:
    """What an actor of a team runs: it scores chunks with one encoder."""

    def __init__(self, score: Callable[[Any], Any]) -> None:
        self._score = score

    def score(self, chunk: Any) -> Any:
        return self._score(chunk)


def _import_ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ImportError("Ray needs its package: pip install 'estime-metric[ray]'.") from error
    return ray


def _connect(ray: Any, address: str | None) -> None:
    place = (address or os.environ.get("RAY_ADDRESS", "")).removeprefix("ray://")
    host, colon, port = place.rpartition(":")
    if colon and port.isdecimal():
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER).close()
        except (OSError, OverflowError) as error:
            raise ConnectionError(
                f"Expected a Ray cluster at {place}, but nothing answers there ({error}). Start one on the head node: "
                f"ray start --head --port {port}"
            ) from error
    ray.init(address=address)


def _needs(ray: Any, num_gpus: float | None, num_cpus: float | None) -> tuple[float, float]:
    if num_gpus is None:
        num_gpus = 1 if ray.cluster_resources().get("GPU", 0) else 0
    return num_gpus, 1 if num_cpus is None else num_cpus


def _actors_that_fit(ray: Any, num_gpus: float, num_cpus: float) -> int:
    """The number of actors with these resources for which the cluster has room, at least 1."""
    found = 0
    for node in ray.nodes():
        if node["Alive"]:
            has = node["Resources"]
            fits = [
                has.get(name, 0) // need
                for name, need in (("GPU", num_gpus), ("CPU", num_cpus))
                if need
            ]
            found += int(min(fits, default=1))
    return max(found, 1)

"""Shared code of the harness integrations: scores and explains pairs, and collects single pairs
into batches.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from estime_metric.config import EstimeConfig, EstimeOptions
from estime_metric.engine.cache import DEFAULT_CACHE, SourceCache
from estime_metric.explain import wording
from estime_metric.explanation import Explanation
from estime_metric.measures import BASE_MEASURES, MEASURES, RECOMMENDED
from estime_metric.scorer import EstimeScorer
from estime_metric.validation import check_text, measure_tuple

#: The measures that are logged by default; `blank` is always logged too.
LOGGED = (RECOMMENDED, "alarms")

#: Seconds that the first pair of a batch waits for others, and the most pairs in a batch.
WAIT_SECONDS = 0.02
MOST_PAIRS = 256

#: The processes of the calls that are judging now. A process that is forked inherits what its parent
#: was doing at that moment, and with it locks of the engine that nobody will release.
_JUDGING: dict[object, int] = {}

#: process id -> the threads in which its batchers judge, one per batcher that is judging. They live
#: until the process ends: when a thread that has computed ends, it frees its MKL memory under a
#: lock, and a process that is forked at that moment would inherit the lock and hang.
_THREADS: dict[int, ThreadPoolExecutor] = {}
_MOST_THREADS = 64


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a harness logs of one pair: each measure by name (NaN if undefined), signature,
    explanation if any.
    """

    measures: dict[str, float]
    signature: str
    explanation: Explanation | None = None

    def text(self) -> str:
        """The counts, and one line per alarm with its characters and the characters of its evidence
        in the source.
        """
        shown = self.explanation
        if shown is None:
            return "{alarms:.0f} alarms in {tokens:.0f} tokens".format(**self.measures)
        lines = [", ".join(f"{count.name} {count.shown}" for count in wording.counts(shown))]
        lines += filter(None, [wording.remark(shown)])
        for alarm in listed_alarms(shown):
            best = alarm["best"]
            lines.append(
                f"- {alarm['text']!r} [{alarm['start']}:{alarm['end']}]: best match in the source is "
                f"{best['text']!r} [{best['start']}:{best['end']}] (margin {alarm['margin']:.3g})"
            )
        return "\n".join(lines)

    def metadata(self) -> dict[str, Any]:
        """Plain values for a log: the measures (``None`` if undefined), the signature, the alarms
        if explained.
        """
        measures = {
            name: None if math.isnan(value) else value for name, value in self.measures.items()
        }
        alarms = {} if self.explanation is None else {"alarm_list": listed_alarms(self.explanation)}
        return {**measures, "signature": self.signature, **alarms}


def listed_alarms(explanation: Explanation) -> list[dict[str, Any]]:
    """The units that raise an alarm, with ``prediction[start:end]``, their best match in the source
    and the margin.
    """
    found = []
    for unit in explanation.units:
        if unit.verdict == "alarm" and unit.best is not None:
            start, end = unit.best.start, unit.best.end
            best = {"text": explanation.source[start:end], "start": start, "end": end}
            text = explanation.prediction[unit.start : unit.end]
            found.append(
                {
                    "text": text,
                    "start": unit.start,
                    "end": unit.end,
                    "best": best,
                    "margin": unit.margin,
                }
            )
    return found


class JudgeOptions(EstimeOptions, total=False):
    """The options of `Judge`: those of `EstimeConfig`, and the cache."""

    cache: int | str | os.PathLike[str] | SourceCache | None


class Judge:
    """Judges pairs with one configuration; the sources are encoded once, whatever is asked of them.

    Args:
        scorer: a scorer to share, with whatever cache it has; ``None`` makes one from ``options``.
        explain: also explain each pair, which encodes the summaries once more.
        options: options of `EstimeConfig` and ``cache``, by default the one of 1 GB that the metrics
            of the process share (see `ESTIME`), ``None`` for none. With a ``scorer`` only ``measures``: those that are
            logged. A scorer that does not compute them is replaced by one that does, with the same
            encoder and cache.

    Raises TypeError or ValueError for an invalid option, several layers, or a scorer and options.
    """

    def __init__(
        self, scorer: EstimeScorer | None = None, *, explain: bool = False, **options: Any
    ) -> None:
        measures = options.pop("measures", LOGGED)
        if scorer is None:
            cache = options.pop("cache", DEFAULT_CACHE)
            config = EstimeConfig.from_options(None, {**options, "measures": measures})
            scorer = EstimeScorer(config, cache=cache)
        elif options:
            raise TypeError(
                f"Expected argument `scorer` or options, but got both: {', '.join(options)}."
            )
        config = scorer.config
        if config.layers == "all" or len(config.layer_tuple) > 1:
            raise ValueError(
                f"Expected argument `layers` to be one layer, but got {config.layers!r}."
            )
        wanted = measure_tuple(measures, tuple(MEASURES))
        if missing := [name for name in wanted if name not in (*BASE_MEASURES, *config.measures)]:
            config = replace(config, measures=(*config.measures, *missing))
            scorer = type(scorer)(config, cache=scorer.cache)  # the encoder is shared
        self.scorer = scorer
        self.measures = tuple(dict.fromkeys((*wanted, "blank")))
        self.explain = explain

    def load(self) -> None:
        """Loads the encoder, unless it is loaded. Errors as `EstimeScorer.load` and `__call__`."""
        refuse_unsafe_fork()
        with _judging():
            self.scorer.load()

    def __call__(self, predictions: Sequence[str], sources: Sequence[str]) -> list[Judgement]:
        """One judgement for each pair, in input order. Arguments and errors as
        `EstimeScorer.score`.

        Raises RuntimeError in a process that was forked while its parent was judging.
        """
        refuse_unsafe_fork()
        with _judging():
            result = self.scorer.score(predictions, sources)
            explanations: Iterable[Explanation | None] = [None] * len(result)
            if self.explain:
                explanations = self.scorer.explain_pairs(predictions, sources)
        columns = {name: result.values(name).tolist() for name in result.measures}
        rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
        return [
            Judgement(measures=row, signature=result.signature, explanation=explanation)
            for row, explanation in zip(rows, explanations, strict=True)
        ]


@contextmanager
def _judging() -> Iterator[None]:
    call = object()
    _JUDGING[call] = os.getpid()
    try:
        yield
    finally:
        del _JUDGING[call]


def refuse_unsafe_fork() -> None:
    """Refuses to judge in a process that was forked while its parent was judging (RuntimeError):
    the encoder that it inherited may be locked for good.
    """
    if any(process != os.getpid() for process in list(_JUDGING.values())):
        raise RuntimeError(
            "This process was forked while its parent was judging with ESTIME, so the encoder may be locked for good. "
            'Start processes with `spawn`, as in multiprocessing.get_context("spawn"), or fork them before anything '
            "is judged."
        )


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A pair whose judgement somebody waits for."""

    prediction: str
    source: str
    future: Future[Judgement]


class MicroBatcher:
    """Judges pairs that are submitted one by one, from any thread or event loop, in batches in
    another thread.

    The first pair waits ``wait`` seconds for others; while a batch of at most ``most`` pairs is
    being judged the next one gathers. If a batch fails because of one text, only the pairs with
    that text get the error. A process that is forked has its own threads and its own pairs.
    """

    def __init__(self, judge: Judge, wait: float = WAIT_SECONDS, most: int = MOST_PAIRS) -> None:
        self.judge, self.wait, self.most = judge, wait, most
        #: process id -> its worker: a thread does not survive a fork, and a lock may stay locked
        self._workers: dict[int, _Worker] = {}

    def submit(self, prediction: str, source: str) -> Future[Judgement]:
        """The future judgement of a pair; TypeError or ValueError if an argument is not a text.

        Raises RuntimeError in a process that was forked while its parent was judging.
        """
        waiting = _Waiting(
            prediction=check_text("prediction", prediction),
            source=check_text("source", source),
            future=Future(),
        )
        refuse_unsafe_fork()
        process = os.getpid()
        if process not in self._workers:
            self._workers.setdefault(process, _Worker(self.judge, self.wait, self.most))
        self._workers[process].add(waiting)
        return waiting.future


def _threads() -> ThreadPoolExecutor:
    process = os.getpid()
    if process not in _THREADS:
        _THREADS.setdefault(process, ThreadPoolExecutor(_MOST_THREADS, "estime"))
    return _THREADS[process]


class _Worker:
    """What a `MicroBatcher` does in one process: it gathers pairs and judges them in a thread."""

    def __init__(self, judge: Judge, wait: float, most: int) -> None:
        self._judge, self._wait, self._most = judge, wait, most
        self._lock = threading.Lock()
        self._pending: list[_Waiting] = []
        self._working = False  # while pairs are pending

    def add(self, waiting: _Waiting) -> None:
        with self._lock:
            self._pending.append(waiting)
            if not self._working:
                self._working = True
                _threads().submit(self._work)

    def _work(self) -> None:
        time.sleep(self._wait)
        while batch := self._next_batch():
            wanted = [waiting for waiting in batch if waiting.future.set_running_or_notify_cancel()]
            try:
                self._judge.load()
            except BaseException as error:
                _fail(wanted, error)
            else:
                self._judge_apart(wanted)

    def _next_batch(self) -> list[_Waiting]:
        """The pairs to judge now; none if none is pending, and the next to come starts anew."""
        with self._lock:
            batch, self._pending = self._pending[: self._most], self._pending[self._most :]
            self._working = bool(batch)
        return batch

    def _judge_apart(self, batch: list[_Waiting]) -> None:
        """Gives each pair its judgement. If that fails, each half of the batch is judged
        separately, because the cause may be a single text.
        """
        if not batch:
            return
        try:
            judgements = self._judge(
                [waiting.prediction for waiting in batch], [waiting.source for waiting in batch]
            )
        except BaseException as error:
            if len(batch) == 1 or not isinstance(error, Exception):
                _fail(batch, error)
                return
        else:
            for waiting, judgement in zip(batch, judgements, strict=True):
                waiting.future.set_result(judgement)
            return
        middle = len(batch) // 2
        self._judge_apart(batch[:middle])
        self._judge_apart(batch[middle:])


def _fail(batch: list[_Waiting], error: BaseException) -> None:
    for waiting in batch:
        waiting.future.set_exception(error)


@dataclass(eq=False)
class Judged:
    """What a trainer calls: it scores by a `Judge`."""

    judge: Judge

    @property
    def signature(self) -> str:
        """The signature of the scores; loads the encoder."""
        return self.judge.scorer.signature

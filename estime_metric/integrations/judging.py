"""Pairs -> measures and explanations, single ones gathered into batches: what the integrations with
harnesses share.
"""

from __future__ import annotations

import math
import os
import threading
import time
import weakref
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from estime_metric.config import EstimeConfig
from estime_metric.engine.cache import SourceCache
from estime_metric.explain import wording
from estime_metric.explanation import Explanation
from estime_metric.inputs import check_text, measure_tuple
from estime_metric.measures import BASE_MEASURES, MEASURES, RECOMMENDED
from estime_metric.scorer import EstimeScorer

CACHE_BYTES = (
    256_000_000  # of source embeddings that a judge keeps from one call to the next by default
)
LOGGED = (
    "alarms",
    RECOMMENDED,
)  # logged where nothing else is said; `blank` is logged beside whatever is
WAIT, MOST = (
    0.02,
    256,
)  # seconds that the first pair of a batch waits for others, and the most pairs in a batch


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a harness logs of one pair: each measure by name (NaN where undefined), signature,
    explanation if any.
    """

    measures: dict[str, float]
    signature: str
    explanation: Explanation | None = None

    def text(self) -> str:
        """The counts and, one a line, the alarms, each with its characters and those of its
        evidence in the source.
        """
        shown = self.explanation
        if shown is None:
            return f"{self.measures['alarms']:.0f} alarms in {self.measures['overlap']:.0f} checked"
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
        """Plain values for a log: the measures (``None`` where undefined), the signature, the
        alarms if explained.
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


class Judge:
    """Judges pairs with one configuration; the sources are encoded once, whatever is asked of them.

    Args:
        scorer: a scorer to share, with whatever cache it has; ``None`` makes one from ``options``.
        explain: also explain each pair, which encodes the summaries once more.
        options: options of `EstimeConfig`, with a ``scorer`` only ``measures``: those that are
            logged. A scorer that does not compute them is replaced by one that does, with the same
            encoder and cache.

    Raises TypeError or ValueError for a bad option, several layers, or a scorer and options.
    """

    def __init__(
        self, scorer: EstimeScorer | None = None, *, explain: bool = False, **options: Any
    ) -> None:
        measures = options.pop("measures", LOGGED)
        if scorer is None:
            config = EstimeConfig.from_options(None, {**options, "measures": measures})
            scorer = EstimeScorer(config, cache=SourceCache(memory_bytes=CACHE_BYTES))
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

    def __call__(self, predictions: Sequence[str], sources: Sequence[str]) -> list[Judgement]:
        """One judgement for each pair, in input order. Arguments and errors as
        `EstimeScorer.score`.
        """
        result = self.scorer.score(predictions, sources)
        columns = [result.values(name).tolist() for name in result.measures]
        rows = [dict(zip(result.measures, row, strict=True)) for row in zip(*columns, strict=True)]
        explanations: Iterable[Explanation | None] = [None] * len(rows)
        if self.explain:
            explanations = self.scorer.explain_pairs(predictions, sources)
        return [
            Judgement(row, result.signature, shown)
            for row, shown in zip(rows, explanations, strict=True)
        ]


#: Held while a worker judges, and by whoever forks: a child never inherits a lock of the engine
#: that is held.
_JUDGING = threading.RLock()
_BATCHERS: weakref.WeakSet[MicroBatcher] = weakref.WeakSet()


def _start_child() -> None:
    _JUDGING.release()
    for batcher in _BATCHERS:
        batcher._reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_JUDGING.acquire, after_in_parent=_JUDGING.release, after_in_child=_start_child
    )


class MicroBatcher:
    """Judges pairs that are submitted one by one, from any thread or event loop, in batches in a
    thread of its own.

    The first pair waits so many seconds for others; while a batch is being judged the next one
    gathers.
    """

    def __init__(self, judge: Judge, wait: float = WAIT, most: int = MOST) -> None:
        self.judge, self.wait, self.most = judge, wait, most
        self._reset()
        _BATCHERS.add(self)

    def _reset(self) -> None:
        """Nothing is pending; a forked process has no worker, and the parent's may have held the
        lock.
        """
        self._lock = threading.Lock()
        self._pending: list[tuple[str, str, Future[Judgement]]] = []
        self._working = False  # while pairs are pending
        #: Its thread stays: one that ends frees its memory of MKL under a lock, which a child may
        #: inherit held.
        self._pool = ThreadPoolExecutor(1, "estime")

    def submit(self, prediction: str, source: str) -> Future[Judgement]:
        """The judgement of a pair, to come; TypeError or ValueError where an argument is no text."""
        future: Future[Judgement] = Future()
        pair = check_text("prediction", prediction), check_text("source", source), future
        with self._lock:
            self._pending.append(pair)
            if not self._working:
                self._working = True
                self._pool.submit(self._work)
        return future

    def _work(self) -> None:
        time.sleep(self.wait)
        while True:
            with self._lock:
                batch, self._pending = self._pending[: self.most], self._pending[self.most :]
                if not batch:
                    self._working = False
                    return
            batch = [pair for pair in batch if pair[2].set_running_or_notify_cancel()]
            try:
                with _JUDGING:
                    judgements = self.judge(
                        [pair[0] for pair in batch], [pair[1] for pair in batch]
                    )
            except BaseException as error:  # is raised to all who wait
                for _, _, future in batch:
                    future.set_exception(error)
            else:
                for (_, _, future), judgement in zip(batch, judgements, strict=True):
                    future.set_result(judgement)


@dataclass(eq=False)
class Judged:
    """What a trainer calls: it scores by a `Judge`."""

    judge: Judge

    @property
    def signature(self) -> str:
        """The signature of the scores; loads the encoder."""
        return self.judge.scorer.signature

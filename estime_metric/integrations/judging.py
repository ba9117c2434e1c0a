"""Shared code of the harness integrations: scores and explains pairs."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from estime_metric.checks import check_one_layer, measure_tuple
from estime_metric.config import EstimeConfig, EstimeOptions
from estime_metric.engine.embedding import DEFAULT_CACHE, SourceCache
from estime_metric.explanation import Explanation
from estime_metric.measures import BASE_MEASURES, MEASURES, RECOMMENDED
from estime_metric.scorer import EstimeScorer
from estime_metric.show import words as show_words

#: The measures that are logged by default; `blank` is always logged too.
LOGGED = (RECOMMENDED, "alarms")


class _Turns:
    """The calls of one process, one after another. Harnesses judge many samples at the same time, each
    in a thread, but the encoder uses all cores for a single one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Outlives the threads of a harness: a thread that has computed locks the memory of MKL while
        # it ends, and a process that is forked at that moment inherits it locked.
        self._thread = ThreadPoolExecutor(1, "estime-judge")

    def take(self, judge: Callable[[], list[Judgement]]) -> list[Judgement]:
        """Calls a function when it is its turn: in the main thread, or for any other thread in one that
        never ends.
        """

        def judge_alone() -> list[Judgement]:
            with self._lock:
                return judge()

        if threading.current_thread() is threading.main_thread():
            return judge_alone()
        try:
            judging = self._thread.submit(judge_alone)
        except RuntimeError:  # the main thread has ended
            return judge_alone()
        return judging.result()


#: process -> its turns
_TURNS: dict[int, _Turns] = {}


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
        lines = [", ".join(f"{count.name} {count.shown}" for count in show_words.counts(shown))]
        lines += filter(None, [show_words.remark(shown)])
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

    def span(text: str, start: int, end: int) -> dict[str, Any]:
        return {"text": text[start:end], "start": start, "end": end}

    return [
        {
            **span(explanation.prediction, unit.start, unit.end),
            "best": span(explanation.source, unit.best.start, unit.best.end),
            "margin": unit.margin,
        }
        for unit in explanation.units
        if unit.verdict == "alarm" and unit.best is not None
    ]


class JudgeOptions(EstimeOptions, total=False):
    """The options of `Judge`: those of `EstimeConfig`, and the cache."""

    cache: int | SourceCache | None


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
        check_one_layer(config.layers)
        wanted = measure_tuple(measures, MEASURES)
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
        turns = _TURNS.get(os.getpid()) or _TURNS.setdefault(os.getpid(), _Turns())
        return turns.take(lambda: self._judge(predictions, sources))

    def _judge(self, predictions: Sequence[str], sources: Sequence[str]) -> list[Judgement]:
        result = self.scorer.score(predictions, sources)
        explanations: Iterable[Explanation | None] = [None] * len(result)
        if self.explain:
            explanations = self.scorer.explain_pairs(predictions, sources)
        return [
            Judgement(measures=measures, signature=result.signature, explanation=explanation)
            for measures, explanation in zip(result, explanations, strict=True)
        ]

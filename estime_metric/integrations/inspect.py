"""ESTIME as a scorer of Inspect (extra ``inspect``), also found by its name
``estime_metric/estime``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from estime_metric._messages import needs_extra

with needs_extra("inspect", "ESTIME in Inspect needs inspect-ai"):
    from anyio.to_thread import run_sync
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import TaskState

from estime_metric.checks import check_one_layer, measure_tuple
from estime_metric.measures import MEASURES, REPORTED


@cache
def _lasting_thread(process: int) -> ThreadPoolExecutor:
    """A thread of this process that scores one sample after another and never ends.

    Those in which anyio runs functions end with the event loop. A thread that has computed locks the
    memory of MKL while it ends, and a process that is forked at that moment inherits it locked: one
    fork in ten hung.
    """
    return ThreadPoolExecutor(1, "estime")


@scorer(metrics={"*": [mean(), stderr()]})  # type: ignore[untyped-decorator]
def estime(
    source: str,
    measures: str | Sequence[str] = REPORTED,
    explain: bool = True,
    **options: Any,
) -> Scorer:
    """Scores completions as summaries of their sources, without a reference.

    Samples are scored one after another, off the event loop. Equal sources are encoded once.

    Args:
        source: the field of the sample's metadata that contains the text that was summarized. The
            sample's input is not it, because it has the instruction too.
        measures: the measures that are logged, each under its name; by default those of a report,
            ``REPORTED``. ``blank`` is always logged too:
            1 for a summary without tokens, otherwise 0. If a measure is undefined for a sample, the
            sample is excluded from its mean and standard error.
        explain: put `Explanation` into the score: its text as the score's explanation, and its
            `surest_words` into the metadata.
        options: options of `EstimeConfig`, and ``cache`` (see `ESTIME`). Only one layer is supported.

    Returns:
        A scorer. Its scores have the completion as ``answer``, and all measures and the signature
        as metadata.

    Raises:
        TypeError, ValueError: an option is invalid; the message names it. When a sample is scored:
            it does not have this field, or the field is not a text.
        EncoderUnavailableError: when a sample is scored: the encoder cannot be loaded.
    """
    # Inspect imports the modules of all its extensions when it starts; torch, which is slow, is
    # imported when a scorer is made.
    from estime_metric.engine.cache import DEFAULT_CACHE
    from estime_metric.scorer import EstimeScorer

    logged = dict.fromkeys((*measure_tuple("measures", measures, MEASURES), "blank"))
    scorer = EstimeScorer(measures=measures, **{"cache": DEFAULT_CACHE, **options})
    check_one_layer(scorer.config.layers)

    def score_now(summary: str, text: str) -> Score:
        metadata: dict[str, Any] = {}
        shown = None
        if explain:
            explanation = scorer.explain(summary, text)
            values = {name: explanation.value(name) for name in scorer.config.reported_measures}
            shown = str(explanation)
            metadata["words"] = [word.to_dict() for word in explanation.surest_words()]
        else:
            (values,) = scorer.score([summary], [text])
        defined = {name: None if math.isnan(value) else value for name, value in values.items()}
        return Score(
            value={name: values[name] for name in logged},  # NaN is unscored
            answer=summary,
            explanation=shown,
            metadata={**defined, "signature": scorer.signature, **metadata},
        )

    async def score(state: TaskState, target: Target) -> Score:
        if source not in state.metadata:
            raise ValueError(
                f"Expected the metadata of sample {state.sample_id!r} to have the field {source!r}, but it does not."
            )
        scoring = _lasting_thread(os.getpid()).submit(
            score_now, state.output.completion, state.metadata[source]
        )
        return await run_sync(scoring.result)

    return score

"""ESTIME as a scorer of Inspect (extra ``inspect``), also found by its name
``estime_metric/estime``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from estime_metric._extras import needs_extra

with needs_extra("inspect", "ESTIME in Inspect needs inspect-ai"):
    from anyio.to_thread import run_sync
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import TaskState

from estime_metric.measures import RECOMMENDED


@scorer(metrics={"*": [mean(), stderr()]})  # type: ignore[untyped-decorator]
def estime(
    measures: str | Sequence[str] = (RECOMMENDED, "alarms"),
    source: str | None = None,
    explain: bool = True,
    **options: Any,
) -> Scorer:
    """Scores completions as summaries of their sources, without a reference.

    Samples are scored one after another, off the event loop. Equal sources are encoded once.

    Args:
        measures: the measures that are logged, each under its name. ``blank`` is always logged too:
            1 for a summary without tokens, otherwise 0. If a measure is undefined for a sample, the
            sample is excluded from its mean and standard error.
        source: the field of the sample's metadata that contains the source. If it is ``None``, the
            source is the sample's input; if the input has several messages, the last user message.
        explain: list the alarms with their evidence in the score's explanation and metadata.
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
    from estime_metric.integrations.judging import Judge

    judge = Judge(measures=measures, explain=explain, **options)

    async def score(state: TaskState, target: Target) -> Score:
        if source is not None and source not in state.metadata:
            raise ValueError(
                f"Expected the metadata of sample {state.sample_id!r} to have the field {source!r}, but it does not."
            )
        text = state.input_text if source is None else state.metadata[source]
        summary = state.output.completion
        (judgement,) = await run_sync(judge, [summary], [text])
        value = {name: judgement.measures[name] for name in judge.measures}  # NaN is unscored
        return Score(
            value=value, answer=summary, explanation=judgement.text(), metadata=judgement.metadata()
        )

    return score

"""ESTIME as a scorer of Inspect (extra ``inspect``), also found by its name ``estime_metric/estime``."""

from __future__ import annotations

import math
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

try:
    import anyio
    from anyio.from_thread import run_sync as run_in_loop
    from anyio.lowlevel import current_token
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import TaskState
except ImportError as missing:
    raise ImportError("ESTIME in Inspect needs inspect-ai: pip install 'estime-metric[inspect]'.") from missing

if TYPE_CHECKING:
    from estime_metric.integrations.judging import Judgement


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]
def estime(value: str = "alarms", source: str | None = None, explain: bool = True, **options: Any) -> Scorer:
    """Scores completions as summaries of their sources, without a reference.

    Samples that wait at the same time are scored in one batch off the event loop, equal sources encoded once.

    Args:
        value: the measure that is the score's value: ``"alarms"`` (the count), ``"unsupported_rate"`` or another of
            the result's measures. Of most of them lower is better. A sample for which it is undefined is left
            unscored, that is, out of mean and standard error.
        source: field of the sample's metadata that holds the source; ``None`` takes the sample's input, of several
            messages the last of the user.
        explain: list the alarms with their evidence in the score's explanation and metadata.
        options: options of `EstimeConfig`, of ``layers`` no more than one.

    Returns:
        A scorer. Its scores hold the completion as ``answer``, and all measures and the signature as metadata.

    Raises:
        TypeError, ValueError: a bad option; the message names it. When a sample is scored: it has no such field, or
            one that is no text.
        EncoderUnavailableError: when a sample is scored: the encoder cannot be loaded.
    """
    # Inspect imports the modules of all its extensions at start; torch is imported when a scorer is made.
    from estime_metric.integrations.judging import Judge, check_measure
    from estime_metric.integrations.micro_batching import MicroBatcher

    judge = Judge(explain=explain, **options)
    check_measure("value", value, judge.scorer.config)
    batcher = MicroBatcher(judge)

    async def score(state: TaskState, target: Target) -> Score:
        summary = state.output.completion
        judgement = await _result(batcher.submit(summary, _source(state, source)))
        return _score(judgement, value, summary)

    return score


def _source(state: TaskState, field: str | None) -> str:
    if field is not None and field not in state.metadata:
        raise ValueError(f"Expected the metadata of sample {state.sample_id!r} to hold {field!r}, but they do not.")
    text: str = state.input_text if field is None else state.metadata[field]
    return text


def _score(judgement: Judgement, value: str, summary: str) -> Score:
    shared: dict[str, Any] = {
        "answer": summary,
        "explanation": judgement.text(),
        "metadata": judgement.metadata(),
    }
    number = judgement.measures[value]
    return (
        Score.unscored(reason=f"{value} undefined", **shared) if math.isnan(number) else Score(value=number, **shared)
    )


async def _result(future: Future[Judgement]) -> Judgement:
    """Waits for a thread's result without blocking the event loop, be it asyncio's or trio's."""
    done, token = anyio.Event(), current_token()
    future.add_done_callback(lambda _: run_in_loop(done.set, token=token))
    try:
        await done.wait()
    except BaseException:
        future.cancel()
        raise
    return future.result()

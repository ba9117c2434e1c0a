"""ESTIME as a scorer of Inspect (extra ``inspect``), also found by its name
``estime_metric/estime``.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any

try:
    import anyio
    from anyio.lowlevel import current_token
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import TaskState
except ImportError as missing:
    raise ImportError(
        "ESTIME in Inspect needs inspect-ai: pip install 'estime-metric[inspect]'."
    ) from missing

from estime_metric.measures import RECOMMENDED

if TYPE_CHECKING:
    from estime_metric.integrations.judging import Judgement


@scorer(metrics={"*": [mean(), stderr()]})  # type: ignore[untyped-decorator]
def estime(
    measures: str | Sequence[str] = ("alarms", RECOMMENDED),
    source: str | None = None,
    explain: bool = True,
    **options: Any,
) -> Scorer:
    """Scores completions as summaries of their sources, without a reference.

    Samples that wait at the same time are scored in one batch off the event loop, equal sources
    encoded once.

    Args:
        measures: the measures that are logged, each under its name, and beside them ``blank``: 1
            for a summary without tokens, else 0. A sample for which one is undefined is left out of
            its mean and standard error.
        source: field of the sample's metadata that holds the source; ``None`` takes the sample's
            input, of several messages the last of the user.
        explain: list the alarms with their evidence in the score's explanation and metadata.
        options: options of `EstimeConfig`, of ``layers`` no more than one.

    Returns:
        A scorer. Its scores hold the completion as ``answer``, and all measures and the signature
        as metadata.

    Raises:
        TypeError, ValueError: a bad option; the message names it. When a sample is scored: it has
            no such field, or one that is no text.
        EncoderUnavailableError: when a sample is scored: the encoder cannot be loaded.
    """
    # Inspect imports the modules of all its extensions at start; torch is imported when a scorer is
    # made.
    from estime_metric.integrations.judging import Judge, MicroBatcher

    judge = Judge(measures=measures, explain=explain, **options)
    batcher = MicroBatcher(judge)

    async def score(state: TaskState, target: Target) -> Score:
        if source is not None and source not in state.metadata:
            wanted = f"metadata of sample {state.sample_id!r} to hold {source!r}"
            raise ValueError(f"Expected the {wanted}, but they do not.")
        text = state.input_text if source is None else state.metadata[source]
        summary = state.output.completion
        judgement = await _result(batcher.submit(summary, text))
        value = {name: judgement.measures[name] for name in judge.measures}  # NaN is unscored
        return Score(
            value=value, answer=summary, explanation=judgement.text(), metadata=judgement.metadata()
        )

    return score


async def _result(future: Future[Judgement]) -> Judgement:
    """Waits for another thread's result without blocking the event loop, be it asyncio's or trio's."""
    done = anyio.Event()
    loop: Any = current_token().native_token
    soon = (
        loop.run_sync_soon if hasattr(loop, "run_sync_soon") else loop.call_soon_threadsafe
    )  # trio's or asyncio's

    def wake(
        _: object,
    ) -> None:  # in this thread if the future is done already or cancelled here, else in the worker
        with suppress(RuntimeError):  # the loop has ended: nobody waits
            soon(done.set)

    future.add_done_callback(wake)
    try:
        await done.wait()
    except BaseException:
        future.cancel()
        raise
    return future.result()

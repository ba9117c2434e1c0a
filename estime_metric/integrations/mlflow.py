"""ESTIME as a scorer of ``mlflow.genai.evaluate`` (extra ``mlflow``)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Unpack

from estime_metric._extras import needs_extra
from estime_metric.integrations.judging import Judge
from estime_metric.scorer import EstimeScorer

with needs_extra("mlflow", "ESTIME in MLflow needs mlflow"):
    from mlflow import MlflowClient
    from mlflow.entities import Feedback, Trace
    from mlflow.genai import scorers

if TYPE_CHECKING:
    from estime_metric.integrations.judging import JudgeOptions

#: The tag of the run with the signature of the scores.
SIGNATURE_TAG = "estime.signature"


def estime_scorer(
    source: str = "source",
    *,
    explain: bool = True,
    scorer: EstimeScorer | None = None,
    **options: Unpack[JudgeOptions],
) -> scorers.Scorer:
    """A scorer for ``mlflow.genai.evaluate(data=..., scorers=[estime_scorer("article")])``.

    The outputs are the summaries. MLflow scores rows in several threads, which take turns; equal
    sources are encoded once. The run gets the tag ``estime.signature``.

    Args:
        source: the key of the row's ``inputs`` that contains the source.
        explain: list the alarms with their evidence as the rationale.
        scorer: an `EstimeScorer` to share; ``None`` makes one from ``options``.
        options: options of `EstimeConfig`, and ``cache`` (see `ESTIME`). Only one layer is supported.
            ``measures`` selects what is logged, by default ``alarms`` and ``inconsistency``, as
            ``estime/alarms`` and so on. ``estime/blank`` is always logged too: 1 for a summary
            without tokens, otherwise 0. If a measure is undefined for a row, the row is excluded
            from its mean.

    Raises:
        TypeError, ValueError: an option is invalid; the message names it. If a row does not have
            this key, or one of the texts is not a string, MLflow logs an error for that row.
    """
    judge = Judge(scorer, explain=explain, **options)
    tagged: set[str] = set()

    @scorers.scorer(name="estime")  # type: ignore[untyped-decorator]
    def estime(inputs: dict[str, Any], outputs: Any, trace: Trace | None = None) -> list[Feedback]:
        if source not in inputs:
            raise ValueError(
                f"Expected `inputs` to have the key {source!r}, but got {', '.join(inputs)}."
            )
        (judgement,) = judge([outputs], [inputs[source]])
        run = None if trace is None else trace.info.trace_metadata.get("mlflow.sourceRun")
        if run is not None and run not in tagged:
            tagged.add(run)
            MlflowClient().set_tag(run, SIGNATURE_TAG, judgement.signature)
        return [
            Feedback(
                name=f"estime/{name}",
                value=judgement.measures[name],
                rationale=judgement.text(),
                metadata={"signature": judgement.signature},
            )
            for name in judge.measures
            if not math.isnan(judgement.measures[name])
        ]

    return estime

"""ESTIME for tasks of lm-evaluation-harness: what a task's YAML file calls with ``!function``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from estime_metric.checks import check_source
from estime_metric.integrations.judging import Judge
from estime_metric.scorer import EstimeScorer

if TYPE_CHECKING:
    from estime_metric.integrations.judging import JudgeOptions


class EstimeTask:
    """The two functions of a task: a filter that scores all responses in one call, and
    ``process_results``.

    Args:
        source: the field of a document that contains the source.
        scorer: an `EstimeScorer` to share; ``None`` makes one from ``options``.
        options: options of `EstimeConfig`, and ``cache`` (see `ESTIME`). Only one layer is supported.
            ``measures`` selects what ``process_results`` returns, by default ``alarms`` and
            ``inconsistency``. ``blank`` is always returned too: 1 for a response without tokens,
            otherwise 0. ``metric_list`` names the same measures.

    Raises:
        TypeError, ValueError: an option is invalid; the message names it.
    """

    def __init__(
        self,
        source: str = "source",
        *,
        scorer: EstimeScorer | None = None,
        **options: Unpack[JudgeOptions],
    ) -> None:
        self.source = source
        self.judge = Judge(scorer, **options)

    def score(
        self, responses: Iterable[Any], docs: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """For a filter, ``function: custom`` with this as ``filter_fn``: the responses become their
        scores.

        Args:
            responses: one or several responses per document; only the first one is scored.
            docs: the documents.

        Returns:
            For each document the summary, all measures (``None`` if undefined) and the signature.

        Raises:
            ValueError: a document does not have the field of the source, or it has no words.
        """
        summaries = [
            response if isinstance(response, str) else response[0] for response in responses
        ]
        for index, doc in enumerate(docs):
            if self.source not in doc:
                raise ValueError(
                    f"Expected every document to have the field {self.source!r}, but the document at index {index} "
                    "does not."
                )
        sources = [
            check_source(self.source, doc[self.source], index) for index, doc in enumerate(docs)
        ]
        judged = zip(summaries, self.judge(summaries, sources), strict=True)
        return [{"summary": summary, **judgement.metadata()} for summary, judgement in judged]

    def process_results(
        self, doc: Mapping[str, Any], results: Sequence[Mapping[str, Any]]
    ) -> dict[str, float]:
        """For ``process_results``: the measures of one document as numbers, NaN if undefined."""
        scores = results[0]
        return {
            name: float("nan") if scores[name] is None else scores[name]
            for name in self.judge.measures
        }

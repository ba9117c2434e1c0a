"""ESTIME as a metric of ragas: pip install estime-metric ragas 'langchain-community<0.4'"""

from dataclasses import dataclass, field
from functools import lru_cache

from ragas.metrics.base import MetricType, SingleTurnMetric

from estime_metric import EstimeScorer

scorer = EstimeScorer(cache=1_000_000_000)  # bytes


@lru_cache(maxsize=1000)
def scores(response, passages):
    """The measures of a response, computed once for all metrics of a row."""
    (values,) = scorer.score([response], [list(passages)])
    return values


@dataclass
class Estime(SingleTurnMetric):
    """One measure of the response; the source is ``retrieved_contexts``. Lower is better for most measures."""

    name: str = "inconsistency"
    _required_columns: dict[MetricType, set[str]] = field(
        default_factory=lambda: {MetricType.SINGLE_TURN: {"response", "retrieved_contexts"}}
    )

    def init(self, run_config):
        """Needs no language model."""

    async def _single_turn_ascore(self, sample, callbacks):
        return scores(sample.response, tuple(sample.retrieved_contexts))[self.name]

"""ESTIME as a metric of DeepEval: pip install estime-metric deepeval"""

from deepeval.metrics import BaseMetric
from deepeval.metrics.utils import check_llm_test_case_params
from deepeval.test_case import SingleTurnParams

from estime_metric import EstimeScorer
from estime_metric.measures import REPORTED


class Estime(BaseMetric):
    """Scores ``1 - inconsistency``: in DeepEval, higher is better, and a test case with at least the
    ``threshold`` passes. The source is the retrieval context: passages, or one text in a list.
    """

    _required_params = (
        SingleTurnParams.INPUT,
        SingleTurnParams.ACTUAL_OUTPUT,
        SingleTurnParams.RETRIEVAL_CONTEXT,
    )

    def __init__(self, threshold, scorer=None):  # DeepEval copies a metric by these two attributes
        self.threshold = threshold
        self.scorer = scorer or EstimeScorer(cache=1_000_000_000)  # bytes

    def measure(self, test_case, *args, **kwargs):
        """The score of a test case; its measures and its explanation are attributes afterwards."""
        check_llm_test_case_params(test_case, self._required_params, None, None, self)
        passages = [
            passage if isinstance(passage, str) else {"id": passage.source, "text": passage.context}
            for passage in test_case.retrieval_context
        ]
        explanation = self.scorer.explain(test_case.actual_output, passages)
        self.score = 1 - explanation.inconsistency
        self.score_breakdown = {name: explanation.value(name) for name in REPORTED}
        self.reason = str(explanation)
        self.success = self.is_successful()
        return self.score

    async def a_measure(self, test_case, *args, **kwargs):
        """As `measure`, which needs no event loop."""
        return self.measure(test_case)

    @property
    def __name__(self):
        return "ESTIME"

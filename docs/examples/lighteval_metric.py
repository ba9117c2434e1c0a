"""ESTIME as a metric of LightEval: pip install estime-metric lighteval"""

import numpy as np
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import SampleLevelMetricGrouping
from lighteval.tasks.requests import SamplingMethod

from estime_metric import EstimeScorer
from estime_metric.measures import REPORTED


class Estime(SampleLevelComputation):
    """The measures of the first response; the task puts the source into ``Doc.specific["source"]``."""

    scorer = EstimeScorer(cache=1_000_000_000)  # bytes

    def compute(self, doc, model_response, **kwargs):
        """The measures of one response by name."""
        (values,) = self.scorer.score([model_response.final_text[0]], [doc.specific["source"]])
        return {name: values[name] for name in REPORTED}


estime = SampleLevelMetricGrouping(
    metric_name=list(REPORTED),
    higher_is_better=dict.fromkeys(REPORTED, False),
    category=SamplingMethod.GENERATIVE,
    sample_level_fn=Estime(),
    corpus_level_fn=dict.fromkeys(REPORTED, np.nanmean),  # without undefined values
)

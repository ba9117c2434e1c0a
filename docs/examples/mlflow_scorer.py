"""ESTIME as a scorer of `mlflow.genai.evaluate`: pip install estime-metric mlflow"""

from math import isnan

from mlflow.entities import Feedback
from mlflow.genai import scorer

from estime_metric import EstimeScorer
from estime_metric.measures import REPORTED

estime = EstimeScorer(cache=1_000_000_000)  # bytes: sources with several summaries are encoded once


@scorer
def consistency(inputs, outputs):
    """Logs the measures of a summary, the output, of the article in the inputs, if they are defined."""
    result = estime.score([outputs], [inputs["article"]])
    (values,) = result
    explanation = str(estime.explain(outputs, inputs["article"]))
    return [
        Feedback(
            name=f"estime/{name}",
            value=values[name],
            rationale=explanation,
            metadata={"signature": result.signature},
        )
        for name in REPORTED
        if not isnan(values[name])
    ]

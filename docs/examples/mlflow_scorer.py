"""ESTIME as a scorer of `mlflow.genai.evaluate`: pip install estime-metric mlflow"""

from mlflow.genai import scorer


@scorer
def estime(inputs, outputs):
    """Logs the measures of a summary, the output, of the article in the inputs, if they are defined."""
    # MLflow registers the source of this function alone, so that it imports what it needs.
    from math import isnan

    from mlflow.entities import Feedback

    from estime_metric import EstimeScorer
    from estime_metric.engine.cache import DEFAULT_CACHE  # of this process
    from estime_metric.measures import REPORTED

    explanation = EstimeScorer(cache=DEFAULT_CACHE).explain(outputs, inputs["article"])
    values = {name: explanation.value(name) for name in REPORTED}
    return [
        Feedback(
            name=f"estime/{name}",
            value=value,
            rationale=str(explanation) if name == "inconsistency" else None,
            metadata={"signature": explanation.signature},
        )
        for name, value in values.items()
        if not isnan(value)
    ]

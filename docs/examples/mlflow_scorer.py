"""ESTIME as a scorer of `mlflow.genai.evaluate`: pip install estime-metric mlflow"""

from mlflow.entities import Feedback
from mlflow.genai import scorer

from estime_metric import EstimeScorer

estime = EstimeScorer(cache=1_000_000_000)  # bytes: sources with several summaries are encoded once


@scorer
def consistency(inputs, outputs):
    """Logs three measures of a summary, the output, of the article in the inputs."""
    result = estime.score([outputs], [inputs["article"]])
    explanation = str(estime.explain(outputs, inputs["article"]))
    return [
        Feedback(
            name=f"estime/{name}",
            value=result[name].item(),
            rationale=explanation,
            metadata={"signature": result.signature},
        )
        for name in ("inconsistency", "alarms", "blank")
    ]

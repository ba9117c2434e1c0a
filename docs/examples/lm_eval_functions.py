"""ESTIME in a task of lm-evaluation-harness: pip install estime-metric lm-eval"""

from estime_metric import EstimeScorer
from estime_metric.measures import REPORTED

estime = EstimeScorer()


def score(responses, docs):
    """The filter: scores the first response to each document, all of them in one call."""
    summaries = [response[0] for response in responses]
    result = estime.score(summaries, [doc["article"] for doc in docs])
    return [{**scores, "signature": result.signature} for scores in result]


def process_results(doc, results):
    """The measures that `metric_list` names."""
    return {name: results[0][name] for name in REPORTED}


def total(values):
    """An aggregation: the number of blank summaries."""
    return sum(values)

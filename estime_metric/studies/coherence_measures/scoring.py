"""All coherence measures by their names: texts in, one score of each measure for each text out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from estime_metric._version import __version__
from estime_metric.studies.coherence_measures import OPTIONS, CoherenceOptions
from estime_metric.studies.coherence_measures.entity_graph import entity_graph
from estime_metric.table.arrays import Floats

#: Higher is more coherent in each; the last two are baselines, the number of characters and chance.
MEASURES = ("entity_graph", "classifier", "bartscore", "length", "random")


def check_measures(measures: Sequence[str], options: CoherenceOptions) -> None:
    """Refuses unknown measures, and those that lack what they need, before any model is loaded
    (ValueError).
    """
    if (
        unknown := [repr(name) for name in measures if name not in MEASURES]
        if measures
        else ["none"]
    ):
        raise ValueError(
            f"Expected argument `measures` to name some of {', '.join(MEASURES)}, but got {unknown[0]}."
        )
    if "classifier" in measures and options.classifier is None:
        raise ValueError(
            "Expected argument `classifier` to name a trained classifier, since the measure 'classifier' needs one: "
            "train it with python -m estime_metric.studies.coherence_measures.train."
        )


def coherence_scores(
    texts: Sequence[str],
    measures: Sequence[str],
    *,
    sources: Sequence[str] = (),
    options: CoherenceOptions = OPTIONS,
) -> dict[str, Floats]:
    """Scores n texts by some of `MEASURES`: measure -> float64 of shape (n,); higher is more
    coherent in each.

    Only ``bartscore`` reads the ``sources`` of the texts. `check_measures` says which measures lack
    what they need. Raises OSError if a model cannot be loaded, ValueError if it is not a trained
    classifier.

    Example:
        >>> texts = ["The bridge is old. The mayor closed the bridge.", "The bridge is old. Bees remember colors."]
        >>> {name: scores.tolist() for name, scores in coherence_scores(texts, ["entity_graph", "length"]).items()}
        {'entity_graph': [0.5, 0.0], 'length': [47.0, 40.0]}
    """
    return {name: _score(name, texts, sources, options) for name in measures}


def coherence_signature(measures: Sequence[str], options: CoherenceOptions) -> str:
    """One line that says how the scores of these measures were computed.

    Example:
        >>> coherence_signature(["entity_graph", "length"], CoherenceOptions()).split("|")[:3]
        ['COHERENCE', 'entity_graph:content_words', 'length:characters']
    """
    settings = {
        "entity_graph": "content_words",
        "classifier": str(options.classifier),
        "bartscore": options.bartscore_model,
        "length": "characters",
        "random": f"seed {options.seed}",
    }
    truncated = (
        ["truncate:yes"] if options.truncate and {"classifier", "bartscore"} & set(measures) else []
    )
    parts = [f"{name}:{settings[name].replace('|', '%7C')}" for name in measures]
    return "|".join(["COHERENCE", *parts, *truncated, f"version:{__version__}"])


def _score(
    name: str, texts: Sequence[str], sources: Sequence[str], options: CoherenceOptions
) -> Floats:
    if name == "entity_graph":
        return np.array([entity_graph(text) for text in texts], dtype=np.float64)
    if name == "length":
        return np.array([len(text) for text in texts], dtype=np.float64)
    if name == "random":
        return np.random.default_rng(options.seed).uniform(size=len(texts))
    where: dict[str, Any] = {"device": options.device, "truncate": options.truncate}
    if name == "bartscore":
        from estime_metric.studies.coherence_measures.bartscore import bart_scores  # imports torch

        return bart_scores(texts, sources, options.bartscore_model, **where)
    from estime_metric.studies.coherence_measures.classifier import CoherenceClassifier

    classifier = CoherenceClassifier(options.classifier or "", **where)
    if not classifier.trained:
        raise ValueError(
            f"Expected argument `classifier` to name a trained classifier, but {str(options.classifier)!r} has no "
            "trained head: train it with python -m estime_metric.studies.coherence_measures.train."
        )
    return classifier.score(texts)

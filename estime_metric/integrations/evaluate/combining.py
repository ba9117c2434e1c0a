"""`evaluate.combine` for modules that do not read the same inputs."""

from __future__ import annotations

from typing import Any

import evaluate


class _Combined(evaluate.CombinedEvaluations):  # type: ignore[misc]
    def compute(self, predictions: Any = None, references: Any = None, **named: Any) -> dict[str, Any]:
        """As `evaluate.CombinedEvaluations.compute`, but an input goes only to the modules that declare it."""
        given = {"predictions": predictions, "references": references, **named}
        inputs = {name for module in self.evaluation_modules for name in module._feature_names()}
        inputs -= {"predictions", "references"}
        results = []
        for module in self.evaluation_modules:
            others = inputs.difference(module._feature_names())
            results.append(module.compute(**{name: value for name, value in given.items() if name not in others}))
        merged: dict[str, Any] = self._merge_results(results)
        return merged


def combine(evaluations: list[Any] | dict[str, Any], force_prefix: bool = False) -> evaluate.CombinedEvaluations:
    """`evaluate.combine`, whose ``compute`` also takes inputs that not all modules know, as ``sources``.

    The ``compute`` of `evaluate.combine` hands every keyword to every module, and ROUGE refuses ``sources``. Here an
    input goes to the modules that declare it as a feature; options still go to all.

    Args:
        evaluations: modules, or names that `evaluate.load` takes, as a list or as a dict from prefixes.
        force_prefix: put the prefix before every key of the result, not only before keys that two modules share.

    Returns:
        What `evaluate.combine` returns, with that one change.

    Example:
        >>> from estime_metric.integrations.evaluate import Estime, combine
        >>> both = combine({"shallow": Estime(model="embedded", layers=1), "deep": Estime(model="embedded")})
        >>> scores = both.compute(predictions=["A cat sat."], references=["A cat."], sources=["A cat sat down."])
        >>> [name for name in scores if name.endswith("alarms")]
        ['shallow_alarms', 'deep_alarms']
    """
    return _Combined(evaluations, force_prefix=force_prefix)

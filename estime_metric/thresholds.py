"""The value of a measure from which on a summary is flagged."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from estime_metric.config import EstimeConfig

#: ``{model: {measure: value}}`` for the encoders that ship, as ``python -m docs.training.record`` wrote them.
OPERATING_POINTS = Path(__file__).with_name("operating_points.json")


def threshold_value(threshold: float | str, measure: str, config: EstimeConfig) -> float:
    """A threshold as a number; ``"balanced"`` is the value documented for the encoder of ``config`` and the measure.

    Raises:
        TypeError: it is neither a number nor a string.
        ValueError: it is not finite, or none is documented.
    """
    if isinstance(threshold, str):
        if threshold != "balanced":
            raise ValueError(f"Expected argument `threshold` to be a number or 'balanced', but got {threshold!r}.")
        known = json.loads(OPERATING_POINTS.read_text(encoding="utf-8")) if OPERATING_POINTS.exists() else {}
        threshold = known.get(config.model, {}).get(measure)
        if threshold is None:
            raise ValueError(
                f"Expected argument `threshold` to be a number, since no balanced one of {measure!r} is documented for "
                f"{config.model!r}."
            )
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)):
        raise TypeError(f"Expected argument `threshold` to be a number or 'balanced', but got {threshold!r}.")
    if not math.isfinite(threshold):
        raise ValueError(f"Expected argument `threshold` to be finite, but got {threshold}.")
    return float(threshold)

"""Balanced thresholds that were determined with the bundled encoders, looked up by signature.

``python -m experiments.training.record`` writes them into ``operating_points.json``.
"""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import dataclass
from functools import cache
from numbers import Real
from pathlib import Path

from estime_metric.measures import RECOMMENDED
from estime_metric.signature import Signature

PATH = Path(__file__).with_name("operating_points.json")

BALANCED = "balanced"

#: Parts of a signature that change `inconsistency` at most by rounding.
_INDIFFERENT = ("dtype", "soft", "version")


@dataclass(frozen=True)
class OperatingPoint:
    """A threshold of ``inconsistency``, and the signature of the scores for which it was determined."""

    signature: str
    threshold: float


@cache
def recorded() -> tuple[OperatingPoint, ...]:
    """All recorded thresholds."""
    entries = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else []
    return tuple(OperatingPoint(entry["signature"], entry["threshold"]) for entry in entries)


def deciding(signature: str) -> dict[str, str]:
    """The parts of a signature that decide what a value of ``inconsistency`` means."""
    parts = Signature(signature).parts
    return {name: value for name, value in parts.items() if name not in _INDIFFERENT}


def threshold_value(threshold: float | str, measure: str, signature: str) -> float:
    """A threshold as a number.

    Args:
        threshold: a finite number, also of NumPy, or ``"balanced"`` for the recorded threshold of a bundled
            encoder. If it was determined with settings that differ from ``signature``, a warning
            names them.
        measure: the measure that is compared with the threshold.
        signature: the signature of the scores, at one layer.

    Raises:
        TypeError: ``threshold`` is neither a number nor a string.
        ValueError: it is not finite, is another string, or is ``"balanced"`` although no threshold
            is recorded for the measure or the encoder.
    """
    if isinstance(threshold, str):
        if threshold != BALANCED:
            raise ValueError(
                f"Expected argument `threshold` to be a number or {BALANCED!r}, but got {threshold!r}."
            )
        return _balanced(measure, signature)
    if isinstance(threshold, bool) or not isinstance(threshold, Real):
        raise TypeError(
            f"Expected argument `threshold` to be a number or {BALANCED!r}, but got {threshold!r}."
        )
    if not math.isfinite(threshold):
        raise ValueError(f"Expected argument `threshold` to be finite, but got {threshold}.")
    return float(threshold)


def _balanced(measure: str, signature: str) -> float:
    wanted = deciding(signature)
    same_encoder = [
        point
        for point in recorded()
        if deciding(point.signature).get("model") == wanted.get("model")
    ]
    if measure != RECOMMENDED or not same_encoder:
        known = sorted({deciding(point.signature)["model"] for point in recorded()})
        raise ValueError(
            f"Expected argument `threshold` to be a number: balanced thresholds are recorded for {RECOMMENDED!r} "
            f"with the bundled encoders ({', '.join(known)}), but got {measure!r} with {wanted.get('model', 'another encoder')}. "
            "`estime calibrate` chooses a threshold from summaries that you have labeled."
        )
    for point in same_encoder:
        if deciding(point.signature) == wanted:
            return point.threshold
    point = min(same_encoder, key=lambda point: len(_differences(point, wanted)))
    warnings.warn(
        f"The balanced threshold {point.threshold:g} was determined with other settings "
        f"({', '.join(_differences(point, wanted))}), so it may not be balanced for these scores.",
        RuntimeWarning,
        stacklevel=3,
    )
    return point.threshold


def _differences(point: OperatingPoint, wanted: dict[str, str]) -> list[str]:
    """``distance 2 instead of 8`` for each part that differs."""
    own = deciding(point.signature)
    return [
        f"{name} {own.get(name, 'none')} instead of {wanted.get(name, 'none')}"
        for name in dict.fromkeys([*own, *wanted])
        if own.get(name) != wanted.get(name)
    ]

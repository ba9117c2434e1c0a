"""ESTIME for `evaluate.load`; the metric itself is in the package estime-metric."""

from estime_metric.integrations.evaluate import Estime  # From: estime-metric[evaluate]

__all__ = ["Estime"]

"""ESTIME as a module of Hugging Face ``evaluate`` (extra ``evaluate``). Importing it loads no encoder."""

from __future__ import annotations

try:
    import evaluate as _evaluate  # noqa: F401
except ImportError as error:
    raise ImportError("ESTIME in `evaluate` needs that package: pip install 'estime-metric[evaluate]'.") from error

from estime_metric.integrations.evaluate.metric import Estime, combine
from estime_metric.integrations.evaluate.registration import register, unregister

__all__ = ["Estime", "combine", "register", "unregister"]

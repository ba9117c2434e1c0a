"""ESTIME as a module of Hugging Face ``evaluate`` (extra ``evaluate``). Importing it loads no
encoder.
"""

from __future__ import annotations

from estime_metric._extras import needs_extra

with needs_extra("evaluate", "ESTIME in `evaluate` needs that package"):
    import datasets as _datasets  # noqa: F401
    import evaluate as _evaluate  # noqa: F401

from estime_metric.integrations.evaluate.metric import Estime
from estime_metric.integrations.evaluate.script import SCRIPT, register

__all__ = ["SCRIPT", "Estime", "register"]

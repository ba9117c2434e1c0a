"""ESTIME as a module of Hugging Face ``evaluate`` (extra ``evaluate``). Importing it loads no
encoder.
"""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("evaluate") is None or find_spec("datasets") is None:
    raise ImportError(
        "ESTIME in `evaluate` needs that package: pip install 'estime-metric[evaluate]'."
    )

from estime_metric.integrations.evaluate.combined import combine
from estime_metric.integrations.evaluate.metric import Estime
from estime_metric.integrations.evaluate.script import SCRIPT, register, unregister

__all__ = ["SCRIPT", "Estime", "combine", "register", "unregister"]

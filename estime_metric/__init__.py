"""ESTIME: how consistent is a summary with its source? (Vasilyev & Bohannon 2021)

Importing this package loads no model and no toolkit; names are looked up when they are first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from estime_metric._version import __version__

if TYPE_CHECKING:
    from estime_metric.config import EstimeConfig as EstimeConfig
    from estime_metric.engine.encoder.loading import (
        EncoderUnavailableError as EncoderUnavailableError,
    )
    from estime_metric.engine.encoder.store import unload_encoders as unload_encoders
    from estime_metric.explanation import Explanation as Explanation
    from estime_metric.functional import estime as estime
    from estime_metric.integrations.torchmetrics import ESTIME as ESTIME
    from estime_metric.result import EstimeResult as EstimeResult
    from estime_metric.scorer import EstimeScorer as EstimeScorer

#: `ESTIME` needs an extra, so ``import *`` does not bring it.
_LAZY_EXPORTS = {
    "ESTIME": "integrations.torchmetrics",
    "EncoderUnavailableError": "engine.encoder.loading",
    "EstimeConfig": "config",
    "EstimeResult": "result",
    "EstimeScorer": "scorer",
    "Explanation": "explanation",
    "estime": "functional",
    "unload_encoders": "engine.encoder.store",
}

__all__ = [
    "EncoderUnavailableError",
    "EstimeConfig",
    "EstimeResult",
    "EstimeScorer",
    "Explanation",
    "__version__",
    "estime",
    "unload_encoders",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY_EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_LAZY_EXPORTS[name]}"), name)
    except ImportError as error:
        # Without the extra, `hasattr` is False; `from estime_metric import ESTIME` says what to
        # install.
        if sys._getframe(1).f_code.co_name == "_handle_fromlist":
            raise
        raise AttributeError(str(error)) from error


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAZY_EXPORTS})

"""ESTIME: how consistent is a summary with its source? (Vasilyev & Bohannon 2021)

Importing this package loads no model and no toolkit; names are looked up when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from estime_metric._process import IMPORTED_IN as IMPORTED_IN  # now, not when something is scored
from estime_metric._version import __version__

if TYPE_CHECKING:
    from estime_metric.config import EstimeConfig as EstimeConfig
    from estime_metric.engine.embedding import unload_encoders as unload_encoders
    from estime_metric.engine.encoder.folder import (
        EncoderUnavailableError as EncoderUnavailableError,
    )
    from estime_metric.explanation import Explanation as Explanation
    from estime_metric.integrations.torchmetrics import ESTIME as ESTIME
    from estime_metric.result import EstimeResult as EstimeResult
    from estime_metric.scorer import EstimeScorer as EstimeScorer
    from estime_metric.scorer import estime as estime
    from estime_metric.wording.source import novelty as novelty

#: public name -> the module that defines it
_LAZY_EXPORTS = {
    "ESTIME": "integrations.torchmetrics",
    "EncoderUnavailableError": "engine.encoder.folder",
    "EstimeConfig": "config",
    "EstimeResult": "result",
    "EstimeScorer": "scorer",
    "Explanation": "explanation",
    "estime": "scorer",
    "novelty": "wording.source",
    "unload_encoders": "engine.embedding",
}

#: public name -> the package that it needs from an extra; ``import *`` does not bring these
_NEEDS = {"ESTIME": "torchmetrics"}

__all__ = [
    "EncoderUnavailableError",
    "EstimeConfig",
    "EstimeResult",
    "EstimeScorer",
    "Explanation",
    "__version__",
    "estime",
    "novelty",
    "unload_encoders",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY_EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Without its extra, `ESTIME` raises an ImportError that says what to install.
    return getattr(import_module(f"{__name__}.{_LAZY_EXPORTS[name]}"), name)


def __dir__() -> list[str]:
    missing = {name for name, package in _NEEDS.items() if find_spec(package) is None}
    return sorted({*__all__, *_LAZY_EXPORTS} - missing)

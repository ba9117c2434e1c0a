"""Values of rows in the form in which files can store them."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from typing import Any


def plain(number: float) -> int | float | None:
    """A measure as it is stored in files: a count as an integer, NaN as ``None``, anything else
    rounded to six digits.
    """
    if math.isnan(number):
        return None
    return int(number) if math.isfinite(number) and number == int(number) else round(number, 6)


def encodable(text: str) -> str:
    r"""A text with each lone surrogate, which has no UTF-8, as JSON writes it: ``\ud800``."""
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")


def to_json(value: Any) -> str:
    r"""A value as JSON that every parser reads.

    NaN and the infinities, which JSON does not have, become ``null``; bytes become Base64; dates
    and others become text.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_to_text)
    except ValueError:
        finite = _without_nan(value)
        return json.dumps(finite, ensure_ascii=False, allow_nan=False, default=_to_text)


def to_cell(value: Any) -> str:
    """A value as a cell of CSV: nothing and NaN are empty, lists and objects are JSON."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, (dict, list, tuple)):
        return to_json(value)
    return _to_text(value)


def _to_text(value: Any) -> str:
    return b64encode(value).decode("ascii") if isinstance(value, bytes) else str(value)


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _without_nan(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(inner) for inner in value]
    return value

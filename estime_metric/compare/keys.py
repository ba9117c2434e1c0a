"""Cells that identify a document, an example or a system -> text that two tables can be joined by."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

#: A whole number as pandas writes it to CSV if it is stored as a float.
_WHOLE = re.compile(r"(?P<whole>-?(0|[1-9][0-9]*))\.0")


def name_of(cell: Any) -> str:
    """A cell as text; empty if it is ``None`` or NaN.

    A float without a fraction is written as an integer, because pandas stores integers as floats if
    their column has a gap.

    Example:
        >>> name_of(7), name_of(7.0), name_of(7.5), name_of("7.0"), name_of(None)
        ('7', '7', '7.5', '7.0', '')
    """
    if isinstance(cell, (float, np.floating)):
        if np.isnan(cell):
            return ""
        return str(int(cell)) if cell.is_integer() else str(cell)
    return "" if cell is None else str(cell)


def id_of(cell: Any) -> str:
    """As `name_of`; text such as ``"7.0"``, which is what pandas writes to CSV for such a float, is
    written as an integer too. This is for identifiers alone: the name of a system can be ``"2.0"``.

    Example:
        >>> id_of("7.0"), id_of("7.50"), id_of("007"), id_of("v7.0")
        ('7', '7.50', '007', 'v7.0')
    """
    text = name_of(cell)
    whole_number = _WHOLE.fullmatch(text)
    return text if whole_number is None else whole_number["whole"]

"""Names as they stand in a signature, whose line none of them can break."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def versioned(model: str, revision: str | None) -> str:
    """Name and revision; a revision that hashes a folder's content marks a folder, which is named by its last part."""
    name = Path(model).name if revision is not None and revision.startswith("sha256-") else model
    return f"{escape(name)}@{escape(revision or 'default')}"


def callable_name(function: Any) -> str:
    """The name of a callable, or a name as it is; two callables of one name cannot be told apart by it."""
    if isinstance(function, str):
        return function
    module = getattr(function, "__module__", None) or type(function).__module__  # str.split has none
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return escape(f"{module}.{name}")


def escape(text: str) -> str:
    """``%``, ``|``, ``@`` and control characters as ``%XX``."""
    return "".join(f"%{ord(char):02X}" if char in "%|@" or ord(char) < 32 else char for char in text)

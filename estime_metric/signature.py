"""Signatures: one line that identifies how a score was computed, and the names in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

#: Parts of the short form, with their letter; all others are omitted.
_SHORT = {"model": "m", "layers": "l", "unit": "u", "distance": "d", "dtype": "t", "version": "v"}

_REVISION_DIGITS = 7


class Signature(str):
    """``ESTIME|model:...|layers:...|...``: scores with equal signatures are comparable. It is a string.

    Example:
        >>> signature = Signature("ESTIME|model:m@sha256-0123456789ab|layers:5|margin:50|version:1.0")
        >>> signature.parts["layers"], signature.short
        ('5', 'ESTIME|m:m@0123456|l:5|v:1.0')
    """

    @property
    def parts(self) -> dict[str, str]:
        """Name -> value of each part, in order."""
        pairs = (part.partition(":") for part in self.split("|")[1:])
        return {name: value for name, _, value in pairs}

    @property
    def short(self) -> str:
        """The parts that differ most often, abbreviated: for the caption of a table. Compare scores by
        the whole signature.
        """
        parts = [
            f"{_SHORT[name]}:{_shortened(name, value)}"
            for name, value in self.parts.items()
            if name in _SHORT
        ]
        return "|".join([self.split("|")[0], *parts])


def _shortened(name: str, value: str) -> str:
    if name != "model" or "@" not in value:
        return value
    model, _, revision = value.rpartition("@")
    return f"{model}@{revision.removeprefix('sha256-')[:_REVISION_DIGITS]}"


def versioned(model: str, revision: str | None) -> str:
    """The name and the revision in the format of a signature."""
    name = Path(model).name if revision is not None and revision.startswith("sha256-") else model
    return f"{escaped(name)}@{escaped(revision or 'default')}"


def callable_name(function: Any) -> str:
    """The name of a callable; a string is returned unchanged. Two callables with the same name have the
    same signature.
    """
    if isinstance(function, str):
        return function
    # `str.split` has no module.
    module = getattr(function, "__module__", None) or type(function).__module__
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return escaped(f"{module}.{name}")


def escaped(text: str) -> str:
    """Replaces ``%``, ``|``, ``@`` and control characters by ``%XX``, so that a name cannot break the
    format of the signature.
    """
    return "".join(
        f"%{ord(char):02X}" if char in "%|@" or ord(char) < 32 else char for char in text
    )

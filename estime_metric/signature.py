"""Signatures: one line that identifies how a score was computed."""

from __future__ import annotations

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

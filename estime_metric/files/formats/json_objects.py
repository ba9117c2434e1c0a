"""One JSON object of a text -> a row, or what is wrong with it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from estime_metric.files.lines import Row


@dataclass(frozen=True, slots=True)
class Decoded:
    """A value of JSON: its ``row`` or its ``problem``, and the position of its ``end``."""

    end: int
    row: Row = field(default_factory=dict)
    problem: str = ""


class ObjectDecoder:
    """Decodes objects one after the other."""

    def __init__(self) -> None:
        self._has_long_integer = False
        self._names_twice: list[str] = []  # of the object that was decoded last
        self._raw_decode = json.JSONDecoder(
            parse_int=self._integer, object_pairs_hook=self._object
        ).raw_decode

    def decode(self, text: str, position: int = 0) -> Decoded:
        """The value that begins at ``position``.

        Raises:
            json.JSONDecodeError: the text is not JSON there, or it ends within the value.
            RecursionError: lists and objects are nested too deeply to be read.
        """
        self._has_long_integer = False
        value, end = self._raw_decode(text, position)
        if self._has_long_integer:
            digits = sys.get_int_max_str_digits() if hasattr(sys, "get_int_max_str_digits") else 0
            return Decoded(end, problem=f"has an integer of more than {digits} digits")
        if not isinstance(value, dict):
            return Decoded(end, problem=f"is a JSON {type(value).__name__}, not an object")
        if self._names_twice:  # the outermost object is decoded last
            return Decoded(end, problem=f"has a column {self._names_twice[0]!r} twice")
        return Decoded(end, value)

    def _object(self, pairs: list[tuple[str, Any]]) -> Row:
        found = dict(pairs)
        self._names_twice = []
        if len(found) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            self._names_twice = [name for name, times in counts.items() if times > 1]
        return found

    def _integer(self, digits: str) -> int:
        try:
            return int(digits)
        except ValueError:  # Python refuses to convert this many digits, because that is slow
            self._has_long_integer = True
            return 0

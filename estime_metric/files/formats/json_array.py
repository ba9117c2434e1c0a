"""A JSON array of objects, read an object at a time."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

from estime_metric.files.formats.json_objects import Decoded, ObjectDecoder
from estime_metric.files.lines import Line
from estime_metric.files.options import ReadOptions
from estime_metric.files.streams import opened

_BLOCK = 1 << 14  # characters that are read together
_SPACE = " \t\n\r"  # white space in JSON

#: An error this near to the end of what was read may come from the cut alone: of the literals and
#: escapes of JSON, a pair of escaped surrogates is the longest.
_NEAR = 12


def read(path: Path, options: ReadOptions) -> Iterator[Line]:
    """The objects of an array, counted from 1.

    Raises:
        ValueError: the file is not an array of JSON values in UTF-8; the objects before the error
            are given first. Else as `opened`.
    """
    with (
        opened(path, options.limits.size) as stream,
        io.TextIOWrapper(stream, "utf-8-sig") as text,
    ):
        try:
            yield from _read_array(_Text(text), path)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"Expected {path.name} to be UTF-8, but it has the byte "
                f"0x{error.object[error.start]:02x} in a wrong place."
            ) from error


def _read_array(text: _Text, path: Path) -> Iterator[Line]:
    if text.next_character() != "[":
        raise ValueError(
            f"Expected {path.name} to contain a JSON array of objects. If it has one object per "
            "line, name it .jsonl."
        )
    text.skip_character()
    number = 0
    while not (text.next_character() == "]" and number == 0):
        number += 1
        try:
            decoded = text.next_value()
        except json.JSONDecodeError as error:
            problem = "it ends early" if text.is_at_end else error.msg
            raise ValueError(_refusal(path, f"row {number} is not JSON: {problem}")) from error
        except RecursionError as error:
            raise ValueError(_refusal(path, f"row {number} is nested too deeply")) from error
        yield Line(path, number, decoded.row, decoded.problem)
        following = text.next_character()
        if following == "]":
            break
        if following != ",":
            came = repr(following) if following else "the end of the file"
            raise ValueError(_refusal(path, f"row {number} is followed by {came}, not by a comma"))
        text.skip_character()
    text.skip_character()
    if text.next_character():
        raise ValueError(_refusal(path, "text follows the array"))


def _refusal(path: Path, problem: str) -> str:
    return f"Expected {path.name} to be a JSON array, but {problem}."


class _Text:
    """The text of a file from some position on; the text before it is forgotten."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self._stream = stream
        self._decoder = ObjectDecoder()
        self._held = ""
        self._position = 0
        self.is_at_end = False  # whether all of the file was read

    def next_character(self) -> str:
        """The next character that is not white space, without consuming it; empty at the end of the file."""
        while True:
            while self._position < len(self._held):
                if self._held[self._position] not in _SPACE:
                    return self._held[self._position]
                self._position += 1
            if self.is_at_end:
                return ""
            self._read_more()

    def skip_character(self) -> None:
        self._position += 1

    def next_value(self) -> Decoded:
        """The next value; errors as `ObjectDecoder.decode`."""
        self.next_character()
        while True:
            try:
                decoded = self._decoder.decode(self._held, self._position)
            except json.JSONDecodeError as error:
                if self.is_at_end or not self._may_be_cut(error):
                    raise
            else:
                # A number that ends with what was read may continue behind it.
                if self.is_at_end or decoded.end < len(self._held):
                    self._position = decoded.end
                    return decoded
            self._read_more()

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        """Whether the value may only seem to be wrong, since it continues behind what was read."""
        is_open_string = error.msg.startswith("Unterminated string")
        return is_open_string or error.pos >= len(self._held) - _NEAR

    def _read_more(self) -> None:
        """Reads as much again as there is, so that a long value is not tried too often."""
        rest = self._held[self._position :]
        block = self._stream.read(max(_BLOCK, len(rest)))
        self.is_at_end = not block
        self._held, self._position = rest + block, 0

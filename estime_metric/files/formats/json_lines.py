"""JSON Lines: an object on each line, in UTF-8."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from estime_metric.files.formats.json_objects import ObjectDecoder
from estime_metric.files.lines import Line
from estime_metric.files.options import ReadOptions
from estime_metric.files.streams import opened

_SPACE = " \t\n\r"  # white space in JSON


def read(path: Path, options: ReadOptions) -> Iterator[Line]:
    """The lines of a file; blank lines are counted and skipped. Raises as `opened`."""
    decoder = ObjectDecoder()
    with opened(path, options.limits.size) as stream:
        for number, raw in enumerate(stream, start=1):
            line = _read_line(decoder, raw, path, number)
            if line is not None:
                yield line


def _read_line(decoder: ObjectDecoder, raw: bytes, path: Path, number: int) -> Line | None:
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError:
        return Line(path, number, problem="is not UTF-8")
    if not text:
        return None
    try:
        decoded = decoder.decode(text)
    except json.JSONDecodeError as error:
        problem = f"is not JSON ({error.msg} at column {error.colno})"
    except RecursionError:
        problem = "is nested too deeply"
    else:
        if not text[decoded.end :].strip(_SPACE):
            return Line(path, number, decoded.row, decoded.problem)
        problem = f"is not JSON (Extra data at column {decoded.end + 1})"
    return Line(path, number, problem=problem)

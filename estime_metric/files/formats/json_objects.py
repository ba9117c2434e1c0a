"""JSON Lines, with an object on each line, and a JSON array of objects; both in UTF-8."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from estime_metric.files.layout import Layout
from estime_metric.files.lines import Line
from estime_metric.files.streams import opened


def read_lines(path: Path, _layout: Layout) -> Iterator[Line]:
    """The lines of JSON Lines; blank ones are counted and skipped. Raises as `opened`."""
    with opened(path) as stream:
        for number, data in enumerate(stream, start=1):
            if not data.removeprefix(codecs.BOM_UTF8).strip():
                continue
            try:
                value = _parse(data)
            except ValueError as error:
                yield Line(path, number, problem=str(error))
            else:
                yield _line(path, number, value)


def read_array(path: Path, _layout: Layout) -> Iterator[Line]:
    """The objects of an array, counted from 1. The whole file is read into memory.

    Raises ValueError if the file is not a JSON array; otherwise as `opened`.
    """
    with opened(path) as stream:
        data = stream.read()
    try:
        values = _parse(data)
        if not isinstance(values, list):
            raise ValueError("is not an array")
    except ValueError as error:
        raise ValueError(
            f"Expected {path.name} to be a JSON array of objects, but it {error}. If it has one "
            "object per line, name it .jsonl."
        ) from error
    for number, value in enumerate(values, start=1):
        yield _line(path, number, value)


def _parse(data: bytes) -> Any:
    """The value of a text; ValueError with the problem as the end of a sentence if it has none."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 (byte {error.start + 1})"
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        problem = f"is not JSON ({error.msg} at {line}column {error.colno})"
    except RecursionError:
        problem = "is nested too deeply"
    except ValueError:  # Python refuses to convert this many digits, because that is slow
        problem = "has an integer with too many digits"
    raise ValueError(problem)


def _line(path: Path, number: int, value: Any) -> Line:
    if not isinstance(value, dict):
        return Line(path, number, problem=f"is a JSON {type(value).__name__}, not an object")
    return Line(path, number, value)

"""JSON Lines, with an object on each line, and a JSON array of objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from estime_metric.files.layout import Layout
from estime_metric.files.lines import Line
from estime_metric.files.streams import is_decoded, opened_text

_MARK = "\ufeff"  # which files that were appended to one another have in the middle


def read_lines(path: Path, _layout: Layout) -> Iterator[Line]:
    """The lines of JSON Lines; blank ones are counted and skipped. Raises as `opened_text`."""
    with opened_text(path, newline="\n") as text:
        for number, line in enumerate(text, start=1):
            if not line.removeprefix(_MARK).strip():
                continue
            try:
                value = _parse(line)
            except ValueError as error:
                yield Line(path, number, problem=str(error), share=text.share)
            else:
                yield _line(path, number, value, text.share)


def read_array(path: Path, _layout: Layout) -> Iterator[Line]:
    """The objects of an array, counted from 1. The whole file is read into memory.

    Raises ValueError if the file is not a JSON array; otherwise as `opened_text`.
    """
    with opened_text(path, newline="\n") as text:
        content = text.read()
    try:
        values = _parse(content)
        if not isinstance(values, list):
            raise ValueError("is not an array")
    except ValueError as error:
        raise ValueError(
            f"Expected {path.name} to be a JSON array of objects, but it {error}. If it has one "
            "object per line, name it .jsonl."
        ) from error
    for number, value in enumerate(values, start=1):
        yield _line(path, number, value, number / len(values))


def _parse(text: str) -> Any:
    """The value of a text; ValueError with the problem as the end of a sentence if it has none."""
    try:
        if is_decoded(text):
            return json.loads(text.removeprefix(_MARK))
        problem = "is not UTF-8"
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        problem = f"is not JSON ({error.msg} at {line}column {error.colno})"
    except RecursionError:
        problem = "is nested too deeply"
    except ValueError:  # Python refuses to convert this many digits, because that is slow
        problem = "has an integer with too many digits"
    raise ValueError(problem)


def _line(path: Path, number: int, value: Any, share: float) -> Line:
    if not isinstance(value, dict):
        problem = f"is a JSON {type(value).__name__}, not an object"
        return Line(path, number, problem=problem, share=share)
    return Line(path, number, value, share=share)

"""Explanations in the terminal: at any width, with and without colors, and never interpreted as
markup or control codes.
"""

from __future__ import annotations

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from estime_metric import Explanation
from estime_metric.explain import to_terminal
from estime_metric.explanation import Evidence, UnitVerdict


def printed(shown: Explanation, width: int = 100, colors: bool = False) -> str:
    stream = io.StringIO()
    system = "truecolor" if colors else None
    to_terminal(
        shown, Console(file=stream, width=width, force_terminal=colors, color_system=system)
    )
    return stream.getvalue()


def test_without_colors_each_alarm_is_numbered_in_the_text(example: Explanation) -> None:
    text = " ".join(printed(example).split())
    assert "the first of February[4],[5] after" in text
    assert "rust in twelve[8] of its four[9] main beams" in text
    assert "not in the source, so not checked: after" in text
    plain = re.sub(r"\[\d+\]", "", text)
    assert " ".join(example.prediction.split()) in plain
    assert "".join(example.signature.split()) in re.sub(r"\s", "", text)


@pytest.mark.parametrize("width", [80, 120])
def test_a_row_for_each_alarm_shows_its_evidence_in_context(
    example: Explanation, width: int
) -> None:
    rows = [
        line for line in printed(example, width).splitlines() if re.match(r" +\d+ +\S.*\[", line)
    ]
    alarms = [word for word in example.words if word.verdict == "alarm"]
    assert len(rows) == len(alarms)
    for row, alarm in zip(rows, alarms, strict=True):
        assert f"[{example.source[alarm.best.start : alarm.best.end]}]" in row
        assert f"[{example.source[alarm.same.start : alarm.same.end]}]" in row
        assert example.prediction[alarm.start : alarm.end] in row
        assert "\u2212" in row
    assert any("rust in [four]" in row for row in rows)


@pytest.mark.parametrize("width", [20, 60, 79, 80, 200])
def test_no_line_is_wider_than_the_terminal(
    example: Explanation, hostile: Explanation, width: int
) -> None:
    for shown in (example, hostile):
        assert max(cell_len(line) for line in printed(shown, width).splitlines()) <= width


def test_narrow_terminals_get_a_block_for_each_alarm_and_colors_say_no_more(
    example: Explanation,
) -> None:
    text = printed(example, 50)
    alarms = [word for word in example.words if word.verdict == "alarm"]
    for number, alarm in enumerate(alarms, start=1):
        assert f"[{number}] {example.prediction[alarm.start : alarm.end]}  margin \u2212" in text
    assert text.count("  best  ") == text.count("  same  ") == len(alarms)
    colored = printed(example, colors=True)
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == printed(example)


def test_texts_are_neither_markup_nor_control_codes(hostile: Explanation) -> None:
    for width in (50, 100):
        text = printed(hostile, width)
        assert "[/bold" in text
        assert "<script>" in text
        assert not set(text) & {"\x1b", "\x07", "\r", "\u202e"}
        assert "\ufffd" in text
    assert "\U0001f469\u200d\U0001f467" in text
    assert "שלום" in text


def test_emptiness(empty: Explanation) -> None:
    text = " ".join(printed(empty).split())
    assert "0 alarms" in text
    assert ("nothing to check" if not empty.tokens else "nothing was checked") in text


@pytest.mark.parametrize(("start", "end"), [(0, 3), (100, 103), (196, 199)])
def test_the_context_reaches_to_the_ends_of_the_source(start: int, end: int) -> None:
    source = " ".join(f"w{number:02}" for number in range(50))
    unit = UnitVerdict(0, 1, "alarm", Evidence(start, end, 1.0), None, -1.5)
    text = printed(Explanation("x", source, (unit,), "token", 1, ""))
    assert f"[{source[start:end]}]" in text
    assert ("w00" in text) == (start < 30)
    assert ("w49" in text) == (end > 170)
    assert "none" in text


def test_printed_without_rich_it_is_a_few_lines(example: Explanation) -> None:
    counts, *alarms, signature = str(example).splitlines()
    assert f", alarms {example.alarms}, " in counts
    assert len(alarms) == example.alarms
    assert any(
        line.startswith("- 'twelve': best match in the source is 'four' (margin \u2212")
        for line in alarms
    )
    assert signature == example.signature
    assert repr(example).startswith(f"Explanation(alarms={example.alarms}, overlap=")

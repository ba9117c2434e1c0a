"""Explanations in the terminal: at any width, with and without colors, and never interpreted as
markup or control codes.
"""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from estime_metric import Explanation
from estime_metric.passages import Passage
from estime_metric.show import to_terminal


def printed(
    shown: Explanation, width: int = 100, *, colors: bool = False, function_words: bool = False
) -> str:
    stream = io.StringIO()
    system = "truecolor" if colors else None
    console = Console(file=stream, width=width, force_terminal=colors, color_system=system)
    to_terminal(shown, console, function_words=function_words)
    return stream.getvalue()


def rows(text: str) -> list[str]:
    """The rows of the table."""
    return [line for line in text.splitlines() if re.match(r" +\d+ +\S.*(\[|none)", line)]


def test_the_surest_words_are_numbered_in_the_text_and_listed_with_their_evidence(
    example: Explanation,
) -> None:
    text = printed(example, 120)
    flowing = " ".join(text.split())
    surest = example.surest_words()[:10]
    for number, (row, word) in enumerate(zip(rows(text), surest, strict=True), start=1):
        assert row.split()[0] == str(number)
        assert f"{word.text} " in row
        assert word.kind in row
        assert f"{word.text}[{number}]" in flowing
        for evidence in (word.best, word.same if word.kind == "alarm" else None):
            assert evidence is None or f"[{example.source[evidence.start : evidence.end]}]" in row
    assert [row.split()[1] for row in rows(text)[:3]] == ["eighteen", "after", "twelve"]
    assert "rust in [four]" in rows(text)[2]
    assert f"and {len(example.surest_words()) - 10} more" in text
    assert " ".join(example.prediction.split()) in re.sub(r"\[\d+\]", "", flowing)
    assert "".join(example.signature.split()) in re.sub(r"\s", "", text)


def test_passages_have_a_column(example: Explanation) -> None:
    middle = len(example.source) // 2
    passages = (Passage(0, 0, middle), Passage("[red]b\x1b7", middle, len(example.source)))
    names = ["0", r"[red]b\x1b7"]
    shown = replace(example, passages=passages)
    for row, word in zip(rows(printed(shown, 80)), shown.surest_words()[:10], strict=True):
        assert row.split()[-1] == names[word.best.start >= middle]


def test_function_words_and_punctuation_are_behind_a_switch(example: Explanation) -> None:
    every = example.surest_words(function_words=True)
    hidden = len(every) - len(example.surest_words())
    assert hidden > 0
    text, switched = printed(example), printed(example, function_words=True)
    assert f"not listed: function words and punctuation ({hidden})" in " ".join(text.split())
    assert "not listed" not in switched
    assert len(rows(switched)) == len(every)


@pytest.mark.parametrize("width", [20, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal_and_colors_say_no_more(
    example: Explanation, hostile: Explanation, width: int
) -> None:
    for shown in (example, hostile):
        text = printed(shown, width)
        assert max(cell_len(line) for line in text.splitlines()) <= width
        colored = printed(shown, width, colors=True)
        assert "\x1b[" in colored
        assert re.sub(r"\x1b\[[\d;]*m", "", colored) == text


def test_texts_are_neither_markup_nor_control_codes(hostile: Explanation) -> None:
    for width in (50, 100):
        text = printed(hostile, width)
        for part in ("[/bold", "<script>"):
            assert part in re.sub(r"\[\d+\]", "", text)
        assert not set(text) & {"\x1b", "\x07", "\r", "\u202e"}
        assert "\\x1b" in text
    assert "\U0001f469\u200d\U0001f467" in text
    assert "שלום" in text


def test_printed_without_rich_it_is_a_few_lines(example: Explanation) -> None:
    counts, *surest, more, signature = str(example).splitlines()
    assert f", alarms {example.alarms}, " in counts
    assert len(surest) == 10
    assert more == f"and {len(example.surest_words()) - 10} more"
    assert surest[1] == "- 'after': new word"
    evidence = "- 'twelve': alarm, best match in the source is 'four' (margin \u2212"
    assert surest[2].startswith(evidence)
    assert signature == example.signature
    assert repr(example).startswith(f"Explanation(alarms={example.alarms}, overlap=")

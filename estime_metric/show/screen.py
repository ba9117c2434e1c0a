"""Explanations in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from estime_metric._messages import printable
from estime_metric.show import captions
from estime_metric.verdicts import Evidence, Verdicts, WordVerdict

BEST, SAME, QUIET = "bold reverse blue", "bold underline green", "dim"

#: To which red is added, dim, plain or bold.
STYLES = {"alarm": "underline ", "absent": "italic ", "match": ""}
BOLD_FROM = 0.9  # graded alarm
_FIXED = 30  # cells of a table row without the word, the two contexts and the passage
_LEAST_CONTEXT = 8  # cells


def to_terminal(
    explanation: Verdicts, console: Console | None = None, *, function_words: bool = False
) -> None:
    """Prints the counts, the summary with its `surest_words` numbered, and a table of these words, each
    with its evidence in the source.

    The output is readable without colors, and never interprets a text as markup or control codes.

    Args:
        console: where to print. (default: standard output)
        function_words: number every word, not only the first ones, and function words and punctuation too.
    """
    console = console or Console()
    every = explanation.surest_words(function_words=True)
    sure = every if function_words else explanation.surest_words()
    surest = every if function_words else sure[: captions.LISTED]
    console.print(_counts(explanation))
    if remark := captions.remark(explanation):
        console.print(Text(f"\n{remark}"))
    console.print(Rule("summary", style=QUIET, align="left"))
    console.print(_summary(explanation, surest, function_words=function_words))
    if any(captions.strength(word) for word in explanation.words):
        console.print(Text(f"\n{captions.COLORS}", style=QUIET))
    if surest:
        console.print(Rule("the surest words first", style=QUIET, align="left"))
        console.print(_table(explanation, surest, console.width))
    if more := captions.unlisted(len(sure) - len(surest)):
        console.print(Text(more, style=QUIET))
    if hidden := len(every) - len(sure):
        console.print(Text(f"not listed: function words and punctuation ({hidden})", style=QUIET))
    console.print(Text(f"\n{explanation.signature}", style=QUIET, overflow="fold"))


def _counts(explanation: Verdicts) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style="bold", no_wrap=True)
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(style=QUIET)
    for count in captions.counts(explanation):
        grid.add_row(count.value, count.name, count.meaning)
    return grid


def _summary(explanation: Verdicts, surest: Sequence[WordVerdict], *, function_words: bool) -> Text:
    numbers = {word.start: number for number, word in enumerate(surest, start=1)}
    summary = Text()
    for text, word in captions.pieces(explanation):
        is_colored = word is not None and (function_words or not word.is_minor)
        summary.append(_safe(text), _style(word) if word is not None and is_colored else "")
        if word is not None and word.start in numbers:
            summary.append(f"[{numbers[word.start]}]", "red")
    return summary


def _table(explanation: Verdicts, surest: Sequence[WordVerdict], width: int) -> Table:
    longest = max(word.end - word.start for word in surest)
    word_width = max(len("word"), min(width // 6, longest))
    ids = [_line(str(passage.id)) for passage in explanation.passages]
    passage_width = max(len("passage"), min(width // 6, max(map(len, ids)))) if ids else 0
    context_width = max(_LEAST_CONTEXT, (width - _FIXED - word_width - passage_width) // 2)
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("", justify="right", no_wrap=True)
    columns = [
        ("word", word_width),
        ("why", None),
        ("best match", context_width),
        ("same word", context_width),
        *([("passage", passage_width)] if ids else []),
    ]
    for name, cells in columns:
        table.add_column(name, no_wrap=True, overflow="ellipsis", width=cells)
    for number, word in enumerate(surest, start=1):
        table.add_row(
            str(number),
            Text(_line(word.text), _style(word)),
            f"alarm {captions.margin(word)}" if word.kind == "alarm" else word.kind,
            _in_context(explanation.source, word.best, context_width, BEST),
            _in_context(explanation.source, word.same, context_width, SAME),
            *([Text(_line("" if word.passage is None else str(word.passage)))] if ids else []),
        )
    return table


def _style(word: WordVerdict) -> str:
    """The color of a word: the larger its graded alarm, the stronger."""
    strength = captions.strength(word)
    if not strength:
        return ""
    weight = "bold " if strength > BOLD_FROM else "" if strength > captions.ALARM_FROM else "dim "
    return f"{weight}{STYLES[word.verdict]}red"


def _in_context(text: str, evidence: Evidence | None, cells: int, style: str) -> Text:
    """Evidence in brackets, in the middle of a line of text that may be cut at its end."""
    if evidence is None:
        return Text("none", QUIET)
    start = max(0, evidence.start - 2 * cells // 5)
    return Text.assemble(
        "\u2026" if start else "",
        _line(text[start : evidence.start]),
        "[",
        (_line(text[evidence.start : evidence.end]).strip(), style),
        "]",
        _line(text[evidence.end : evidence.end + cells]),
    )


def _line(text: str) -> str:
    return "".join(" " if char.isspace() else char for char in _safe(text))


def _safe(text: str) -> str:
    return printable(text.replace("\r\n", "\n"))

"""Explanations in the terminal."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from estime_metric.explain import wording
from estime_metric.explain.data import Drawable, Span, Verdict

BEST, SAME, QUIET = "bold reverse blue", "bold underline green", "dim"

#: To which red is added, dim, plain or bold.
STYLES = {"alarm": "underline ", "absent": "italic ", "match": ""}
BOLD_FROM = 0.9  # graded alarm
NARROW = 80  # cells; on narrower terminals each alarm is a block of lines instead of a table row
_BESIDE = 20  # cells of a table row without text: the margin, and the space between columns
_DIRECTIONS = frozenset(
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)  # would reorder the rest of a line


def to_terminal(explanation: Drawable, console: Console | None = None) -> None:
    """Prints `render` of an explanation; ``console`` defaults to standard output."""
    (console or Console()).print(render(explanation))


def render(explanation: Drawable) -> TerminalExplanation:
    """An explanation that a rich console can print, at any width."""
    return TerminalExplanation(explanation)


@dataclass(frozen=True, slots=True)
class TerminalExplanation:
    """A rich renderable: the counts, the summary with its alarms numbered, and each alarm with its
    evidence in context.

    It is readable without colors, and never interprets a text as markup or control codes.
    """

    explanation: Drawable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        explanation = self.explanation
        yield _counts(explanation)
        if remark := wording.remark(explanation):
            yield Text(f"\n{remark}")
        yield Rule("summary", style=QUIET, align="left")
        yield _summary(explanation)
        absent = dict.fromkeys(
            _own(explanation, word) for word in explanation.words if word.verdict == "absent"
        )
        if absent and not remark:
            yield Text.assemble(
                "\n", ("not in the source, so not checked: ", QUIET), ", ".join(absent)
            )
        if any(wording.strength(word) for word in explanation.words):
            yield Text(f"\n{wording.origin(explanation)}", style=QUIET)
        if alarms := [word for word in explanation.words if word.verdict == "alarm"]:
            yield Rule("alarms", style=QUIET, align="left")
            if options.max_width < NARROW:
                yield from _blocks(explanation, alarms, options.max_width)
            else:
                yield _table(explanation, alarms, options.max_width)
        yield Text(f"\n{explanation.signature}", style=QUIET, overflow="fold")


def _counts(explanation: Drawable) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style="bold", no_wrap=True)
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(style=QUIET)
    for count in wording.counts(explanation):
        grid.add_row(count.shown, count.name, count.meaning)
    return grid


def _summary(explanation: Drawable) -> Text:
    shown, cursor, number = Text(), 0, 0
    for word in explanation.words:
        shown.append(_safe(explanation.prediction[cursor : word.start]))
        shown.append(_safe(explanation.prediction[word.start : word.end]), _style(word))
        if word.verdict == "alarm":
            number += 1
            shown.append(f"[{number}]", "red")
        cursor = word.end
    return shown.append(_safe(explanation.prediction[cursor:]))


def _table(explanation: Drawable, alarms: list[Verdict], width: int) -> Table:
    number_width = len(str(len(alarms)))
    context_width = (width - _BESIDE - width // 6 - number_width) // 2
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("", justify="right", no_wrap=True, width=number_width)
    for name, cells in (
        ("word", width // 6),
        ("best match in the source", context_width),
        ("closest same word", context_width),
    ):
        table.add_column(name, no_wrap=True, overflow="ellipsis", width=cells)
    table.add_column("margin", justify="right", no_wrap=True, width=6)
    for number, alarm in enumerate(alarms, start=1):
        table.add_row(
            str(number),
            Text(_own(explanation, alarm), _style(alarm)),
            _in_context(explanation.source, alarm.best, context_width, BEST),
            _in_context(explanation.source, alarm.same, context_width, SAME),
            wording.margin(alarm),
        )
    return table


def _blocks(explanation: Drawable, alarms: list[Verdict], width: int) -> RenderResult:
    for number, alarm in enumerate(alarms, start=1):
        own = _own(explanation, alarm), _style(alarm)
        yield Text.assemble(f"[{number}] ", own, (f"  margin {wording.margin(alarm)}", QUIET))
        for name, evidence, style in (("best", alarm.best, BEST), ("same", alarm.same, SAME)):
            line = Text(f"  {name}  ", QUIET, no_wrap=True, overflow="ellipsis")
            yield line.append_text(_in_context(explanation.source, evidence, width - 8, style))


def _style(word: Verdict) -> str:
    """The color of a word: the larger its graded alarm, the stronger."""
    strength = wording.strength(word)
    if not strength:
        return ""
    weight = "bold " if strength > BOLD_FROM else "" if strength > wording.ALARM_FROM else "dim "
    return f"{weight}{STYLES[word.verdict]}red"


def _own(explanation: Drawable, word: Verdict) -> str:
    return _line(explanation.prediction[word.start : word.end])


def _in_context(text: str, evidence: Span | None, cells: int, style: str) -> Text:
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
    """A text with control characters replaced, so that none of them reaches the terminal."""
    return "".join(
        "\ufffd"
        if (unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t")
        or char in _DIRECTIONS
        else char
        for char in text.replace("\r\n", "\n")
    )

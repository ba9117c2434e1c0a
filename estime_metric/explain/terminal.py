"""Explanations in the terminal."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from itertools import accumulate, takewhile

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from estime_metric.explain import wording
from estime_metric.explanation import Evidence, Explanation, UnitVerdict

BEST, SAME, QUIET = "bold reverse blue", "bold underline green", "dim"

#: To which red is added, dim, plain or bold.
STYLES = {"alarm": "underline ", "absent": "italic ", "match": ""}
BOLD_FROM = 0.9  # graded alarm
NARROW = 80  # cells; on narrower terminals each alarm is a block of lines instead of a table row
_BESIDE = 20  # cells of a table row without text: the margin, and the space between columns
_DIRECTIONS = frozenset(
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)  # would reorder the rest of a line


def to_terminal(explanation: Explanation, console: Console | None = None) -> None:
    """Prints `render` of an explanation; ``console`` defaults to standard output."""
    (console or Console()).print(render(explanation))


def render(explanation: Explanation) -> TerminalExplanation:
    """An explanation that a rich console can print, at any width."""
    return TerminalExplanation(explanation)


@dataclass(frozen=True, slots=True)
class TerminalExplanation:
    """A rich renderable: the counts, the summary with its alarms numbered, and each alarm with its
    evidence in context.

    It is readable without colors, and never interprets a text as markup or control codes.
    """

    explanation: Explanation

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


def _counts(explanation: Explanation) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style="bold", no_wrap=True)
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(style=QUIET)
    for count in wording.counts(explanation):
        grid.add_row(
            count.shown,
            count.name,
            f"{count.meaning}: {count.detail}" if count.detail else count.meaning,
        )
    return grid


def _summary(explanation: Explanation) -> Text:
    shown, cursor, number = Text(), 0, 0
    for word in explanation.words:
        shown.append(_safe(explanation.prediction[cursor : word.start]))
        shown.append(_safe(explanation.prediction[word.start : word.end]), _style(word))
        if word.verdict == "alarm":
            number += 1
            shown.append(f"[{number}]", "red")
        cursor = word.end
    return shown.append(_safe(explanation.prediction[cursor:]))


def _table(explanation: Explanation, alarms: list[UnitVerdict], width: int) -> Table:
    word_width = min(max(4, *(cell_len(_own(explanation, alarm)) for alarm in alarms)), width // 5)
    number_width = len(str(len(alarms)))
    context_width = (width - _BESIDE - word_width - number_width) // 2
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("", justify="right", no_wrap=True, width=number_width)
    texts = {
        "word": word_width,
        "best match in the source": context_width,
        "closest same word": context_width,
    }
    for name, cells in texts.items():
        table.add_column(name, no_wrap=True, overflow="ellipsis", width=cells)
    table.add_column("margin", justify="right", no_wrap=True, width=6)
    for number, alarm in enumerate(alarms, start=1):
        table.add_row(
            str(number),
            Text.assemble((_own(explanation, alarm), _style(alarm))),
            _in_context(explanation.source, alarm.best, context_width, BEST),
            _in_context(explanation.source, alarm.same, context_width, SAME),
            wording.margin(alarm),
        )
    return table


def _blocks(explanation: Explanation, alarms: list[UnitVerdict], width: int) -> RenderResult:
    context_width = max(8, width - 8)
    for number, alarm in enumerate(alarms, start=1):
        own = _own(explanation, alarm), _style(alarm)
        yield Text.assemble(f"[{number}] ", own, (f"  margin {wording.margin(alarm)}", QUIET))
        for name, evidence, style in (("best", alarm.best, BEST), ("same", alarm.same, SAME)):
            line = Text.assemble(
                (f"{name}  ", QUIET),
                _in_context(explanation.source, evidence, context_width, style),
            )
            yield Padding(line, (0, 0, 0, 2))


def _style(word: UnitVerdict) -> str:
    """The color of a word: the larger its graded alarm, the stronger."""
    strength = wording.strength(word)
    if not strength:
        return ""
    weight = "bold " if strength > BOLD_FROM else "" if strength > wording.ALARM_FROM else "dim "
    return f"{weight}{STYLES[word.verdict]}red"


def _own(explanation: Explanation, word: UnitVerdict) -> str:
    return _line(explanation.prediction[word.start : word.end])


def _in_context(text: str, evidence: Evidence | None, max_cells: int, style: str) -> Text:
    """Evidence in brackets, with as much of the text around it as fits into ``max_cells``."""
    if evidence is None:
        return Text("none", QUIET)
    left = _line(text[max(0, evidence.start - max_cells) : evidence.start])
    found = _line(text[evidence.start : evidence.end]).strip()
    right = _line(text[evidence.end : evidence.end + max_cells])
    spare = max(0, max_cells - cell_len(found) - 4)  # brackets and ellipses
    left_cells = max(spare // 2, spare - cell_len(right))
    left = _fitting(left[::-1], left_cells)[::-1]
    right = _fitting(right, spare - cell_len(left))
    before = "\u2026" if evidence.start - max_cells > 0 or len(left) < evidence.start else ""
    after = "\u2026" if len(right) < len(text) - evidence.end else ""
    return Text.assemble(before, left, "[", (found, style), "]", right, after)


def _fitting(text: str, max_cells: int) -> str:
    ends = accumulate(map(cell_len, text))
    return text[: sum(1 for _ in takewhile(lambda end: end <= max_cells, ends))]


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

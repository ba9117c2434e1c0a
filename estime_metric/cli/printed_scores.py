"""What ``estime score`` prints: the pairs, the means, the worst summaries."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from estime_metric._messages import counted, shortened
from estime_metric.cli.console import say
from estime_metric.jobs import Report
from estime_metric.measures import MEASURES, RECOMMENDED, REPORTED, reported_name
from estime_metric.show.cells import means_table, print_columns, screen
from estime_metric.table.table import FILE, FLAG, LINE, plain

if TYPE_CHECKING:
    from estime_metric.explanation import Explanation

#: Measures that are listed for each pair, in addition to the requested ones.
_LISTED_MEASURES = (RECOMMENDED, "alarms", "tokens")
_ROOM = 24  # cells of the screen that a summary has at least
_WORDS = 20  # words of a summary that are named for each reason

#: The positions of summaries in the table -> the verdicts on their words; ``None`` if the texts are unknown.
Explained = dict[int, "Explanation | None"]


def print_pairs(report: Report) -> None:
    """One line for each pair and layer, with the flag if there is a threshold and the file if there
    are several. The summaries are cut to the room that is left.
    """
    layers = report.config.layer_tuple
    pairs = report.scores.frame
    columns: dict[str, list[Any]] = {LINE: [str(line) for line in pairs[LINE]] * len(layers)}
    if len(layers) > 1:
        columns["layer"] = [str(layer) for layer in layers for _ in pairs.index]
    for name in dict.fromkeys((*_LISTED_MEASURES, *report.config.measures)):
        columns[name] = [
            _value_cell(name, value)
            for layer in layers
            for value in pairs[reported_name(name, layer, layers)]
        ]
    if FLAG in pairs:
        columns[FLAG] = ["flag" if flag else "" for flag in pairs[FLAG]]
    if len(report.inputs) > 1:
        columns[FILE] = list(pairs[FILE]) * len(layers)
    used = sum(max(map(len, (name, *cells))) + 2 for name, cells in columns.items())
    room = max(screen().width - used - 2, _ROOM)
    summaries = [report.texts[position][1] for position in pairs.index]
    columns["summary"] = [shortened(summary, room) for summary in summaries] * len(layers)
    print_columns(columns, texts=(FLAG, FILE, "summary"))


def print_report(report: Report) -> None:
    """The counts, the means with their intervals, the lines to look at, and the short signature."""
    summary = report.summary
    say(
        f"{counted(summary.pairs, 'pair')} scored, {counted(report.scores.skipped, 'row')} skipped, "
        f"{counted(summary.blank, 'blank summary')}\n"
    )
    measures = tuple(dict.fromkeys((*REPORTED, *report.config.measures)))
    means = means_table(summary.means, measures, report.config.layer_tuple)
    print_columns(means, texts=("measure", "better is"))
    if summary.few_sources == 1:
        say("All pairs have the same source, so there are no intervals.")
    elif summary.few_sources is not None:
        say(
            f"There are only {summary.few_sources} different sources, so the intervals are too "
            "narrow."
        )
    unchecked = summary.unchecked - summary.blank
    if unchecked:
        lines = _listed(report.unchecked_lines, unchecked, report)
        shares = (
            "shares no token with its source"
            if unchecked == 1
            else "share no token with their source"
        )
        say(f"{counted(unchecked, 'summary')} {shares}, so nothing was checked: {lines}")
    if summary.blank:
        lines = _listed(report.blank_lines, summary.blank, report)
        worst = f"{RECOMMENDED} {MEASURES[RECOMMENDED].blank:g}"
        say(f"{counted(summary.blank, 'blank summary')} ({worst}): {lines}")
    if summary.uncounted_names:
        summaries = counted(summary.uncounted_names, "summary")
        say(f"Names could not be counted in {summaries}, because capitals say nothing there.")
    say(report.config.signature().short)


def print_worst(report: Report, explained: Explained, threshold: float | None) -> None:
    """The worst summaries, each with its place and the words that count against it."""
    if threshold is not None:
        flagged = int(report.scores.frame[FLAG].sum())
        heading = f"{counted(flagged, 'summary')} flagged ({RECOMMENDED} >= {threshold:.15g})"
        if 0 < len(explained) < flagged:
            heading += f"; the worst {len(explained)}"
    else:
        number = len(explained)
        heading = "the worst summary" if number == 1 else f"the worst {number} summaries"
    say(heading + (":" if explained else ""))
    width = screen().width
    for position, explanation in explained.items():
        pair = report.scores.frame.loc[position]
        file = f"{pair[FILE]} " if len(report.inputs) > 1 else ""
        say(f"{file}line {pair[LINE]}  {RECOMMENDED} {pair[RECOMMENDED]:.3f}")
        for text in [] if explanation is None else _reasons(explanation):
            say(textwrap.fill(text, width, initial_indent="  ", subsequent_indent="    "))
    say("")


def worst_as_dicts(report: Report, explained: Explained) -> list[dict[str, Any]]:
    """What `print_worst` prints, for JSON."""
    pairs = report.scores.frame[[FILE, LINE, RECOMMENDED]].loc[[*explained]].to_dict("records")
    return [
        {
            **pair,
            RECOMMENDED: plain(pair[RECOMMENDED]),
            **({} if explanation is None else {"words": _words_by_kind(explanation)}),
        }
        for pair, explanation in zip(pairs, explained.values(), strict=True)
    ]


def _value_cell(measure: str, value: float) -> str:
    if math.isnan(value):
        return ""
    return f"{value:.0f}" if MEASURES[measure].kind == "count" else f"{value:.3f}"


def _listed(lines: Mapping[str, Sequence[int]], number: int, report: Report) -> str:
    """The lines of each file; ``number`` is how many there are in all."""
    places = []
    for file, numbers in lines.items():
        name = f"{file} " if len(report.inputs) > 1 else ""
        places.append(f"{name}line {', '.join(map(str, numbers))}")
    more = " ..." if number > sum(map(len, lines.values())) else ""
    return "; ".join(places) + more


def _reasons(explanation: Explanation) -> list[str]:
    """The words that count against a summary and why, the likeliest errors first."""
    if not explanation.tokens:
        return ["blank summary"]
    reasons = []
    for kind, words in _words_by_kind(explanation).items():
        more = f" and {len(words) - _WORDS} more" if len(words) > _WORDS else ""
        reasons.append(f"{counted(2, kind)[2:]}: {', '.join(words[:_WORDS])}{more}")
    return reasons


def _words_by_kind(explanation: Explanation) -> dict[str, list[str]]:
    """The different words of each kind that a summary has, the likeliest errors first."""
    by_kind: dict[str, dict[str, str]] = {}  # of each, without capitals -> as it is first written
    for word in explanation.surest_words():
        text = " ".join(word.text.split())
        by_kind.setdefault(word.kind or "", {}).setdefault(text.casefold(), text)
    return {kind: list(words.values()) for kind, words in by_kind.items()}

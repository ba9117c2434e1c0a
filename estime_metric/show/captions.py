"""The words of an explanation: the counts with their meanings, the legend, one sentence for each unit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from estime_metric._messages import counted
from estime_metric.config import LOW_COVERAGE
from estime_metric.measures import RECOMMENDED
from estime_metric.verdicts import Verdicts, WordVerdict

#: A word that was checked is colored from this graded alarm on.
LEAST_COLORED = 0.1

#: A graded alarm above this is an alarm.
ALARM_FROM = 0.5

#: How many of the surest words are listed. All of them are marked in the summary.
LISTED = 10

#: What the colors mean.
COLORS = (
    "The color is the graded alarm of a word, from 0 to 1; a word that the source does not have has the "
    "strongest."
)

#: Kind of a word -> a heading for words of this kind.
KIND_HEADINGS = {
    "new name": "new names",
    "new number": "new numbers",
    "new word": "other new words",
    "alarm": "alarms",
}


@dataclass(frozen=True, slots=True)
class Count:
    """A number: how it is written, and what it means."""

    name: str
    value: str
    meaning: str


def pieces(explanation: Verdicts) -> Iterator[tuple[str, WordVerdict | None]]:
    """The summary in pieces: each word with its verdict, the text between words without."""
    cursor = 0
    for word in explanation.words:
        yield explanation.prediction[cursor : word.start], None
        yield word.text, word
        cursor = word.end
    yield explanation.prediction[cursor:], None


def strength(word: WordVerdict) -> float:
    """How strongly a word is colored, 0 to 1: its graded alarm, 1 if the source lacks it, 0 below
    `LEAST_COLORED`.
    """
    if word.is_new or (word.verdict == "absent" and not word.is_written):
        return 1.0
    return word.graded_alarm if word.graded_alarm >= LEAST_COLORED else 0.0


def counts(explanation: Verdicts) -> list[Count]:
    """The numbers of an explanation: first the one by which to compare summaries, then its parts and the
    paper's score, then how much was copied.
    """
    unit = explanation.unit
    return [
        Count(
            RECOMMENDED,
            share(explanation.inconsistency),
            "0 to 1, lower is better; use this to compare summaries",
        ),
        Count(
            "alarms",
            f"{explanation.alarms}",
            f"{unit}s whose best match in the source is a different {unit}: the paper's score",
        ),
        Count(
            "graded alarms",
            f"{explanation.graded_alarms:.2f}",
            f"like alarms, but each checked {unit} counts from 0 to 1",
        ),
        Count(
            "new words",
            share(explanation.value("new_words")),
            "fraction of the words that do not occur in the source",
        ),
        Count(
            "new trigrams",
            share(explanation.value("new_trigrams")),
            "fraction of the word trigrams that do not occur in the source",
        ),
        Count(
            "new numbers",
            f"{explanation.value('new_numbers'):.0f}",
            "numbers that the source has in no written form",
        ),
        Count(
            "copied density",
            f"{explanation.value('copied_density'):.2f}",
            "mean length, in words, of the copied run that a word belongs to",
        ),
    ]


def share(value: float) -> str:
    """A rate with three digits; a dash for NaN."""
    return "\u2013" if math.isnan(value) else f"{value:.3f}"


def remark(explanation: Verdicts) -> str | None:
    """What there is to say of a pair if little or nothing was checked, or if the summary is shorter than
    `min_tokens`; otherwise ``None``.
    """
    remarks = filter(None, [_checked_little(explanation), _is_short(explanation)])
    return " ".join(remarks) or None


def _checked_little(explanation: Verdicts) -> str | None:
    unit, checked, total = explanation.unit, explanation.overlap, explanation.tokens
    if not total:
        return "The summary is empty, so there was nothing to check."
    if not checked and unit == "word":
        return "The summary shares no word with its source, so all its words count as alarms."
    if not checked:
        return (
            "The summary shares no token with its source, so nothing was checked, and 0 alarms do not mean that the "
            "summary is consistent. The inconsistency is 1, the worst value."
        )
    if checked / total < LOW_COVERAGE:
        return (
            f"The source has only {checked} of the {total} {unit}s, so few were checked, and "
            "the number of alarms is not informative. The inconsistency also counts the unchecked ones."
        )
    return None


def _is_short(explanation: Verdicts) -> str | None:
    missing = explanation.statistics["missing"]
    if (
        not missing or not explanation.overlap
    ):  # without a checked token, the inconsistency is 1 anyway
        return None
    length = counted(explanation.tokens, explanation.unit)
    return (
        f"The summary has {length}, {missing:g} fewer than min_tokens. In the inconsistency, each "
        "missing one counts as a new word."
    )


def plain_text(explanation: Verdicts) -> str:
    """An explanation as a few lines of text: the counts, the surest words, alarms with their best
    matches, the signature.
    """
    lines = [", ".join(f"{count.name} {count.value}" for count in counts(explanation))]
    lines += filter(None, [remark(explanation)])
    surest = explanation.surest_words()
    for word in surest[:LISTED]:
        why = word.kind
        if why == "alarm" and word.best_text is not None:
            best = " ".join(word.best_text.split())
            why = f"alarm, best match in the source is {best!r} (margin {margin(word)})"
        lines.append(f"- {' '.join(word.text.split())!r}: {why}{passage(word, ', ')}")
    lines += filter(None, [unlisted(len(surest) - LISTED)])
    return "\n".join([*lines, explanation.signature])


def unlisted(number: int) -> str:
    """What is said of the surest words that are not listed, if there are any."""
    return f"and {number} more" if number > 0 else ""


def note(word: WordVerdict, unit: str) -> str:
    """One sentence on a word of a summary that was cut into ``unit``: its verdict and its evidence."""
    own = quoted(word.text)
    best = "" if word.best_text is None else quoted(word.best_text) + passage(word, " in ")
    graded = f"graded alarm {word.graded_alarm:.2f}"
    numbers = graded if word.margin is None else f"margin {margin(word)}, {graded}"
    context = f"; its context leads to {best}" if best else ""
    if word.is_new and word.verdict != "absent":
        return f"{own} is not in the source, although parts of it are{context} ({numbers})."
    if word.verdict == "alarm":
        return f"{own} is an alarm: its best match in the source is {best} ({numbers})."
    if word.verdict == "match":
        same = f"the same{passage(word, ' in ')}"
        return f"{own} is a match: its best match in the source is {same} ({numbers})."
    if word.is_written:
        return f"{own} occurs in the source, but not as the same {unit}, so it is not checked{context}."
    return f"{own} is not in the source, so it is not checked{context}."


def passage(word: WordVerdict, before: str = "") -> str:
    """Which passage has the evidence of a word, after ``before``; nothing if the source is one text."""
    return "" if word.passage is None else f"{before}passage {' '.join(str(word.passage).split())}"


def margin(word: WordVerdict) -> str:
    """A margin with its sign and about three digits, or nothing."""
    if word.margin is None:
        return ""
    size = abs(word.margin)
    decimals = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{word.margin:+.{decimals}f}".replace("-", "\u2212")


def quoted(text: str) -> str:
    """A text in quotation marks, with single spaces. It is isolated, so that its direction of writing does
    not affect the text around it.
    """
    return f"\u201c\u2068{' '.join(text.split())}\u2069\u201d"

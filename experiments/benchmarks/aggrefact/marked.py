"""The words of CLIFF (Cao & Wang 2021) that annotators marked, next to flagged words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from estime_metric.explanation import Explanation
from estime_metric.studies.tables import Column, Section, Table
from experiments.benchmarks.aggrefact.data import ORIGINS, AggreFact
from experiments.benchmarks.words import Place, judged_words, signal, word_table

#: Where ranges of margins begin, as shares of the best similarity.
MARGINS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)


def locate(text: str, spans: Sequence[str]) -> list[Place]:
    """Where spans are in a text, in characters; one that does not occur is excluded.

    If a span occurs several times, the occurrence after the previous span is used, whole words
    first.

    Example:
        >>> locate("a cat and a cat", ["and", "cat", "dog"])
        [(6, 9), (12, 15)]
    """
    places, cursor = [], 0
    for span in filter(None, spans):
        whole = re.compile(rf"(?<!\w){re.escape(span)}(?!\w)")
        if (
            hit := whole.search(text, cursor)
            or whole.search(text)
            or re.search(re.escape(span), text)
        ):
            places.append(hit.span())
            cursor = hit.end()
    return places


def signals(words: pd.DataFrame) -> dict[str, dict[str, float]]:
    """The `signal` of ``alarms``, of ``absent`` words and of ``both``. The lift of alarms compares
    with the words that occur in the source.

    Example:
        >>> from estime_metric import EstimeScorer
        >>> from experiments.benchmarks.words import judged_words
        >>> source = "Anna bought the red boat. Peter sold the old house."
        >>> shown = EstimeScorer().explain("Peter bought the red boat.", source)
        >>> found = signals(judged_words([shown], [[(0, 5)]]))["alarms"]
        >>> found["flagged"], found["precision"], found["recall"], found["lift"]
        (1, 1.0, 1.0, 6.0)
    """
    absent, alarm = words["verdict"] == "absent", words["verdict"] == "alarm"
    return {
        "alarms": signal(words, alarm, possible=~absent),
        "absent": signal(words, absent),
        "both": signal(words, absent | alarm),
    }


def parts(data: AggreFact, words: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All words, the words of each of `ORIGINS`, and the words of its summaries with an error."""
    summary_by_word = data.table.loc[words["summary"], ["origin", "label"]].set_index(words.index)
    by_part = {"all": words}
    for origin, name in ORIGINS.items():
        inside = summary_by_word["origin"] == origin
        by_part[name] = words[inside]
        by_part[f"{name}, only summaries with an error"] = words[
            inside & (summary_by_word["label"] == 0)
        ]
    return {name: part for name, part in by_part.items() if len(part)}


def make_word_tables(data: AggreFact, explanations: Sequence[Explanation]) -> list[Table]:
    """``words``: what is flagged next to what is marked; ``words-margins``: alarms by the size of
    their margin.
    """
    notes = (
        f"{data.origin}; words, including punctuation, compared with those that annotators marked as errors. Lift: "
        "precision divided by the share of marked words among those that could be flagged; alarms: those that the "
        "source has.",
        explanations[0].signature,
    )
    places = [
        locate(summary, spans)
        for summary, spans in zip(data.summaries, data.table["spans"], strict=True)
    ]
    by_part = parts(data, judged_words(explanations, places))
    flagged = {part: (words, signals(words)) for part, words in by_part.items()}
    ranges = [f"{least:.0%} to {end:.0%}" for least, end in pairwise(MARGINS)]
    ranges.append(f"from {MARGINS[-1]:.0%}")
    rows = []
    for part, words in by_part.items():
        alarms = words[words["verdict"] == "alarm"]
        margin_range = pd.cut(alarms["margin"].abs(), [*MARGINS, np.inf], right=False)
        rows.append((part, *alarms["marked"].groupby(margin_range, observed=False).mean()))
    margins = Table(
        "words-margins",
        "Share of alarms that are marked, by margin.",
        [Column("alarms with a margin of", text=True), *map(Column, ranges)],
        [Section("", rows)],
        ("A margin is a share of the best similarity.", *notes),
    )
    return [word_table("words", flagged, notes), margins]

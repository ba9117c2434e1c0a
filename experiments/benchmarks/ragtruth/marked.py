"""The words that annotators of RAGTruth marked, next to flagged words of each kind."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from estime_metric.explanation import KINDS, Explanation
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.tables import Table
from experiments.benchmarks.words import judged_words, signal, word_table


def make_word_tables(data: Summaries, explanations: Sequence[Explanation]) -> list[Table]:
    """``words``: the words of each kind that explanations show, next to the marked ones, over all
    summaries and over those with an error.
    """
    words = judged_words(explanations, list(data.table["places"]))
    wrong = data.table.loc[words["summary"], "label"].to_numpy() == 0
    parts = {"all": words, "only summaries with an error": words[wrong]}
    notes = (
        f"{data.origin}; words, including punctuation, compared with the spans that annotators marked. New names, "
        "numbers and words do not occur in the source; function words and punctuation are not flagged. Lift: precision "
        "divided by the share of marked words among all words.",
        explanations[0].signature,
    )
    return [
        word_table("words", {name: (part, signals(part)) for name, part in parts.items()}, notes)
    ]


def signals(words: pd.DataFrame) -> dict[str, dict[str, float]]:
    """The `signal` of each of `KINDS`, of all new words, and of all flagged words."""
    flags = {kind: words["kind"] == kind for kind in KINDS}
    flags["all new words"] = words["kind"].isin([kind for kind in KINDS if kind != "alarm"])
    flags["all flagged words"] = words["kind"] != ""
    return {name: signal(words, flagged) for name, flagged in flags.items()}

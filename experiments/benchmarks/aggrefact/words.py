"""Word by word: are alarms and absent words where annotators marked an error?

A word of an `Explanation`, punctuation included, is marked if it shares a character with a span of
CLIFF (Cao & Wang 2021). How often words are marked differs between datasets: compare lifts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from estime_metric.explanation import Explanation
from experiments.benchmarks.aggrefact.data import ORIGINS


def locate(text: str, spans: Sequence[str]) -> list[tuple[int, int]]:
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


def judged_words(
    explanations: Sequence[Explanation], spans: Sequence[Sequence[str]]
) -> pd.DataFrame:
    """The words of explained summaries, and whether annotators marked them: for each explanation,
    in order, the texts that were marked in its summary.

    A row for each word: ``summary``, the index of its summary; ``verdict``, one of ``VERDICTS``;
    ``margin``, the ``relative_margin`` of `UnitVerdict`: negative for an alarm, NaN if nothing
    was compared; ``marked``.
    """
    if len(explanations) != len(spans):
        raise ValueError(
            f"Expected argument `spans` to have one entry for each of {len(explanations)} explanations, but got "
            f"{len(spans)}."
        )
    rows = []
    for index, (explanation, texts) in enumerate(zip(explanations, spans, strict=True)):
        places = locate(explanation.prediction, texts)
        for word in explanation.words:
            rows.append(
                {
                    "summary": index,
                    "verdict": word.verdict,
                    "margin": word.relative_margin,
                    "marked": any(word.start < end and start < word.end for start, end in places),
                }
            )
    kinds = {"summary": np.int64, "verdict": object, "margin": np.float64, "marked": bool}
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def signals(words: pd.DataFrame) -> dict[str, dict[str, float]]:
    """How well flagged words find those that annotators marked.

    Returns:
        For ``alarms``, ``absent`` words and ``both``: ``flagged``, how many words were flagged;
        ``precision``, the fraction of these that are marked; ``recall``, the fraction of all marked
        words that are flagged; ``lift``, precision divided by the fraction of marked words among those
        that could be flagged, 1 is chance: for alarms the words that occur in the source, otherwise
        all. NaN if there is nothing to divide by.

    Example:
        >>> from estime_metric import EstimeScorer
        >>> source = "Anna bought the red boat. Peter sold the old house."
        >>> shown = EstimeScorer().explain("Peter bought the red boat.", source)
        >>> found = signals(judged_words([shown], [["Peter"]]))["alarms"]
        >>> found["flagged"], found["precision"], found["recall"], found["lift"]
        (1, 1.0, 1.0, 6.0)
    """
    absent, alarm = words["verdict"] == "absent", words["verdict"] == "alarm"
    every = pd.Series(True, index=words.index)
    marked = words["marked"]
    return {
        "alarms": _signal(marked, flagged=alarm, possible=~absent),
        "absent": _signal(marked, flagged=absent, possible=every),
        "both": _signal(marked, flagged=absent | alarm, possible=every),
    }


def _signal(marked: pd.Series, *, flagged: pd.Series, possible: pd.Series) -> dict[str, float]:
    """The numbers of `signals` for one way to flag some of the ``possible`` words; a mean of no word is
    NaN.
    """
    precision, by_chance = float(marked[flagged].mean()), float(marked[possible].mean())
    return {
        "flagged": int(flagged.sum()),
        "precision": precision,
        "recall": float(flagged[marked].mean()),
        "lift": precision / by_chance if by_chance else float("nan"),
    }


def parts(
    words: pd.DataFrame, origins: Sequence[str], labels: Sequence[int]
) -> dict[str, pd.DataFrame]:
    """All words, the words of each of `ORIGINS`, and the words of its summaries with an error
    (``labels`` 0).
    """
    origin_of_word = np.array(origins)[words["summary"]]
    wrong = np.array(labels)[words["summary"]] == 0
    by_part = {"all": words}
    for origin, name in ORIGINS.items():
        by_part[name] = words[origin_of_word == origin]
        by_part[f"{name}, only summaries with an error"] = words[(origin_of_word == origin) & wrong]
    return {name: part for name, part in by_part.items() if len(part)}

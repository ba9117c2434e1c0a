"""Word by word: are alarms and absent words where annotators marked an error?

A word of an `Explanation`, punctuation included, is marked if it shares a character with a span of
CLIFF (Cao & Wang 2021). How often words are marked differs between datasets: compare lifts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from estime_metric.explanation import Explanation
from estime_metric.stats.checks import Floats
from estime_metric.studies.benchmarks.aggrefact.data import ORIGINS


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
        For ``alarms``, ``absent`` words and ``both``: ``words``, how many could have been flagged,
        for alarms the words that occur in the source, otherwise all; ``flagged``, how many were;
        ``precision``, the fraction of these that are marked; ``recall``, the fraction of all marked
        words that are flagged; ``f1``; ``lift``, precision divided by the fraction of marked words
        among those that could be flagged, 1 is chance; ``average_precision``, the mean precision
        over the ranks of the marked words: alarms by margin, the largest first, and then matches;
        absent words above others; for both, absent words first. NaN if there is nothing to divide
        by.

    Example:
        >>> from estime_metric import EstimeScorer
        >>> source = "Anna bought the red boat. Peter sold the old house."
        >>> shown = EstimeScorer().explain("Peter bought the red boat.", source)
        >>> found = signals(judged_words([shown], [["Peter"]]))["alarms"]
        >>> found["flagged"], found["precision"], found["recall"], found["lift"]
        (1, 1.0, 1.0, 6.0)
    """
    absent, alarm = words["verdict"] == "absent", words["verdict"] == "alarm"
    by_margin = -words["margin"].fillna(0.0)
    every = pd.Series(True, index=words.index)
    marked = words["marked"]
    return {
        "alarms": _signal(marked, flagged=alarm, scores=by_margin, possible=~absent),
        "absent": _signal(marked, flagged=absent, scores=absent.astype(np.float64), possible=every),
        "both": _signal(
            marked,
            flagged=absent | alarm,
            scores=by_margin.mask(absent, by_margin.max() + 1),
            possible=every,
        ),
    }


def _signal(
    marked: pd.Series, *, flagged: pd.Series, scores: pd.Series, possible: pd.Series
) -> dict[str, float]:
    """The numbers of `signals` for one way to flag words; ``scores`` rank the ``possible`` words."""
    hits, count, total = int((marked & flagged).sum()), int(flagged.sum()), int(marked.sum())
    precision = _ratio(hits, count)
    by_chance = _ratio(float(marked[possible].sum()), float(possible.sum()))
    return {
        "words": int(possible.sum()),
        "flagged": count,
        "precision": precision,
        "recall": _ratio(hits, total),
        "f1": _ratio(2 * hits, count + total),
        "lift": _ratio(precision, by_chance),
        "average_precision": average_precision(
            marked[possible].to_numpy(), scores[possible].to_numpy()
        ),
    }


def average_precision(marked: npt.NDArray[np.bool_], scores: Floats) -> float:
    """Mean over the marked words of the precision among all words with a score as high; NaN if none
    is marked.

    Example:
        >>> average_precision(np.array([True, False, True]), np.array([3.0, 2.0, 1.0]))
        0.8333333333333333
    """
    order = np.argsort(-scores, kind="stable")
    # The last of each run of equal scores.
    ends = np.flatnonzero(np.diff(scores[order], append=-np.inf))
    hits = np.cumsum(marked[order])[ends]
    if not len(hits) or not hits[-1]:
        return float("nan")
    return float((np.diff(hits, prepend=0) * hits / (ends + 1)).sum() / hits[-1])


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


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

"""Word by word: do flagged words hit what annotators marked as an error?

A word of an `Explanation`, punctuation included, is marked if it shares a character with a marked
place of the summary. How often words are marked differs between datasets: compare lifts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from estime_metric.explanation import Explanation
from estime_metric.studies.tables import Column, Section, Table

#: Begin and end of a marked part of a text, in characters.
Place = tuple[int, int]


def judged_words(
    explanations: Sequence[Explanation], places: Sequence[Sequence[Place]]
) -> pd.DataFrame:
    """The words of explained summaries, and whether annotators marked them: for each explanation,
    in order, the places that were marked in its summary.

    A row for each word: ``summary``, the index of its summary; ``verdict``, one of ``VERDICTS``;
    ``kind`` of `Explanation.surest_words`, empty for a word that is not among them; ``margin``, the
    ``relative_margin`` of `UnitVerdict`: negative for an alarm, NaN if nothing was compared;
    ``marked``.
    """
    if len(explanations) != len(places):
        raise ValueError(
            f"Expected argument `places` to have one entry for each of {len(explanations)} explanations, but got "
            f"{len(places)}."
        )
    rows = []
    for index, (explanation, marked) in enumerate(zip(explanations, places, strict=True)):
        surest = {word.start: explanation.kind(word) for word in explanation.surest_words()}
        for word in explanation.words:
            rows.append(
                {
                    "summary": index,
                    "verdict": word.verdict,
                    "kind": surest.get(word.start, ""),
                    "margin": word.relative_margin,
                    "marked": any(word.start < end and start < word.end for start, end in marked),
                }
            )
    kinds = {
        "summary": np.int64,
        "verdict": object,
        "kind": object,
        "margin": np.float64,
        "marked": bool,
    }
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def signal(
    words: pd.DataFrame, flagged: pd.Series, possible: pd.Series | None = None
) -> dict[str, float]:
    """How well flagged words find those that annotators marked.

    Returns:
        ``flagged``, how many words were flagged; ``precision``, the fraction of these that are marked;
        ``recall``, the fraction of all marked words that are flagged; ``lift``, precision divided by
        the fraction of marked words among the ``possible`` ones, all if omitted: 1 is chance. NaN if
        there is nothing to divide by.

    Example:
        >>> words = pd.DataFrame({"marked": [True, False, False, False]})
        >>> signal(words, pd.Series([True, True, False, False]))
        {'flagged': 2, 'precision': 0.5, 'recall': 1.0, 'lift': 2.0}
    """
    marked = words["marked"]
    among = marked if possible is None else marked[possible]
    precision, by_chance = float(marked[flagged].mean()), float(among.mean())
    return {
        "flagged": int(flagged.sum()),
        "precision": precision,
        "recall": float(flagged[marked].mean()),
        "lift": precision / by_chance if by_chance else float("nan"),
    }


def word_table(
    name: str,
    parts: Mapping[str, tuple[pd.DataFrame, Mapping[str, Mapping[str, float]]]],
    notes: Sequence[str],
) -> Table:
    """What was flagged next to what was marked: a section for each part of the `judged_words`, with
    the `signal` of each way to flag them.
    """
    values = ("flagged", "precision", "recall", "lift")
    sections = [
        Section(
            f"{part}: {len(words)} words, {words['marked'].mean():.1%} marked",
            [(flag, *(numbers[value] for value in values)) for flag, numbers in signals.items()],
        )
        for part, (words, signals) in parts.items()
    ]
    columns = [Column("flagged words", text=True), *(Column(value, decimals=3) for value in values)]
    return Table(
        name, "Word by word: flagged words compared with marked words.", columns, sections, notes
    )

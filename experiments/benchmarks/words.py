"""Word by word: do flagged words hit what annotators marked as an error?

How often words are marked differs between datasets: compare lifts.
"""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from estime_metric.explanation import KINDS, Explanation
from experiments.benchmarks.common import show

#: Begin and end of a marked part of a text, in characters.
Place = tuple[int, int]
#: Words -> for each way to flag words, which are flagged, and which could be.
Flags = Mapping[str, tuple[pd.Series, pd.Series]]


def judged_words(
    explanations: Sequence[Explanation], places: Sequence[Sequence[Place]]
) -> pd.DataFrame:
    """A row for each word of explained summaries, punctuation included: ``summary``, the index of its
    summary; ``verdict``; ``kind`` (one of `KINDS`, empty if it is not among the surest words);
    ``margin``, relative to the best similarity, negative for an alarm, NaN if nothing was compared;
    ``marked``, whether it shares a character with one of the ``places`` marked in its summary.
    """
    rows = []
    for index, (explanation, marked) in enumerate(zip(explanations, places, strict=True)):
        kinds = {word.start: explanation.kind(word) for word in explanation.surest_words()}
        for word in explanation.words:
            is_marked = any(word.start < end and start < word.end for start, end in marked)
            kind, margin = kinds.get(word.start, ""), word.relative_margin
            rows.append((index, word.verdict, kind, margin, is_marked))
    columns = ["summary", "verdict", "kind", "margin", "marked"]
    return pd.DataFrame(rows, columns=columns).astype({"margin": float, "marked": bool})


def flagged_kinds(words: pd.DataFrame) -> Flags:
    """Each of `KINDS`, all new words, and all flagged words, among all words."""
    flags = {kind: words["kind"] == kind for kind in KINDS}
    flags["all new words"] = words["kind"].isin([kind for kind in KINDS if kind != "alarm"])
    flags["all flagged words"] = words["kind"] != ""
    everything = pd.Series(True, words.index)
    return {name: (flagged, everything) for name, flagged in flags.items()}


def signal(words: pd.DataFrame, flagged: pd.Series, possible: pd.Series) -> dict[str, float]:
    """How well flagged words find the marked ones: how many are ``flagged``; ``precision``, the share of
    these that are marked; ``recall``, the share of all marked words that are flagged; ``lift``,
    precision divided by the share of marked words among the ``possible`` ones: 1 is chance.

    Example:
        >>> words = pd.DataFrame({"marked": [True, False, False, False]})
        >>> signal(words, pd.Series([True, True, False, False]), pd.Series([True] * 4))
        {'flagged': 2, 'precision': 0.5, 'recall': 1.0, 'lift': 2.0}
    """
    marked = words["marked"]
    precision, by_chance = float(marked[flagged].mean()), float(marked[possible].mean())
    return {
        "flagged": int(flagged.sum()),
        "precision": precision,
        "recall": float(flagged[marked].mean()),
        "lift": precision / by_chance if by_chance else float("nan"),
    }


def show_words(
    parts: Mapping[str, pd.DataFrame], flags: Callable[[pd.DataFrame], Flags]
) -> pd.DataFrame:
    """Prints the `signal` of each way to flag words, for each part of the `judged_words`; gives all as
    one table.
    """
    tables = []
    for part, words in parts.items():
        rows = {name: signal(words, *pair) for name, pair in flags(words).items()}
        table = pd.DataFrame.from_dict(rows, orient="index").astype({"flagged": int})
        show(f"{part}: {len(words)} words, {words['marked'].mean():.1%} marked", table)
        tables.append(table.rename_axis("words").reset_index().assign(part=part))
    return pd.concat(tables, ignore_index=True)

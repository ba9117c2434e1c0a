"""Word by word: do alarms and absent words stand where annotators marked an error?

A word of an `Explanation`, punctuation included, is marked if it shares a character with a span of
CLIFF (Cao & Wang 2021). How often words are marked differs between data sets: compare lifts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from estime_metric.comparison.checks import Floats
from estime_metric.comparison.tables import Cell, Column, Section, Table
from estime_metric.explanation import Explanation
from estime_metric.studies.benchmarks.aggrefact.data import ORIGINS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def locate(text: str, spans: Sequence[str]) -> list[tuple[int, int]]:
    """Where spans stand in a text, in characters; one that does not occur is left out.

    A span that occurs several times is taken behind the one before it, whole words first.

    Example:
        >>> locate("a cat and a cat", ["and", "cat", "dog"])
        [(6, 9), (12, 15)]
    """
    found, cursor = [], 0
    for span in filter(None, spans):
        whole = re.compile(rf"(?<!\w){re.escape(span)}(?!\w)")
        if (
            hit := whole.search(text, cursor)
            or whole.search(text)
            or re.search(re.escape(span), text)
        ):
            found.append(hit.span())
            cursor = hit.end()
    return found


def judged_words(
    explanations: Sequence[Explanation], spans: Sequence[Sequence[str]]
) -> pd.DataFrame:
    """The words of explained summaries beside the texts that were marked in each, in order; as many
    of both.

    A row for each word: ``summary``, the index of its summary; ``verdict``, one of ``VERDICTS``;
    ``margin``, the ``relative_margin`` of `UnitVerdict`: negative for an alarm, NaN where nothing
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
            marked = any(word.start < end and start < word.end for start, end in places)
            rows.append((index, word.verdict, word.relative_margin, marked))
    kinds = {"summary": np.int64, "verdict": object, "margin": np.float64, "marked": bool}
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def signals(words: pd.DataFrame) -> dict[str, dict[str, float]]:
    """How well flagged words find those that annotators marked.

    Returns:
        For ``alarms``, ``absent`` words and ``both``: ``words``, how many could have been flagged,
        for alarms those that the source has, else all; ``flagged``, how many were; ``precision``,
        the share of these that are marked; ``recall``, the share of all marked words that are
        flagged; ``f1``; ``lift``, precision over the share of marked words among those that could
        be flagged, 1 is chance; ``average_precision``, the mean precision over the ranks of the
        marked words: alarms by margin, the largest first, and then matches; absent words above
        others; for both, absent words first. NaN where there is nothing to divide by.

    Example:
        >>> from estime_metric import EstimeScorer
        >>> source = "Anna bought the red boat. Peter sold the old house."
        >>> shown = EstimeScorer(model="embedded").explain("Peter bought the red boat.", source)
        >>> found = signals(judged_words([shown], [["Peter"]]))["alarms"]
        >>> found["flagged"], found["precision"], found["recall"], found["lift"]
        (1, 1.0, 1.0, 6.0)
    """
    absent, alarm, marked = (
        (words["verdict"] == "absent"),
        (words["verdict"] == "alarm"),
        words["marked"],
    )
    by_margin, every, found = -words["margin"].fillna(0.0), pd.Series(True, index=words.index), {}
    for name, flagged, scores, possible in (
        ("alarms", alarm, by_margin, ~absent),
        ("absent", absent, absent.astype(np.float64), every),
        ("both", absent | alarm, by_margin.mask(absent, by_margin.max() + 1), every),
    ):
        hits, count, total = int((marked & flagged).sum()), int(flagged.sum()), int(marked.sum())
        precision, base = (
            _ratio(hits, count),
            _ratio(float(marked[possible].sum()), float(possible.sum())),
        )
        found[name] = {
            "words": int(possible.sum()),
            "flagged": count,
            "precision": precision,
            "recall": _ratio(hits, total),
            "f1": _ratio(2 * hits, count + total),
            "lift": _ratio(precision, base),
            "average_precision": average_precision(
                marked[possible].to_numpy(), scores[possible].to_numpy()
            ),
        }
    return found


def average_precision(marked: npt.NDArray[np.bool_], scores: Floats) -> float:
    """Mean over the marked words of the precision among all words with a score as high; NaN where
    none is marked.

    Example:
        >>> average_precision(np.array([True, False, True]), np.array([3.0, 2.0, 1.0]))
        0.8333333333333333
    """
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(
        np.diff(scores[order], append=-np.inf)
    )  # the last of each run of equal scores
    hits = np.cumsum(marked[order])[ends]
    if not len(hits) or not hits[-1]:
        return float("nan")
    return float((np.diff(hits, prepend=0) * hits / (ends + 1)).sum() / hits[-1])


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


MARGINS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)
#: Shares of the checked words, those with the largest margins first, in the curve.
_CURVE = np.arange(0.01, 1.0, 0.01)


def parts(
    words: pd.DataFrame, origins: Sequence[str], labels: Sequence[int]
) -> dict[str, pd.DataFrame]:
    """All words, those of each of `ORIGINS`, and those of its summaries with an error alone
    (``labels`` 0).
    """
    of_word, wrong = np.array(origins)[words["summary"]], np.array(labels)[words["summary"]] == 0
    found = {"all": words}
    for origin, name in ORIGINS.items():
        found[name] = words[of_word == origin]
        found[f"{name}, only summaries with an error"] = words[(of_word == origin) & wrong]
    return {name: one for name, one in found.items() if len(one)}


def tables(found: dict[str, pd.DataFrame], split: str, signature: str) -> list[Table]:
    """``words``: what is flagged beside what is marked; ``words-margins``: alarms by the size of
    their margin.
    """
    names = ("flagged", "precision", "recall", "f1", "lift", "average_precision")
    columns = (
        Column("flagged words", text=True),
        *(Column(name.replace("_", " ")) for name in names),
    )
    sections: list[Section] = []
    rows: list[tuple[Cell, ...]] = []
    for part, words in found.items():
        title = f"{part}: {len(words)} words, {words['marked'].mean():.1%} marked"
        sections.append(
            Section(title, [(flag, *map(one.get, names)) for flag, one in signals(words).items()])
        )
        alarms = words[words["verdict"] == "alarm"]
        of_range = pd.cut(alarms["margin"].abs(), [*MARGINS, np.inf], right=False)
        rows.append((part, *alarms["marked"].groupby(of_range, observed=False).mean()))
    notes = (
        f"CLIFF, {split}; words, punctuation among them, beside those that annotators marked as errors. Lift: "
        "precision by the share of marked words among those that could be flagged; alarms: those that the source has.",
        signature,
    )
    heads = [f"{least:.0%} to {end:.0%}" for least, end in pairwise(MARGINS)] + [
        f"from {MARGINS[-1]:.0%}"
    ]
    by_margin = (Column("alarms with a margin of", text=True), *map(Column, heads))
    about = ("A margin is a share of the best similarity.", *notes)
    title = "Share of alarms that are marked, by margin."
    return [
        Table(
            "words",
            "Word by word: alarms and absent words beside marked ones.",
            columns,
            sections,
            notes,
        ),
        Table("words-margins", title, by_margin, [Section("", rows)], about),
    ]


def draw(found: dict[str, pd.DataFrame]) -> Figure:
    """The share of marked words among those with the largest margins, over how many are taken;
    dotted: all of them.
    """
    from estime_metric.comparison.plots.style import (
        COLOURS,
        LABEL,
        TICK,
        WIDTH,
        make_plain,
        new_figure,
    )

    figure = new_figure(WIDTH, 3.8)
    axes = figure.add_subplot()
    for (part, words), colour in zip(found.items(), COLOURS, strict=False):
        if not len(checked := words[words["verdict"] != "absent"]):
            continue
        ranked = checked["marked"].to_numpy()[
            np.argsort(checked["margin"].fillna(0), kind="stable")
        ]
        taken = np.maximum(1, np.round(_CURVE * len(ranked)).astype(np.int64))
        axes.plot(_CURVE, np.cumsum(ranked)[taken - 1] / taken, color=colour, label=part)
        axes.axhline(ranked.mean(), color=colour, linewidth=0.8, linestyle=":")
    axes.set_xlabel(
        "share of the words that the source has, the largest margins first", fontsize=LABEL
    )
    axes.set_ylabel("share that annotators marked", fontsize=LABEL)
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=TICK, frameon=False)
    make_plain(axes)
    return figure

"""Differences between two systems, and how often people's judgements have the same order.

Axes: n resamples, of which the first is the sample itself, P pairs of systems, D documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import erfc

from estime_metric.novelty import novelty
from estime_metric.studies.benchmarks.shared.blocks import ScoreColumn
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.frames import (
    Frames,
    drawn_weights,
    each_column,
    with_interval,
)
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.meta.ranks import Flags, ratio
from estime_metric.table.arrays import Floats
from estime_metric.table.tests import LEVEL, approximate_randomization, holm

MEASURES = "measures.csv"
#: In place of a part: the documents of all parts. In place of a band: all pairs of systems.
ALL = "all"


@dataclass(frozen=True)
class Band:
    """Pairs of systems of which one copies runs that are more than ``above`` and at most ``to`` times
    as long as the other's.
    """

    above: float
    to: float

    def contains(self, ratios: Floats) -> Flags:
        """Which pairs belong to it, (P,)."""
        return (self.above < ratios) & (ratios <= self.to)


#: By the ratio of the systems' mean `copied_density`, the greater divided by the smaller.
BANDS = {
    ALL: Band(0, np.inf),
    "at most 1.5": Band(0, 1.5),
    "1.5 to 2": Band(1.5, 2),
    "2 to 3": Band(2, 3),
    "above 3": Band(3, np.inf),
    "at most 2": Band(0, 2),
    "above 2": Band(2, np.inf),
}
DECIMALS = 6  # of scores in files
LAST_DIGIT = 1.5e-6  # scores in files that differ by less are equal

Signs = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Contrasts:
    """The differences between the systems of each pair, by one measure or by people: ``signs`` (1 if
    the first system is better, -1 if the second is), two-sided ``p_values`` of the mean difference,
    and the same corrected by Holm's method; float64 of shape (n, P). The p-values of the sample are
    from approximate randomization; those of resamples from its normal approximation.
    """

    signs: Signs
    p_values: Floats
    corrected: Floats

    def significant(self, holm: bool) -> Signs:
        """``signs``, 0 if the difference is not significant."""
        return self.signs * ((self.corrected if holm else self.p_values) < LEVEL)


def contrasts(scores: Floats, weights: Floats, seed: int = 0) -> Contrasts:
    """The `Contrasts` of scores of shape (D, systems), higher is better, without NaN.

    ``weights``, (n, D), say how often each resample contains each document; those of the first row
    are 1.
    """
    first, second = np.array(list(combinations(range(scores.shape[1]), 2))).T
    differences = scores[:, first] - scores[:, second]
    differences[np.abs(differences) <= LAST_DIGIT] = 0.0
    zeros = np.zeros(len(scores))
    sampled = [
        approximate_randomization(pair_differences, zeros, seed=seed)
        for pair_differences in differences.T
    ]
    sums, squares = weights[1:] @ differences, weights[1:] @ differences**2
    z = np.divide(np.abs(sums), np.sqrt(squares), out=np.zeros_like(sums), where=squares > 0)
    p_values = np.vstack([sampled, erfc(z / np.sqrt(2))])
    sums = np.vstack([differences.sum(axis=0), sums])
    return Contrasts(
        signs=np.sign(np.where(np.abs(sums) > 1e-9, sums, 0.0)),  # not the sign of rounding
        p_values=p_values,
        corrected=np.apply_along_axis(holm, 1, p_values),
    )


def analyze(scores: Scores[Summaries], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """How often significant differences have people's order, for each dataset, part of its documents
    and band of the ratio of copying.

    ``measures.csv``: ``column``, ``measure``, ``section``, ``data``, ``part`` (or `ALL`), ``band`` (one
    of `BANDS`), ``pairs`` (of systems in the band), ``separated`` (those that people separate
    significantly, without a correction), ``ordered`` (how many of these the measure orders as people
    do), Kendall's ``tau``-b, and the columns of `agreement`: with Holm's correction for all pairs of
    the dataset, as in ``estime compare``, and with the ending ``_uncorrected`` without it.
    """
    table = scores.data.table
    copied = np.array(novelty(scores.data.summaries, scores.data.sources)["copied_density"])
    cells = {
        (data, part): Cell(rows, copied, resamples, seed)
        for data, data_rows in table.groupby("data", sort=False)
        for part, rows in ((ALL, data_rows), *data_rows.groupby("part", sort=False))
    }

    def rows_of(column: ScoreColumn) -> Iterator[dict[str, Any]]:
        for (data, part), cell in cells.items():
            for row in cell.rows(scores.oriented(column)):
                yield {"data": data, "part": part, **row}

    uncorrected = [f"{name}_uncorrected" for name in _AGREEMENT]
    names = ["data", "part", "band", "pairs", "separated", "ordered", "tau"]
    return {MEASURES: each_column(scores, rows_of, [*names, *_AGREEMENT, *uncorrected])}


class Cell:
    """The judged summaries of one part of a dataset, with its resamples.

    Args:
        rows: the summaries of every document by every system.
        copied: the ``copied_density`` of each summary of the data.
        resamples, seed: of documents and of systems.

    Attributes:
        ratios: how many times as long the runs are that one system of each pair copies, (P,).
    """

    def __init__(self, rows: pd.DataFrame, copied: Floats, resamples: int, seed: int) -> None:
        self._seed = seed
        self._order = rows.sort_values(["document", "system"]).index.to_numpy()
        self._shape = rows["document"].nunique(), rows["system"].nunique()
        self._judgements = rows["judgement"].loc[self._order].to_numpy().reshape(self._shape)
        self._weights = drawn_weights(self._shape[0], resamples, seed)
        system_weights = drawn_weights(self._shape[1], resamples, seed)
        first, second = np.array(list(combinations(range(self._shape[1]), 2))).T
        self._pair_weights = system_weights[:, first] * system_weights[:, second]
        self._people: dict[bytes, Contrasts] = {}
        means = copied[self._order].reshape(self._shape).mean(axis=0)
        more, less = (
            np.maximum(means[first], means[second]),
            np.minimum(means[first], means[second]),
        )
        self.ratios: Floats = np.divide(more, less, out=np.full_like(more, np.inf), where=less > 0)

    def rows(self, values: Floats) -> Iterator[dict[str, Any]]:
        """A row for each of `BANDS`, from scores of all summaries of the data, higher is better, on
        the documents with a score of each system; none if there are no such documents.
        """
        table = np.round(values[self._order].reshape(self._shape), DECIMALS)
        known = np.isfinite(table).all(axis=1)
        if not known.any():
            return
        weights = self._weights[:, known]
        measure = contrasts(table[known], weights, self._seed)
        if known.tobytes() not in self._people:
            self._people[known.tobytes()] = contrasts(self._judgements[known], weights, self._seed)
        people = self._people[known.tobytes()]
        separated = people.significant(holm=False)[0] != 0
        for name, band in BANDS.items():
            inside = band.contains(self.ratios)
            signs, people_signs = measure.signs[0, inside], people.signs[0, inside]
            spread = np.sqrt((signs**2).sum() * (people_signs**2).sum())
            uncorrected = self.agreement(measure, people, inside, holm=False)
            yield {
                "band": name,
                "pairs": int(inside.sum()),
                "separated": int(separated[inside].sum()),
                "ordered": int((separated[inside] & (signs == people_signs)).sum()),
                "tau": (signs * people_signs).sum() / spread if spread else np.nan,
                **self.agreement(measure, people, inside, holm=True),
                **{f"{key}_uncorrected": number for key, number in uncorrected.items()},
            }

    def agreement(
        self, measure: Contrasts, people: Contrasts, inside: Flags, *, holm: bool
    ) -> dict[str, float]:
        """Of the pairs ``inside``, (P,): how many differ ``significant``ly, how many of these are
        ``right``, with people's order, and their ``share``; ``share_low`` and ``share_high`` are the
        ends of its 95% interval over documents, ``share_systems_low`` and ``share_systems_high``
        over systems. ``separated_significant`` and ``separated_right``: the same counts of the pairs
        that people separate significantly too.
        """
        signs = measure.significant(holm)[:, inside]
        significant = signs != 0
        right = significant & (signs == people.signs[:, inside])
        separated = people.significant(holm)[0, inside] != 0
        weights = self._pair_weights[:, inside]
        over_systems = ratio(
            (weights * right[0]).sum(axis=1), (weights * significant[0]).sum(axis=1)
        )
        return {
            "significant": int(significant[0].sum()),
            "right": int(right[0].sum()),
            "separated_significant": int((significant[0] & separated).sum()),
            "separated_right": int((right[0] & separated).sum()),
            **with_interval(over_systems, "share_systems"),
            **with_interval(ratio(right.sum(axis=1), significant.sum(axis=1)), "share"),
        }


_AGREEMENT = [
    "significant",
    "right",
    "separated_significant",
    "separated_right",
    "share",
    *(f"share_{end}" for end in ("low", "high", "systems_low", "systems_high")),
]

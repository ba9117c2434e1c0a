"""Verdicts on two systems, and how often people's judgements have the same order.

Axes: n resamples, of which the first is the sample itself, P pairs of systems, D documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import erfc

from estime_metric.comparison.systems import LAST_DIGIT
from estime_metric.stats.checks import Floats
from estime_metric.stats.paired import LEVEL, approximate_randomization, holm
from estime_metric.stats.ranks import ratio
from estime_metric.studies.benchmarks.shared.blocks import ScoreColumn
from estime_metric.studies.benchmarks.shared.frames import (
    Frames,
    drawn_weights,
    each_column,
    with_interval,
)
from estime_metric.studies.benchmarks.shared.scores import Scores
from experiments.benchmarks.systems.data import (
    CHOOSING,
    FRANK_CNNDM,
    FRANK_XSUM,
    SUMMEVAL,
)

MEASURES, RULES = "measures.csv", "rules.csv"
#: Measures of which a rule is made.
CANDIDATES = ("inconsistency", "alarms", "alarm_rate", "graded_alarms_per_token")
#: The data sets on which the rule is chosen, and those on which it has to keep right verdicts.
CHOSEN_ON = (SUMMEVAL, FRANK_CNNDM, FRANK_XSUM)
#: The share of the right verdicts of `inconsistency` that a rule has to keep.
KEPT = 0.9
DECIMALS = 6  # of scores in files

Signs = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rule:
    """When a winner is declared: the difference of the ``first`` measure is significant and, if there
    is a ``second`` measure, its difference has the same sign and, if ``both``, is significant too.
    """

    first: str
    second: str | None = None
    both: bool = False

    def __str__(self) -> str:
        if self.second is None:
            return self.first
        return (
            f"{self.first}, {self.second} {'significant too' if self.both else 'of the same sign'}"
        )


#: The rules that were tried, in the order that decides ties.
TRIED = (
    *(Rule(name) for name in CANDIDATES),
    *(Rule(*names) for names in permutations(CANDIDATES, 2)),
    *(Rule(*names, both=True) for names in combinations(CANDIDATES, 2)),
)


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

    def verdicts(self, holm: bool) -> Signs:
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
    of_sample = [approximate_randomization(of_pair, zeros, seed=seed) for of_pair in differences.T]
    sums, squares = weights[1:] @ differences, weights[1:] @ differences**2
    z = np.divide(np.abs(sums), np.sqrt(squares), out=np.zeros_like(sums), where=squares > 0)
    p_values = np.vstack([of_sample, erfc(z / np.sqrt(2))])
    sums = np.vstack([differences.sum(axis=0), sums])
    return Contrasts(
        signs=np.sign(np.where(np.abs(sums) > 1e-9, sums, 0.0)),  # not the sign of rounding
        p_values=p_values,
        corrected=np.apply_along_axis(holm, 1, p_values),
    )


@dataclass(frozen=True, eq=False)
class Compared:
    """Two systems at a time, by a measure and by people on the same documents. ``pair_weights``:
    how often each resample of the systems contains each pair, (n, P).
    """

    measure: Contrasts
    people: Contrasts
    pair_weights: Floats


def analyze(scores: Scores[Any], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """How often people agree with each measure and with each rule, for each data set and part.

    ``measures.csv``: ``column``, ``measure``, ``section``, ``data``, ``part``, ``pairs``, the columns
    of `_verdicts` (verdicts without a correction), ``separated`` (pairs that people separate
    significantly), ``ordered`` (how many of these the measure orders as people do) and Kendall's
    ``tau`` (tau-b of the systems' means).

    ``rules.csv``: ``rule``, ``data``, ``part``, the columns of `_verdicts`, also with Holm's
    correction (``NAME_holm``), and whether the rule is ``chosen``, see `choose`.
    """
    cells = {
        (data, part): _Cell(rows, resamples, seed)
        for (data, part), rows in scores.data.table.groupby(["data", "part"], sort=False)
    }
    compared: dict[tuple[str, str, str], Compared] = {}

    def rows_of(column: ScoreColumn) -> Iterator[dict[str, Any]]:
        for (data, part), cell in cells.items():
            of_cell = cell.compared(scores.oriented(column))
            if of_cell is not None:
                compared[_measure_of(column), data, part] = of_cell
                yield {"data": data, "part": part, **_of_measure(of_cell)}

    names = ["data", "part", "pairs", *_VERDICTS, "separated", "ordered", "tau"]
    return {MEASURES: each_column(scores, rows_of, names), RULES: _rules(compared)}


class _Cell:
    """The judged summaries of one part of a data set, with its resamples."""

    def __init__(self, rows: pd.DataFrame, resamples: int, seed: int) -> None:
        self._seed = seed
        self._order = rows.sort_values(["document", "system"]).index.to_numpy()
        self._shape = rows["document"].nunique(), rows["system"].nunique()
        self._judgements = rows["judgement"].loc[self._order].to_numpy().reshape(self._shape)
        self._weights = drawn_weights(self._shape[0], resamples, seed)
        of_systems = drawn_weights(self._shape[1], resamples, seed)
        first, second = np.array(list(combinations(range(self._shape[1]), 2))).T
        self._pair_weights = of_systems[:, first] * of_systems[:, second]
        self._people: dict[bytes, Contrasts] = {}

    def compared(self, values: Floats) -> Compared | None:
        """Verdicts of scores of all summaries of the data, higher is better, on the documents with
        a score of each system; ``None`` if there are none.
        """
        table = np.round(values[self._order].reshape(self._shape), DECIMALS)
        known = np.isfinite(table).all(axis=1)
        if not known.any():
            return None
        weights = self._weights[:, known]
        if known.tobytes() not in self._people:
            self._people[known.tobytes()] = contrasts(self._judgements[known], weights, self._seed)
        return Compared(
            measure=contrasts(table[known], weights, self._seed),
            people=self._people[known.tobytes()],
            pair_weights=self._pair_weights,
        )


_VERDICTS = [
    "declared",
    "right",
    "separated_declared",
    "separated_right",
    "share",
    *(f"share_{end}" for end in ("low", "high", "systems_low", "systems_high")),
]


def _verdicts(verdicts: Signs, compared: Compared, holm: bool) -> dict[str, float]:
    """How many verdicts there are and how many have people's order (``declared``, ``right``), over
    all pairs and over those that people separate significantly (``separated_declared``,
    ``separated_right``), and the ``share`` of the former that is right. ``share_low`` and
    ``share_high`` are the ends of its 95% interval over documents, ``share_systems_low`` and
    ``share_systems_high`` over systems.
    """
    people, weights = compared.people, compared.pair_weights
    declared = verdicts != 0
    right = declared & (verdicts == people.signs)
    separated = people.verdicts(holm)[0] != 0
    over_documents = ratio(right.sum(axis=1), declared.sum(axis=1))
    over_systems = ratio((weights * right[0]).sum(axis=1), (weights * declared[0]).sum(axis=1))
    return {
        "declared": int(declared[0].sum()),
        "right": int(right[0].sum()),
        "separated_declared": int((declared[0] & separated).sum()),
        "separated_right": int((right[0] & separated).sum()),
        **with_interval(over_systems, "share_systems"),
        **with_interval(over_documents, "share"),
    }


def _of_measure(compared: Compared) -> dict[str, Any]:
    """The numbers of ``measures.csv`` for one measure."""
    signs, of_people = compared.measure.signs[0], compared.people.signs[0]
    separated = compared.people.verdicts(holm=False)[0] != 0
    spread = np.sqrt((signs**2).sum() * (of_people**2).sum())
    return {
        "pairs": len(signs),
        **_verdicts(compared.measure.verdicts(holm=False), compared, holm=False),
        "separated": int(separated.sum()),
        "ordered": int((separated & (signs == of_people)).sum()),
        "tau": (signs * of_people).sum() / spread if spread else np.nan,
    }


def _measure_of(column: ScoreColumn) -> str:
    """The name of a measure of ESTIME, the name of any other column."""
    ending = f"_{column.unit}_{column.layer}"
    name = column.name.removesuffix(ending)
    return {"estime": "alarms"}.get(name, name) if column.layer is not None else column.name


def _rules(compared: Mapping[tuple[str, str, str], Compared]) -> pd.DataFrame:
    """``rules.csv``: every rule on every part of every data set, and which one is ``chosen``."""
    rows = []
    known = dict.fromkeys((data, part) for _, data, part in compared)
    for rule, (data, part) in product(TRIED, known):
        measures = [name for name in (rule.first, rule.second) if name is not None]
        if any((name, data, part) not in compared for name in measures):
            continue
        first = compared[rule.first, data, part]
        row: dict[str, Any] = {"rule": str(rule), "data": data, "part": part}
        for ending, corrected in (("", False), ("_holm", True)):
            verdicts = first.measure.verdicts(corrected)
            if rule.second is not None:
                second = compared[rule.second, data, part].measure
                confirmed = second.verdicts(corrected) if rule.both else second.signs
                verdicts = verdicts * (confirmed == verdicts)
            numbers = _verdicts(verdicts, first, corrected)
            row |= {f"{name}{ending}": numbers[name] for name in _VERDICTS}
        rows.append(row)
    with_holm = [f"{name}_holm" for name in _VERDICTS]
    frame = pd.DataFrame(rows, columns=["rule", "data", "part", *_VERDICTS, *with_holm])
    return frame.assign(chosen=frame["rule"] == choose(frame))


def choose(rules: pd.DataFrame) -> str | None:
    """The rule with the fewest wrong verdicts on the parts for choosing of `CHOSEN_ON` together,
    among those that keep the share `KEPT` of the right verdicts of `CANDIDATES`' first measure
    alone; of several the one with the most right verdicts, then the first. ``None`` if one of the
    data sets lacks.

    ``rules`` are rows of ``rules.csv``.
    """
    rows = rules[(rules["part"] == CHOOSING) & rules["data"].isin(CHOSEN_ON)]
    if rows["data"].nunique() < len(CHOSEN_ON):
        return None
    totals = rows.groupby("rule", sort=False)[["declared", "right"]].sum()
    totals["wrong"] = totals["declared"] - totals["right"]
    kept = totals[totals["right"] >= KEPT * totals.loc[CANDIDATES[0], "right"]]
    ordered = kept.sort_values(["wrong", "right"], ascending=[True, False], kind="stable")
    return str(ordered.index[0])

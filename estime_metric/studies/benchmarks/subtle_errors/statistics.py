"""What scores and alarms say: whether they distinguish clean from corrupted summaries, rise with
the number of errors, and are on errors.

Axes: ``d`` pairs, ``n`` resamples of them. A number ``NAME`` comes with the ends of its 95%
interval, ``NAME_low`` and ``NAME_high``, widened to the number if it is outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from estime_metric.explanation import Explanation
from estime_metric.studies.benchmarks.shared.estime_block import column_of
from estime_metric.studies.benchmarks.shared.frames import Frames, drawn_weights, with_intervals
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.meta import correlations
from estime_metric.studies.meta.concordance import METHODS, tally
from estime_metric.studies.meta.ranks import ratio
from estime_metric.table.arrays import Floats
from estime_metric.table.tests import approximate_randomization

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer
    from estime_metric.studies.benchmarks.subtle_errors.data import Versions
    from estime_metric.studies.benchmarks.subtle_errors.generator import Corrupted

#: Units to each side of an error that count as its neighborhood.
REACHES = (0, 1, 2, 5)
#: Measures whose rise with the number of errors is shown, and what they are called there.
SENSITIVE = {
    "alarms": "alarms",
    "alarm_rate": "alarm rate",
    "alarms_alltokens": "alarms, all tokens",
}
AGREEMENT, RISE, POSITIONS = "agreement.csv", "rise.csv", "positions.csv"


def analyze(
    scores: Scores[Versions],
    *,
    scorer: EstimeScorer,
    resamples: int = 1000,
    seed: int = 0,
    progress: bool = False,
) -> Frames:
    """Three tidy tables.

    ``agreement.csv``: what `agree` gives for each number of errors and measure, over the pairs that
    have that many errors and a score. ``rise.csv``: what `rise` gives for the measures in
    `SENSITIVE`, over the pairs that have all errors. ``positions.csv``: what `detect` gives.
    ``scorer`` explains the summaries; of several layers the first one's alarms are located.
    """
    layer = located_layer(scorer)
    return {
        AGREEMENT: _agreement(scores, resamples, seed),
        RISE: _rise(scores, layer, scorer.config.unit, resamples, seed),
        POSITIONS: _positions(scores.data, scorer, resamples, seed, progress),
    }


def located_layer(scorer: EstimeScorer) -> int:
    """The layer whose alarms are located: the first one."""
    return scorer.encoder.info.resolve(scorer.config).layer_tuple[0]


def _agreement(scores: Scores[Versions], resamples: int, seed: int) -> pd.DataFrame:
    """`agree` of each measure and of its rival (`Scores.rival_of`, or the first measure) on the pairs
    for which it has scores.
    """
    data = scores.data
    tables = {
        column.name: scores.oriented(column).reshape(-1, len(data.systems))
        for column in scores.known
    }
    rows = []
    for index, number in enumerate(data.numbers, start=1):
        for column in scores.known:
            rival = scores.rival_of(column) or scores.known[0]
            both = tables[column.name][:, [0, index]]
            pairs = [pair for pair in data.complete(number) if np.isfinite(both[pair]).all()]
            weights = drawn_weights(len(pairs), resamples, seed)
            agreement = agree(both[pairs], tables[rival.name][pairs][:, [0, index]], weights, seed)
            names = {"n_errors": number, "column": column.name, "measure": column.label}
            rows.append({**names, "pairs": len(pairs), "than": rival.label, **agreement})
    columns = ["n_errors", "column", "measure", "pairs", "than"]
    return pd.DataFrame(rows, columns=None if rows else columns)


def _rise(
    scores: Scores[Versions], layer: int, unit: str, resamples: int, seed: int
) -> pd.DataFrame:
    data = scores.data
    complete = data.complete(data.numbers[-1])
    rows = []
    for name, label in SENSITIVE.items():
        if (column := column_of(name, layer, unit)) in scores.values:
            values = scores.values[column].reshape(-1, len(data.systems))[complete]
            values = values[np.isfinite(values).all(axis=1)]
            weights = drawn_weights(len(values), resamples, seed)
            for level in rise(values, (0, *data.numbers), weights):
                rows.append({"measure": label, "pairs": len(values), **level})
    return pd.DataFrame(rows)


def _positions(
    data: Versions, scorer: EstimeScorer, resamples: int, seed: int, progress: bool
) -> pd.DataFrame:
    explained = scorer.explain_pairs(
        data.summaries, data.sources, layer=located_layer(scorer), progress=progress
    )
    rows = []
    for index, number in enumerate(data.numbers, start=1):
        places = [pair * len(data.systems) + index for pair in data.complete(number)]
        near_errors = detect(
            [data.versions[place] for place in places],
            [explained[place] for place in places],
            resamples=resamples,
            seed=seed,
        )
        rows += [{"n_errors": number, "pairs": len(places), **row} for row in near_errors]
    return pd.DataFrame(rows)


def mean(weights: Floats, values: npt.ArrayLike) -> Floats:
    """Means over the pairs, (d,), of the sample and then of each resample."""
    return ratio(weights @ np.asarray(values, dtype=np.float64), weights.sum(axis=1))


def agree(pairs: Floats, rival: Floats, weights: Floats, seed: int = 0) -> dict[str, float]:
    """The paper's Table 3 (section 4): does a measure distinguish clean summaries (1) from the same
    summaries with errors (0)?

    Args:
        pairs: the measure's scores of clean summaries and of the same with errors, finite, (d, 2);
            higher is better.
        rival: the scores of the measure with which it is compared.
        weights: how often the sample itself, and then each resample, contains each pair, (1 + n, d).
        seed: of the paired test.

    Returns:
        ``spearman`` and ``kendall_c``, the correlation with the labels over all summaries, NaN if all
        scores are equal; ``spearman_p_value`` (see `correlations.p_value`); ``behind``, how much
        lower its Spearman correlation is than the rival's; ``auc``, the chance that a clean summary
        scores higher than a corrupted one of any pair, ties as one half; ``preferred``, the same
        within pairs; ``p_value`` of the mean difference within pairs by approximate randomization,
        two-sided.
    """
    judgements = np.repeat([1.0, 0.0], len(pairs))
    counts, rival_counts = (
        tally(weights=np.tile(weights, 2), scores=scores.T.ravel(), judgements=judgements)
        for scores in (pairs, rival)
    )
    spearman = METHODS["spearman"](counts)
    ordered = counts.ordered_judgements
    clean, corrupted = pairs.T
    p_value = approximate_randomization(clean, corrupted, seed=seed) if len(pairs) else 1.0
    drawn = {
        "spearman": spearman,
        "kendall_c": METHODS["kendall_c"](counts),
        "behind": METHODS["spearman"](rival_counts) - spearman,
        "auc": ratio(ordered + counts.balance, 2 * ordered),
        "preferred": mean(weights, (np.sign(clean - corrupted) + 1) / 2),
    }
    return {
        **with_intervals(drawn, widened=True),
        "spearman_p_value": correlations.p_value(
            pairs.T, judgements.reshape(2, -1), "summary", "spearman"
        ),
        "p_value": p_value,
    }


def rise(values: Floats, numbers: Sequence[int], weights: Floats) -> Iterator[dict[str, Any]]:
    """One measure of the same summaries with more and more errors.

    ``values``, (d, numbers), are of the numbers of errors ``numbers``; the first, usually 0, is the
    one to compare with. For each: ``n_errors``; ``mean`` over the summaries; ``rise``, the mean
    difference to the same summaries with no error; ``step``, that to the next smaller number, 0 for
    the smallest. ``weights`` are as for `agree`.
    """
    rises = values - values[:, :1]
    steps = np.diff(values, axis=1, prepend=values[:, :1])
    kinds = {"mean": values, "rise": rises, "step": steps}
    for index, number in enumerate(numbers):
        means = {name: mean(weights, kind[:, index]) for name, kind in kinds.items()}
        yield {"n_errors": number, **with_intervals(means, widened=True)}


def detect(
    corrupted: Sequence[Corrupted],
    explanations: Sequence[Explanation],
    *,
    reaches: Sequence[int] = REACHES,
    resamples: int = 1000,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Do alarms fall on the errors? The paper counts alarms; here their positions are compared with
    the errors'.

    Chance is what as many alarms would do if they fell on the checked units of the same summary at
    random: for the precision, the share of its checked units that are near an error; for the
    recall, the hypergeometric probability that at least one of them is near it. A lift is a
    quotient, 1 for no better than chance.

    Args:
        corrupted: the summaries with their errors.
        explanations: the verdicts on the units of each corrupted summary.
        reaches: sizes of the neighborhood, in units to each side; 0 is the error itself.
        resamples, seed: of the summaries, for the 95% intervals.

    Returns:
        For each of ``reaches``: ``reach``, ``errors``, of them the ``checkable``, with at least one
        unit near that occurs in the source and so can raise an alarm, and ``alarms``. Shares with
        their intervals, NaN if there is nothing to divide by: ``precision`` of the alarms that
        are near an error; ``recall`` of the checkable errors that have an alarm near; of both
        ``NAME_by_chance`` and ``NAME_lift``.
    """
    weights = drawn_weights(len(corrupted), resamples, seed)
    rows = []
    for reach in reaches:
        counts = pd.DataFrame(
            [
                count_alarms(texts, shown, reach)
                for texts, shown in zip(corrupted, explanations, strict=True)
            ],
            columns=COUNTS,
            dtype=np.float64,
        )
        sums = {name: weights @ counts[name].to_numpy() for name in counts}
        shares = {
            "precision": ratio(sums["near"], sums["alarms"]),
            "precision_by_chance": ratio(sums["near_by_chance"], sums["alarms"]),
            "precision_lift": ratio(sums["near"], sums["near_by_chance"]),
            "recall": ratio(sums["seen"], sums["checkable"]),
            "recall_by_chance": ratio(sums["seen_by_chance"], sums["checkable"]),
            "recall_lift": ratio(sums["seen"], sums["seen_by_chance"]),
        }
        totals = {name: int(sums[name][0]) for name in ("errors", "checkable", "alarms")}
        rows.append({"reach": reach, **totals, **with_intervals(shares, widened=True)})
    return rows


#: What `count_alarms` counts.
COUNTS = [
    "alarms",  # all alarms
    "near",  # alarms near an error
    "near_by_chance",  # as many alarms at random would be near an error so often
    "errors",  # all errors
    "checkable",  # errors with a checked unit near
    "seen",  # errors with an alarm near
    "seen_by_chance",  # as many alarms at random would see that many errors
]


def count_alarms(corrupted: Corrupted, explanation: Explanation, reach: int) -> dict[str, float]:
    """Counts alarms and errors of one corrupted summary, see `COUNTS`; ``explanation`` is of it,
    ``reach`` the units to each side that are near.
    """
    alarm = [unit.verdict == "alarm" for unit in explanation.units]
    checked = [unit.verdict != "absent" for unit in explanation.units]
    near = [_near(explanation, error.span, reach) for error in corrupted.errors]
    near_any = set().union(*near)
    checked_near = [sum(checked[index] for index in positions) for positions in near]
    alarms, all_checked = sum(alarm), sum(checked)
    return {
        "alarms": alarms,
        "near": sum(alarm[index] for index in near_any),
        "near_by_chance": alarms * sum(checked[index] for index in near_any) / max(1, all_checked),
        "errors": len(near),
        "checkable": sum(number > 0 for number in checked_near),
        "seen": sum(any(alarm[index] for index in positions) for positions in near),
        "seen_by_chance": sum(
            chance_of_a_hit(all_checked, number, alarms) for number in checked_near
        ),
    }


def chance_of_a_hit(units: int, targets: int, alarms: int) -> float:
    """Probability that at least one of the alarms falls on a target, if each unit gets at most one."""
    return 1 - comb(units - targets, alarms) / comb(units, alarms)


def _near(explanation: Explanation, span: tuple[int, int], reach: int) -> set[int]:
    """The units that overlap a span, with those up to ``reach`` units to each side; none if nothing
    overlaps.
    """
    start, stop = span
    hit = [
        index
        for index, unit in enumerate(explanation.units)
        if unit.start < stop and unit.end > start
    ]
    if not hit:
        return set()
    first, last = min(hit) - reach, max(hit) + reach
    return set(range(max(0, first), min(len(explanation.units), last + 1)))

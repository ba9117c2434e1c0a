"""What scores and alarms say: clean summaries told from corrupted ones, more alarms with more
errors, alarms on errors.

Axes: ``d`` pairs, ``n`` resamples of them. Numbers come as `with_ends` gives them, with intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from estime_metric.comparison.checks import Floats, finite
from estime_metric.comparison.paired import approximate_randomization
from estime_metric.comparison.resampling import interval
from estime_metric.explanation import Explanation
from estime_metric.studies.benchmarks.shared.study import drawn_weights
from estime_metric.studies.meta.concordance import METHODS, tally

if TYPE_CHECKING:
    from estime_metric.studies.benchmarks.subtle_errors.generator import Corrupted

#: Units to each side of an error that count as its neighbourhood.
REACHES = (0, 1, 2, 5)


class Sampler:
    """Resamples pairs, the same ones for everything that is computed with it.

    ``weights``, float64 of shape (1 + n, d), say how often the sample itself, then each resample
    takes each pair.
    """

    def __init__(self, pairs: int, n: int = 1000, seed: int = 0) -> None:
        self.pairs = pairs
        self.weights = drawn_weights(pairs, n, seed)

    def sum(self, values: npt.ArrayLike) -> Floats:
        """Sums over the pairs: that of the sample first, then those of the resamples; of shape (1 +
        n,).
        """
        array = np.asarray(values, dtype=np.float64)  # (d,)
        return np.concatenate([[array.sum()], self.weights[1:] @ array])

    def mean(self, values: npt.ArrayLike) -> Floats:
        """Means over the pairs, likewise."""
        return divide(self.sum(values), self.sum(np.ones(np.shape(values))))


def divide(numerators: Any, denominators: Any) -> Floats:
    """Quotients, NaN where there is nothing to divide by."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients: Floats = np.where(
            denominators == 0, np.nan, np.asarray(numerators) / denominators
        )
    return quotients


def with_ends(**values: Floats) -> dict[str, float]:
    """The first of the values by their name, the ends of the 95% interval of the others as
    ``NAME_low``, ``NAME_high``.

    The interval is widened to the value where that lies outside: a resample that takes a pair twice
    ties it with itself, which shifts correlations of a few pairs to one side.
    """
    found: dict[str, float] = {}
    for name, sampled in values.items():
        low, high, _ = interval(sampled[1:], 0.95)
        value = float(sampled[0])
        found |= {name: value, f"{name}_low": min(low, value), f"{name}_high": max(high, value)}
    return found


def agree(
    scores: Mapping[str, Sequence[npt.ArrayLike]], sampler: Sampler, seed: int = 0
) -> dict[str, dict[str, Any]]:
    """The paper's Table 3 (section 4): does a measure tell clean summaries (1) from the same with
    errors (0)?

    Args:
        scores: measure -> its scores of the clean and of the corrupted summaries, (d,) each, higher
            is better.
        sampler, seed: resamples the ``d`` pairs, the same for all measures; of the paired test.

    Returns:
        By measure: ``pairs``; ``spearman`` and ``kendall_c``, the correlation with the labels over
        all summaries, NaN where all scores are equal; ``behind``, how much lower its Spearman
        correlation is than the first measure's; ``auc``, the chance that a clean summary scores
        higher than a corrupted one of any pair, ties half; ``preferred``, the same within pairs;
        ``p_value`` of the mean difference within pairs by approximate randomization, two-sided.

    Raises:
        TypeError, ValueError: the scores are no numbers, not finite, or of two lengths.
    """
    found: dict[str, dict[str, Any]] = {}
    first: Floats | None = None
    for measure, sides in scores.items():
        clean, corrupted = (finite(f"scores of {measure}", side, 1) for side in sides)
        if not len(clean) == len(corrupted) == sampler.pairs:
            raise ValueError(
                f"Expected argument `scores` to hold {sampler.pairs} scores of each kind, but {measure!r} has "
                f"{len(clean)} and {len(corrupted)}."
            )
        labels = np.repeat([1.0, 0.0], sampler.pairs)
        counts = tally(
            np.concatenate([sampler.weights] * 2, axis=1),
            np.concatenate([clean, corrupted]),
            labels,
        )
        spearman = METHODS["spearman"](counts)
        first = spearman if first is None else first
        found[measure] = {
            "pairs": sampler.pairs,
            **with_ends(
                spearman=spearman,
                kendall_c=METHODS["kendall_c"](counts),
                behind=first - spearman,
                auc=divide(
                    counts.ordered_judgements + counts.balance, 2 * counts.ordered_judgements
                ),
                preferred=sampler.mean((np.sign(clean - corrupted) + 1) / 2),
            ),
            "p_value": approximate_randomization(clean, corrupted, seed=seed).p_value
            if sampler.pairs
            else 1.0,
        }
    return found


def rise(values: npt.ArrayLike, numbers: Sequence[int], sampler: Sampler) -> list[dict[str, Any]]:
    """One measure of the same summaries with more and more errors.

    ``values``, (d, numbers), are of the numbers of errors ``numbers``; the first, usually 0, is the
    one to compare with. Returns for each: ``n_errors``; ``mean`` over the summaries; ``rise``, the
    mean difference to the same summaries with no error; ``step``, that to the next smaller number,
    0 for the smallest; ``more_less_fewer``, the share of summaries above the one without error less
    the share below, -1 to 1. Raises ValueError where the shape does not fit ``numbers``, or a value
    is not finite.
    """
    table = finite("values", values, 2)
    if table.shape[1] != len(numbers):
        raise ValueError(
            f"Expected argument `values` to have {len(numbers)} columns, but got shape {table.shape}."
        )
    rises = table - table[:, :1]
    steps = np.diff(table, axis=1, prepend=table[:, :1])
    kinds = {"mean": table, "rise": rises, "step": steps, "more_less_fewer": np.sign(rises)}
    return [
        {
            "n_errors": number,
            **with_ends(**{name: sampler.mean(kind[:, index]) for name, kind in kinds.items()}),
        }
        for index, number in enumerate(numbers)
    ]


def detect(
    corrupted: Sequence[Corrupted],
    explanations: Sequence[Explanation],
    clean: Sequence[Explanation],
    *,
    reaches: Sequence[int] = REACHES,
    resamples: int = 1000,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Do alarms fall on the errors? The paper counts alarms; here their positions are compared with
    the errors'.

    Chance is what as many alarms would do that fell on the checked units of the same summary at
    random: for the precision the share of its checked units that lie near an error, for the recall
    the hypergeometric probability that at least one of them lies near it. A lift is a quotient, 1
    for no better than chance.

    Args:
        corrupted: the summaries with their errors.
        explanations, clean: the verdicts on the units of each corrupted summary, and of each clean
            one.
        reaches: sizes of the neighbourhood, in units of the measure to each side; 0 is the error
            itself.
        resamples, seed: of the summaries, for the 95% intervals.

    Returns:
        For each of ``reaches``: ``reach``, ``errors``, of them the ``checkable``, with at least one
        unit near that occurs in the source and so can raise an alarm, and ``alarms``. Shares with
        their intervals, NaN where there is nothing to divide by: ``precision`` of the alarms that
        are near an error; ``recall`` of the checkable errors that have an alarm near,
        ``recall_of_all`` errors; of both ``NAME_by_chance`` and ``NAME_lift``; ``before``, the
        share of the same positions with an alarm near in the clean text; and ``gain``,
        ``recall_of_all`` less that.

    Raises:
        ValueError: the lengths differ, or an explanation is of another text.
    """
    if not len(corrupted) == len(explanations) == len(clean):
        raise ValueError(
            f"Expected arguments `corrupted`, `explanations` and `clean` to be of one length, "
            f"but got {len(corrupted)}, {len(explanations)} and {len(clean)}."
        )
    triples = list(zip(corrupted, explanations, clean, strict=True))
    for index, (texts, shown, before) in enumerate(triples):
        for name, text, explained in (
            ("explanations", texts.text, shown),
            ("clean", texts.clean, before),
        ):
            if explained.prediction != text:
                raise ValueError(
                    f"Expected argument `{name}` to be of the same text at index {index}, but it is not."
                )
    sampler = Sampler(len(corrupted), resamples, seed)
    found = []
    for reach in reaches:
        columns = (
            np.array([_count(*triple, reach) for triple in triples], dtype=float).reshape(-1, 8).T
        )
        alarms, near, near_by_chance, errors, checkable, seen, seen_by_chance, known = map(
            sampler.sum, columns
        )
        shares = with_ends(
            precision=divide(near, alarms),
            precision_by_chance=divide(near_by_chance, alarms),
            precision_lift=divide(near, near_by_chance),
            recall=divide(seen, checkable),
            recall_by_chance=divide(seen_by_chance, checkable),
            recall_lift=divide(seen, seen_by_chance),
            recall_of_all=divide(seen, errors),
            before=divide(known, errors),
            gain=divide(seen - known, errors),
        )
        totals = {
            "errors": int(errors[0]),
            "checkable": int(checkable[0]),
            "alarms": int(alarms[0]),
        }
        found.append({"reach": reach, **totals, **shares})
    return found


def _count(
    corrupted: Corrupted, explanation: Explanation, clean: Explanation, reach: int
) -> tuple[float, ...]:
    """Of one summary: alarms, those near an error, those expected there; errors, and of them the
    checkable, those with an alarm near, with how many such expected, and with an alarm near in the
    clean text."""
    alarm, before = (
        [unit.verdict == "alarm" for unit in one.units] for one in (explanation, clean)
    )
    checked = [unit.verdict != "absent" for unit in explanation.units]
    near = [_near(explanation, error.span, reach) for error in corrupted.errors]
    around, checked_near = (
        set().union(*near),
        [sum(checked[index] for index in positions) for positions in near],
    )
    return (
        sum(alarm),
        sum(alarm[index] for index in around),
        sum(alarm) * sum(checked[index] for index in around) / max(1, sum(checked)),
        len(near),
        sum(number > 0 for number in checked_near),
        sum(any(alarm[index] for index in positions) for positions in near),
        sum(chance_of_a_hit(sum(checked), number, sum(alarm)) for number in checked_near),
        sum(
            any(before[index] for index in _near(clean, one.clean_span, reach))
            for one in corrupted.errors
        ),
    )


def chance_of_a_hit(units: int, targets: int, alarms: int) -> float:
    """Probability that at least one of so many alarms falls on a target, where each unit gets at
    most one.
    """
    return 1 - comb(units - targets, alarms) / comb(units, alarms)


def _near(explanation: Explanation, span: tuple[int, int], reach: int) -> set[int]:
    """The units that overlap a span, with those up to ``reach`` units to each side; none where
    nothing overlaps.
    """
    start, stop = span
    hit = [
        index
        for index, unit in enumerate(explanation.units)
        if unit.start < stop and unit.end > start
    ]
    return (
        set(range(max(0, hit[0] - reach), min(len(explanation.units), hit[-1] + reach + 1)))
        if hit
        else set()
    )

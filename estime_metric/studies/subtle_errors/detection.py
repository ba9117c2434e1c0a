"""Do alarms fall on the errors? The paper counts alarms; here their positions are compared with the errors'."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np

from estime_metric.explanation import Explanation
from estime_metric.studies.subtle_errors.records import Corrupted, Span
from estime_metric.studies.subtle_errors.statistics import Sampler, divide, with_ends

#: Units to each side of an error that count as its neighbourhood.
REACHES = (0, 1, 2, 5)


def detect(
    corrupted: Sequence[Corrupted],
    explanations: Sequence[Explanation],
    clean: Sequence[Explanation],
    *,
    reaches: Sequence[int] = REACHES,
    resamples: int = 1000,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Compares the positions of alarms with those of errors.

    Chance is what as many alarms would do that fell on the checked units of the same summary at random: for the
    precision the share of its checked units that lie near an error, for the recall the hypergeometric probability that
    at least one of them lies near it. A lift is a quotient, 1 for no better than chance.

    Args:
        corrupted: the summaries with their errors.
        explanations, clean: the verdicts on the units of each corrupted summary, and of each clean one.
        reaches: sizes of the neighbourhood, in units of the measure to each side; 0 is the error itself.
        resamples, seed: of the summaries, for the 95% intervals.

    Returns:
        For each of ``reaches``: ``reach``, ``errors``, of them the ``checkable``, with at least one unit near that
        occurs in the source and so can raise an alarm, and ``alarms``. Shares, 0 to 1, with their intervals:
        ``precision`` of the alarms that are near an error, higher is better, ``precision_by_chance``,
        ``precision_lift``; ``recall`` of the checkable errors that have an alarm near, ``recall_by_chance``,
        ``recall_lift``, ``recall_of_all`` errors; ``before``, the share of the same positions with an alarm near in the
        clean text, what ``recall_of_all`` would be without any error, and ``gain``, the difference of the two. NaN
        where there is no alarm or no error to divide by.

    Raises:
        ValueError: the lengths differ, or an explanation is of another text.
    """
    _check(corrupted, explanations, clean)
    sampler = Sampler(len(corrupted), resamples, seed)
    found = []
    for reach in reaches:
        counts = [_count(*triple, reach) for triple in zip(corrupted, explanations, clean, strict=True)]
        columns = np.array(counts, dtype=float).reshape(-1, 8).T
        alarms, near, near_by_chance, errors, checkable, seen, seen_by_chance, before = map(sampler.sum, columns)
        shares = with_ends(
            precision=divide(near, alarms),
            precision_by_chance=divide(near_by_chance, alarms),
            precision_lift=divide(near, near_by_chance),
            recall=divide(seen, checkable),
            recall_by_chance=divide(seen_by_chance, checkable),
            recall_lift=divide(seen, seen_by_chance),
            recall_of_all=divide(seen, errors),
            before=divide(before, errors),
            gain=divide(seen - before, errors),
        )
        totals = {"errors": int(errors[0]), "checkable": int(checkable[0]), "alarms": int(alarms[0])}
        found.append({"reach": reach, **totals, **shares})
    return found


def _count(corrupted: Corrupted, explanation: Explanation, clean: Explanation, reach: int) -> tuple[float, ...]:
    """Of one summary: alarms, those near an error, those expected there; errors, and of them the checkable, those with
    an alarm near, with how many such expected, and with an alarm near in the clean text."""
    alarm, before = ([unit.verdict == "alarm" for unit in one.units] for one in (explanation, clean))
    checked = [unit.verdict != "absent" for unit in explanation.units]
    near = [_near(explanation, error.span, reach) for error in corrupted.errors]
    around = set().union(*near)
    checked_near = [sum(checked[index] for index in positions) for positions in near]
    return (
        sum(alarm),
        sum(alarm[index] for index in around),
        sum(alarm) * sum(checked[index] for index in around) / max(1, sum(checked)),
        len(near),
        sum(number > 0 for number in checked_near),
        sum(any(alarm[index] for index in positions) for positions in near),
        sum(chance_of_a_hit(sum(checked), number, sum(alarm)) for number in checked_near),
        sum(any(before[index] for index in _near(clean, one.clean_span, reach)) for one in corrupted.errors),
    )


def chance_of_a_hit(units: int, targets: int, alarms: int) -> float:
    """Probability that at least one of so many alarms falls on a target, where each unit gets at most one.

    Example:
        >>> chance_of_a_hit(units=4, targets=1, alarms=1), chance_of_a_hit(units=4, targets=2, alarms=3)
        (0.25, 1.0)
    """
    return 1 - comb(units - targets, alarms) / comb(units, alarms)


def _near(explanation: Explanation, span: Span, reach: int) -> set[int]:
    """The units that overlap a span, with those up to ``reach`` units to each side; none where nothing overlaps."""
    start, stop = span
    hit = [index for index, unit in enumerate(explanation.units) if unit.start < stop and unit.end > start]
    if not hit:
        return set()
    return set(range(max(0, hit[0] - reach), min(len(explanation.units), hit[-1] + reach + 1)))


def _check(corrupted: Sequence[Corrupted], explanations: Sequence[Explanation], clean: Sequence[Explanation]) -> None:
    if not len(corrupted) == len(explanations) == len(clean):
        raise ValueError(
            f"Expected arguments `corrupted`, `explanations` and `clean` to be of one length, "
            f"but got {len(corrupted)}, {len(explanations)} and {len(clean)}."
        )
    for index, (texts, shown, before) in enumerate(zip(corrupted, explanations, clean, strict=True)):
        for name, text, explained in (("explanations", texts.text, shown), ("clean", texts.clean, before)):
            if explained.prediction != text:
                raise ValueError(f"Expected argument `{name}` to be of the same text at index {index}, but it is not.")

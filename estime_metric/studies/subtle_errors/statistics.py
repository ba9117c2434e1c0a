"""What the scores say: do they tell clean summaries from corrupted ones, do they rise with the number of errors?

Axes: ``d`` pairs, ``n`` resamples of them. Numbers come as `with_ends` gives them, with intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from estime_metric.meta.checks import Floats, finite
from estime_metric.meta.concordance import METHODS, tally
from estime_metric.meta.paired import approximate_randomization
from estime_metric.meta.resampling import draw, interval

#: Rows of Table 3 as printed: measure, Spearman's rho, Kendall's tau-c. 2,000 pairs of CNN/DailyMail, 3 errors each.
PAPER_TABLE_3 = (
    ("BLANC-AXXL", 0.036, 0.042),
    ("BLANC-BLU", 0.076, 0.087),
    ("(-)ESTIME-12", 0.138, 0.159),
    ("(-)ESTIME-21", 0.163, 0.188),
    ("(-)ESTIME-24", 0.169, 0.195),
    ("(-)J-Shannon", 0.048, 0.055),
    ("SummaQA-F1", 0.055, 0.064),
    ("SummaQA-P", 0.054, 0.062),
    ("SUPERT", 0.107, 0.123),
)


class Sampler:
    """Resamples pairs, the same ones for everything that is computed with it.

    ``weights``, float64 of shape (1 + n, d), say how often the sample itself, then each resample takes each pair.
    """

    def __init__(self, pairs: int, n: int = 1000, seed: int = 0) -> None:
        self.pairs = pairs
        drawn = draw((pairs, 1), "documents", n, seed)[0] if pairs else None
        self.weights: Floats = np.concatenate([np.ones((1, pairs)), np.zeros((n, 0)) if drawn is None else drawn])

    def sum(self, values: npt.ArrayLike) -> Floats:
        """Sums over the pairs: that of the sample first, then those of the resamples; of shape (1 + n,)."""
        array = np.asarray(values, dtype=np.float64)  # (d,)
        return np.concatenate([[array.sum()], self.weights[1:] @ array])

    def mean(self, values: npt.ArrayLike) -> Floats:
        """Means over the pairs, likewise."""
        return divide(self.sum(values), self.sum(np.ones(np.shape(values))))


def divide(numerators: Any, denominators: Any) -> Floats:
    """Quotients, NaN where there is nothing to divide by."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients: Floats = np.where(denominators == 0, np.nan, np.asarray(numerators) / denominators)
    return quotients


def with_ends(**values: Floats) -> dict[str, float]:
    """The first of the values by their name, the ends of the 95% interval of the others as ``NAME_low``, ``NAME_high``.

    The interval is widened to the value where that lies outside: a resample that takes a pair twice ties it with
    itself, which shifts correlations of a few pairs to one side.

    Example:
        >>> {name: round(value, 6) for name, value in with_ends(x=np.array([2.0, *range(41)])).items()}
        {'x': 2.0, 'x_low': 1.0, 'x_high': 39.0}
    """
    found: dict[str, float] = {}
    for name, sampled in values.items():
        low, high, _ = interval(sampled[1:], 0.95)
        value = float(sampled[0])
        found |= {name: value, f"{name}_low": min(low, value), f"{name}_high": max(high, value)}
    return found


def agree(scores: Mapping[str, Sequence[npt.ArrayLike]], sampler: Sampler, seed: int = 0) -> dict[str, dict[str, Any]]:
    """The paper's Table 3 (section 4): does a measure tell clean summaries (1) from the same with errors (0)?

    Args:
        scores: measure -> its scores of the clean summaries and of the corrupted ones, of shape (d,) each, higher is
            better.
        sampler: resamples the ``d`` pairs, the same for all measures.
        seed: of the paired test.

    Returns:
        By measure: ``pairs``; ``spearman`` and ``kendall_c``, the correlation with the labels over all summaries, NaN
        where all scores are equal; ``behind``, how much lower its Spearman correlation is than that of the first
        measure; ``auc``, the area under the ROC curve, the chance that a clean summary scores higher than a corrupted
        one of any pair, ties half; ``preferred``, the same within pairs; ``p_value`` of the mean difference within
        pairs by approximate randomization, two-sided.

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
        counts = tally(np.concatenate([sampler.weights] * 2, axis=1), np.concatenate([clean, corrupted]), labels)
        spearman = METHODS["spearman"](counts)
        first = spearman if first is None else first
        found[measure] = {
            "pairs": sampler.pairs,
            **with_ends(
                spearman=spearman,
                kendall_c=METHODS["kendall_c"](counts),
                behind=first - spearman,
                auc=divide(counts.ordered_judgements + counts.balance, 2 * counts.ordered_judgements),
                preferred=sampler.mean((np.sign(clean - corrupted) + 1) / 2),
            ),
            "p_value": approximate_randomization(clean, corrupted, seed=seed).p_value if sampler.pairs else 1.0,
        }
    return found


def rise(values: npt.ArrayLike, numbers: Sequence[int], sampler: Sampler) -> list[dict[str, Any]]:
    """One measure of the same summaries with more and more errors.

    ``values``, (d, numbers), are of the numbers of errors ``numbers``; the first, usually 0, is the one to compare
    with.

    Returns:
        For each number: ``n_errors``; ``mean`` over the summaries; ``rise``, the mean difference to the same summaries
        with no error; ``step``, that to the next smaller number, 0 for the smallest; ``more_less_fewer``, the share of
        summaries above the one without error less the share below, -1 to 1.

    Raises:
        ValueError: the shape does not fit ``numbers``, or a value is not finite.
    """
    table = finite("values", values, 2)
    if table.shape[1] != len(numbers):
        raise ValueError(f"Expected argument `values` to have {len(numbers)} columns, but got shape {table.shape}.")
    rises = table - table[:, :1]
    steps = np.diff(table, axis=1, prepend=table[:, :1])
    kinds = {"mean": table, "rise": rises, "step": steps, "more_less_fewer": np.sign(rises)}
    return [
        {"n_errors": number, **with_ends(**{name: sampler.mean(kind[:, index]) for name, kind in kinds.items()})}
        for index, number in enumerate(numbers)
    ]

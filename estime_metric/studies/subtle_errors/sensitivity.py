"""Do the scores rise with the number of errors? Means by number of errors, and the steps between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from estime_metric.meta.checks import finite
from estime_metric.studies.subtle_errors.estimates import Estimate, Sampler


@dataclass(frozen=True)
class Level:
    """One number of errors.

    Attributes:
        n_errors: errors in each summary.
        mean: mean of the measure over the summaries.
        rise: mean difference to the same summaries with no error.
        step: mean difference to the same summaries with the next smaller number of errors; 0 for the smallest.
        more_less_fewer: share of the summaries whose value is above the one without error, less the share of those
            where it is below; -1 to 1.
    """

    n_errors: int
    mean: Estimate
    rise: Estimate
    step: Estimate
    more_less_fewer: Estimate


def sensitivity(values: npt.ArrayLike, numbers: Sequence[int], sampler: Sampler) -> list[Level]:
    """One measure of the same summaries with more and more errors.

    Args:
        values: of shape (pairs, numbers), as the measure gives them.
        numbers: how many errors each column has; the first is the one to compare with, usually 0.
        sampler: resamples the pairs for the 95% intervals.

    Raises:
        ValueError: the shape does not fit ``numbers``, or a value is not finite.
    """
    table = finite("values", values, 2)
    if table.shape[1] != len(numbers):
        raise ValueError(f"Expected argument `values` to have {len(numbers)} columns, but got shape {table.shape}.")
    rises = table - table[:, :1]
    steps = np.diff(table, axis=1, prepend=table[:, :1])
    return [
        Level(number, *(sampler.mean(one[:, index]) for one in (table, rises, steps, np.sign(rises))))
        for index, number in enumerate(numbers)
    ]

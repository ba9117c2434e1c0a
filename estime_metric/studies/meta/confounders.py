"""Pseudo-measures that know the system and nothing of the summary: the figure to beat (Steen &
Markert 2022, section 4.2, Table 1). Axes: ``d`` documents, ``s`` systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from estime_metric.studies.meta.bias import MEAN_DIGITS
from estime_metric.table.arrays import Floats, finite

#: Width of the noise that breaks ties: below any step of judgements and counts, above the rounding
#: of means.
NOISE = 1e-4


def from_property(values: ArrayLike, documents: int) -> Floats:
    """A property of systems as a measure: each of (d, s) summaries gets the value of its system,
    one of (s,) numbers; whether it is a pretrained transformer (0 or 1) is the paper's confounder
    "architecture"."""
    row = finite("values", values, 1)
    return np.tile(row, (documents, 1))


def capitalization(texts: Sequence[Sequence[str]]) -> Floats:
    """Number of upper-case letters of each of (d, s) summaries. A confounder of the paper, where most
    systems write no capitals.

    Example:
        >>> capitalization([["no capital", "Two in Rome"], ["", "USA"]])
        array([[0., 2.],
               [0., 3.]])
    """
    return np.array(
        [[sum(map(str.isupper, text)) for text in row] for row in texts], dtype=np.float64
    )


def system_upper_bound(judgements: ArrayLike) -> Floats:
    """Each of (d, s) summaries gets its system's mean judgement, rounded to 1e-9 so that equal
    means are equal: systems are ranked perfectly, their summaries not at all."""
    table = finite("judgements", judgements, 2)
    return (
        from_property(np.round(table.mean(axis=0), MEAN_DIGITS), len(table))
        if len(table)
        else table
    )


def break_ties(scores: ArrayLike, seed: int = 0) -> Floats:
    """The (d, s) scores with uniform noise within 0..`NOISE` added, so that none are equal and no
    order is reversed: ties flatter tau-b and ruin strict accuracy. ValueError: two different
    scores are as close as the noise."""
    table = finite("scores", scores, 2)
    steps = np.diff(np.unique(table))
    if len(steps) and steps.min() <= NOISE:
        raise ValueError(
            f"Expected different scores to be further apart than the noise, {NOISE:g}, but got {steps.min():.3g}."
        )
    return table + np.random.default_rng(seed).uniform(0.0, NOISE, size=table.shape)

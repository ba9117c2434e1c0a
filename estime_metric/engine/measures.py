"""Statistics of a pair -> measures: the one place where formulas stand.

A pair's statistics are a handful of numbers for each layer. Everything that is reported is computed from them, so the
front ends need no formula and cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

#: What is kept of a pair, for each layer, in this order.
STATISTICS = ("alarms", "winners", "overlap", "tokens", "ties")

Formula = Callable[[Mapping[str, Tensor]], Tensor]


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure.

    Attributes:
        name: as in the paper, where it has a name there.
        formula: statistics by name -> values, elementwise, float64.
        range: least and greatest possible value, as text.
        higher_is_better: the direction; ``None`` where the measure says nothing of quality.
        meaning: one line.
        source: where it is defined.
    """

    name: str
    formula: Formula
    range: str
    higher_is_better: bool | None
    meaning: str
    source: str


def _alarm_rate(statistics: Mapping[str, Tensor]) -> Tensor:
    return statistics["alarms"] / statistics["overlap"].clamp(min=1)


MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure(
            "alarms",
            lambda statistics: statistics["alarms"],
            "0 .. overlap",
            False,
            "Summary tokens whose best match in the source is a different token; 0 where nothing overlaps.",
            "Vasilyev & Bohannon 2021, Eq. 1",
        ),
        Measure(
            "alarm_rate",
            _alarm_rate,
            "0 .. 1",
            False,
            "Alarms for each token checked (alarms / overlap); 0 where nothing overlaps.",
            "this package; compares summaries of different lengths",
        ),
        Measure(
            "winners",
            lambda statistics: statistics["winners"],
            "0 .. overlap * source tokens",
            False,
            "Source tokens that match a summary token better than its own kind does, summed over the summary.",
            "Vasilyev & Bohannon 2021, Eq. 3",
        ),
        Measure(
            "overlap",
            lambda statistics: statistics["overlap"],
            "0 .. tokens",
            None,
            "Summary tokens that occur in the source: those that are checked.",
            "Vasilyev & Bohannon 2021, section 2",
        ),
        Measure(
            "tokens",
            lambda statistics: statistics["tokens"],
            "0 ..",
            None,
            "Summary tokens.",
            "Vasilyev & Bohannon 2021, section 2",
        ),
    )
}


def compute(measure: str, statistics: Tensor) -> Tensor:
    """The values of one measure.

    Args:
        measure: a name in ``MEASURES``.
        statistics: float64 of shape (..., len(STATISTICS)), in the order of ``STATISTICS``.

    Returns:
        float64 of shape (...).

    Raises:
        ValueError: there is no such measure.

    Example:
        >>> compute("alarm_rate", torch.tensor([3.0, 7.0, 12.0, 15.0, 0.0], dtype=torch.float64))
        tensor(0.2500, dtype=torch.float64)
    """
    if measure not in MEASURES:
        raise ValueError(f"Expected argument `measure` to be one of {', '.join(MEASURES)}, but got {measure!r}.")
    named = {name: statistics[..., place] for place, name in enumerate(STATISTICS)}
    return MEASURES[measure].formula(named).to(torch.float64)

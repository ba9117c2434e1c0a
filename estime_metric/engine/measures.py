"""Statistics of a pair -> measures: the one place where formulas stand.

A pair's statistics are a handful of numbers for each layer. Everything that is reported is computed from them, so the
integrations need no formula and cannot disagree. A rate of nothing is undefined, NaN, and never a perfect 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter

import torch
from torch import Tensor

from estime_metric.config import HIGHER_IS_BETTER

#: What is kept of a pair, for each layer, in this order: alarms, winners and verdicts within rounding over the units
#: checked, how many units occur in the source, how many there are; then, over all units, alarms, the sum of cosines,
#: and the order of their matches (NaN where these were not asked for).
STATISTICS = ("alarms", "winners", "ties", "overlap", "tokens", "alarms_alltokens", "cosines", "coherence")

Formula = Callable[[Mapping[str, Tensor]], Tensor]


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure.

    Attributes:
        name: as in the paper, where it has a name there.
        formula: statistics by name -> values, elementwise, float64.
        range: least and greatest possible value, as text.
        meaning: one line.
        source: where it is defined.
    """

    name: str
    formula: Formula
    range: str
    meaning: str
    source: str

    @property
    def higher_is_better(self) -> bool | None:
        """The direction; ``None`` where the measure says nothing of quality."""
        return HIGHER_IS_BETTER.get(self.name)


def _ratio(part: Tensor, whole: Tensor) -> Tensor:
    """``part / whole``; NaN where there is no whole."""
    return torch.where(whole > 0, part / whole, torch.nan)


def _alarm_rate(statistics: Mapping[str, Tensor]) -> Tensor:
    return _ratio(statistics["alarms"], statistics["overlap"])


def _alarms_adjusted(statistics: Mapping[str, Tensor]) -> Tensor:
    extrapolated = statistics["alarms"] * statistics["tokens"] / statistics["overlap"]
    return torch.where(statistics["overlap"] > 0, extrapolated, statistics["tokens"])


def _unsupported(statistics: Mapping[str, Tensor]) -> Tensor:
    # Where no word overlaps, `alarms` counts words that the source lacks, as the released code does: none counts twice.
    lacking = statistics["tokens"] - statistics["overlap"]
    return torch.minimum(statistics["alarms"] + lacking, statistics["tokens"])


def _unsupported_rate(statistics: Mapping[str, Tensor]) -> Tensor:
    return _ratio(_unsupported(statistics), statistics["tokens"])


def _coverage(statistics: Mapping[str, Tensor]) -> Tensor:
    return _ratio(statistics["overlap"], statistics["tokens"])


def _soft(statistics: Mapping[str, Tensor]) -> Tensor:
    return _ratio(statistics["cosines"], statistics["tokens"])


MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure(
            "alarms",
            itemgetter("alarms"),
            "0 .. overlap; with words that overlap nowhere, 0 .. tokens",
            "Summary units whose best match in the source is a different one. Where nothing overlaps: 0 with tokens, "
            "and with words the count over all units, as in the released code.",
            "Vasilyev & Bohannon 2021, Eq. 1",
        ),
        Measure(
            "alarm_rate",
            _alarm_rate,
            "0 .. 1",
            "Alarms for each unit that occurs in the source; NaN where none does.",
            "this package; compares summaries of different lengths",
        ),
        Measure(
            "alarms_adjusted",
            _alarms_adjusted,
            "0 .. tokens",
            "Alarms extrapolated to the units that do not occur in the source: alarms * tokens / overlap; all units "
            "where nothing overlaps.",
            "blanc 0.3.4",
        ),
        Measure(
            "winners",
            itemgetter("winners"),
            "0 .. overlap * source units",
            "Source units that match a summary unit better than its own kind does, summed over the summary.",
            "Vasilyev & Bohannon 2021, Eq. 3",
        ),
        Measure(
            "unsupported",
            _unsupported,
            "0 .. tokens",
            "Alarms, and the units that do not occur in the source: alarms + tokens - overlap.",
            "this package; foreign words and gibberish count",
        ),
        Measure(
            "unsupported_rate",
            _unsupported_rate,
            "0 .. 1",
            "The share of the units that are unsupported; NaN where there is no unit.",
            "this package; compares summaries of different lengths",
        ),
        Measure(
            "overlap",
            itemgetter("overlap"),
            "0 .. tokens",
            "Summary units that occur in the source: those that are checked.",
            "Vasilyev & Bohannon 2021, section 2",
        ),
        Measure(
            "tokens",
            itemgetter("tokens"),
            "0 ..",
            "Summary units.",
            "Vasilyev & Bohannon 2021, section 2",
        ),
        Measure(
            "coverage",
            _coverage,
            "0 .. 1",
            "The share of the units that occur in the source, and so are checked; NaN where there is no unit.",
            "this package; says how much of a summary its alarms speak of",
        ),
        Measure(
            "alarms_alltokens",
            itemgetter("alarms_alltokens"),
            "0 .. tokens",
            "Alarms over all summary units; one that does not occur in the source always is an alarm.",
            "blanc 0.3.4",
        ),
        Measure(
            "soft",
            _soft,
            "-1 .. 1",
            "Mean cosine between the input embeddings of a summary unit and of its best match; NaN where there is no "
            "unit.",
            "Vasilyev & Bohannon, arXiv 2112.11638",
        ),
        Measure(
            "coherence",
            itemgetter("coherence"),
            "-1 .. 1",
            "Kendall tau-c between the order of the summary units and that of their best matches; 0 where there is "
            "no order.",
            "Vasilyev & Bohannon, arXiv 2112.11638",
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
        >>> compute("alarm_rate", torch.tensor([3.0, 7, 0, 12, 15, 6, 9.5, 0.8], dtype=torch.float64))
        tensor(0.2500, dtype=torch.float64)
    """
    if measure not in MEASURES:
        raise ValueError(f"Expected argument `measure` to be one of {', '.join(MEASURES)}, but got {measure!r}.")
    named = {name: statistics[..., index] for index, name in enumerate(STATISTICS)}
    return MEASURES[measure].formula(named).to(torch.float64)

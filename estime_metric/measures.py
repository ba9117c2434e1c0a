"""The registry of measures: formulas on the statistics, a handful of numbers for each pair and
layer.

Importing this module loads no torch.
"""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from estime_metric.inputs import check_choice

if TYPE_CHECKING:
    from torch import Tensor

#: What is kept of a pair, for each layer, in this order: alarms and winners over the units checked,
#: how many of either rounding can decide, how many units occur in the source, how many there are;
#: then, NaN unless asked for, the summed lengths of the extractive fragments and their squares, and
#: over all units alarms, the sum of cosines, the order of their matches, and how many of these
#: rounding can decide.
STATISTICS = (
    *("alarms", "winners", "ties", "winner_ties", "overlap", "tokens"),
    *("copied", "copied_squares", "alarms_alltokens", "cosines", "coherence", "best_ties"),
)

#: Statistics of the extractive fragments, and those for which units that the source lacks are
#: encoded too.
_OF_FRAGMENTS, _OF_EVERY_UNIT = (
    {"copied", "copied_squares"},
    {"alarms_alltokens", "cosines", "coherence"},
)

#: statistic -> the one that counts how much of it rounding can decide
TIES = {"alarms": "ties", "winners": "winner_ties", **dict.fromkeys(_OF_EVERY_UNIT, "best_ties")}

ALARM_WEIGHT = 0.5  # in `inconsistency`, where a unit that the source lacks weighs 1


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure.

    Attributes:
        name: as in the paper, where it has a name there.
        formula: float64 tensors of one shape, named as the statistics -> the values, of that shape.
        kind: ``"count"``, whatever grows with length, 0 for a summary without tokens; ``"share"``
            or mean over the summary's own tokens, which takes its worst value there (`blank`);
            ``"rate"`` over the tokens that occur in the source, NaN where none does.
        low: the least possible value.
        high: the greatest possible value, or the measure that it never exceeds; ``None`` where
            there is no bound.
        higher_is_better: the direction; ``None`` where the measure says nothing of quality.
        meaning: one line, as the documentation prints it; with the unit ``word``, read "words" for
            "tokens".
        source: where it is defined.
    """

    name: str
    formula: Callable[..., Tensor]
    kind: Literal["count", "share", "rate"]
    low: float
    high: float | str | None
    higher_is_better: bool | None
    meaning: str
    source: str

    @property
    def statistics(self) -> tuple[str, ...]:
        """The statistics that the formula needs: the names of its arguments."""
        return tuple(inspect.signature(self.formula).parameters)

    @property
    def needs_fragments(self) -> bool:
        """Whether the extractive fragments of the summary are looked for."""
        return not _OF_FRAGMENTS.isdisjoint(self.statistics)

    @property
    def needs_every_unit(self) -> bool:
        """Whether every unit of the summary is encoded for it, also those that the source lacks."""
        return not _OF_EVERY_UNIT.isdisjoint(self.statistics)

    @property
    def blank(self) -> float:
        """The value for a summary without tokens: of a share 1 where lower is better, else 0; of a
        rate NaN.
        """
        if self.kind == "rate":
            return float("nan")
        return 1.0 if self.kind == "share" and self.higher_is_better is False else 0.0

    def __call__(self, statistics: Mapping[str, Tensor]) -> Tensor:
        """The values, float64, from the statistics that the formula needs and ``tokens``, all of
        one shape.
        """
        values = self.formula(**{name: statistics[name] for name in self.statistics})
        return (
            values.where(statistics["tokens"] > 0, self.blank) if self.kind == "share" else values
        )


def _unsupported(
    alarms: Tensor, overlap: Tensor, tokens: Tensor, weight: float = ALARM_WEIGHT
) -> Tensor:
    # Where no word overlaps, `alarms` counts words that the source lacks, as the released code
    # does: none counts twice.
    return (tokens - overlap + weight * alarms).minimum(tokens)


#: All measures by name, in the order in which they are listed everywhere.
MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure(
            "alarms",
            lambda alarms: alarms,
            "count",
            0,
            "tokens",
            False,
            "summary tokens whose best match in the source is a different token",
            "Vasilyev & Bohannon 2021, Eq. 1; where no word overlaps, the count over all words, as in blanc 0.3.4",
        ),
        Measure(
            "inconsistency",
            lambda alarms, overlap, tokens: _unsupported(alarms, overlap, tokens) / tokens,
            "share",
            0,
            1,
            False,
            f"`(absent + {ALARM_WEIGHT:g} * alarms) / tokens`, where absent tokens are those that the source lacks",
            "this package",
        ),
        Measure(
            "alarm_rate",
            lambda alarms, overlap: (alarms / overlap).where(overlap > 0, float("nan")),
            "rate",
            0,
            1,
            False,
            "`alarms / overlap`: alarms for each token checked",
            "this package",
        ),
        Measure(
            "alarms_adjusted",
            lambda alarms, overlap, tokens: (alarms * tokens / overlap).where(overlap > 0, tokens),
            "count",
            0,
            "tokens",
            False,
            "alarms extrapolated to the tokens that are not checked: `alarms * tokens / overlap`",
            "blanc 0.3.4",
        ),
        Measure(
            "winners",
            lambda winners: winners,
            "count",
            0,
            None,
            False,
            "source tokens that match a summary token better than the same token does, over the whole summary",
            "Vasilyev & Bohannon 2021, Eq. 3",
        ),
        Measure(
            "unsupported",
            lambda alarms, overlap, tokens: _unsupported(alarms, overlap, tokens, 1),
            "count",
            0,
            "tokens",
            False,
            "alarms, and the tokens that the source lacks: `alarms + tokens - overlap`",
            "this package",
        ),
        Measure(
            "unsupported_rate",
            lambda alarms, overlap, tokens: _unsupported(alarms, overlap, tokens, 1) / tokens,
            "share",
            0,
            1,
            False,
            "`unsupported / tokens`",
            "this package",
        ),
        Measure(
            "overlap",
            lambda overlap: overlap,
            "count",
            0,
            "tokens",
            None,
            "summary tokens that occur in the source; only these are checked",
            "Vasilyev & Bohannon 2021, section 2",
        ),
        Measure(
            "tokens",
            lambda tokens: tokens,
            "count",
            0,
            None,
            None,
            "summary tokens",
            "Vasilyev & Bohannon 2021, section 2",
        ),
        Measure(
            "coverage",
            lambda overlap, tokens: overlap / tokens,
            "share",
            0,
            1,
            None,
            "`overlap / tokens`: how much of the summary was checked",
            "this package",
        ),
        Measure(
            "blank",
            lambda tokens: (tokens == 0).to(tokens),
            "count",
            0,
            1,
            None,
            "1 for a summary without tokens, 0 for any other; summaries are counted by its sum",
            "this package",
        ),
        Measure(
            "copied",
            lambda copied, tokens: copied / tokens,
            "share",
            0,
            1,
            None,
            "share of the tokens that stand in extractive fragments, runs copied from the source",
            "Grusky, Naaman & Artzi 2018 (Newsroom), coverage",
        ),
        Measure(
            "copied_density",
            lambda copied_squares, tokens: copied_squares / tokens,
            "share",
            0,
            "tokens",
            None,
            "mean length of the fragment that a token stands in, 0 for a token in none",
            "Grusky, Naaman & Artzi 2018 (Newsroom), density",
        ),
        Measure(
            "alarms_alltokens",
            lambda alarms_alltokens: alarms_alltokens,
            "count",
            0,
            "tokens",
            False,
            "alarms over all summary tokens; one that the source lacks always is one",
            "blanc 0.3.4",
        ),
        Measure(
            "soft",
            lambda cosines, tokens: cosines / tokens,
            "share",
            -1,
            1,
            True,
            "mean cosine between the context-free embeddings of a token and of its best match",
            "Vasilyev & Bohannon, arXiv 2112.11638",
        ),
        Measure(
            "coherence",
            lambda coherence: coherence,
            "share",
            -1,
            1,
            True,
            "Kendall tau-c between the order of the tokens and that of their best matches; 0 where there is no order",
            "Vasilyev & Bohannon, arXiv 2112.11638",
        ),
    )
}

#: ``{model: {measure: value}}`` for the encoders that ship, as ``python -m
#: estime_metric.studies.training.record`` wrote them.
OPERATING_POINTS = Path(__file__).with_name("operating_points.json")

RECOMMENDED = "inconsistency"  # the measure to choose and compare by, which is shown first

#: Those that `EstimeConfig.measures` has to name, and those that every result holds.
FURTHER_MEASURES = tuple(
    name for name, one in MEASURES.items() if one.needs_every_unit or one.needs_fragments
)
BASE_MEASURES = tuple(name for name in MEASURES if name not in FURTHER_MEASURES)

#: Direction of the measures that judge a summary; the others say how long it is and how much of it
#: is checked.
HIGHER_IS_BETTER = {
    name: one.higher_is_better for name, one in MEASURES.items() if one.higher_is_better is not None
}


def compute(measure: str, statistics: Tensor) -> Tensor:
    """One measure (else ValueError), float64 of shape (...), from ``statistics`` of shape (...,
    len(STATISTICS)).
    """
    check_choice("measure", measure, MEASURES)
    return MEASURES[measure](dict(zip(STATISTICS, statistics.unbind(-1), strict=True)))


_LAYER = re.compile(r"_layer\d+$")


def reported_name(measure: str, layer: int, layers: Collection[int]) -> str:
    """The name under which every toolkit and every file has the values of a measure.

    It is the measure's own name and, if several ``layers`` were read, its layer. It consists of
    letters, digits and underscores, since MLflow and Weights & Biases refuse other characters.

    Example:
        >>> reported_name("alarms", 12, [12])
        'alarms'
        >>> reported_name("alarms", 12, [12, 21])
        'alarms_layer12'
    """
    return f"{measure}_layer{layer}" if len(layers) > 1 else measure


def measure_of(name: str) -> str:
    """The measure of a `reported_name`; any other name as it is.

    Example:
        >>> measure_of("alarms_layer12"), measure_of("alarm_rate")
        ('alarms', 'alarm_rate')
    """
    return _LAYER.sub("", name)


def threshold_value(threshold: float | str, measure: str, model: str) -> float:
    """A threshold as a number, else TypeError or ValueError; ``"balanced"`` is the documented value
    of an encoder.
    """
    if isinstance(threshold, str):
        if threshold != "balanced":
            raise ValueError(
                f"Expected argument `threshold` to be a number or 'balanced', but got {threshold!r}."
            )
        known = (
            json.loads(OPERATING_POINTS.read_text(encoding="utf-8"))
            if OPERATING_POINTS.exists()
            else {}
        )
        threshold = known.get(model, {}).get(measure)
        if threshold is None:
            said = f"a number, since no balanced one of {measure!r} is documented for {model!r}."
            raise ValueError(f"Expected argument `threshold` to be {said}")
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)):
        raise TypeError(
            f"Expected argument `threshold` to be a number or 'balanced', but got {threshold!r}."
        )
    if not math.isfinite(threshold):
        raise ValueError(f"Expected argument `threshold` to be finite, but got {threshold}.")
    return float(threshold)

"""The registry of measures: formulas on the statistics, a handful of numbers for each pair and layer.

Importing this module loads no torch.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from inspect import signature
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from estime_metric.checks import check_choice

if TYPE_CHECKING:
    from torch import Tensor

#: The numbers that are kept for each pair and layer, in this order. ``estime_metric.engine.statistics``
#: computes them.
STATISTICS = (
    "alarms",  # units that are checked and raise an alarm (Eq. 1)
    "graded_alarms",  # the sum of 1 / (1 + exp(margin / TEMPERATURE)) over the units that are checked
    "winners",  # source units that match better, summed over the checked units (Eq. 3)
    "ties",  # alarms that rounding can decide
    "winner_ties",  # winners that rounding can decide
    "overlap",  # units that occur in the source, so that they are checked
    "tokens",  # units
    "missing",  # units that the summary has fewer than `min_tokens`
    "new_words",  # fraction of the words that do not occur in the source
    "new_bigrams",  # fraction of the bigrams that do not occur in the source
    "new_trigrams",  # fraction of the trigrams that do not occur in the source
    "repetition",  # fraction of the runs of four words that occurred before in the summary
    "copied_density",  # mean over the words of the length of the copied run that a word belongs to
    "new_names",  # names that the source has in no written form; NaN if capitals say nothing
    "new_numbers",  # numbers that the source has in no written form
    "alarms_alltokens",  # alarms over all units; NaN unless requested, like all that follow
    "cosines",  # the cosines of `soft`, summed
    "coherence",  # Kendall tau-c of the order of the matches
    "best_ties",  # units whose best match rounding can decide
)

#: Statistics that need the embeddings of units that do not occur in the source, too.
_OF_EVERY_UNIT = frozenset({"alarms_alltokens", "cosines", "coherence"})

#: statistic -> the one that counts how much of it rounding can decide
TIES = {
    "alarms": "ties",
    "winners": "winner_ties",
    "alarms_alltokens": "best_ties",
    "cosines": "best_ties",
    "coherence": "best_ties",
}

#: Statistics that embeddings decide; the texts alone decide the others.
_OF_EMBEDDINGS = frozenset({*TIES, "graded_alarms"})

#: The constants of `inconsistency`; docs/benchmarks.md says how they were chosen.
TEMPERATURE = 0.02  # at a relative margin of minus this, a graded alarm is .73
ALARM_WEIGHT = 0.25  # of a graded alarm; a new word weighs 1
NEW_SHARE = 0.1  # of new trigrams in the weighted mean
NUMBER_WEIGHT = (
    0.2  # of what is supported, the first new number removes this share, all others at most as much
)

#: The recommended measure for selecting and comparing, which is shown first.
RECOMMENDED = "inconsistency"

#: The measure of the paper.
PAPER_MEASURE = "alarms"

Kind = Literal["count", "share", "rate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One measure.

    Attributes:
        name: the name used in the paper, if it has one.
        formula: a function from float64 tensors of the same shape, named as in ``needs``, to the
            values, of that shape.
        needs: the statistics that the formula uses.
        kind: ``"count"`` grows with the length and is 0 for a blank summary. ``"share"`` is a ratio or
            mean over all tokens of the summary; a blank summary gets 1 if lower is better, otherwise 0.
            ``"rate"`` is a ratio over the tokens that occur in the source and is NaN if there are none.
        low: the least possible value.
        high: the greatest possible value, or the measure that it never exceeds; ``None`` if it is
            unbounded.
        higher_is_better: the direction; ``None`` if the measure does not express quality.
        meaning: one line, as the documentation prints it; with the unit ``word``, read "words" for
            "tokens".
        source: where it is defined.
        checked_only: whether the measure only judges the tokens that occur in the source. It cannot
            compare systems if most of their tokens do not.
        undefined_if: what is true of summaries for which the value is NaN; empty if it never is.
    """

    name: str
    formula: Callable[..., Tensor]
    needs: tuple[str, ...]
    kind: Kind
    low: float = 0
    high: float | str | None
    higher_is_better: bool | None
    meaning: str
    source: str = "this package"
    checked_only: bool = False
    undefined_if: str = ""

    @property
    def needs_every_unit(self) -> bool:
        """Whether the measure needs the embeddings of all units of the summary, also of units that do not
        occur in the source.
        """
        return not _OF_EVERY_UNIT.isdisjoint(self.needs)

    @property
    def is_of_texts(self) -> bool:
        """Whether the texts alone decide the measure, so that no batch and no precision changes it."""
        return _OF_EMBEDDINGS.isdisjoint(self.needs)

    @property
    def can_be_undefined(self) -> bool:
        """Whether the value can be NaN."""
        return bool(self.undefined_if)

    @property
    def decimals(self) -> int:
        """Digits after the point of a mean that is printed."""
        return 4 if self.high == 1 and self.kind != "count" else 2

    @property
    def blank(self) -> float:
        """The value for a summary without tokens: 0 for a count, NaN for a rate, and for a share 1 if
        lower is better, otherwise 0.
        """
        if self.kind == "rate":
            return float("nan")
        return 1.0 if self.kind == "share" and self.higher_is_better is False else 0.0

    def warning(self, undefined: int, pairs: int) -> str:
        """What a mean over ``pairs`` warns of if the measure is ``undefined`` for some of them."""
        return (
            f"{self.name} is undefined for {undefined} of {pairs} pairs, which are excluded from its mean: "
            f"{self.undefined_if}."
        )

    def __call__(self, statistics: Mapping[str, Tensor]) -> Tensor:
        """The values, float64, from the statistics that the formula needs and ``tokens``, all of
        one shape.
        """
        values = self.formula(**{name: statistics[name] for name in self.needs})
        if self.kind == "share":
            return values.where(statistics["tokens"] > 0, self.blank)
        return values


#: All measures by name, in the order in which they should be read.
MEASURES: dict[str, Measure] = {}

Formula = Callable[..., "Tensor"]


def _measure(**fields: Any) -> Callable[[Formula], Formula]:
    """Registers a formula as the measure with the function's name, which needs the statistics that are its
    arguments, and with these fields of `Measure`.
    """

    def register(formula: Formula) -> Formula:
        name, needs = formula.__name__, tuple(signature(formula).parameters)
        MEASURES[name] = Measure(name=name, formula=formula, needs=needs, **fields)
        return formula

    return register


def _statistic(name: str, **fields: Any) -> None:
    """Registers a statistic as a measure, with these fields of `Measure`."""
    MEASURES[name] = Measure(
        name=name, formula=lambda **statistics: statistics[name], needs=(name,), **fields
    )


@_measure(
    kind="share",
    high=1,
    higher_is_better=False,
    meaning=(
        f"`1 - (1 - x) * (1 - {2 * NUMBER_WEIGHT:g} * n / (n + 1))`, where `n` is `new_numbers` and `x` is"
        f" `{1 - NEW_SHARE:g} * min(1, new_words + {ALARM_WEIGHT:g} * graded_alarms / tokens) + {NEW_SHARE:g} * new_trigrams`;"
        " 1 if no token was checked"
    ),
)
def inconsistency(
    new_words: Tensor,
    graded_alarms: Tensor,
    tokens: Tensor,
    new_trigrams: Tensor,
    new_numbers: Tensor,
    missing: Tensor,
    overlap: Tensor,
) -> Tensor:
    """New words, trigrams and numbers, and words whose context is different in the source; each of the
    ``missing`` units counts as a new word. A summary that the encoder cannot read, so that nothing was
    checked, is not the best one.
    """
    wrong_words = (new_words + ALARM_WEIGHT * graded_alarms / tokens).clamp(max=1)
    supported = 1 - ((1 - NEW_SHARE) * wrong_words + NEW_SHARE * new_trigrams)
    removed = 2 * NUMBER_WEIGHT * new_numbers / (new_numbers + 1)
    supported = supported * (1 - removed) * tokens / (tokens + missing)
    return (1 - supported).where(overlap > 0, 1.0)


_statistic(
    "graded_alarms",
    kind="count",
    high="tokens",
    higher_is_better=False,
    meaning=(
        f"sum of `1 / (1 + exp(m / {TEMPERATURE:g}))` over the checked tokens; `m` is the similarity to the same token "
        "minus the similarity to the best different one, divided by the larger"
    ),
    checked_only=True,
)


_statistic(
    "new_words",
    kind="share",
    high=1,
    higher_is_better=False,
    meaning="share of the words that the source does not have",
)


_statistic(
    "new_bigrams",
    kind="share",
    high=1,
    higher_is_better=False,
    meaning="share of the word bigrams that the source does not have",
    source="See, Liu & Manning 2017, section 7.2 (novel n-grams)",
)


_statistic(
    "new_trigrams",
    kind="share",
    high=1,
    higher_is_better=False,
    meaning="share of the word trigrams that the source does not have",
    source="See, Liu & Manning 2017, section 7.2 (novel n-grams)",
)


_statistic(
    "repetition",
    kind="share",
    high=1,
    higher_is_better=False,
    meaning="share of the runs of four words that occurred before in the summary; 0 for one to three words",
    source="Welleck et al. 2020 (unlikelihood training), section 4 (seq-rep-4)",
)


_statistic(
    "copied_density",
    kind="share",
    high=None,
    higher_is_better=None,
    meaning="mean over the words of the length, in words, of the copied run that the word belongs to",
    source="Grusky, Naaman & Artzi 2018 (Newsroom), density",
)


_statistic(
    "new_names",
    kind="count",
    high=None,
    higher_is_better=False,
    meaning="names that the source has in no written form, each once; undefined if capitals say nothing in the summary",
    undefined_if="capitals say nothing in their summaries",
)


_statistic(
    "new_numbers",
    kind="count",
    high=None,
    higher_is_better=False,
    meaning="numbers, in digits or words, that the source has in no written form, each once",
)


_statistic(
    "alarms",
    kind="count",
    high="tokens",
    higher_is_better=False,
    meaning="tokens whose best match in the source is a different token",
    source=(
        "Vasilyev & Bohannon 2021, Eq. 1; if no word overlaps, the count over all words, as in blanc 0.3.4"
    ),
    checked_only=True,
)


@_measure(
    kind="rate",
    high=1,
    higher_is_better=False,
    meaning="`alarms / overlap`: share of the checked tokens that raise an alarm",
    checked_only=True,
    undefined_if="their summaries have no token that occurs in the source, or no token at all",
)
def alarm_rate(alarms: Tensor, overlap: Tensor) -> Tensor:
    """Undefined if nothing was checked."""
    return (alarms / overlap).where(overlap > 0, float("nan"))


@_measure(
    kind="count",
    high="tokens",
    higher_is_better=False,
    meaning="`alarms * tokens / overlap`: alarms extrapolated to all tokens",
    source="blanc 0.3.4",
    checked_only=True,
)
def alarms_adjusted(alarms: Tensor, overlap: Tensor, tokens: Tensor) -> Tensor:
    """All tokens if nothing was checked."""
    return (alarms * tokens / overlap).where(overlap > 0, tokens)


_statistic(
    "winners",
    kind="count",
    high=None,
    higher_is_better=False,
    meaning="source positions that match a token better than the closest occurrence of the same token does, summed over the summary",
    source="Vasilyev & Bohannon 2021, Eq. 3",
    checked_only=True,
)


@_measure(
    kind="count",
    high="tokens",
    higher_is_better=False,
    meaning="`alarms + tokens - overlap`: alarms plus tokens that the source does not have",
)
def unsupported(alarms: Tensor, overlap: Tensor, tokens: Tensor) -> Tensor:
    """If no word overlaps, ``alarms`` counts absent words; none of them counts twice."""
    return (tokens - overlap + alarms).minimum(tokens)


@_measure(
    kind="share",
    high=1,
    higher_is_better=False,
    meaning="`unsupported / tokens`",
)
def unsupported_rate(alarms: Tensor, overlap: Tensor, tokens: Tensor) -> Tensor:
    """`unsupported` without its growth with length."""
    return unsupported(alarms, overlap, tokens) / tokens


_statistic(
    "overlap",
    kind="count",
    high="tokens",
    higher_is_better=None,
    meaning="tokens that occur in the source; only these are checked",
    source="Vasilyev & Bohannon 2021, section 2",
)


_statistic(
    "tokens",
    kind="count",
    high=None,
    higher_is_better=None,
    meaning="tokens of the summary",
    source="Vasilyev & Bohannon 2021, section 2",
)


@_measure(
    kind="share",
    high=1,
    higher_is_better=None,
    meaning="`overlap / tokens`: share of the summary that was checked",
)
def coverage(overlap: Tensor, tokens: Tensor) -> Tensor:
    """The fraction of the tokens that are checked."""
    return overlap / tokens


@_measure(
    kind="count",
    high=1,
    higher_is_better=None,
    meaning="1 if the summary has no tokens, otherwise 0",
)
def blank(tokens: Tensor) -> Tensor:
    """Whether the summary has no tokens."""
    return (tokens == 0).to(tokens)


_statistic(
    "alarms_alltokens",
    kind="count",
    high="tokens",
    higher_is_better=False,
    meaning="as `unsupported`, but all tokens are masked, not only those that the source has, which changes some alarms",
    source="blanc 0.3.4",
)


@_measure(
    kind="share",
    low=-1,
    high=1,
    higher_is_better=True,
    meaning="mean cosine between the context-free embeddings of a token and of its best match",
    source="Vasilyev & Bohannon, arXiv 2112.11638",
)
def soft(cosines: Tensor, tokens: Tensor) -> Tensor:
    """A softer comparison than by ids."""
    return cosines / tokens


_statistic(
    "coherence",
    kind="share",
    low=-1,
    high=1,
    higher_is_better=True,
    meaning=(
        "Kendall's tau-c between the positions of the tokens and the positions of their best matches; 0 if it is "
        "undefined"
    ),
    source="Vasilyev & Bohannon, arXiv 2112.11638",
)


#: Measures whose means a report shows, in addition to the requested ones.
REPORTED = (
    "inconsistency",
    "new_names",
    "new_numbers",
    "repetition",
    "copied_density",
    "alarms",
    "tokens",
    "blank",
)

#: Measures that every row, dictionary and table has. `EstimeConfig.measures` adds others to them.
BASE_MEASURES = (
    "inconsistency",
    "graded_alarms",
    "new_words",
    "new_trigrams",
    "new_names",
    "new_numbers",
    "repetition",
    "copied_density",
    "alarms",
    "alarm_rate",
    "tokens",
    "coverage",
    "blank",
)

#: Measures that need further computation, so that a result has their values only if
#: `EstimeConfig.measures` lists them.
FURTHER_MEASURES = tuple(name for name, measure in MEASURES.items() if measure.needs_every_unit)

#: The direction of the measures that judge a summary. The others describe its length and how much of
#: it was checked.
HIGHER_IS_BETTER = {
    name: measure.higher_is_better
    for name, measure in MEASURES.items()
    if measure.higher_is_better is not None
}


def check_threshold(threshold: Any, measure: str, name: str = "threshold") -> float:
    """A threshold, the argument ``name``, as a float. Raises TypeError unless it is a number, also of NumPy; ValueError unless
    it is finite and a possible value of the measure.
    """
    if isinstance(threshold, bool) or not isinstance(threshold, Real):
        raise TypeError(f"Expected argument `{name}` to be a number, but got {threshold!r}.")
    low, bound = MEASURES[measure].low, MEASURES[measure].high
    high = math.inf if bound is None or isinstance(bound, str) else bound
    limit = float(threshold)
    if not math.isfinite(limit) or not low <= limit <= high:
        possible = f"at least {low:g}" if math.isinf(high) else f"from {low:g} to {high:g}"
        raise ValueError(
            f"Expected argument `{name}` to be {possible}, as values of {measure} are, but got "
            f"{limit:g}."
        )
    return limit


def compute(measure: str, statistics: Tensor) -> Tensor:
    """Computes one measure, float64 of shape (...), from ``statistics`` of shape (...,
    len(STATISTICS)). An unknown name raises ValueError.
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

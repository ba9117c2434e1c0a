"""What a comparison of systems found: which is better, how they rank, which do not differ
significantly.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from estime_metric.comparison.rows import LINE
from estime_metric.config import LOW_COVERAGE
from estime_metric.measures import HIGHER_IS_BETTER, measure_of
from estime_metric.stats.checks import Floats
from estime_metric.stats.paired import LEVEL, NOTHING, PairedComparison, paired_bootstrap
from estime_metric.validation import check_choice

#: Measures whose means are reported in addition to the scores, since they can explain a difference.
BESIDE = ("tokens", "coverage", "copied", "copied_density")

SMALL_SAMPLE = 30  # fewer independent examples than this are called few


@dataclass(frozen=True)
class System:
    """Additional information about a system: its ``name``, the number of its summaries without
    tokens (``blank``), and the ``means`` of `BESIDE`, NaN for those that the rows do not have; a
    blank summary has the coverage 0. ``given_name`` is the name that you gave the system, which
    differs from ``name`` if two systems are called A and B.
    """

    name: str
    blank: int
    means: Mapping[str, float]
    given_name: str

    @property
    def unchecked(self) -> str | None:
        """Why this system is excluded from verdicts, if most of its tokens were not checked;
        otherwise ``None``.
        """
        if not self.means["coverage"] < LOW_COVERAGE:
            return None
        blank = f" ({self.blank} summaries are blank)" if self.blank else ""
        return f"only {self.means['coverage']:.0%} of the tokens of {self.name} were checked{blank}"


@dataclass(frozen=True)
class Pair:
    """The comparison of two systems on one measure. ``test`` contains the means, wins and test
    results; its p-value is corrected for the number of ``tests``.
    """

    first: System
    second: System
    test: PairedComparison
    tests: int

    @property
    def unchecked(self) -> str | None:
        """Why there is no verdict, if too little of one of the two was checked; otherwise ``None``."""
        return " and ".join(filter(None, (self.first.unchecked, self.second.unchecked))) or None

    @property
    def better(self) -> str | None:
        """The name of the better one; ``None`` if the difference is not significant or too little
        was checked.
        """
        if self.unchecked is not None or self.test.better is None:
            return None
        return self.first.name if self.test.better == "first" else self.second.name

    @property
    def verdict(self) -> str:
        """What `better` says, in words and with the reason."""
        if not self.test.examples:
            return "no example has a value on both sides"
        if self.unchecked is not None:
            return f"no winner is declared: {self.unchecked}"
        said = "no significant difference" if self.better is None else f"{self.better} is better"
        p_value = "< 0.0001" if self.test.p_value < 1e-4 else f"= {self.test.p_value:.4f}"
        corrected = f", corrected for {self.tests} tests" if self.tests > 1 else ""
        return f"{said} (approximate randomization, p {p_value}{corrected})"

    def outcome(self, system: System) -> Outcome:
        """On how many examples one of the two is better than the other, equal, or worse."""
        first = Outcome(self.test.better_first, self.test.ties, self.test.better_second)
        return first if system is self.first else first.of_the_other


@dataclass(frozen=True)
class Outcome:
    """On how many examples a system is better than another, equal to it, or worse."""

    won: int = 0
    tied: int = 0
    lost: int = 0

    @property
    def of_the_other(self) -> Outcome:
        """The same, as the other system sees it."""
        return Outcome(won=self.lost, tied=self.tied, lost=self.won)

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(self.won + other.won, self.tied + other.tied, self.lost + other.lost)


@dataclass(frozen=True)
class Ranked:
    """The rank of a system on one measure: its ``mean`` score with a bootstrap interval, whose ends
    are NaN if all examples have the same source; the number of examples on which it is better than,
    equal to, or worse than the systems it is compared with, summed over those systems; its
    ``clusters``, numbers from 1, see `Comparison.clusters`.
    """

    system: System
    mean: float
    low: float
    high: float
    won: int
    tied: int
    lost: int
    clusters: tuple[int, ...]


def clusters_of(
    names: Sequence[str], differing: Iterable[Collection[str]]
) -> list[tuple[str, ...]]:
    """The maximal sets of names in which no two differ: every set is as large as it can be.

    Args:
        names: all names, in an order that the sets and their members keep.
        differing: the pairs of names that differ.

    Example:
        >>> clusters_of(["a", "b", "c", "d"], [("a", "c"), ("a", "d"), ("b", "d")])
        [('a', 'b'), ('b', 'c'), ('c', 'd')]
    """
    found: list[tuple[str, ...]] = [tuple(names)] if names else []
    for pair in differing:
        found = _maximal(part for cluster in found for part in _split(cluster, pair))
    place = {name: index for index, name in enumerate(names)}
    return sorted(found, key=lambda cluster: [place[name] for name in cluster])


def _split(cluster: tuple[str, ...], pair: Collection[str]) -> list[tuple[str, ...]]:
    """A cluster that has both names as two clusters, each without one of them."""
    if not set(pair) <= set(cluster):
        return [cluster]
    return [tuple(name for name in cluster if name != removed) for removed in sorted(pair)]


def _maximal(clusters: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The clusters without repetitions and without those that are part of another."""
    different = list(dict.fromkeys(clusters))
    return [one for one in different if not any(set(one) < set(other) for other in different)]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several systems over the examples that all of them have; ValueError for a measure that was
    not compared.

    Attributes:
        systems: in the order given.
        pairs: measure (``alarms``, or ``alarms_layer12`` of several layers) -> the pairs of systems that
            were tested.
        scores: measure -> float64 of shape (systems, examples); NaN for all systems if the score of
            one system is undefined.
        examples, signature: number of examples, and the one signature of all scores.
        matched_by: the columns by which the rows were joined; ``"order"`` for results.
        baseline: name of the system with which each other is compared; ``None``: every two are
            compared.
        options: ``n``, ``confidence`` and ``seed`` of the tests.
        unmatched: one sentence for each example that is missing for at least one system.
        sources: the source of each example, or what identifies it. The tests draw and swap whole
            sources. ``None`` if the sources are not known: each example counts as a separate one.
    """

    systems: tuple[System, ...]
    pairs: Mapping[str, tuple[Pair, ...]]
    scores: Mapping[str, Floats]
    examples: int
    matched_by: str
    signature: str
    baseline: str | None
    options: Mapping[str, Any]
    unmatched: tuple[str, ...] = ()
    sources: tuple[str, ...] | None = None

    @property
    def number_of_sources(self) -> int | None:
        """How many different sources the examples have; ``None`` if that is not known."""
        return None if self.sources is None else len(set(self.sources))

    def pair(self, measure: str, first: str | None = None, second: str | None = None) -> Pair:
        """The comparison of two systems by a measure; ValueError if it was not made. ``first`` and
        ``second`` are their names in either order, which can be omitted if only two systems were
        compared."""
        check_choice("measure", measure, self.pairs)
        found = self.pairs[measure]
        if first is not None or second is not None:
            found = tuple(
                pair for pair in found if {pair.first.name, pair.second.name} == {first, second}
            )
        if len(found) != 1:
            raise ValueError(
                f"Expected arguments `first` and `second` to name two systems that were compared, but got {first!r} "
                f"and {second!r}."
            )
        return found[0]

    def better(
        self, measure: str, first: str | None = None, second: str | None = None
    ) -> str | None:
        """The name of the better one of two systems, or ``None``; arguments as for `pair`."""
        return self.pair(measure, first, second).better

    def verdict(self, measure: str, first: str | None = None, second: str | None = None) -> str:
        """What `better` says, in words and with the reason; arguments as for `pair`."""
        return self.pair(measure, first, second).verdict

    def ranking(self, measure: str) -> list[Ranked]:
        """The systems ordered from best to worst mean. Systems for which most tokens were not
        checked come last.
        """
        clusters = self.clusters(measure)
        return [self._ranked(measure, place, clusters) for place in self._order(measure)]

    def _ranked(self, measure: str, place: int, clusters: Sequence[tuple[str, ...]]) -> Ranked:
        """The rank of the system with this index."""
        system, values = self.systems[place], self._known(measure)[place]
        outcome = Outcome()
        for pair in self.pairs[measure]:
            if system in (pair.first, pair.second):
                outcome += pair.outcome(system)
        mean = (
            paired_bootstrap(
                values, np.zeros(len(values)), groups=self._known_sources(measure), **self.options
            )
            if len(values)
            else NOTHING
        )
        own = (number for number, names in enumerate(clusters, start=1) if system.name in names)
        return Ranked(
            system=system,
            mean=mean.difference,
            low=math.nan if mean.low is None else mean.low,
            high=math.nan if mean.high is None else mean.high,
            won=outcome.won,
            tied=outcome.tied,
            lost=outcome.lost,
            clusters=tuple(own),
        )

    def clusters(self, measure: str) -> list[tuple[str, ...]]:
        """The maximal sets of systems in which no two systems differ significantly, best systems
        first. Empty if a baseline is used. A system can be in several clusters; a system for which
        most tokens were not checked is in none.
        """
        if self.baseline is not None:
            return []
        ranked = (self.systems[place] for place in self._order(measure))
        checked = [system.name for system in ranked if system.unchecked is None]
        differing = [
            (pair.first.name, pair.second.name)
            for pair in self.pairs[measure]
            if pair.better is not None
        ]
        return clusters_of(checked, differing)

    @property
    def notes(self) -> list[str]:
        """What you need to know about these numbers, one sentence or two each."""
        notes = [*self._notes_of_sources()]
        if self.matched_by == LINE:
            notes.append(
                "Rows were matched by line number. This is correct only if all files list the same sources in the same "
                "order. To be safe, keep a column 'id', or name another column with `id_column` (--id-column)."
            )
        for measure, pairs in self.pairs.items():
            notes += self._notes_of(measure, pairs)
        if any(system.unchecked for system in self.systems):
            notes.append(
                "Tokens that do not occur in the source cannot be checked. If most tokens are unchecked, a low number "
                "of alarms does not mean that the summaries are consistent. Inspect the summaries."
            )
        return notes

    @property
    def _sources_repeat(self) -> bool:
        """Whether some examples are known to share a source."""
        return self.sources is not None and len(set(self.sources)) < len(self.sources)

    def _notes_of_sources(self) -> list[str]:
        """How many independent examples there are, and how far that is known."""
        notes = []
        known = self.number_of_sources
        count = self.examples if known is None else known
        counted, together = (
            ("different sources", "All examples have the same source")
            if self._sources_repeat
            else ("examples", "There is only one example")
        )
        if count == 1:
            notes.append(
                f"{together}, so there are no intervals, and no difference can be significant."
            )
        elif count < SMALL_SAMPLE:
            notes.append(
                f"There are only {count} {counted}. Only large differences can be significant, and the bootstrap "
                "intervals are too narrow."
            )
        if self._sources_repeat and count > 1:
            notes.append(
                f"The {self.examples} examples have {count} different sources. Summaries of one source are not "
                "independent, so the tests draw and swap whole sources."
            )
        if known is None and self.examples > 1:
            notes.append(
                "The sources are not known, so each example is treated as independent. If several examples share a "
                "source, the intervals are too narrow and the p-values too small. To be safe, score with "
                "--keep-texts, keep a column 'document', or name the column that identifies the source with "
                "`source_column` (--source-column)."
            )
        return notes

    def _notes_of(self, measure: str, pairs: Sequence[Pair]) -> list[str]:
        """What you need to know about one measure."""
        notes = []
        # Of k examples (or sources) that differ, the least p-value is 2 / 2 ** k.
        least = math.ceil(1 - math.log2(LEVEL))
        few = [
            pair.test.groups_differing for pair in pairs if 0 < pair.test.groups_differing < least
        ]
        total, units = self.examples, "examples"
        if self._sources_repeat:
            total, units = self.number_of_sources or 0, "sources"
        if few and len(pairs) == 1:
            notes.append(
                f"{measure}: only {few[0]} of {total} {units} differ; significance needs at least {least}."
            )
        elif few:
            notes.append(
                f"{measure}: {len(few)} of {len(pairs)} pairs of systems differ in fewer than {least} {units}, "
                "which is too few for significance."
            )
        if left_out := pairs[0].test.left_out:
            systems = "two systems" if len(self.systems) == 2 else "systems"
            notes.append(
                f"{measure}: {left_out} of {self.examples} examples are excluded because at least one of the {systems} "
                "has no value."
            )
        return notes

    def to_rows(self) -> list[dict[str, Any]]:
        """One flat row for each measure and pair of systems, for a file or a data frame."""
        return [
            _without_nan(
                _numbers(measure, pair, sources_known=self.sources is not None)
                | {"verdict": pair.verdict, "signature": self.signature}
            )
            for measure, pairs in self.pairs.items()
            for pair in pairs
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything, for one JSON object: the systems with the names that you gave them, rankings and
        clusters of each measure, and the rows of `to_rows`.
        """
        return {
            "signature": self.signature,
            "systems": {system.name: system.given_name for system in self.systems},
            "examples": self.examples,
            "sources": self.number_of_sources,
            "matched_by": self.matched_by,
            "baseline": self.baseline,
            **self.options,
            "rankings": {
                measure: [_place(one) for one in self.ranking(measure)] for measure in self.pairs
            },
            "clusters": {measure: self.clusters(measure) for measure in self.pairs},
            "pairs": self.to_rows(),
            "notes": self.notes,
        }

    def _known(self, measure: str) -> Floats:
        """Shape (systems, examples), without the examples that have no value."""
        return self.scores[measure][:, self._has_value(measure)]

    def _known_sources(self, measure: str) -> list[str] | None:
        """The sources of the examples of `_known`."""
        if self.sources is None:
            return None
        return [
            source
            for source, known in zip(self.sources, self._has_value(measure), strict=True)
            if known
        ]

    def _has_value(self, measure: str) -> npt.NDArray[np.bool_]:
        """Which examples have a value for all systems, of shape (examples,)."""
        check_choice("measure", measure, self.scores)
        known: npt.NDArray[np.bool_] = np.logical_not(np.isnan(self.scores[measure]).any(axis=0))
        return known

    def _order(self, measure: str) -> list[int]:
        """Indices of the systems: the best mean first, what was not checked last."""
        direction = -1.0 if higher_is_better(measure) else 1.0
        # Exact sums: systems with the same scores in another order are equal.
        sums = [direction * math.fsum(values) for values in self._known(measure)]
        return sorted(
            range(len(sums)),
            key=lambda place: (self.systems[place].unchecked is not None, sums[place]),
        )


def higher_is_better(measure: str) -> bool:
    """The direction of a measure, with or without a layer; ValueError if it does not have a direction
    or is unknown.
    """
    base = measure_of(measure)
    if base not in HIGHER_IS_BETTER:
        listed = ", ".join(HIGHER_IS_BETTER)
        raise ValueError(
            f"Expected argument `measures` to name some of {listed}, but got {measure!r}."
        )
    return HIGHER_IS_BETTER[base]


def _numbers(measure: str, pair: Pair, *, sources_known: bool) -> dict[str, Any]:
    test, first, second = pair.test, pair.first, pair.second
    return {
        "measure": measure,
        "system_a": first.name,
        "system_b": second.name,
        "name_a": first.given_name,
        "name_b": second.given_name,
        "examples": test.examples,
        "sources": test.groups if sources_known else None,
        "left_out": test.left_out,
        "mean_a": test.mean_first,
        "mean_b": test.mean_second,
        "difference": test.bootstrap.difference,
        "low": test.bootstrap.low,
        "high": test.bootstrap.high,
        "p_bootstrap": test.bootstrap.p_value,
        "p_randomization": test.randomization.p_value,
        "p_holm": test.p_value,
        "a_better": test.better_first,
        "ties": test.ties,
        "b_better": test.better_second,
        "better": pair.better,
        "blank_a": first.blank,
        "blank_b": second.blank,
        **{f"{name}_a": value for name, value in first.means.items()},
        **{f"{name}_b": value for name, value in second.means.items()},
    }


def _place(one: Ranked) -> dict[str, Any]:
    return _without_nan(
        vars(one) | {"system": one.system.name, "blank": one.system.blank, **one.system.means}
    )


def _without_nan(row: dict[str, Any]) -> dict[str, Any]:
    """NaN as nothing: null in JSON, an empty cell in CSV."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in row.items()
    }

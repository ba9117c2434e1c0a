"""The formula of ``inconsistency``: margins of every judged pair, the choice by the rule of experiments/training/README.md, the report.

    python -m experiments.training.formula measure DATA -m embedded -o parts/embedded
    python -m experiments.training.formula choose DATA parts/embedded parts/embedded-small
    python -m experiments.training.formula report DATA parts/embedded parts/embedded-small

``measure`` explains every pair once and keeps what any formula of the rule needs. ``choose`` sees
only the splits for choices and prints the best candidates, the chosen one, and the choices with one
set excluded. ``report`` prints the held-out splits. DATA contains ``bump``, ``frank``, ``cliff``
and ``summeval``.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from estime_metric.engine.text.ngrams import SourceNgrams, lower_words
from estime_metric.scorer import EstimeScorer
from estime_metric.stats.checks import Floats
from estime_metric.studies.benchmarks.aggrefact.data import ORIGINS
from estime_metric.studies.benchmarks.shared.frames import with_interval
from experiments.training.judged import (
    CHOICE,
    REPORT,
    SETS,
    JudgedPair,
    JudgedSet,
    read_pairs,
    sets_of,
)

TEMPERATURES = (0.02, 0.05, 0.1, 0.2)
ALARM_WEIGHTS = (0.25, 0.5, 0.75, 1.0)
SIZES = (2, 3)
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4)
ABSENT = ("tokens", "words")

ENCODED_TOGETHER = 256  # pairs that are explained in one call

#: What is kept of each pair; the margins of its checked units follow one another in ``margins``.
COLUMNS = ("tokens", "absent", "words", "new_words", "new_bigrams", "new_trigrams", "checked")


def measure(pairs: Sequence[JudgedPair], scorer: EstimeScorer, out: Path) -> None:
    """Explains every pair and writes `COLUMNS` and the relative margins of all checked units."""
    table, margins = np.zeros((len(pairs), len(COLUMNS))), [np.zeros(0)] * len(pairs)
    order = sorted(range(len(pairs)), key=lambda place: pairs[place].source)
    for start in range(0, len(order), ENCODED_TOGETHER):
        places = order[start : start + ENCODED_TOGETHER]
        explained = scorer.explain_pairs(
            [pairs[place].summary for place in places], [pairs[place].source for place in places]
        )
        for place, explanation in zip(places, explained, strict=True):
            checked = [unit for unit in explanation.units if unit.verdict != "absent"]
            margins[place] = np.array(
                [
                    np.inf if unit.relative_margin is None else unit.relative_margin
                    for unit in checked
                ]
            )
            units, words = len(explanation.units), len(lower_words(explanation.prediction))
            new = SourceNgrams.of(pairs[place].source).new_shares(explanation.prediction)
            table[place] = [units, units - len(checked), words, *new, len(checked)]
        print(f"{start + len(places)} of {len(order)} pairs", flush=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        out.with_suffix(".npz"),
        table=table,
        margins=np.concatenate(margins),
        signature=scorer.signature,
    )


@dataclass(frozen=True)
class Formula:
    """One candidate: temperature, weight of an alarm, what is absent, size and share of the n-grams."""

    temperature: float
    weight: float
    absent: str
    size: int
    share: float

    def __str__(self) -> str:
        return f"T {self.temperature:g}, w {self.weight:g}, absent {self.absent}, n {self.size}, s {self.share:g}"


CHOSEN = Formula(0.02, 0.25, "words", 3, 0.1)


def candidates() -> list[Formula]:
    """Every combination; with a share of 0 the size does not matter, so it is listed once."""
    grid = itertools.product(TEMPERATURES, ALARM_WEIGHTS, ABSENT, SIZES, SHARES)
    return [
        formula
        for formula in itertools.starmap(Formula, grid)
        if formula.share > 0 or formula.size == SIZES[-1]
    ]


class Parts:
    """What `measure` kept for one encoder; all values are of shape (pairs,)."""

    def __init__(self, file: Path) -> None:
        stored = np.load(file.with_suffix(".npz"))
        self.name, self.signature = file.stem, str(stored["signature"])
        self.columns = dict(zip(COLUMNS, stored["table"].T, strict=True))
        self._margins = stored["margins"]
        pairs = np.arange(len(stored["table"]))
        self._owner = np.repeat(pairs, self.columns["checked"].astype(np.int64))

    def graded(self, temperature: float) -> Floats:
        """The graded alarms of each summary."""
        with np.errstate(over="ignore"):
            return self._sums(1 / (1 + np.exp(self._margins / temperature)))

    def alarms(self) -> Floats:
        """The alarms of each summary."""
        return self._sums((self._margins < 0).astype(np.float64))

    def _sums(self, of_units: Floats) -> Floats:
        pairs = len(self.columns["tokens"])
        return np.bincount(self._owner, of_units, minlength=pairs).astype(np.float64)

    def values(self, formula: Formula) -> Floats:
        """``inconsistency`` of each summary by a formula; lower is better."""
        tokens = np.maximum(self.columns["tokens"], 1)
        of_tokens = formula.absent == "tokens"
        absent = self.columns["absent"] / tokens if of_tokens else self.columns["new_words"]
        unsupported = np.minimum(
            absent + formula.weight * self.graded(formula.temperature) / tokens, 1
        )
        new = self.columns["new_bigrams" if formula.size == 2 else "new_trigrams"]
        values = (1 - formula.share) * unsupported + formula.share * new
        return np.where(self.columns["tokens"] > 0, values, 1.0)


def figures(sets: Mapping[str, JudgedSet], values: Floats) -> dict[str, Floats]:
    """Set -> its figure on the half itself and on each resample, of shape (1 + resamples,); higher is better."""
    scores = {name: -values[judged.rows] for name, judged in sets.items()}
    separations = [sets["cliff"].separation(scores["cliff"], origin) for origin in ORIGINS]
    return {
        "bump": 2 * sets["bump"].consistency(scores["bump"]) - 1,
        "frank": sets["frank"].partial(scores["frank"], "spearman"),
        "cliff": np.mean(separations, axis=0),
        "summeval": sets["summeval"].rank_correlation(scores["summeval"]),
    }


def mean_of(of_sets: Mapping[str, Floats], names: Iterable[str] = SETS) -> Floats:
    """The mean of the figures of some sets, of shape (1 + resamples,)."""
    mean: Floats = np.mean([of_sets[name] for name in names], axis=0)
    return mean


def choose(means: Mapping[Formula, Floats]) -> tuple[Formula, Formula, list[Formula]]:
    """The best formula, the chosen one, and all within one standard error of the best.

    ``means``: formula -> its score on the half and on each resample, of shape (1 + resamples,).
    """
    best = max(means, key=lambda formula: means[formula][0])
    near = [
        formula
        for formula, mean in means.items()
        if means[best][0] - mean[0] <= np.std(means[best][1:] - mean[1:], ddof=1)
    ]
    chosen = min(
        near, key=lambda formula: (formula.share, ABSENT.index(formula.absent), -means[formula][0])
    )
    return best, chosen, near


def print_choice(sets: Mapping[str, JudgedSet], encoders: Sequence[Parts]) -> Formula:
    """Applies the rule, prints the best candidates and the choices with one set excluded; returns
    the chosen one."""
    of_sets: dict[Formula, dict[str, Floats]] = {}
    for formula in candidates():
        of_encoders = [figures(sets, parts.values(formula)) for parts in encoders]
        of_sets[formula] = {
            name: np.mean([encoder[name] for encoder in of_encoders], 0) for name in SETS
        }
    means = {formula: mean_of(by_name) for formula, by_name in of_sets.items()}
    best, chosen, near = choose(means)
    print(f"{len(means)} candidates; {len(near)} within one standard error of the best")
    print(f"{'':<44} {', '.join(SETS)}, mean, less the best, standard error")
    ranked = sorted(means, key=lambda formula: -means[formula][0])[:10]
    shares = [replace(chosen, share=share) for share in SHARES]
    for formula in dict.fromkeys([*ranked, *(other for other in shares if other in means)]):
        less = means[formula] - means[best]
        numbers = [*(of_sets[formula][name][0] for name in SETS), means[formula][0], less[0]]
        cells = "".join(f"{number:>9.4f}" for number in (*numbers, np.std(less[1:], ddof=1)))
        print(f"{formula!s:<44}{cells}")
    print(f"chosen: {chosen}")
    for excluded in SETS:
        others = [name for name in SETS if name != excluded]
        without = {formula: mean_of(by_name, others) for formula, by_name in of_sets.items()}
        print(f"without {excluded}: {choose(without)[1]}")
    return chosen


def print_report(
    sets: Mapping[str, JudgedSet], encoders: Sequence[Parts], formula: Formula
) -> None:
    """Prints the figures of several formulas and of trivial baselines with 95% intervals over documents."""
    for parts in encoders:
        columns, tokens = parts.columns, np.maximum(parts.columns["tokens"], 1)
        new = [columns[name] for name in ("new_words", "new_bigrams", "new_trigrams")]
        rows = {
            f"inconsistency ({formula})": parts.values(formula),
            "without n-grams": parts.values(replace(formula, share=0.0)),
            "graded alarms per token": parts.graded(formula.temperature) / tokens,
            "alarms": parts.alarms(),
            "(absent + .5 alarms) / tokens": (columns["absent"] + 0.5 * parts.alarms()) / tokens,
            "absent tokens": columns["absent"] / tokens,
            "new words": new[0],
            "new bigrams": new[1],
            "new trigrams": new[2],
            "mean of the three": np.mean(new, axis=0),
        }
        print(f"\n{parts.name}: {parts.signature}")
        for label, values in rows.items():
            reported = _reported(sets, values)
            cells = [
                f"{number['value']:>6.3f} [{number['low']:.3f}, {number['high']:.3f}]"
                for number in map(with_interval, reported.values())
            ]
            print(f"{label:<50} {' '.join(cells)}")
        print(f"{'':<50} {', '.join(reported)}")


def _reported(sets: Mapping[str, JudgedSet], values: Floats) -> dict[str, Floats]:
    bump, frank, cliff = (sets[name] for name in ("bump", "frank", "cliff"))
    of_frank, of_cliff = -values[frank.rows], -values[cliff.rows]
    of_sets = figures(sets, values)
    return {
        "BUMP consistency": bump.consistency(-values[bump.rows]),
        "FRANK partial r": frank.partial(of_frank, "pearson"),
        "FRANK partial rho": of_sets["frank"],
        "CNN/DM partial r": frank.partial(of_frank, "pearson", "cnndm"),
        "CNN/DM partial rho": frank.partial(of_frank, "spearman", "cnndm"),
        "CLIFF CNN/DM area": (cliff.separation(of_cliff, "cnndm") + 1) / 2,
        "CLIFF XSum area": (cliff.separation(of_cliff, "xsum") + 1) / 2,
        "SummEval consistency rho": of_sets["summeval"],
        "mean of the rule": mean_of(of_sets),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; ``arguments`` replace the arguments of the process."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure", help="explain every pair once")
    measuring.add_argument("data", type=Path)
    measuring.add_argument("-m", "--model", required=True)
    measuring.add_argument("-o", "--out", type=Path, required=True)
    for name, text in (("choose", "apply the rule"), ("report", "print the held-out splits")):
        command = commands.add_parser(name, help=text)
        command.add_argument("data", type=Path)
        command.add_argument(
            "parts", type=Path, nargs="+", help="what `measure` wrote, a file for each encoder"
        )
    options = parser.parse_args(arguments)
    pairs = read_pairs(options.data)
    if options.command == "measure":
        measure(pairs, EstimeScorer(model=options.model, distance=2), options.out)
        return
    sets = sets_of(pairs, CHOICE if options.command == "choose" else REPORT)
    encoders = [Parts(file) for file in options.parts]
    if options.command == "choose":
        print_choice(sets, encoders)
    else:
        print_report(sets, encoders, CHOSEN)


if __name__ == "__main__":
    main()

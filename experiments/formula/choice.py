"""The formula of ``inconsistency``: margins of every judged pair, the choice by the rule of experiments/formula/README.md, the report.

    python -m experiments.formula measure DATA -m embedded -o parts/embedded
    python -m experiments.formula choose DATA parts/embedded parts/embedded-small
    python -m experiments.formula report DATA parts/embedded parts/embedded-small

DATA contains ``bump``, ``frank``, ``cliff``, ``summeval`` and ``ragtruth``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
from cyclopts import App, Parameter
from scipy.special import expit

from estime_metric.scorer import EstimeScorer
from estime_metric.table.arrays import Floats
from estime_metric.wording.source import novelty
from experiments.benchmarks.aggrefact import ORIGINS
from experiments.formula.judged import (
    CHOICE,
    FIFTH,
    REPORT,
    SETS,
    JudgedSet,
    read_pairs,
    sets_of,
    shown,
)

TEMPERATURES = (0.02, 0.05, 0.1, 0.2)
ALARM_WEIGHTS = (0.25, 0.5, 0.75, 1.0)
SIZES = (2, 3)
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4)
ABSENT = ("tokens", "words")
NUMBER_WEIGHTS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.45)
#: Of new names; it is computed and not chosen, because capitals would decide a score.
NAME_WEIGHT = 0.1

#: What is kept of each pair; the margins of its checked units follow one another in ``margins``.
COLUMNS = ("tokens", "absent", "checked")

app = App(name="python -m experiments.formula", help=__doc__, result_action="return_value")


@app.command
def measure(
    data: Path,
    *,
    model: Annotated[str, Parameter(alias="-m")],
    out: Annotated[Path, Parameter(alias="-o")],
) -> None:
    """Explain every pair once, and keep what any formula of the rule needs of its tokens."""
    keep_parts(read_pairs(data), EstimeScorer(model=model, distance=2), out)


def keep_parts(pairs: pd.DataFrame, scorer: EstimeScorer, out: Path) -> None:
    """Explains every pair and writes `COLUMNS` and the relative margins of all checked units."""
    table, margins = [], []
    explained = scorer.explain_pairs(list(pairs["summary"]), list(pairs["source"]), progress=True)
    for explanation in explained:
        checked = [unit for unit in explanation.units if unit.verdict != "absent"]
        margins += [
            np.inf if unit.relative_margin is None else unit.relative_margin for unit in checked
        ]
        units = len(explanation.units)
        table.append([units, units - len(checked), len(checked)])
    out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        out.with_suffix(".npz"), table=table, margins=margins, signature=scorer.signature
    )


@dataclass(frozen=True)
class Formula:
    """One candidate: temperature, weight of an alarm, what is absent, size and share of the n-grams, and
    the shares of what is supported that the first new number and the first new name remove.
    """

    temperature: float
    weight: float
    absent: str
    size: int
    share: float
    numbers: float = 0.0
    names: float = 0.0


CHOSEN = Formula(0.02, 0.25, "words", 3, 0.1, 0.2)


def candidates() -> list[Formula]:
    """Every combination without numbers; with a share of 0 the size does not matter, so it is listed once."""
    grid = itertools.product(TEMPERATURES, ALARM_WEIGHTS, ABSENT, SIZES, SHARES)
    return [
        formula
        for formula in itertools.starmap(Formula, grid)
        if formula.share > 0 or formula.size == SIZES[-1]
    ]


class Parts:
    """What `measure` kept for one encoder, and the `novelty` of the same pairs; all values are of shape
    (pairs,).
    """

    def __init__(self, file: Path, words: pd.DataFrame) -> None:
        stored = np.load(file.with_suffix(".npz"))
        self.name, self.signature = file.stem, str(stored["signature"])
        counted = dict(zip(COLUMNS, stored["table"].T, strict=True))
        self.columns = counted | {str(name): values.to_numpy() for name, values in words.items()}
        self._margins = stored["margins"]
        pairs = np.arange(len(stored["table"]))
        self._owner = np.repeat(pairs, counted["checked"].astype(np.int64))

    def graded(self, temperature: float) -> Floats:
        """The graded alarms of each summary."""
        return self._sums(expit(-self._margins / temperature))

    def alarms(self) -> Floats:
        """The alarms of each summary."""
        return self._sums((self._margins < 0).astype(np.float64))

    def _sums(self, unit_values: Floats) -> Floats:
        pairs = len(self.columns["tokens"])
        return np.bincount(self._owner, unit_values, minlength=pairs).astype(np.float64)

    def values(self, formula: Formula) -> Floats:
        """``inconsistency`` of each summary by a formula; lower is better."""
        tokens = np.maximum(self.columns["tokens"], 1)
        counts_tokens = formula.absent == "tokens"
        absent = self.columns["absent"] / tokens if counts_tokens else self.columns["new_words"]
        unsupported = np.minimum(
            absent + formula.weight * self.graded(formula.temperature) / tokens, 1
        )
        new = self.columns["new_bigrams" if formula.size == 2 else "new_trigrams"]
        values = (1 - formula.share) * unsupported + formula.share * new
        new_names = np.nan_to_num(self.columns["new_names"])  # undefined where capitals say nothing
        left = _left(formula.numbers, self.columns["new_numbers"]) * _left(formula.names, new_names)
        values = 1 - (1 - values) * left
        return np.where(self.columns["checked"] > 0, values, 1.0)


def _left(weight: float, counts: Floats) -> Floats:
    """What new numbers or names leave of what is supported: the first removes ``weight``, many at most twice as much."""
    left: Floats = 1 - 2 * weight * counts / (counts + 1)
    return left


def figures(sets: Mapping[str, JudgedSet], values: Floats) -> dict[str, Floats]:
    """Set -> its figure on the half itself and on each resample, of shape (1 + resamples,); higher is better."""
    scores = {name: -values[judged.rows] for name, judged in sets.items()}
    separations = [sets["cliff"].separation(scores["cliff"], origin) for origin in ORIGINS]
    fifth = {FIFTH: sets[FIFTH].separation(scores[FIFTH], FIFTH)} if FIFTH in sets else {}
    return {
        "bump": 2 * sets["bump"].consistency(scores["bump"]) - 1,
        "frank": sets["frank"].partial(scores["frank"]),
        "cliff": np.mean(separations, axis=0),
        "summeval": sets["summeval"].rank_correlation(scores["summeval"]),
        **fifth,
    }


def mean_of_sets(by_set: Mapping[str, Floats], names: Iterable[str] = SETS) -> Floats:
    """The mean of the figures of some sets, of shape (1 + resamples,)."""
    mean: Floats = np.mean([by_set[name] for name in names], axis=0)
    return mean


def apply_rule(means: Mapping[Formula, Floats]) -> tuple[Formula, Formula, list[Formula]]:
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


def gains(
    sets: Mapping[str, JudgedSet], encoder: Parts, formula: Formula, without: Formula
) -> dict[str, tuple[float, float]]:
    """How much a formula adds to the figure of each set without a part of it, and to their mean, and
    the standard error of this.
    """
    figures_with, figures_without = (
        figures(sets, encoder.values(either)) for either in (formula, without)
    )
    more = {name: figures_with[name] - figures_without[name] for name in figures_without}
    more["mean"] = mean_of_sets(more, list(more))
    return {name: (float(drawn[0]), float(drawn[1:].std(ddof=1))) for name, drawn in more.items()}


def passes(gained: Mapping[str, tuple[float, float]]) -> bool:
    """Whether the mean gains more than its standard error, and no set loses more than its own."""
    gain, error = gained["mean"]
    return gain > error and all(gain >= -error for gain, error in gained.values())


def _print_gains(sets: Mapping[str, JudgedSet], encoders: Iterable[Parts]) -> None:
    without_numbers = replace(CHOSEN, numbers=0.0)
    terms = {
        f"c {weight:g}": (replace(CHOSEN, numbers=weight), without_numbers)
        for weight in NUMBER_WEIGHTS
    }
    terms[f"names {NAME_WEIGHT:g}"] = replace(CHOSEN, names=NAME_WEIGHT), CHOSEN
    rows = {}
    for encoder in encoders:
        for term, (formula, without) in terms.items():
            gained = gains(sets, encoder, formula, without)
            texts = {name: f"{gain:+.4f} ({error:.4f})" for name, (gain, error) in gained.items()}
            rows[f"{encoder.name}, {term}"] = texts | {"passes": passes(gained)}
    print("gain by new numbers, and of new names on top of them (standard error)")
    print(pd.DataFrame(rows).T.to_string())


def _parts(pairs: pd.DataFrame, files: Iterable[Path]) -> list[Parts]:
    words = pd.DataFrame(novelty(list(pairs["summary"]), list(pairs["source"])))
    return [Parts(file, words) for file in files]


@app.command
def choose(data: Path, *parts: Path) -> None:
    """Apply the rules on the halves for choices: print the best candidates, the chosen one, and
    what each weight of new numbers gains.

    Args:
        parts: what `measure` wrote, a file for each encoder.
    """
    pairs = read_pairs(data)
    sets, encoders = sets_of(pairs, CHOICE), _parts(pairs, parts)
    four = {name: sets[name] for name in SETS}
    figures_by_formula: dict[Formula, dict[str, Floats]] = {}
    for formula in candidates():
        by_encoder = [figures(four, encoder.values(formula)) for encoder in encoders]
        figures_by_formula[formula] = {
            name: np.mean([encoder[name] for encoder in by_encoder], 0) for name in SETS
        }
    means = {formula: mean_of_sets(by_name) for formula, by_name in figures_by_formula.items()}
    best, chosen, near = apply_rule(means)
    print(f"{len(means)} candidates; {len(near)} within one standard error of the best")
    ranked = sorted(means, key=lambda formula: -means[formula][0])[:10]
    shares = [replace(chosen, share=share) for share in SHARES]
    rows = {}
    for formula in dict.fromkeys([*ranked, *(other for other in shares if other in means)]):
        less = means[formula] - means[best]
        rows[str(formula)] = {
            **{name: figures_by_formula[formula][name][0] for name in SETS},
            "mean": means[formula][0],
            "less the best": less[0],
            "standard error": np.std(less[1:], ddof=1),
        }
    print(pd.DataFrame(rows).T.round(4).to_string())
    print(f"chosen: {chosen}")
    _print_gains(sets, encoders)


@app.command
def report(data: Path, *parts: Path) -> None:
    """Print the figures on the held-out halves, of several formulas and of trivial baselines, with
    95% intervals over documents.

    Args:
        parts: what `measure` wrote, a file for each encoder.
    """
    pairs = read_pairs(data)
    sets, encoders = sets_of(pairs, REPORT), _parts(pairs, parts)
    for encoder in encoders:
        columns, tokens = encoder.columns, np.maximum(encoder.columns["tokens"], 1)
        new = [columns[name] for name in ("new_words", "new_bigrams", "new_trigrams")]
        without_numbers = replace(CHOSEN, numbers=0.0)
        values = {
            "inconsistency": encoder.values(CHOSEN),
            "without numbers": encoder.values(without_numbers),
            "without numbers and n-grams": encoder.values(replace(without_numbers, share=0.0)),
            "graded_alarms / tokens": encoder.graded(CHOSEN.temperature) / tokens,
            "alarms": encoder.alarms(),
            "new_words": new[0],
            "new_trigrams": new[2],
            "mean of new n-grams": np.mean(new, axis=0),
        }
        rows = {label: _reported(sets, label_values) for label, label_values in values.items()}
        print(f"\n{encoder.name}: {encoder.signature}")
        print(pd.DataFrame(rows).T.to_string())
    _print_gains(sets, encoders)


def _reported(sets: Mapping[str, JudgedSet], values: Floats) -> dict[str, str]:
    """Column -> value and interval."""
    cliff = sets["cliff"]
    scores = -values[cliff.rows]
    by_set = figures(sets, values)
    columns = {
        "BUMP consistency": (by_set["bump"] + 1) / 2,
        "FRANK partial rho": by_set["frank"],
        "CLIFF CNN/DM area": (cliff.separation(scores, "cnndm") + 1) / 2,
        "CLIFF XSum area": (cliff.separation(scores, "xsum") + 1) / 2,
        "SummEval consistency rho": by_set["summeval"],
        "mean of the rule": mean_of_sets(by_set),
    }
    return {name: shown(values) for name, values in columns.items()}

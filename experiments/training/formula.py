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
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from estime_metric.engine.text.ngrams import SourceNgrams
from estime_metric.explanation import Explanation
from estime_metric.scorer import EstimeScorer
from estime_metric.stats.checks import Floats
from estime_metric.stats.detection import areas
from estime_metric.stats.resampling import draw, interval
from estime_metric.studies.benchmarks.aggrefact import data as aggrefact
from estime_metric.studies.benchmarks.bump import data as bump
from estime_metric.studies.benchmarks.frank import data as frank
from estime_metric.studies.benchmarks.frank.partial import codes_of, weighted_partial
from estime_metric.studies.benchmarks.summeval import data as summeval

TEMPERATURES = (0.02, 0.05, 0.1, 0.2)
ALARM_WEIGHTS = (0.25, 0.5, 0.75, 1.0)
SIZES = (2, 3)
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4)
ABSENT = ("tokens", "words")

#: Halves of the sets, for choices and for the report.
CHOICE, REPORT = "choice", "report"

SUMMEVAL_DOCUMENTS = 50  # the first ones are for choices

RESAMPLES = 1000
ENCODED_TOGETHER = 256  # pairs that are explained in one call

#: What is kept of each pair; the margins of its checked units follow one another in ``margins``.
COLUMNS = ("tokens", "absent", "words", "new_words", "new_bigrams", "new_trigrams", "checked")


@dataclass(frozen=True)
class JudgedPair:
    """A summary of one of the sets. ``judged`` is the higher the better; of BUMP it is 1 for the reference, 0 for the edited summary."""

    of: str
    half: str
    document: str
    group: str  # the system, the dataset, the pair of BUMP
    summary: str
    source: str
    judged: float


def read_pairs(data: Path) -> list[JudgedPair]:
    """All pairs of all sets, both splits."""
    return [
        *_bump(data / "bump"),
        *_frank(data / "frank"),
        *_cliff(data),
        *_summeval(data / "summeval"),
    ]


def _bump(folder: Path) -> Iterable[JudgedPair]:
    for split, half in (("valid", CHOICE), ("test", REPORT)):
        for row in bump.read(folder, split=split).table.itertuples():
            judged = float(row.system == bump.REFERENCE)
            yield JudgedPair(
                "bump", half, row.article, row.document, row.summary, row.source, judged
            )


def _frank(folder: Path) -> Iterable[JudgedPair]:
    for split, half in (("valid", CHOICE), ("test", REPORT)):
        for row in frank.read(folder, split).table.itertuples():
            group = f"{row.dataset} {row.system}"
            yield JudgedPair(
                "frank", half, row.document, group, row.summary, row.source, row.factuality
            )


def _cliff(data: Path) -> Iterable[JudgedPair]:
    table = aggrefact.with_spans(aggrefact.read(data)).table
    for row in table.itertuples():
        half = CHOICE if row.split == "val" else REPORT
        yield JudgedPair(
            "cliff", half, row.document, row.origin, row.summary, row.source, float(row.label)
        )


def _summeval(folder: Path) -> Iterable[JudgedPair]:
    judged = summeval.read_folder(folder)
    for row in judged.table.itertuples():
        half = CHOICE if row.document in judged.documents[:SUMMEVAL_DOCUMENTS] else REPORT
        yield JudgedPair(
            "summeval", half, row.document, row.system, row.summary, row.source, row.consistency
        )


def measure(pairs: Sequence[JudgedPair], scorer: EstimeScorer, out: Path) -> None:
    """Explains every pair and writes `COLUMNS` and the relative margins of all checked units."""
    rows, margins = [], []
    sources: dict[str, SourceNgrams] = {}
    order = sorted(range(len(pairs)), key=lambda index: pairs[index].source)
    for start in range(0, len(order), ENCODED_TOGETHER):
        some = [pairs[index] for index in order[start : start + ENCODED_TOGETHER]]
        explained = scorer.explain_pairs(
            [one.summary for one in some], [one.source for one in some]
        )
        for one, explanation in zip(some, explained, strict=True):
            known = sources.setdefault(one.source, SourceNgrams.of(one.source))
            counts, own = _parts(explanation, known)
            rows.append(counts)
            margins.append(own)
        print(f"{start + len(some)} of {len(order)} pairs", flush=True)
    place = np.argsort(np.array(order))
    table = np.array(rows)[place]
    ordered = [margins[index] for index in place]
    out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        out.with_suffix(".npz"),
        table=table,
        margins=np.concatenate(ordered),
        signature=scorer.signature,
    )


def _parts(explanation: Explanation, known: SourceNgrams) -> tuple[list[float], Floats]:
    from estime_metric.engine.text.ngrams import lower_words

    checked = [unit for unit in explanation.units if unit.verdict != "absent"]
    margins = np.array(
        [np.inf if unit.relative_margin is None else unit.relative_margin for unit in checked]
    )
    shares = known.new_shares(explanation.prediction)
    absent = len(explanation.units) - len(checked)
    words = len(lower_words(explanation.prediction))
    return [len(explanation.units), absent, words, *shares, len(checked)], margins


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


def candidates() -> list[Formula]:
    """Every combination; with a share of 0 the size does not matter, so it is listed once."""
    grid = itertools.product(TEMPERATURES, ALARM_WEIGHTS, ABSENT, SIZES, SHARES)
    return [
        formula
        for formula in itertools.starmap(Formula, grid)
        if formula.share > 0 or formula.size == SIZES[-1]
    ]


class Parts:
    """What `measure` kept for one encoder."""

    def __init__(self, file: Path) -> None:
        stored = np.load(file.with_suffix(".npz"))
        self.name = file.stem
        self.signature = str(stored["signature"])
        self.columns = dict(zip(COLUMNS, stored["table"].T, strict=True))
        self._margins = stored["margins"]
        self._owner = np.repeat(
            np.arange(len(stored["table"])), self.columns["checked"].astype(np.int64)
        )

    def graded(self, temperature: float) -> Floats:
        """The graded alarms of each summary, of shape (pairs,)."""
        with np.errstate(over="ignore"):
            values = 1 / (1 + np.exp(self._margins / temperature))
        return np.bincount(self._owner, values, minlength=len(self.columns["tokens"])).astype(
            np.float64
        )

    def alarms(self) -> Floats:
        """The alarms of each summary, of shape (pairs,)."""
        return np.bincount(
            self._owner, self._margins < 0, minlength=len(self.columns["tokens"])
        ).astype(np.float64)

    def values(self, formula: Formula) -> Floats:
        """``inconsistency`` of each summary by a formula, of shape (pairs,); lower is better."""
        tokens = np.maximum(self.columns["tokens"], 1)
        absent = (
            self.columns["absent"] / tokens
            if formula.absent == "tokens"
            else self.columns["new_words"]
        )
        own = np.minimum(absent + formula.weight * self.graded(formula.temperature) / tokens, 1)
        new = self.columns["new_bigrams" if formula.size == 2 else "new_trigrams"]
        found = (1 - formula.share) * own + formula.share * new
        return np.where(self.columns["tokens"] > 0, found, 1.0)


class Half:
    """One split of all sets: its pairs, and the resamples of their documents."""

    def __init__(
        self, pairs: Sequence[JudgedPair], half: str, resamples: int = RESAMPLES, seed: int = 0
    ) -> None:
        self.pairs = pairs
        self.rows: dict[str, npt.NDArray[np.int64]] = {}
        self.weights: dict[str, Floats] = {}
        for name in ("bump", "frank", "cliff", "summeval"):
            rows = np.array(
                [i for i, one in enumerate(pairs) if one.of == name and one.half == half]
            )
            documents = codes_of([pairs[i].document for i in rows])
            drawn = draw((int(documents.max()) + 1, 1), "documents", resamples, seed)[0]
            assert drawn is not None
            every = np.concatenate([np.ones((1, drawn.shape[1])), drawn])
            self.rows[name], self.weights[name] = rows, every[:, documents]

    def judged(self, name: str) -> Floats:
        """The judgements of a set."""
        return np.array([self.pairs[i].judged for i in self.rows[name]])

    def groups(self, name: str) -> list[str]:
        """The groups of a set."""
        return [self.pairs[i].group for i in self.rows[name]]

    def figures(self, values: Floats) -> dict[str, Floats]:
        """Set -> its figure on the split itself and on each resample, of shape (1 + resamples,); higher is better."""
        scores = {name: -values[rows] for name, rows in self.rows.items()}
        return {
            "bump": 2 * self.consistency(scores["bump"]) - 1,
            "frank": self.partial("frank", scores["frank"], "spearman"),
            "cliff": np.mean(
                [2 * self.area(scores["cliff"], origin) - 1 for origin in aggrefact.ORIGINS], axis=0
            ),
            "summeval": self.plain("summeval", scores["summeval"], "spearman"),
        }

    def consistency(self, scores: Floats) -> Floats:
        """The share of BUMP's pairs in which the reference scores strictly better."""
        judged, weights = self.judged("bump"), self.weights["bump"]
        pairs = np.array(self.groups("bump"))
        order = np.lexsort((judged, pairs))  # the edited summary, then the reference of each pair
        edited, reference = order[::2], order[1::2]
        assert (pairs[edited] == pairs[reference]).all()
        better = scores[reference] > scores[edited]
        found: Floats = (weights[:, reference] * better).sum(axis=1) / weights[:, reference].sum(
            axis=1
        )
        return found

    def partial(self, name: str, scores: Floats, method: str, within: str = "") -> Floats:
        """The correlation with the judgements, controlling for the system; ``within`` begins the groups that count."""
        groups = self.groups(name)
        kept = np.array([group.startswith(within) for group in groups])
        codes = codes_of([group for group, one in zip(groups, kept, strict=True) if one])
        return weighted_partial(
            self.weights[name][:, kept], scores[kept], self.judged(name)[kept], codes, method
        )

    def plain(self, name: str, scores: Floats, method: str) -> Floats:
        """The correlation with the judgements."""
        codes = np.zeros(len(scores), dtype=np.int64)
        return weighted_partial(self.weights[name], scores, self.judged(name), codes, method)

    def area(self, scores: Floats, origin: str) -> Floats:
        """The area under the ROC curve on one of CLIFF's datasets."""
        kept = np.array([group == origin for group in self.groups("cliff")])
        labels = self.judged("cliff")[kept].astype(np.int64)
        return areas(labels, scores[kept], self.weights["cliff"][:, kept])


CHOSEN = Formula(0.02, 0.25, "words", 3, 0.1)

SETS = ("bump", "frank", "cliff", "summeval")


def scores_of(figures: Mapping[str, Floats], sets: Iterable[str] = SETS) -> Floats:
    """The mean of the figures of some sets, of shape (1 + resamples,)."""
    mean: Floats = np.mean([figures[name] for name in sets], axis=0)
    return mean


def choose(found: Mapping[Formula, Floats]) -> tuple[Formula, Formula, list[Formula]]:
    """The best formula, the chosen one, and all within one standard error of the best.

    ``found``: formula -> its score on the split and on each resample, of shape (1 + resamples,).
    """
    best = max(found, key=lambda formula: found[formula][0])
    near = [
        formula
        for formula, score in found.items()
        if found[best][0] - score[0] <= np.std(found[best][1:] - score[1:], ddof=1)
    ]
    chosen = min(near, key=lambda one: (one.share, ABSENT.index(one.absent), -found[one][0]))
    return best, chosen, near


def _scores(half: Half, encoders: Sequence[Parts], formula: Formula) -> dict[str, Floats]:
    """Set -> the figure of a formula, the mean of the encoders."""
    figures = [half.figures(parts.values(formula)) for parts in encoders]
    return {name: np.mean([of_one[name] for of_one in figures], axis=0) for name in SETS}


def print_choice(half: Half, encoders: Sequence[Parts]) -> Formula:
    """Applies the rule, prints the best candidates and the choices with one set excluded; returns
    the chosen one."""
    figures = {formula: _scores(half, encoders, formula) for formula in candidates()}
    means = {formula: scores_of(of_sets) for formula, of_sets in figures.items()}
    best, chosen, near = choose(means)
    print(f"{len(figures)} candidates; {len(near)} within one standard error of the best\n")
    heads = "".join(f"{name:>10}" for name in SETS)
    print(f"{'':<44}{heads}{'mean':>9}{'less best':>11}{'s.e.':>7}")
    plain = [
        Formula(chosen.temperature, chosen.weight, chosen.absent, chosen.size, share)
        for share in SHARES
    ]
    ranked = sorted(means, key=lambda formula: -means[formula][0])[:10]
    for formula in dict.fromkeys([*ranked, *(one for one in plain if one in means), chosen]):
        cells = "".join(f"{figures[formula][name][0]:>10.4f}" for name in SETS)
        less = means[formula] - means[best]
        marks = ", ".join(
            mark for mark, one in (("best", best), ("chosen", chosen)) if one == formula
        )
        print(
            f"{formula!s:<44}{cells}{means[formula][0]:>9.4f}{less[0]:>11.4f}{np.std(less[1:], ddof=1):>7.4f}  {marks}"
        )
    print(f"\nchosen: {chosen}")
    for left_out in SETS:
        others = [name for name in SETS if name != left_out]
        found = {formula: scores_of(of_sets, others) for formula, of_sets in figures.items()}
        print(f"without {left_out}: {choose(found)[1]}")
    return chosen


def print_report(half: Half, encoders: Sequence[Parts], formula: Formula) -> None:
    """Prints the figures of several formulas and of trivial baselines with 95% intervals over documents."""
    for parts in encoders:
        columns, tokens = parts.columns, np.maximum(parts.columns["tokens"], 1)
        rows = {
            f"inconsistency ({formula})": parts.values(formula),
            "without n-grams": parts.values(
                Formula(formula.temperature, formula.weight, formula.absent, formula.size, 0.0)
            ),
            "graded alarms per token": parts.graded(formula.temperature) / tokens,
            "alarms": parts.alarms(),
            "(absent + .5 alarms) / tokens": (columns["absent"] + 0.5 * parts.alarms()) / tokens,
            "absent tokens": columns["absent"] / tokens,
            "new words": columns["new_words"],
            "new bigrams": columns["new_bigrams"],
            "new trigrams": columns["new_trigrams"],
            "mean of the three": np.mean(
                [columns[name] for name in ("new_words", "new_bigrams", "new_trigrams")], axis=0
            ),
        }
        print(f"\n{parts.name}: {parts.signature}")
        for label, values in rows.items():
            found = _reported(half, values)
            cells = "".join(f" {value[0]:>6.3f} [{_ends(value)}]" for value in found.values())
            print(f"{label:<50}{cells}")
        print(f"{'':<50} {', '.join(found)}")


def _reported(half: Half, values: Floats) -> dict[str, Floats]:
    scores = {name: -values[rows] for name, rows in half.rows.items()}
    figures = half.figures(values)
    return {
        "BUMP consistency": half.consistency(scores["bump"]),
        "FRANK partial r": half.partial("frank", scores["frank"], "pearson"),
        "FRANK partial rho": half.partial("frank", scores["frank"], "spearman"),
        "CNN/DM partial r": half.partial("frank", scores["frank"], "pearson", "cnndm"),
        "CNN/DM partial rho": half.partial("frank", scores["frank"], "spearman", "cnndm"),
        "CLIFF CNN/DM area": half.area(scores["cliff"], "cnndm"),
        "CLIFF XSum area": half.area(scores["cliff"], "xsum"),
        "SummEval consistency rho": figures["summeval"],
        "mean of the rule": scores_of(figures),
    }


def _ends(values: Floats) -> str:
    low, high, _ = interval(values[1:], 0.95)
    return f"{low:.3f}, {high:.3f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; ``arguments`` replace the arguments of the process."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure", help="explain every pair once")
    measuring.add_argument("data", type=Path)
    measuring.add_argument("-m", "--model", required=True)
    measuring.add_argument("--distance", type=int, default=2)
    measuring.add_argument("-o", "--out", type=Path, required=True)
    for name, text in (("choose", "apply the rule"), ("report", "print the held-out splits")):
        command = commands.add_parser(name, help=text)
        command.add_argument("data", type=Path)
        command.add_argument(
            "parts", type=Path, nargs="+", help="what `measure` wrote, a file for each encoder"
        )
    args = parser.parse_args(arguments)
    pairs = read_pairs(args.data)
    if args.command == "measure":
        measure(pairs, EstimeScorer(model=args.model, distance=args.distance), args.out)
        return
    encoders = [Parts(file) for file in args.parts]
    if args.command == "choose":
        print_choice(Half(pairs, CHOICE), encoders)
    else:
        print_report(Half(pairs, REPORT), encoders, CHOSEN)


if __name__ == "__main__":
    main()

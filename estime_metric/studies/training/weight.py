"""What an alarm weighs in ``inconsistency``, (absent + w * alarms) / tokens: the table, and the
choice of w.

``python -m estime_metric.studies.training.weight DATA -m embedded --split val`` reads the folders
``frank``, ``cliff`` and ``summeval`` of DATA, prints the table of the halves for choices, and
applies the rule of ``docs/aggrefact.md``. ``--split test`` prints the table of the other halves,
with intervals.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from estime_metric.comparison.checks import Floats
from estime_metric.comparison.detection import areas
from estime_metric.comparison.resampling import draw, interval
from estime_metric.comparison.tables import Cell, Column, Section, Table, to_markdown
from estime_metric.comparison.tables import interval as interval_cell
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.aggrefact import data as aggrefact
from estime_metric.studies.benchmarks.frank import data as frank
from estime_metric.studies.benchmarks.frank.partial import METHODS, codes_of, weighted_partial
from estime_metric.studies.benchmarks.shared.blocks import (
    REFERENCE_FREE,
    Block,
    ColumnValues,
    Prepared,
    ScoreColumn,
)
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.scores import compute_scores
from estime_metric.studies.benchmarks.summeval import data as summeval

#: Weights to choose from, in this order.
CANDIDATES = (0.1, 0.25, 0.33, 0.5, 0.75, 1.0)

#: Taken where others are within a standard error of the best.
PREFERRED = 0.5

#: Rows of the table: absent tokens alone, the candidates, and alarms at double weight.
WEIGHTS = (0.0, *CANDIDATES, 2.0)

#: Documents of SummEval in its half for choices, the first ones.
SUMMEVAL_HALF = 50

#: What is kept of each summary.
COUNTS = ("alarms", "overlap", "tokens")

_SYMBOLS = dict(zip(METHODS, ("r", "ρ"), strict=True))


@dataclass(frozen=True, eq=False)
class Figure:
    """One column of the table.

    Attributes:
        group: the set it is of: ``FRANK``, ``CLIFF``, ``SummEval``.
        name: what it is.
        values: float64 of shape (weights, 1 + resamples), the sample itself first; higher is
            better.
        counts: whether the rule counts it.
    """

    group: str
    name: str
    values: Floats
    counts: bool = True


@dataclass(frozen=True, eq=False)
class Judged:
    """A set: the counts of its summaries, float64 of shape (3, k), their documents, and what they
    were judged by.
    """

    counts: Floats
    documents: Sequence[str]
    judged: Mapping[str, Any]


def weighted_rate(counts: Floats, weight: float) -> Floats:
    """``(absent + weight * alarms) / tokens``, 1 for a blank summary; ``counts`` as `COUNTS`, of
    shape (3, k).

    >>> weighted_rate(np.array([[1.0, 0.0], [3.0, 0.0], [4.0, 0.0]]), 0.5).tolist()
    [0.375, 1.0]
    """
    alarms, overlap, tokens = counts
    rate: Floats = np.divide(
        tokens - overlap + weight * alarms, tokens, out=np.ones_like(tokens), where=tokens > 0
    )
    return rate


def counts_block(scorer: EstimeScorer, *, progress: bool = False) -> Block:
    """`COUNTS` of each summary; the encoder is loaded here."""
    signature = scorer.signature

    def compute(data: Summaries, _: Any) -> ColumnValues:
        result = scorer.score(list(data.summaries), data.source_of_each, progress=progress)
        return {name: result.values(name).numpy() for name in COUNTS}

    columns = tuple(ScoreColumn(name, name, REFERENCE_FREE) for name in COUNTS)
    return Block("Counts", columns, lambda: Prepared(signature, compute), own_bar=True)


def counts(block: Block, data: Any, folder: Path | None) -> Floats:
    """The counts of a set, taken from a folder of an earlier run where they are there; of shape (3,
    k).
    """
    scores = compute_scores(data, [block], folder=folder, resume=folder is not None)
    return np.stack([scores.values[name] for name in COUNTS])


def read_judged(
    block: Block, folder: Path, split: str, output: Path | None = None
) -> dict[str, Judged]:
    """The three sets, scored.

    Args:
        block: see `counts_block`.
        folder: has the folders ``frank``, ``cliff`` and ``summeval``.
        split: one of `aggrefact.SPLITS`.
        output: counts are kept there, and taken from there.
    """

    def counted(data: Any, name: str) -> Floats:
        return counts(block, data, None if output is None else output / name)

    of_frank = frank.read(
        folder / "frank", dict(zip(aggrefact.SPLITS, frank.SPLITS, strict=True))[split]
    )
    of_cliff = aggrefact.with_spans(aggrefact.of_split(aggrefact.read(folder), split))
    of_summeval = summeval.read_folder(folder / "summeval")
    half = set(
        of_summeval.documents[:SUMMEVAL_HALF]
        if split == "val"
        else of_summeval.documents[SUMMEVAL_HALF:]
    )
    rows = [row for row, (document, _) in enumerate(of_summeval.keys) if document in half]
    return {
        "FRANK": Judged(
            counted(of_frank, f"frank-{split}"),
            [document for document, _ in of_frank.keys],
            {
                "factuality": of_frank.factuality,
                "systems": [key[1] for key in of_frank.keys],
                "part": of_frank.datasets,
            },
        ),
        "CLIFF": Judged(
            counted(of_cliff, f"cliff-{split}"),
            list(of_cliff.table["document"]),
            {
                "label": of_cliff.table["label"].to_numpy(dtype=np.int64),
                "part": list(of_cliff.table["origin"]),
            },
        ),
        "SummEval": Judged(
            counted(of_summeval, "summeval")[:, rows],
            [of_summeval.keys[row][0] for row in rows],
            {
                name: of_summeval.judgements[name].ravel()[rows]
                for name in ("consistency", "relevance")
            },
        ),
    }


def figures(judged: Mapping[str, Judged], *, resamples: int = 1000, seed: int = 0) -> list[Figure]:
    """What each weight reaches on each set, also in resamples of its documents, the same for every
    weight.
    """
    found = []
    for name, one in judged.items():
        documents = codes_of(one.documents)
        drawn = draw((int(documents.max()) + 1, 1), "documents", resamples, seed)[0]
        assert drawn is not None
        samples = np.concatenate([np.ones((1, drawn.shape[1])), drawn])[:, documents]
        rates = [-weighted_rate(one.counts, weight) for weight in WEIGHTS]
        found += _SETS[name](name, one.judged, rates, samples)
    return found


def choose(found: Sequence[Figure]) -> tuple[float, Floats, Floats]:
    """Applies the rule of ``docs/aggrefact.md``.

    Returns:
        the weight; for each of `CANDIDATES` its value, and the standard error of its difference to
        the best one.
    """
    places = [WEIGHTS.index(weight) for weight in CANDIDATES]
    groups = dict.fromkeys(one.group for one in found if one.counts)
    means = np.mean(
        [
            np.mean(
                [one.values[places] for one in found if one.counts and one.group == group], axis=0
            )
            for group in groups
        ],
        axis=0,
    )  # (candidates, 1 + resamples)
    values = means[:, 0]
    best = int(np.argmax(values))
    errors = np.std(means[best, 1:] - means[:, 1:], axis=1, ddof=1)
    near = [
        weight
        for weight, value, error in zip(CANDIDATES, values, errors, strict=True)
        if values[best] - value <= error
    ]
    return min(near, key=lambda weight: (abs(weight - PREFERRED), weight)), values, errors


def tables(found: Sequence[Figure], split: str, signature: str) -> list[Table]:
    """``weight``: a row for each weight; ``weight-intervals``: the same, each value with its 95%
    interval.
    """
    notes = (
        "FRANK: partial correlation with factuality, the system held constant; CLIFF: area under the ROC curve; "
        f"SummEval: Spearman's ρ with experts. w = 0: absent tokens alone; 1: unsupported_rate. {signature}",
    )
    columns = [Column("w", text=True), *(Column(one.name, one.group) for one in found)]
    values: list[tuple[Cell, ...]] = [
        (f"{weight:g}", *(float(one.values[row, 0]) for one in found))
        for row, weight in enumerate(WEIGHTS)
    ]
    title = f"(absent + w * alarms) / tokens on the {split} halves"
    with_intervals: list[tuple[Cell, ...]] = []
    for row, weight in enumerate(WEIGHTS):
        ends = [interval(one.values[row, 1:], 0.95)[:2] for one in found]
        with_intervals.append((f"{weight:g}", *(interval_cell(*pair, decimals=3) for pair in ends)))
    text = [columns[0], *(Column(one.name, one.group, text=True) for one in found)]
    return [
        Table("weight", f"{title}.", tuple(columns), (Section("", tuple(values)),), notes),
        Table(
            "weight-intervals",
            f"{title}: 95% intervals.",
            tuple(text),
            (Section("", tuple(with_intervals)),),
            notes,
        ),
    ]


def _of_frank(
    group: str, judged: Mapping[str, Any], rates: list[Floats], samples: Floats
) -> list[Figure]:
    systems, part = codes_of(judged["systems"]), np.array(judged["part"])
    found = []
    for name in ("all", *frank.DATASETS):
        rows = np.flatnonzero((part == name) | (name == "all"))
        for method, symbol in _SYMBOLS.items():
            values = [
                weighted_partial(
                    samples[:, rows], rate[rows], judged["factuality"][rows], systems[rows], method
                )
                for rate in rates
            ]
            found.append(
                Figure(group, f"{frank.DATASETS.get(name, name)} {symbol}", np.stack(values))
            )
    return found


def _of_cliff(
    group: str, judged: Mapping[str, Any], rates: list[Floats], samples: Floats
) -> list[Figure]:
    part = np.array(judged["part"])
    found = []
    for origin, name in aggrefact.ORIGINS.items():
        rows = np.flatnonzero(part == origin)
        values = [areas(judged["label"][rows], rate[rows], samples[:, rows]) for rate in rates]
        found.append(Figure(group, name, np.stack(values)))
    return found


def _of_summeval(
    group: str, judged: Mapping[str, Any], rates: list[Floats], samples: Floats
) -> list[Figure]:
    nothing = np.zeros(samples.shape[1], dtype=np.int64)
    return [
        Figure(
            group,
            name,
            np.stack(
                [weighted_partial(samples, rate, values, nothing, "spearman") for rate in rates]
            ),
            counts=name == "consistency",
        )
        for name, values in judged.items()
    ]


_SETS = {"FRANK": _of_frank, "CLIFF": _of_cliff, "SummEval": _of_summeval}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="folder with frank, cliff and summeval")
    parser.add_argument("-m", "--model", default="embedded")
    parser.add_argument("--distance", type=int, default=2)
    parser.add_argument("--split", choices=aggrefact.SPLITS, default="val")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument(
        "-o", "--output", type=Path, help="folder that keeps the counts, for the next run"
    )
    args = parser.parse_args()
    scorer = EstimeScorer(model=args.model, distance=args.distance)
    found = figures(
        read_judged(counts_block(scorer, progress=True), args.data, args.split, args.output),
        resamples=args.resamples,
    )
    for table in tables(found, args.split, scorer.signature):
        print(to_markdown(table))
    if args.split == "val":
        chosen, values, errors = choose(found)
        for weight, value, error in zip(CANDIDATES, values, errors, strict=True):
            behind = values.max() - value
            print(
                f"w {weight:g}: value {value:.4f}, behind the best by {behind:.4f} (standard error {error:.4f})"
            )
        print(f"chosen: {chosen:g}")


if __name__ == "__main__":
    main()

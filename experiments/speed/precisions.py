"""Whether a precision judges as float32 does, by the rules of docs/speed.md.

    python -m experiments.speed.precisions DATA WORK -m embedded

Scores SummEval and the halves for choices of BUMP, FRANK and CLIFF at distance 2 in each precision,
keeps the scores in WORK, and prints how far ``inconsistency`` moves, and the figures of
`experiments.training.formula` with their differences from float32. ``--half report`` does
the same with the halves that no choice saw. What WORK already has is not scored again. DATA holds
``bump``, ``frank``, ``cliff`` and ``summeval``; ``int8`` is the faster way of
`experiments.speed.int8`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from estime_metric import EstimeScorer
from estime_metric.stats.checks import Floats
from experiments.speed import common
from experiments.speed.int8 import FusedInt8Linear, int8_scorer
from experiments.training.formula import (
    CHOICE,
    REPORT,
    SETS,
    Half,
    JudgedPair,
    read_pairs,
    scores_of,
)

MEASURES = ("inconsistency", "alarms")
SCORED_TOGETHER = 256

Scored = Mapping[str, Floats]  # measure -> values of all pairs


def make_scorer(model: str, dtype: str, distance: int) -> EstimeScorer:
    """A scorer of one of the precisions."""
    if dtype == "int8":
        return int8_scorer(FusedInt8Linear, model, distance)
    return EstimeScorer(model=model, dtype=dtype, distance=distance, device="cpu")


def score(pairs: Sequence[JudgedPair], scorer: EstimeScorer) -> Scored:
    """The measures of all pairs, in their order."""
    order = sorted(range(len(pairs)), key=lambda index: pairs[index].source)
    values = {name: np.zeros(len(pairs)) for name in MEASURES}
    for start in range(0, len(order), SCORED_TOGETHER):
        chosen = order[start : start + SCORED_TOGETHER]
        result = scorer.score(
            [pairs[index].summary for index in chosen], [pairs[index].source for index in chosen]
        )
        for name in MEASURES:
            values[name][chosen] = result.values(name).numpy()
        print(f"{start + len(chosen)} of {len(order)} pairs", flush=True)
    return values


def scored_once(
    pairs: Sequence[JudgedPair], file: Path, *, model: str, dtype: str, distance: int
) -> Scored:
    """As `score`, from the file that an earlier run left if there is one."""
    if not file.exists():
        start = time.process_time()
        values = score(pairs, make_scorer(model, dtype, distance))
        print(f"{file.stem}: {time.process_time() - start:.0f} CPU seconds", flush=True)
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(file, inconsistency=values["inconsistency"], alarms=values["alarms"])
    return dict(np.load(file))


def differences(pairs: Sequence[JudgedPair], scored: Mapping[str, Scored]) -> list[list[object]]:
    """For each precision and set: pairs, alarms that differ from float32's, and the mean of the
    absolute and of the signed differences of ``inconsistency``.
    """
    rows: list[list[object]] = []
    exact = scored["float32"]
    for dtype, values in scored.items():
        if dtype == "float32":
            continue
        for name in SETS:
            chosen = np.array([one.of == name for one in pairs])
            moved = (values["inconsistency"] - exact["inconsistency"])[chosen]
            differ = int((values["alarms"] != exact["alarms"])[chosen].sum())
            numbers = f"{np.abs(moved).mean():.5f}", f"{moved.mean():+.5f}"
            rows.append([dtype, name, f"{chosen.sum():,}", f"{differ:,}", *numbers])
    return rows


def figures(half: Half, scored: Mapping[str, Scored]) -> list[list[object]]:
    """For each precision: the figure of each set and their mean; below float32's the standard
    errors, below the others the differences from float32 in these standard errors.
    """
    found = {dtype: _with_mean(half, values) for dtype, values in scored.items()}
    errors = {name: float(np.std(one[1:], ddof=1)) for name, one in found["float32"].items()}
    rows: list[list[object]] = []
    for dtype, of_sets in found.items():
        rows.append([dtype, *(f"{one[0]:.4f}" for one in of_sets.values())])
        if dtype == "float32":
            rows.append(["standard error", *(f"{error:.4f}" for error in errors.values())])
            continue
        moved = {name: one - found["float32"][name] for name, one in of_sets.items()}
        shares = (f"{one[0] / errors[name]:+.3f}" for name, one in moved.items())
        rows.append([f"{dtype}: difference / standard error", *shares])
        own = (f"{np.std(one[1:], ddof=1):.4f}" for one in moved.values())
        rows.append([f"{dtype}: standard error of the difference", *own])
    return rows


def _with_mean(half: Half, values: Scored) -> dict[str, Floats]:
    of_sets = half.figures(values["inconsistency"])
    return {**of_sets, "mean": scores_of(of_sets)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; ``arguments`` in place of the process's."""
    parser = common.arguments(__doc__, distance=2, dtypes="float32,bfloat16,int8")
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path, help="folder of the scores")
    parser.add_argument("-m", "--model", default="embedded")
    parser.add_argument("--half", choices=(CHOICE, REPORT), default=CHOICE)
    options = common.start(parser, arguments)
    pairs = [
        one for one in read_pairs(options.data) if one.half == options.half or one.of == "summeval"
    ]
    model, distance = options.model, options.distance
    scored = {
        dtype: scored_once(
            pairs,
            options.work / f"{model}-{dtype}-{distance}-{options.half}.npz",
            model=model,
            dtype=dtype,
            distance=distance,
        )
        for dtype in options.dtypes.split(",")
    }
    columns = ("dtype", "set", "pairs", "alarms differ", "mean |difference|", "mean difference")
    title = f"inconsistency of {model} at distance {distance}, less float32's"
    common.print_table(title, columns, differences(pairs, scored))
    title = f"Figures on the halves for the {options.half}"
    common.print_table(title, ("dtype", *SETS, "mean"), figures(Half(pairs, options.half), scored))


if __name__ == "__main__":
    main()

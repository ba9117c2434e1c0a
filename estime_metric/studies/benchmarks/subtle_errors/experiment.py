"""Table 3 of the paper (section 4): do the scores distinguish clean from corrupted summaries?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from estime_metric._messages import counted
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.shared.baselines import (
    divergence_block,
    trivial_block,
)
from estime_metric.studies.benchmarks.shared.blocks import Block
from estime_metric.studies.benchmarks.shared.estime_block import estime_block
from estime_metric.studies.benchmarks.shared.estime_paper import TABLE_3
from estime_metric.studies.benchmarks.shared.running import Benchmark, Frames
from estime_metric.studies.benchmarks.shared.scored import Scored, with_paper
from estime_metric.studies.benchmarks.subtle_errors.data import Versions
from estime_metric.studies.meta import (
    Grid,
    UndefinedCorrelationError,
    bootstrap,
    bootstrap_difference,
    shuffle_accuracy,
)
from estime_metric.studies.printed import Table, intervals, p_values
from estime_metric.table.arrays import Floats

AGREEMENT = "agreement.csv"
#: What `agree` gives, and for how many pairs, compared with which measure.
_NUMBERS = [
    "pairs",
    "than",
    *(
        f"{name}{end}"
        for name in ("spearman", "kendall_c", "behind")
        for end in ("", "_low", "_high")
    ),
    "preferred",
    "spearman_p_value",
]
#: Errors in each corrupted summary of the paper's Table 3.
PAPER_ERRORS = 3
#: With fewer pairs an interval would say nothing: a resample of them mostly repeats the same few.
LEAST_PAIRS = 10


def measure_blocks(scorers: Mapping[str, EstimeScorer], *, progress: bool = False) -> list[Block]:
    """ESTIME in each setting (``""`` is the first) with every measure that its scorer computes; then
    measures that need no model: Jensen-Shannon and trivial baselines.
    """
    return [
        *(
            estime_block(scorer, every_measure=True, setting=setting, progress=progress)
            for setting, scorer in scorers.items()
        ),
        divergence_block(),
        trivial_block(),
    ]


def analyze(scored: Scored[Versions], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """One tidy table, ``agreement.csv``: what `agree` gives for each number of errors and measure, over
    the ``pairs`` that have that many errors and a score; ``than``, the measure that it is compared
    with (`Scored.rival_of`, or the first measure); ``spearman_paper`` and ``kendall_c_paper``, what
    the paper prints.
    """
    data = scored.data
    rows = []
    for index, number in enumerate(data.numbers, start=1):
        complete = data.complete(number)
        for column in scored.known:
            rival = scored.rival_of(column) or scored.known[0]
            both, rivals = (
                scored.oriented(each).reshape(-1, 1 + len(data.numbers))[complete][:, [0, index]]
                for each in (column, rival)
            )
            known = np.isfinite(both + rivals).all(axis=1)
            names = {"column": column.name, "n_errors": str(number), "than": rival.label}
            if known.any():
                agreement = agree(both[known], rivals[known], resamples, seed)
                rows.append({**names, "pairs": int(known.sum()), **agreement})
    frame = scored.tidy(rows, _NUMBERS, n_errors=map(str, data.numbers))
    printed = TABLE_3.add_suffix("_paper").reset_index().assign(n_errors=str(PAPER_ERRORS))
    return {AGREEMENT: with_paper(frame, printed, ["n_errors"]).astype({"pairs": "Int64"})}


def agree(pairs: Floats, rival: Floats, resamples: int = 1000, seed: int = 0) -> dict[str, float]:
    """Does a measure distinguish clean summaries (1) from the same summaries with errors (0)?

    Args:
        pairs: the measure's scores of clean summaries and of the same with errors, finite, (d, 2);
            higher is better.
        rival: the scores of the measure with which it is compared.
        resamples, seed: of the pairs.

    Returns:
        ``spearman`` and ``kendall_c``, the correlation with the labels over all summaries, NaN if all
        scores are equal; ``spearman_p_value`` (see `correlations.p_value`); ``behind``, how much
        lower its Spearman correlation is than the rival's, absent if one of them is undefined; each
        with the ends of its 95% interval; ``preferred``, the share of the pairs in which the clean
        summary scores higher, ties as one half.
    """
    documents = tuple(map(str, range(len(pairs))))
    own, other = (
        Grid(
            documents, ("clean", "corrupted"), scores, np.tile([1.0, 0.0], (len(pairs), 1)), "", ""
        )
        for scores in (pairs, rival)
    )
    how: dict[str, Any] = {"resample": "documents", "n": resamples, "seed": seed}
    row = {"preferred": shuffle_accuracy(*pairs.T)}
    table = bootstrap(own, levels=["summary"], methods=TABLE_3.columns, **how).set_index("method")
    for method, numbers in table.iterrows():
        row |= {f"{method}_{end}": numbers[end] for end in ("low", "high", "p_value")}
        row[str(method)] = numbers["value"]
    try:
        behind = bootstrap_difference(other, own, level="summary", method="spearman", **how)
    except UndefinedCorrelationError:
        return row
    ends = {"behind_low": behind.low, "behind_high": behind.high}
    return row | {"behind": behind.difference, **ends}


def make_tables(scored: Scored[Versions], frames: Frames) -> list[Table]:
    """``subtle-errors``: correlations of every measure with clean = 1 and corrupted = 0, and the
    paper's as printed; ``subtle-errors-paired``: what the paper does not have.
    """
    data, frame = scored.data, frames[AGREEMENT]
    ends = [name for name in frame if name.endswith(("_low", "_high"))]
    frame = frame.assign(**frame[ends].where(frame["pairs"].fillna(0) >= LEAST_PAIRS))
    agreement, paired, fewer = {}, {}, []
    for number, rows in frame.groupby("n_errors", sort=False):
        pairs = rows["pairs"].fillna(0).max()
        title = f"{counted(int(number), 'error')}, {counted(pairs, 'pair')}"
        short = rows[rows["pairs"] < pairs]
        counts = [f"{row.measure} ({row.pairs})" for row in short.itertuples()]
        fewer += [f"{title}, but fewer with a score: {', '.join(counts)}."] if counts else []
        agreement[title] = pd.DataFrame(
            {
                "measure": rows["measure"],
                "ρ": rows["spearman"],
                "ρ paper": rows["spearman_paper"],
                "ρ 95%": intervals(rows, "spearman", 3),
                "ρ p": p_values(rows["spearman_p_value"]),
                "τ-c": rows["kendall_c"],
                "τ-c paper": rows["kendall_c_paper"],
            }
        )
        rows = rows[rows["pairs"].notna()]
        if len(rows):
            paired[title] = pd.DataFrame(
                {
                    "measure": rows["measure"],
                    "ρ behind": rows["behind"],
                    "ρ behind 95%": intervals(rows, "behind", 3),
                    "clean preferred": rows["preferred"],
                }
            )
    every, behind = len(data.documents), "ρ of the first row minus ρ of this row"
    if any(column.setting for column in scored.known):
        behind += "; in the second setting, ρ of the same measure in the first one"
    incomplete = {number: every - len(data.complete(number)) for number in data.numbers}
    notes = [
        f"95%: percentiles of a bootstrap over pairs. Fewer than {LEAST_PAIRS} pairs have no interval.",
        *fewer,
    ]
    return [
        Table(
            "subtle-errors",
            "Subtle errors (Table 3 of the paper): correlation with clean = 1, corrupted = 0",
            agreement,
            [
                "Higher is better; (-): the measure is negated. paper: printed, not computed in this run, for 3 errors "
                "and 2000 pairs of CNN/DailyMail. ρ p: two-sided, of no correlation, with summaries treated as "
                "independent.",
                *notes,
                *(
                    f"{counted(lacking, 'pair')} of {every} excluded: too few whole words for {counted(number, 'error')}."
                    for number, lacking in incomplete.items()
                    if lacking
                ),
                f"Errors: {data.generator}",
                *scored.remarks,
            ],
        ),
        Table(
            "subtle-errors-paired",
            "Subtle errors: compared with another measure, and clean with corrupted within each pair",
            paired,
            [
                f"ρ behind: {behind}. Clean preferred: fraction of the pairs in which the clean summary scores higher; "
                "ties count as one half.",
                *notes,
            ],
        ),
    ]


BENCHMARK = Benchmark(analyze, make_tables)

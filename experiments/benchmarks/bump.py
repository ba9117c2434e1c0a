"""BUMP (Ma et al. 2023): pairs of a reference summary of CNN/DailyMail and the same summary with one
error that a person put in, with the scores of published measures. Does a measure prefer the reference?
"""

import hashlib
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from estime_metric.cli import options
from estime_metric.show.cells import p_value
from estime_metric.studies.meta.ranks import ratio
from estime_metric.studies.meta.significance import p_of_sign
from estime_metric.table.arrays import Floats
from experiments.benchmarks.common import (
    PUBLISHED,
    RUN,
    Run,
    find_file,
    interval_texts,
    records,
    show,
    wide,
    with_interval,
)
from experiments.benchmarks.statistics import areas

#: Articles in the split ``valid``.
CHOSEN = 50
#: The two summaries of a pair.
VERSIONS = REFERENCE, EDITED = "reference", "edited"
#: Types of error in the order of tables; other types follow.
ERRORS = (
    "Intrinsic Predicate Error",
    "Extrinsic Predicate Error",
    "Intrinsic Entity Error",
    "Extrinsic Entity Error",
    "Intrinsic Circumstance Error",
    "Extrinsic Circumstance Error",
    "Coreference Error",
)


def read(folder: Path, split: str = "all", limit: int | None = None) -> pd.DataFrame:
    """The pairs of task 1, which has an error of each type in each summary, reference and edited summary in turn: ``document`` is the pair's name, ``system`` one
    of `VERSIONS`; further columns are the ``article`` and the type of ``error`` of the pair, as
    corrected by the authors if they did.

    Args:
        folder: a copy of the authors' repository, or its folder ``data``.
        split: ``valid`` (the 50 articles whose id has the smallest SHA-256), ``test`` (the others) or
            ``all``.
        limit: only the first articles of the split.
    """
    path = find_file(folder, "task1_dataset.json")
    if path is None:
        raise FileNotFoundError(f"Expected {str(folder)!r} to have task1_dataset.json.")
    pairs = records(path)
    pairs["article_id"] = pairs["article_id"].astype(str)
    pairs["error"] = pairs["error_type"]
    if "corrected_error_type" in pairs:
        pairs["error"] = pairs["corrected_error_type"].fillna(pairs["error_type"])
    articles = list(pairs["article_id"].unique())
    by_hash = sorted(articles, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    kept = {"all": articles, "valid": by_hash[:CHOSEN], "test": by_hash[CHOSEN:]}[split]
    first = [name for name in articles if name in kept][:limit]
    pairs = pairs[pairs["article_id"].isin(first)].reset_index(drop=True)
    scores = pd.DataFrame(list(pairs["scores"]))
    versions = []
    for version in VERSIONS:
        published = scores.filter(regex=f"_{version}$").astype(np.float64)
        named = published.rename(columns=lambda name: PUBLISHED + name.rpartition("_")[0])
        versions.append(
            pd.DataFrame(
                {
                    "document": pairs["id"].astype(str),
                    "system": version,
                    "article": pairs["article_id"],
                    "error": pairs["error"],
                    "source": pairs["article"],
                    "summary": pairs[f"{version}_summary"],
                }
            ).join(named)
        )
    return pd.concat(versions).sort_index(kind="stable").reset_index(drop=True)


def consistency(table: pd.DataFrame, scores: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Of each measure, over all pairs (``error`` is ``all``) and by type of error, in percent: the
    ``consistency``, which is the share of pairs in which the reference has the better score, strictly;
    the ``area`` under the ROC curve of references against edited summaries; both with the ends of the
    95% interval over articles; and the number of ``pairs`` and of ``ties``. A pair without both scores
    is excluded.
    """
    errors = table["error"].iloc[::2].to_numpy()
    weights = run.weights(table["article"].iloc[::2])
    rows: list[dict[str, Any]] = []
    for measure, values in _by_pair(scores).items():
        known = np.isfinite(values).all(axis=1)
        for error in ("all", *sorted(set(errors), key=_order)):
            kept = known & (errors == error) if error != "all" else known
            pairs, drawn = values[kept], weights[:, kept]
            labels = np.repeat([1, 0], len(pairs))
            area = areas(labels, pairs.T.ravel(), np.tile(drawn, 2))
            rows.append(
                {
                    "measure": measure,
                    "error": error,
                    "pairs": len(pairs),
                    "ties": int((pairs[:, 0] == pairs[:, 1]).sum()),
                    **with_interval(share_of_pairs(pairs, drawn), "consistency"),
                    **with_interval(100 * area, "area"),
                }
            )
    return pd.DataFrame(rows)


def differences(table: pd.DataFrame, scores: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Each measure that is not published against the published one with the nearest consistency, the
    ``other``, over the pairs that both score: the ``difference`` of the consistencies in points with the
    95% interval and the two-sided ``p_value`` of the paired bootstrap over articles.
    """
    weights = run.weights(table["article"].iloc[::2])
    by_pair = _by_pair(scores)
    published = [name.removeprefix(PUBLISHED) for name in table if name.startswith(PUBLISHED)]
    rows: list[dict[str, Any]] = []
    for measure in (name for name in by_pair if name not in published):
        against = []
        for other in published:
            known = np.isfinite([by_pair[measure], by_pair[other]]).all(axis=(0, 2))
            own, others = (
                share_of_pairs(by_pair[name][known], weights[:, known]) for name in (measure, other)
            )
            against.append({"other": other, "drawn": own - others})
        if against:
            nearest = min(against, key=lambda one: abs(one["drawn"][0]))
            drawn = nearest.pop("drawn")
            p_value = p_of_sign(drawn[1:][np.isfinite(drawn[1:])])
            interval = with_interval(drawn, "difference")
            rows.append({"measure": measure, **nearest, **interval, "p_value": p_value})
    return pd.DataFrame(rows)


def bump(
    folder: Path,
    /,
    *,
    split: Literal["all", "valid", "test"] = "all",
    limit: options.PositiveCount | None = None,
    run: Run = RUN,
) -> None:
    """Choose between a summary and the same with one error: BUMP, Ma et al. 2023.

    Prints the consistency, which is the share of pairs in which the summary without the error has the
    better score, next to published measures, by type of error too, and the difference from the nearest
    published measure. Writes bump.csv and bump-differences.csv. Files of --scores name the columns pair and
    version (reference, edited).

    Args:
        folder: A copy of the authors' repository, dataminr-ai/BUMP, or its folder data.
        split: Articles: valid (the 50 for making choices), test (the others) or all.
        limit: Use only the first articles.
    """
    table = read(folder, split, limit)
    scores = run.score(table)
    shares, nearest = consistency(table, scores, run), differences(table, scores, run)
    of_all = shares[shares["error"] == "all"].set_index("measure")
    overall = of_all[["consistency"]].assign(
        **{"95%": interval_texts(of_all, "consistency", 1)},
        ties=of_all["ties"],
        area=of_all["area"],
        **{"95%, area": interval_texts(of_all, "area", 1)},
    )
    articles = table["article"].nunique()
    show(f"BUMP: {len(table) // 2} pairs of {articles} articles, in percent", overall, 1)
    by_type = wide(shares[shares["error"] != "all"], ["consistency"], "error")["consistency"]
    show("Consistency by type of error", by_type, 1)
    shown = nearest.set_index("measure")[["other", "difference"]].assign(
        **{"95%": interval_texts(nearest, "difference", 1)},
        p=nearest["p_value"].map(p_value).tolist(),
    )
    show("Minus the nearest published measure", shown, 1)
    run.save(bump=shares, **{"bump-differences": nearest})


def _order(error: str) -> tuple[bool, int, str]:
    known = error in ERRORS
    return not known, ERRORS.index(error) if known else 0, error


def _by_pair(scores: pd.DataFrame) -> dict[str, Floats]:
    """The scores of each measure, (pairs, 2): reference and edited summary."""
    return {str(name): values.to_numpy().reshape(-1, 2) for name, values in scores.items()}


def share_of_pairs(pairs: Floats, weights: Floats) -> Floats:
    """Percent of the pairs in which the reference has the better score, (n,)."""
    return 100 * ratio(weights @ (pairs[:, 0] > pairs[:, 1]), weights.sum(axis=1))

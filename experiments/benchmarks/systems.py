"""How often do significant differences between two systems have the order of people's judgements, and
by how much more does the better system copy? SummEval, FRANK and RAGTruth.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from estime_metric.compare.differences import compare_scores
from estime_metric.wording.source import novelty
from experiments.benchmarks import frank, ragtruth
from experiments.benchmarks.common import (
    PUBLISHED,
    RUN,
    Run,
    interval_texts,
    records,
    show,
    wide,
    with_interval,
    with_sources,
)
from experiments.benchmarks.statistics import partial_correlations

#: Measures were chosen on the documents of the first part; the others are for reports.
CHOOSING, REPORTING = "choosing", "reporting"
#: Documents of SummEval for choosing: the first ones.
FIRST_DOCUMENTS = 50
#: Where bands of the ratio of copying begin.
BANDS = {"at most 1.5": 0, "1.5 to 2": 1.5, "2 to 3": 2, "above 3": 3}
#: Differences of systems that copy alike, by their size.
SIZES = ("all", "up to the median", "above the median")
_KEYS = ["data", "part", "measure"]
_ORIENTED = "oriented "


def read(folder: Path) -> pd.DataFrame:
    """The summaries of the datasets that there are. Further columns are ``data``, the dataset, ``part``,
    `CHOOSING` or `REPORTING`, and ``judgement``, higher for a more consistent summary. The ``document``
    is the folder, a slash, the document's name.

    Args:
        folder: has some of the folders ``summeval``, ``frank`` (read by `frank.read`) and ``ragtruth``.
    """
    readers = {"summeval": read_summeval, "frank": _read_frank, "ragtruth": _read_ragtruth}
    tables = [
        read_data(folder / name).assign(
            document=lambda table, name=name: f"{name}/" + table["document"]
        )
        for name, read_data in readers.items()
        if (folder / name).is_dir()
    ]
    if not tables:
        raise FileNotFoundError(f"Expected {str(folder)!r} to have one of {', '.join(readers)}.")
    columns = ["data", "part", "document", "system", "source", "summary", "judgement"]
    table = pd.concat(tables, ignore_index=True)
    return table[[*columns, *(name for name in table if name.startswith(PUBLISHED))]]


def read_summeval(folder: Path) -> pd.DataFrame:
    """The summaries of ``summeval.jsonl`` with the sources of ``documents.jsonl``."""
    table = with_sources(records(folder / "summeval.jsonl"), folder / "documents.jsonl")
    is_chosen = table["document"].isin(table["document"].unique()[:FIRST_DOCUMENTS])
    part = np.where(is_chosen, CHOOSING, REPORTING)
    return table.assign(data="SummEval", part=part, judgement=table["consistency"])


def _read_frank(folder: Path) -> pd.DataFrame:
    tables = [
        frank.read(folder, split).assign(part=part)
        for split, part in zip(frank.SPLITS, (CHOOSING, REPORTING), strict=True)
    ]
    table = pd.concat(tables)
    data = "FRANK, " + table["dataset"].map(frank.DATASETS)
    return table.assign(data=data, judgement=table["factuality"])


def _read_ragtruth(folder: Path) -> pd.DataFrame:
    table = ragtruth.read(folder)
    return table.assign(data="RAGTruth", part=REPORTING, judgement=table["label"].astype(float))


def agreement(table: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """A row for each measure, dataset, ``part`` (``all`` for all documents) and pair of systems: the
    ``ratio`` of copying, the mean ``copied_density`` of the system that copies more, divided by the
    other's; the absolute ``difference`` of the measure and its ``p_value``, without Holm's correction;
    ``significant``, whether `compare_scores` calls one of them better; ``agree``, whether people's mean
    judgement over the same documents is higher for the one with the better score; and ``right``, whether
    both.
    """
    copied = novelty(list(table["summary"]), list(table["source"]))["copied_density"]
    rows = []
    named = table.assign(copied=copied)
    for data, of_data in named.groupby("data", sort=False):
        parts = {"all": of_data, **dict(list(of_data.groupby("part", sort=False)))}
        for part, summaries in parts.items():
            values = scores.loc[summaries.index].dropna(axis="columns", how="all")
            rows += [{"data": data, "part": part, **row} for row in _compared(summaries, values)]
    return pd.DataFrame(rows)


def _compared(summaries: pd.DataFrame, scores: pd.DataFrame) -> list[dict[str, object]]:
    copied = summaries.groupby("system")["copied"].mean()
    judged = summaries.pivot(index="document", columns="system", values="judgement")
    # With the prefix, none of them has the name of a measure, whose direction is fixed.
    oriented = scores.add_prefix(_ORIENTED)
    with_scores = summaries[["document", "system", "source"]].join(oriented)
    by_system = dict(list(with_scores.groupby("system")))
    names = list(oriented.columns)
    comparison = compare_scores(by_system, measures=names, higher=names, id_column="document")
    rows: list[dict[str, object]] = []
    for measure, pairs in comparison.pairs.groupby("measure", sort=False):
        values = with_scores.pivot(index="document", columns="system", values=str(measure))
        people = judged[values.notna().all(axis=1)].mean()
        for row in pairs.itertuples():
            both = [row.system_a, row.system_b]
            less, more = sorted(copied[both])
            judged_better = people[row.system_a] - people[row.system_b]
            agree = abs(judged_better) > 1e-9 and judged_better * row.difference > 0
            rows.append(
                {
                    "measure": str(measure).removeprefix(_ORIENTED),
                    "system_a": row.system_a,
                    "system_b": row.system_b,
                    "ratio": more / less if less else np.inf,
                    "difference": abs(row.difference),
                    "p_value": row.p_value,
                    "significant": row.better_score is not None,
                    "agree": agree,
                    "right": row.better_score is not None and agree,
                }
            )
    return rows


def counts(pairs: pd.DataFrame) -> pd.DataFrame:
    """Of each measure, dataset and part: how many ``significant`` differences there are, and how many of
    these are ``right``, over ``all pairs`` of systems, those of each band of the ratio of copying, and
    those with a ratio of ``at most 2`` or ``above 2``.
    """
    bands = pd.cut(pairs["ratio"], [*BANDS.values(), np.inf], labels=list(BANDS))
    halves = np.where(pairs["ratio"] <= 2, "at most 2", "above 2")
    return _sums([pairs.assign(band=band) for band in ("all pairs", bands.astype(str), halves)])


def sizes(pairs: pd.DataFrame) -> pd.DataFrame:
    """The same over the pairs of systems with a ratio of copying of at most 2, where differences with a p
    below .05 count as ``significant``, without Holm's correction: over all of them and by their size.
    """
    near = pairs[(pairs["ratio"] <= 2) & (pairs["p_value"] < 0.05)]
    near = near.assign(significant=True, right=near["agree"])
    medians = near.groupby(_KEYS)["difference"].transform("median")
    size = np.where(near["difference"] > medians, SIZES[2], SIZES[1])
    return _sums([near.assign(band=band) for band in (SIZES[0], size)])


def _sums(parts: list[pd.DataFrame]) -> pd.DataFrame:
    grouped = pd.concat(parts).groupby([*_KEYS, "band"], sort=False)
    return grouped[["right", "significant"]].sum().reset_index()


def pooled(table: pd.DataFrame, scores: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Of each measure and dataset: Spearman's ``rho`` with the judgements over all summaries of all
    systems, with its 95% interval over documents.
    """
    rows = []
    for data, summaries in table.groupby("data", sort=False):
        weights = run.weights(summaries["document"])
        judged, codes = summaries["judgement"].to_numpy(), np.zeros(len(summaries), dtype=np.int64)
        for measure, values in scores.loc[summaries.index].dropna(axis="columns").items():
            drawn = partial_correlations(weights, values.to_numpy(), judged, codes, "spearman")
            rows.append({"data": data, "measure": measure, **with_interval(drawn, "rho")})
    return pd.DataFrame(rows)


def means(table: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Of each dataset and system: the mean of each measure over all its summaries."""
    values = scores.mul([-1 if name.startswith("(-)") else 1 for name in scores])
    values.columns = values.columns.str.removeprefix("(-)")
    return values.groupby([table["data"], table["system"]], sort=False).mean().reset_index()


def systems(folder: Path, /, *, run: Run = RUN) -> None:
    """Count how often significant differences between two systems have the order of people's judgements.

    Prints, for each measure, how many significant differences have people's order, of all documents and
    of those for choosing and for reporting, by how much more one system copies, and, if both copy alike,
    by the size of the difference; Spearman's rho over all summaries; and usual values. Writes
    systems.csv, systems-sizes.csv, systems-rho.csv, systems-pairs.csv and systems-means.csv. Files of
    --scores name documents FOLDER/ID.

    Args:
        folder: Folder with some of the folders summeval, with documents.jsonl (doc_id, source) and
            summeval.jsonl (doc_id, system, summary, consistency), frank and ragtruth, of these benchmarks.
    """
    table = read(folder)
    scores = run.score(table)
    pairs, correlated = agreement(table, scores), pooled(table, scores, run)
    counted, by_size = counts(pairs), sizes(pairs)
    order = ["all pairs", *BANDS, "at most 2", "above 2"]
    _show_shares(counted, order, "right of significant differences")
    _show_shares(by_size, SIZES, "right of differences with p < .05 and a ratio of at most 2")
    values = correlated["rho"].map("{:.3f} ".format)
    shown = correlated.assign(rho=values + interval_texts(correlated, "rho"))
    show("Spearman's rho with judgements", wide(shown, ["rho"], "data")["rho"])
    usual = means(table, scores)
    by_data = usual.groupby("data", sort=False)[["inconsistency", "copied_density"]]
    show("lowest and highest mean of a system", by_data.agg(["min", "max"]))
    extra = {"rho": correlated, "sizes": by_size, "pairs": pairs, "means": usual}
    run.save(systems=counted, **{f"systems-{name}": value for name, value in extra.items()})


def _show_shares(table: pd.DataFrame, order: Sequence[str], title: str) -> None:
    """Prints ``RIGHT of SIGNIFICANT`` of each measure and band, for each dataset and part."""
    texts = table["right"].astype(str) + " of " + table["significant"].astype(str)
    for (data, part), rows in table.assign(text=texts).groupby(["data", "part"], sort=False):
        shown = wide(rows, ["text"], "band")["text"]
        columns = [band for band in order if band in shown]
        show(f"{data}, documents: {part}; {title}", shown[columns])

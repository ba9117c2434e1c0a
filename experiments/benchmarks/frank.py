"""FRANK (Pagnoni et al. 2021): summaries of nine systems, judged sentence by sentence, with published
metrics' scores. How well do measures correlate with factuality?
"""

from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from estime_metric.cli import options
from estime_metric.table.arrays import group_codes
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
    with_sources,
)
from experiments.benchmarks.statistics import partial_correlations

#: Splits of the benchmark: choices are made on the first, results are reported on the second.
SPLITS = ("valid", "test")
DATASETS = {"cnndm": "CNN/DailyMail", "bbc": "XSum"}
PARTS = {"all": "all", **DATASETS}
#: Published metrics, in the order of tables; others follow.
METRICS = (
    *("BertScore P Art", "BertScore R Art", "BertScore F1 Art", "FactCC", "Dep Entail", "QAGS"),
    *("FEQA", "BertScore P", "BertScore R", "BertScore F1", "Rouge 1", "Rouge 2", "Rouge L"),
    *("Bleu", "Meteor"),
)
#: Ways to correlate, see `partial_correlations`.
METHODS = {"pearson": "r", "spearman": "ρ", "authors": "ρ, authors"}
_KEYS = {"hash": "document", "model_name": "system"}


def read(folder: Path, split: str = "test", limit: int | None = None) -> pd.DataFrame:
    """The summaries of a split. Further columns are the ``dataset`` (`DATASETS`), the ``split`` and the
    ``factuality``, which is the share of the sentences without an error.

    Args:
        folder: a copy of the authors' repository, or a folder with ``documents.jsonl``
            (``doc_id``, ``source``) and ``frank.jsonl`` (``doc_id``, ``system``, ``dataset``,
            ``split``, ``summary``, ``factuality``, ``metrics``).
        split: one of `SPLITS`.
        limit: only the first documents of each dataset.
    """
    annotations = find_file(folder, "human_annotations.json")
    if annotations is not None:
        table = _read_authors(annotations.parent)
    else:
        table = with_sources(records(folder / "frank.jsonl"), folder / "documents.jsonl")
    table = table[table["split"] == split].reset_index(drop=True)
    if limit is not None:
        first = table.drop_duplicates("document").groupby("dataset").head(limit)["document"]
        table = table[table["document"].isin(first)].reset_index(drop=True)
    metrics = pd.DataFrame(list(table["metrics"])).astype(np.float64)
    names = [*(name for name in METRICS if name in metrics), *metrics.columns.difference(METRICS)]
    return table.drop(columns="metrics").join(metrics[names].add_prefix(PUBLISHED))


def _read_authors(folder: Path) -> pd.DataFrame:
    """The authors' files: judgements, outputs of metrics, and texts."""
    keys = list(_KEYS)
    judged = records(folder / "human_annotations.json")
    outputs = records(folder / "baseline_factuality_metrics_outputs.json")
    names = outputs.columns.difference([*keys, "dataset", "split"], sort=False)
    metrics = outputs[keys].assign(metrics=outputs[names].to_dict("records"))
    texts = records(folder / "benchmark_data.json")[[*keys, "article", "summary"]]
    table = judged.merge(metrics, on=keys, validate="1:1").merge(texts, on=keys, validate="1:1")
    if len(table) < len(judged):
        raise ValueError("Expected metrics and texts of each judged summary.")
    table = table.rename(columns={**_KEYS, "article": "source", "Factuality": "factuality"})
    columns = ["document", "system", "dataset", "split", "summary", "factuality", "source"]
    return table[[*columns, "metrics"]].astype({"document": str, "system": str})


def correlations(table: pd.DataFrame, scores: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Of each measure, ``part`` (`PARTS`) and ``method`` (`METHODS`): the partial correlation with
    factuality, which controls for the system, with the 95% interval over documents, and the number of
    ``summaries``, those with a score; ``below_best``, how far it is below the highest one of the part
    and method, with the interval of this difference, in which each is over its own summaries.
    """
    judged = table["factuality"].to_numpy()
    rows: list[dict[str, Any]] = []
    for part, method in product(PARTS, METHODS):
        # Resamples of the authors' ranks would need an order of each resample.
        weights = run.weights(table["document"])[: 1 if method == "authors" else None]
        by_measure = {}
        for measure, values in scores.items():
            kept = values.notna() & ((part == "all") | (table["dataset"] == part))
            codes = group_codes(table["system"][kept], int(kept.sum()))
            drawn = partial_correlations(
                weights[:, kept], values[kept].to_numpy(), judged[kept], codes, method
            )
            by_measure[measure] = drawn, int(kept.sum())
        best = max(
            (drawn for drawn, _ in by_measure.values()),
            key=lambda drawn: np.nan_to_num(drawn[0], nan=-2),
        )
        rows += [
            {
                "measure": measure,
                "part": PARTS[part],
                "method": METHODS[method],
                **with_interval(drawn),
                **with_interval(best - drawn, "below_best"),
                "summaries": count,
            }
            for measure, (drawn, count) in by_measure.items()
        ]
    return pd.DataFrame(rows)


def frank(
    folder: Path,
    /,
    *,
    split: Literal["valid", "test"] = "test",
    limit: options.PositiveCount | None = None,
    run: Run = RUN,
) -> None:
    """Correlate ESTIME and published metrics with judged factuality: FRANK, Pagnoni et al. 2021.

    Prints partial correlations that control for the system: Pearson's r, Spearman's ρ of the residuals of
    ranks, and Spearman's ρ as the authors' script computes it, of the residuals of values. Writes
    frank.csv, with intervals, also of the difference from the best measure.

    Args:
        folder: Folder with documents.jsonl and frank.jsonl, or a copy of the authors' repository,
            artidoro/frank.
        split: Split of the benchmark: valid for making choices, test for reporting.
        limit: Use only the first documents of CNN/DailyMail and of XSum.
    """
    table = read(folder, split, limit)
    frame = correlations(table, run.score(table), run)
    title = f"FRANK, {split}: partial correlation with factuality, {len(table)} summaries"
    show(title, wide(frame, ["value"], ["part", "method"])["value"])
    of_all = frame[frame["method"] == "r"]
    intervals = of_all.assign(
        r=interval_texts(of_all, "value"), below_best=interval_texts(of_all, "below_best", 3)
    )
    show(
        "95% intervals of r and of its distance from the best",
        wide(intervals, ["r", "below_best"], "part"),
    )
    run.save(frank=frame)

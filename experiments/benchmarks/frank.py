"""FRANK (Pagnoni et al. 2021): summaries of nine systems, judged sentence by sentence, with published
metrics' scores. How well do measures correlate with factuality?
"""

from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from estime_metric.cli import options
from estime_metric.studies.meta.significance import williams
from estime_metric.table.arrays import Floats, group_codes
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
#: Types of error: three groups, the seven types in them, and what fits none.
ERRORS = (
    *("Semantic_Frame_Errors", "Discourse_Errors", "Content_Verifiability_Errors", "RelE", "EntE"),
    *("CircE", "OutE", "GramE", "CorefE", "LinkE", "Other"),
)
#: Ways to correlate, see `partial_correlations`.
METHODS = {"pearson": "r", "spearman": "ρ", "authors": "ρ, authors"}
#: What precedes a type of error in the name of a column of factuality with its labels flipped.
FLIP = "Flip_"
_KEYS = {"hash": "document", "model_name": "system"}


def read(folder: Path, split: str = "test", limit: int | None = None) -> pd.DataFrame:
    """The summaries of a split. Further columns are the ``dataset`` (`DATASETS`), the ``split``, the
    ``factuality``, which is the share of the sentences without an error, and for types of error
    ``Flip_TYPE``, factuality with the labels of that type flipped.

    Args:
        folder: a copy of the authors' repository with its texts, or a folder with ``documents.jsonl``
            (``doc_id``, ``source``) and ``frank.jsonl`` (``doc_id``, ``system``, ``dataset``,
            ``split``, ``summary``, ``factuality``, ``flipped``, ``metrics``).
        split: one of `SPLITS`.
        limit: only the first documents of each dataset.
    """
    annotations = find_file(folder, "human_annotations.json")
    table = _read_lines(folder) if annotations is None else _read_authors(annotations.parent)
    table = table[table["split"] == split].reset_index(drop=True)
    if limit is not None:
        first = table.drop_duplicates("document").groupby("dataset").head(limit)["document"]
        table = table[table["document"].isin(first)].reset_index(drop=True)
    metrics = pd.DataFrame(list(table["metrics"])).astype(np.float64)
    names = [*(name for name in METRICS if name in metrics), *metrics.columns.difference(METRICS)]
    return table.drop(columns="metrics").join(metrics[names].add_prefix(PUBLISHED))


def _read_lines(folder: Path) -> pd.DataFrame:
    judged = with_sources(records(folder / "frank.jsonl"), folder / "documents.jsonl")
    flipped = pd.DataFrame(list(judged["flipped"])).dropna(axis="columns").add_prefix(FLIP)
    kept = [FLIP + error for error in ERRORS if FLIP + error in flipped]
    return judged.drop(columns=["flipped", "errors"], errors="ignore").join(flipped[kept])


def _read_authors(folder: Path) -> pd.DataFrame:
    """The authors' files: judgements, outputs of metrics, and a file of texts or one per document."""
    keys = list(_KEYS)
    judged = records(folder / "human_annotations.json")
    outputs = records(folder / "baseline_factuality_metrics_outputs.json")
    names = outputs.columns.difference([*keys, "dataset", "split"], sort=False)
    metrics = outputs[keys].assign(metrics=outputs[names].to_dict("records"))
    if (folder / "benchmark_data.json").is_file():
        texts = records(folder / "benchmark_data.json")[[*keys, "article", "summary"]]
    else:
        rows = []
        for document in judged["hash"].unique():
            systems = pd.read_json(
                folder / "articles-wbertscore-json" / f"{document}.json", typ="series", dtype=False
            )
            rows += [(document, name, systems["article"], text) for name, text in systems.items()]
        texts = pd.DataFrame(rows, columns=[*keys, "article", "summary"])
    table = judged.merge(metrics, on=keys, validate="1:1").merge(texts, on=keys, validate="1:1")
    if len(table) < len(judged):
        raise ValueError("Expected metrics and texts of each judged summary.")
    flipped = [FLIP + error for error in ERRORS if FLIP + error in table]
    table = table.rename(columns={**_KEYS, "article": "source", "Factuality": "factuality"})
    columns = ["document", "system", "dataset", "split", "summary", "factuality", "source"]
    return table[[*columns, *flipped, "metrics"]].astype({"document": str, "system": str})


def correlations(table: pd.DataFrame, scores: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Of each measure, ``part`` (`PARTS`), ``kind`` (``partial``, which controls for the system, or
    ``plain``) and ``method``: the correlation with factuality with the 95% interval over documents, and
    the number of ``summaries``, those with a score.
    """
    weights = run.weights(table["document"])
    rows: list[dict[str, Any]] = []
    for measure, part, kind, method in product(scores, PARTS, ("partial", "plain"), METHODS):
        values = scores[measure].to_numpy()
        kept = _inside(table, part, values)
        drawn = _correlate(table, weights, kept, values, "factuality", method, kind)
        names = {"measure": measure, "part": PARTS[part], "kind": kind, "method": METHODS[method]}
        rows.append({**names, **with_interval(drawn), "summaries": int(kept.sum())})
    return pd.DataFrame(rows)


def differences(
    table: pd.DataFrame, scores: pd.DataFrame, correlated: pd.DataFrame
) -> pd.DataFrame:
    """Each measure against the one with the highest partial correlation, by Williams' test, which
    treats summaries as independent; the number of systems is subtracted from its degrees of freedom.

    ``best``; ``difference``, the best correlation minus this one's, over the summaries that both
    score; ``p_value``, two-sided.
    """
    rows = []
    partial = correlated[correlated["kind"] == "partial"].dropna(subset="value")
    for part, method in product(PARTS, ("pearson", "spearman")):
        is_group = (partial["part"] == PARTS[part]) & (partial["method"] == METHODS[method])
        group = partial[is_group]
        if group.empty:
            continue
        best = group.loc[group["value"].idxmax(), "measure"]
        for measure in group["measure"]:
            first, second = scores[best].to_numpy(), scores[measure].to_numpy()
            kept = _inside(table, part, first, second)
            systems = table["system"][kept].nunique()
            once = np.ones((1, len(table)))
            judged = table["factuality"].to_numpy()
            codes = group_codes(table["system"][kept], int(kept.sum()))
            between, best_value, value = (
                float(partial_correlations(once[:, kept], x[kept], y[kept], codes, method)[0])
                for x, y in ((first, second), (first, judged), (second, judged))
            )
            items = int(kept.sum()) - max(0, systems - 1)
            p_value = np.nan
            if items >= 4 and np.isfinite([between, best_value, value]).all() and between > -1:
                p_value = williams(best_value, value, between, items).p_value
            names = {"measure": measure, "part": PARTS[part], "method": METHODS[method]}
            difference = best_value - value
            rows.append({**names, "best": best, "difference": difference, "p_value": p_value})
    return pd.DataFrame(rows)


def ablation(table: pd.DataFrame, scores: pd.DataFrame, run: Run) -> pd.DataFrame:
    """How much of the partial Pearson correlation of each measure rests on a type of ``error``: the
    correlation minus the one with the labels of that type flipped, with its 95% interval.
    """
    weights = run.weights(table["document"])
    flipped = [name for name in table if name.startswith(FLIP)]
    rows: list[dict[str, Any]] = []
    for measure, part in product(scores, PARTS):
        values = scores[measure].to_numpy()
        kept = _inside(table, part, values)
        whole = _correlate(table, weights, kept, values, "factuality", "pearson")
        for name in flipped:
            drawn = whole - _correlate(table, weights, kept, values, name, "pearson")
            error = name.removeprefix(FLIP)
            names = {"measure": measure, "part": PARTS[part], "error": error}
            rows.append({**names, **with_interval(drawn)})
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

    Prints partial correlations that control for the system. Writes frank.csv, with plain correlations
    and intervals too, frank-differences.csv, to the best measure with Williams' test, and
    frank-ablation.csv, by type of error.

    Args:
        folder: Folder with documents.jsonl and frank.jsonl, or a copy of the authors' repository,
            artidoro/frank.
        split: Split of the benchmark: valid for making choices, test for reporting.
        limit: Use only the first documents of CNN/DailyMail and of XSum.
    """
    table = read(folder, split, limit)
    scores = run.score(table)
    correlated = correlations(table, scores, run)
    partial = correlated[correlated["kind"] == "partial"]
    shown = wide(partial, ["value"], ["part", "method"])["value"]
    of_all = partial[(partial["part"] == "all") & (partial["method"] == "r")]
    shown.insert(1, ("all", "r, 95%"), interval_texts(of_all, "value"))
    title = f"FRANK, {split}: partial correlation with factuality, {len(table)} summaries"
    show(title, shown)
    different = differences(table, scores, correlated)
    run.save(
        frank=correlated,
        **{"frank-differences": different, "frank-ablation": ablation(table, scores, run)},
    )


def _inside(table: pd.DataFrame, part: str, *columns: Floats) -> Any:
    """Whether each summary is in a part and has a score in all columns."""
    known = np.isfinite(columns).all(axis=0)
    return known if part == "all" else known & (table["dataset"] == part).to_numpy()


def _correlate(
    table: pd.DataFrame,
    weights: Floats,
    kept: Any,
    values: Floats,
    judgement: str,
    method: str,
    kind: str = "partial",
) -> Floats:
    """The correlation of the sample and of each resample, over the summaries that are kept."""
    systems = table["system"][kept] if kind == "partial" else ["all"] * int(kept.sum())
    codes = group_codes(systems, int(kept.sum()))
    judged = table[judgement].to_numpy(dtype=np.float64)[kept]
    # Resamples of the authors' ranks would need an order of each resample.
    drawn = weights[:1] if method == "authors" else weights
    return partial_correlations(drawn[:, kept], values[kept], judged, codes, method)

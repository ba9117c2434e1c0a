"""FRANK (Pagnoni et al. 2021): summaries of nine systems, judged sentence by sentence, with
published metrics' scores.

Two layouts are read: one of JSON Lines, and the authors' own files (github.com/artidoro/frank,
folder ``data``).
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from estime_metric.checks import check_choice
from estime_metric.studies.benchmarks.shared.data import KEY, Summaries
from estime_metric.studies.benchmarks.shared.records import join, read_frame, read_records
from estime_metric.studies.meta.grid import listed
from experiments.benchmarks.reading import known_first

#: Splits of the benchmark: choices are made on the first, results are reported on the second.
SPLITS = ("valid", "test")
DATASETS = {"cnndm": "CNN/DailyMail", "bbc": "XSum"}
#: Published metrics, in the order of tables. Metrics that the data lacks are skipped, others
#: follow.
METRICS = (
    "BertScore P Art",
    "BertScore R Art",
    "BertScore F1 Art",
    "FactCC",
    "Dep Entail",
    "QAGS",
    "FEQA",
    "BertScore P",
    "BertScore R",
    "BertScore F1",
    "Rouge 1",
    "Rouge 2",
    "Rouge L",
    "Bleu",
    "Meteor",
)

#: Types of error, with their headings: three groups, the seven types in them, and what fits none.
ERRORS = {
    "Semantic_Frame_Errors": "semantic frame",
    "Discourse_Errors": "discourse",
    "Content_Verifiability_Errors": "verifiability",
    "RelE": "relation",
    "EntE": "entity",
    "CircE": "circumstance",
    "OutE": "out of article",
    "GramE": "grammar",
    "CorefE": "coreference",
    "LinkE": "link",
    "Other": "other",
}
DOCUMENTS, JUDGED = "documents.jsonl", "frank.jsonl"
#: The authors' files: judgements, metrics, texts.
ANNOTATIONS, METRIC_OUTPUTS = "human_annotations.json", "baseline_factuality_metrics_outputs.json"
TEXTS, TEXT_FOLDERS = "benchmark_data.json", ("articles-wbertscore-json", "articles-json")
#: What precedes the type of error in the name of a column of factuality with inverted labels.
FLIP = "Flip_"
_JUDGED = [*KEY, "dataset", "split", "summary", "factuality"]
_KEY = {"hash": "document", "model_name": "system"}


def read(folder: str | Path, split: str = "test", limit: int | None = None) -> Summaries:
    """Reads FRANK from a folder of either layout.

    Not every system summarized every document: CNN/DailyMail and XSum have different systems.
    Further columns of the table are the ``dataset``, the ``split``, the ``factuality``, which is the
    share of the sentences without an error, and for types of error (`ERRORS`) ``Flip_TYPE``,
    factuality with the labels of that type inverted.

    Args:
        folder: has ``documents.jsonl`` (``doc_id``, ``source``) and ``frank.jsonl`` (``doc_id``,
            ``system``, ``dataset``, ``split``, ``summary``, ``factuality``, ``flipped``,
            ``metrics``). Or it has the authors' files: ``human_annotations.json``,
            ``baseline_factuality_metrics_outputs.json`` and, for the texts,
            ``benchmark_data.json`` or the folder ``articles-wbertscore-json``. It may also be a
            copy of the authors' repository.
        split: one of `SPLITS`.
        limit: only the first documents of each dataset.

    Raises:
        OSError: a file is missing.
        ValueError: a record without a field, a missing text or an invalid argument.
    """
    check_choice("split", split, SPLITS)
    folder = Path(folder)
    table = _read_folder(folder)
    table = table[table["split"] == split]
    if not len(table):
        raise ValueError(
            f"Expected {str(folder)!r} to have summaries of the split {split!r}, but there are none."
        )
    if strange := sorted(set(table["dataset"]) - set(DATASETS)):
        raise ValueError(f"Expected datasets {', '.join(DATASETS)}, but got {listed(strange)}.")
    flipped = [FLIP + error for error in ERRORS if FLIP + error in table]
    judgements = table[["factuality", *flipped]].astype(float)
    for name, values in judgements.items():
        if len(lacking := table.loc[~np.isfinite(values), KEY]):
            raise ValueError(
                f"Expected `{name}` to be finite, but it is not for {tuple(lacking.iloc[0])}."
            )
    if limit is not None:
        first = table.drop_duplicates("document").groupby("dataset")
        table = table[table["document"].isin(first.head(limit)["document"])]
    table = table.assign(**judgements).reset_index(drop=True)
    return Summaries(
        origin=f"{folder.name or folder} ({split})",
        table=table[[*_JUDGED, "source", *flipped]],
        published=_published(table),
    )


def _read_folder(folder: Path) -> pd.DataFrame:
    """All that a folder has, and in ``metrics`` the scores of published metrics by name."""
    if (folder / JUDGED).is_file():
        return _read_lines(folder)
    for place in (folder, folder / "data"):
        if (place / ANNOTATIONS).is_file():
            return _read_authors(place)
    raise FileNotFoundError(
        f"Expected {str(folder)!r} to have {JUDGED} and {DOCUMENTS}, or {ANNOTATIONS}, but it has neither."
    )


def _published(table: pd.DataFrame) -> pd.DataFrame:
    """The published metrics that the summaries have, the known ones first."""
    scores = pd.DataFrame(list(table["metrics"])).astype(float)
    return scores[known_first(scores, METRICS)]


def _read_lines(folder: Path) -> pd.DataFrame:
    fields = ("doc_id", "system", "dataset", "split", "summary", "factuality", "flipped", "metrics")
    judged = read_frame(folder / JUDGED, fields, doc_id="document")
    flipped = pd.DataFrame(list(judged["flipped"])).dropna(axis="columns").add_prefix(FLIP)
    sources = read_frame(folder / DOCUMENTS, ("doc_id", "source"), doc_id="document")
    return join(judged.join(flipped), sources, ["document"], "a source for each document")


def _read_authors(folder: Path) -> pd.DataFrame:
    records = read_records(folder / ANNOTATIONS, (*_KEY, "dataset", "split", "Factuality"))
    judged = _named(records).rename(columns={"Factuality": "factuality"})
    outputs = _named(read_records(folder / METRIC_OUTPUTS, tuple(_KEY)))
    names = outputs.columns.difference([*KEY, "dataset", "split"], sort=False)
    metrics = outputs[KEY].assign(metrics=outputs[names].to_dict("records"))
    judged = join(judged, metrics, KEY, f"a record of {METRIC_OUTPUTS} for each judgement")
    what = f"a summary for each judgement of {ANNOTATIONS}"
    return join(judged, _texts(folder, judged["document"]), KEY, what)


def _named(records: list[dict[str, object]]) -> pd.DataFrame:
    """Records of the authors as a table, with the keys of this package as text."""
    return pd.DataFrame(records).rename(columns=_KEY).astype(dict.fromkeys(KEY, str))


def _texts(folder: Path, documents: pd.Series) -> pd.DataFrame:
    """Source and summary by document and system."""
    if (folder / TEXTS).is_file():
        fields = ("article", "summary")
        texts = _named(read_records(folder / TEXTS, (*_KEY, *fields)))
        return texts[[*KEY, *fields]].rename(columns={"article": "source"})
    articles = next((folder / name for name in TEXT_FOLDERS if (folder / name).is_dir()), None)
    if articles is None:
        raise FileNotFoundError(
            f"Expected {str(folder)!r} to have the texts, {TEXTS} or {TEXT_FOLDERS[0]}, but it has neither."
        )
    rows = []
    for document in documents.unique():
        record = json.loads((articles / f"{document}.json").read_text(encoding="utf-8"))
        for system, text in record.items():
            rows.append((document, system, record["article"], text))
    return pd.DataFrame(rows, columns=[*KEY, "source", "summary"])

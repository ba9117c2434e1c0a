"""FRANK (Pagnoni et al. 2021): summaries of nine systems, judged sentence by sentence, with
published metrics' scores.

Two layouts are read: one of JSON Lines, and the authors' own files (github.com/artidoro/frank,
folder ``data``).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from estime_metric.comparison.checks import Floats, listed
from estime_metric.inputs import check_choice, integer
from estime_metric.studies.benchmarks.shared.records import (
    Record,
    by_key,
    check_all,
    digest,
    read_field,
    read_records,
)
from estime_metric.studies.benchmarks.shared.scoring import Listed

#: Halves of the benchmark: choices are made on the first, results are reported on the second.
SPLITS = ("valid", "test")
DATASETS = {"cnndm": "CNN/DailyMail", "bbc": "XSum"}
#: Published metrics, in the order of tables; those that the data lack are left out, others follow.
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

#: Types of error, with their headings: three groups, the seven types within them, and what fits
#: none.
ERRORS = {
    **{"Semantic_Frame_Errors": "semantic frame", "Discourse_Errors": "discourse"},
    **{"Content_Verifiability_Errors": "verifiability", "RelE": "relation", "EntE": "entity"},
    **{
        "CircE": "circumstance",
        "OutE": "out of article",
        "GramE": "grammar",
        "CorefE": "coreference",
    },
    **{"LinkE": "link", "Other": "other"},
}
DOCUMENTS, JUDGED = "documents.jsonl", "frank.jsonl"
#: The authors' files: judgements, metrics, texts.
ANNOTATIONS, METRIC_OUTPUTS = "human_annotations.json", "baseline_factuality_metrics_outputs.json"
TEXTS, TEXT_FOLDERS = "benchmark_data.json", ("articles-wbertscore-json", "articles-json")
#: Fields of the authors' records that are no metric.
_NAMES = ("hash", "model_name")
_KEYS = {*_NAMES, "dataset", "split"}


@dataclass(frozen=True, eq=False)
class Frank(Listed):
    """Judged summaries. Not every system summarized every document: those of CNN/DailyMail and of
    XSum differ.

    Attributes:
        origin: where they come from.
        keys: document and system of each of N summaries, each pair once (ValueError).
        datasets: N keys of `DATASETS`.
        sources: document -> its text.
        summaries: N texts.
        factuality: share of the sentences without an error, finite float64 of shape (N,); higher is
            better.
        flipped: type of error -> factuality with the labels of that type inverted, likewise.
        metrics: published metric -> its scores, float64 of shape (N,), NaN where it has none;
            higher is better.
    """

    origin: str
    keys: list[tuple[str, str]]
    datasets: tuple[str, ...]
    sources: Mapping[str, str]
    summaries: tuple[str, ...]
    factuality: Floats
    flipped: Mapping[str, Floats]
    metrics: Mapping[str, Floats]

    def __post_init__(self) -> None:
        if twice := [key for key, number in Counter(self.keys).items() if number > 1]:
            raise ValueError(
                f"Expected each summary once, but these occur several times: {listed(twice)}."
            )
        for name, values in {"factuality": self.factuality, **self.flipped}.items():
            if len(bad := np.flatnonzero(~np.isfinite(values))):
                raise ValueError(
                    f"Expected `{name}` to be finite, but it is not for {self.keys[bad[0]]}."
                )

    @cached_property
    def source_of_each(self) -> list[str]:
        """The source of each summary."""
        return [self.sources[document] for document, _ in self.keys]

    @cached_property
    def digest(self) -> str:
        """Twelve digits that change with any text, name or judgement."""
        columns = {"factuality": self.factuality, **self.flipped, **self.metrics}
        numbers = {name: values.tolist() for name, values in columns.items()}
        return digest(self.keys, self.datasets, self.source_of_each, self.summaries, numbers)


def read(folder: str | Path, split: str = "test", limit: int | None = None) -> Frank:
    """Reads FRANK from a folder of either layout.

    It has ``documents.jsonl`` (``doc_id``, ``source``) and ``frank.jsonl`` (``doc_id``, ``system``,
    ``dataset``, ``split``, ``summary``, ``factuality``, ``flipped``, ``metrics``). Or it has the
    authors' files: ``human_annotations.json``, ``baseline_factuality_metrics_outputs.json`` and,
    for the texts, ``benchmark_data.json`` or the folder ``articles-wbertscore-json``; their
    repository itself is taken too. ``split`` is one of `SPLITS`; ``limit`` takes the first
    documents of each data set alone. Raises OSError where a file is missing, ValueError for a
    record without a field, a missing text and a bad split.
    """
    check_choice("split", split, SPLITS)
    folder = Path(folder)
    authors = next(
        (one for one in (folder, folder / "data") if (one / ANNOTATIONS).is_file()), None
    )
    if (folder / JUDGED).is_file():
        rows, sources = _read_lines(folder)
    elif authors is not None:
        rows, sources = _read_authors(authors)
    else:
        raise FileNotFoundError(
            f"Expected {str(folder)!r} to hold {JUDGED} and {DOCUMENTS}, or {ANNOTATIONS}, but it has neither."
        )
    rows = [row for row in rows if row["split"] == split]
    if not rows:
        raise ValueError(
            f"Expected {str(folder)!r} to hold summaries of the split {split!r}, but there is none."
        )
    if strange := sorted({row["dataset"] for row in rows} - set(DATASETS)):
        raise ValueError(f"Expected data sets {', '.join(DATASETS)}, but got {listed(strange)}.")
    check_all((row["doc_id"] for row in rows), sources, "a source for each document")
    found = dict.fromkeys(name for row in rows for name in row["metrics"])
    names = [
        *(name for name in METRICS if name in found),
        *(name for name in found if name not in METRICS),
    ]
    shared = [name for name in ERRORS if all(name in row["flipped"] for row in rows)]
    if limit is not None:
        integer("limit", limit, 1)
        of_sets = [
            dict.fromkeys(row["doc_id"] for row in rows if row["dataset"] == name)
            for name in DATASETS
        ]
        kept = {document for of_set in of_sets for document in list(of_set)[:limit]}
        rows = [row for row in rows if row["doc_id"] in kept]
    return Frank(
        f"{folder.name or folder} ({split})",
        [(row["doc_id"], row["system"]) for row in rows],
        tuple(row["dataset"] for row in rows),
        sources,
        tuple(row["summary"] for row in rows),
        _numbers(row["factuality"] for row in rows),
        {name: _numbers(row["flipped"][name] for row in rows) for name in shared},
        {name: _numbers(row["metrics"].get(name) for row in rows) for name in names},
    )


def _numbers(cells: Iterable[Any]) -> Floats:
    return np.array([math.nan if cell is None else float(cell) for cell in cells], dtype=np.float64)


def _read_lines(folder: Path) -> tuple[list[Record], dict[str, str]]:
    sources = read_field(folder / DOCUMENTS, "source")
    fields = ("doc_id", "system", "dataset", "split", "summary", "factuality", "flipped", "metrics")
    return [
        {**row, "doc_id": str(row["doc_id"])} for row in read_records(folder / JUDGED, fields)
    ], sources


def _read_authors(folder: Path) -> tuple[list[Record], dict[str, str]]:
    judged = read_records(folder / ANNOTATIONS, (*_NAMES, "dataset", "split", "Factuality"))
    outputs = by_key(read_records(folder / METRIC_OUTPUTS, _NAMES), _NAMES, METRIC_OUTPUTS)
    keys = [(str(row["hash"]), str(row["model_name"])) for row in judged]
    summaries, sources = _texts(folder, dict.fromkeys(document for document, _ in keys))
    check_all(keys, summaries, f"a summary for each judgement of {ANNOTATIONS}")
    rows = []
    for key, row in zip(keys, judged, strict=True):
        names = {
            "doc_id": key[0],
            "system": key[1],
            "dataset": row["dataset"],
            "split": row["split"],
        }
        flipped = {name: row[f"Flip_{name}"] for name in ERRORS if f"Flip_{name}" in row}
        metrics = {name: value for name, value in outputs.get(key, {}).items() if name not in _KEYS}
        judgements = {"factuality": row["Factuality"], "flipped": flipped, "metrics": metrics}
        rows.append({**names, "summary": summaries[key], **judgements})
    return rows, sources


def _texts(
    folder: Path, documents: Iterable[str]
) -> tuple[dict[tuple[str, str], str], dict[str, str]]:
    """Summaries by document and system, and articles by document, from the authors' files."""
    if (folder / TEXTS).is_file():
        rows = by_key(read_records(folder / TEXTS, (*_NAMES, "article", "summary")), _NAMES, TEXTS)
        texts = {(document, system): row["summary"] for (document, system), row in rows.items()}
        return texts, {document: row["article"] for (document, _), row in rows.items()}
    articles = next((folder / name for name in TEXT_FOLDERS if (folder / name).is_dir()), None)
    if articles is None:
        raise FileNotFoundError(
            f"Expected {str(folder)!r} to hold the texts, {TEXTS} or {TEXT_FOLDERS[0]}, but it has neither."
        )
    summaries: dict[tuple[str, str], str] = {}
    sources: dict[str, str] = {}
    for document in documents:
        record = json.loads((articles / f"{document}.json").read_text(encoding="utf-8"))
        sources[document] = record["article"]
        summaries |= {
            (document, name): text for name, text in record.items() if isinstance(text, str)
        }
    return summaries, sources

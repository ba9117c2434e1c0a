"""FRANK (Pagnoni et al. 2021): summaries of nine systems, judged sentence by sentence, with
published metrics' scores.

Two layouts are read: one of JSON Lines, and the authors' own files (github.com/artidoro/frank,
folder ``data``).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from estime_metric.stats.checks import Floats, listed
from estime_metric.studies.benchmarks.shared.data import Listed, SummaryKey
from estime_metric.studies.benchmarks.shared.records import (
    Record,
    by_key,
    check_all,
    digest,
    read_field,
    read_records,
)
from estime_metric.validation import check_choice, integer

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
#: Fields of the authors' records that are not metrics.
_NAMES = ("hash", "model_name")
_KEYS = {*_NAMES, "dataset", "split"}


@dataclass(frozen=True, eq=False)
class Frank(Listed):
    """Judged summaries. Not every system summarized every document: CNN/DailyMail and XSum have
    different systems.

    Attributes:
        origin: where the data comes from.
        keys: document and system of each of N summaries, each pair once (ValueError).
        datasets: N keys of `DATASETS`.
        sources: document -> its text.
        summaries: N texts.
        factuality: share of the sentences without an error, finite float64 of shape (N,); higher is
            better.
        flipped: type of error -> factuality with the labels of that type inverted, of the same shape.
        published: published metric -> its scores, float64 of shape (N,), NaN if it has none; higher
            is better.
    """

    origin: str
    keys: list[SummaryKey]
    datasets: tuple[str, ...]
    sources: Mapping[str, str]
    summaries: tuple[str, ...]
    factuality: Floats
    flipped: Mapping[str, Floats]
    published: Mapping[str, Floats]

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
        return [self.sources[key.document] for key in self.keys]

    @cached_property
    def digest(self) -> str:
        """Twelve digits that change with any text, name or judgement."""
        columns = {"factuality": self.factuality, **self.flipped, **self.published}
        numbers = {name: values.tolist() for name, values in columns.items()}
        return digest(self.keys, self.datasets, self.source_of_each, self.summaries, numbers)


@dataclass(frozen=True)
class _Records:
    """What a folder of either layout has: judged summaries, and document -> its text."""

    rows: list[Record]
    sources: dict[str, str]


def read(folder: str | Path, split: str = "test", limit: int | None = None) -> Frank:
    """Reads FRANK from a folder of either layout.

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
    records = _read_folder(folder)
    rows = [row for row in records.rows if row["split"] == split]
    if not rows:
        raise ValueError(
            f"Expected {str(folder)!r} to have summaries of the split {split!r}, but there are none."
        )
    if strange := sorted({row["dataset"] for row in rows} - set(DATASETS)):
        raise ValueError(f"Expected datasets {', '.join(DATASETS)}, but got {listed(strange)}.")
    check_all((row["doc_id"] for row in rows), records.sources, "a source for each document")
    metrics = _metrics_of(rows)
    flipped = [name for name in ERRORS if all(name in row["flipped"] for row in rows)]
    if limit is not None:
        rows = _first_documents(rows, integer("limit", limit, 1))
    return Frank(
        origin=f"{folder.name or folder} ({split})",
        keys=[SummaryKey(row["doc_id"], row["system"]) for row in rows],
        datasets=tuple(row["dataset"] for row in rows),
        sources=records.sources,
        summaries=tuple(row["summary"] for row in rows),
        factuality=_numbers(row["factuality"] for row in rows),
        flipped={name: _numbers(row["flipped"][name] for row in rows) for name in flipped},
        published={name: _numbers(row["metrics"].get(name) for row in rows) for name in metrics},
    )


def _read_folder(folder: Path) -> _Records:
    if (folder / JUDGED).is_file():
        return _read_lines(folder)
    for place in (folder, folder / "data"):
        if (place / ANNOTATIONS).is_file():
            return _read_authors(place)
    raise FileNotFoundError(
        f"Expected {str(folder)!r} to have {JUDGED} and {DOCUMENTS}, or {ANNOTATIONS}, but it has neither."
    )


def _metrics_of(rows: Sequence[Record]) -> list[str]:
    """The published metrics that the data have, the known ones first."""
    names = dict.fromkeys(name for row in rows for name in row["metrics"])
    known = [name for name in METRICS if name in names]
    return known + [name for name in names if name not in METRICS]


def _first_documents(rows: Sequence[Record], limit: int) -> list[Record]:
    """The summaries of the first documents of each dataset."""
    kept: set[str] = set()
    for dataset in DATASETS:
        documents = dict.fromkeys(row["doc_id"] for row in rows if row["dataset"] == dataset)
        kept.update(list(documents)[:limit])
    return [row for row in rows if row["doc_id"] in kept]


def _numbers(cells: Iterable[Any]) -> Floats:
    return np.array([math.nan if cell is None else float(cell) for cell in cells], dtype=np.float64)


def _read_lines(folder: Path) -> _Records:
    fields = ("doc_id", "system", "dataset", "split", "summary", "factuality", "flipped", "metrics")
    rows = [{**row, "doc_id": str(row["doc_id"])} for row in read_records(folder / JUDGED, fields)]
    return _Records(rows=rows, sources=read_field(folder / DOCUMENTS, "source"))


def _read_authors(folder: Path) -> _Records:
    judged = read_records(folder / ANNOTATIONS, (*_NAMES, "dataset", "split", "Factuality"))
    outputs = by_key(read_records(folder / METRIC_OUTPUTS, _NAMES), _NAMES, METRIC_OUTPUTS)
    keys = [SummaryKey(str(row["hash"]), str(row["model_name"])) for row in judged]
    texts = _texts(folder, dict.fromkeys(key.document for key in keys))
    check_all(keys, texts.summaries, f"a summary for each judgement of {ANNOTATIONS}")
    rows = []
    for key, row in zip(keys, judged, strict=True):
        rows.append(
            {
                "doc_id": key.document,
                "system": key.system,
                "dataset": row["dataset"],
                "split": row["split"],
                "summary": texts.summaries[key],
                "factuality": row["Factuality"],
                "flipped": {name: row[f"Flip_{name}"] for name in ERRORS if f"Flip_{name}" in row},
                "metrics": {
                    name: value for name, value in outputs.get(key, {}).items() if name not in _KEYS
                },
            }
        )
    return _Records(rows=rows, sources=texts.sources)


@dataclass(frozen=True)
class _Texts:
    """Texts from the authors' files: document and system -> summary; document -> article."""

    summaries: dict[tuple[str, ...], str]
    sources: dict[str, str]


def _texts(folder: Path, documents: Iterable[str]) -> _Texts:
    if (folder / TEXTS).is_file():
        rows = read_records(folder / TEXTS, (*_NAMES, "article", "summary"))
        return _Texts(
            summaries={key: row["summary"] for key, row in by_key(rows, _NAMES, TEXTS).items()},
            sources={str(row["hash"]): row["article"] for row in rows},
        )
    articles = next((folder / name for name in TEXT_FOLDERS if (folder / name).is_dir()), None)
    if articles is None:
        raise FileNotFoundError(
            f"Expected {str(folder)!r} to have the texts, {TEXTS} or {TEXT_FOLDERS[0]}, but it has neither."
        )
    summaries: dict[tuple[str, ...], str] = {}
    sources: dict[str, str] = {}
    for document in documents:
        record = json.loads((articles / f"{document}.json").read_text(encoding="utf-8"))
        sources[document] = record["article"]
        summaries |= {
            SummaryKey(document, name): text
            for name, text in record.items()
            if isinstance(text, str)
        }
    return _Texts(summaries=summaries, sources=sources)

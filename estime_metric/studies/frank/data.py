"""FRANK (Pagnoni et al. 2021): summaries of nine systems, judged sentence by sentence, with published metrics' scores.

Two layouts are read: one of JSON Lines, and the authors' own files (github.com/artidoro/frank, folder ``data``).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from estime_metric.inputs import check_choice, integer
from estime_metric.meta.checks import listed
from estime_metric.studies.shared.baselines import Floats

#: Halves of the benchmark: choices are made on the first, results are reported on the second.
SPLITS = ("valid", "test")

#: Data set -> its name for readers.
DATASETS = {"cnndm": "CNN/DailyMail", "bbc": "XSum"}

#: Published metrics, in the order of tables; those that the data lack are left out, others follow.
METRICS = (
    "BertScore P Art", "BertScore R Art", "BertScore F1 Art", "FactCC", "Dep Entail", "QAGS", "FEQA", "BertScore P",
    "BertScore R", "BertScore F1", "Rouge 1", "Rouge 2", "Rouge L", "Bleu", "Meteor",
)  # fmt: skip

#: Types of error: three groups, the seven types within them, and what fits none.
ERRORS = (
    "Semantic_Frame_Errors", "Discourse_Errors", "Content_Verifiability_Errors", "RelE", "EntE", "CircE", "OutE",
    "GramE", "CorefE", "LinkE", "Other",
)  # fmt: skip

#: Files of the JSON Lines layout.
DOCUMENTS, JUDGED = "documents.jsonl", "frank.jsonl"

#: The authors' files: judgements, metrics, texts.
ANNOTATIONS, METRIC_OUTPUTS = "human_annotations.json", "baseline_factuality_metrics_outputs.json"
TEXTS, TEXT_FOLDERS = "benchmark_data.json", ("articles-wbertscore-json", "articles-json")

#: Fields of the authors' records that are no metric.
_KEYS = frozenset({"hash", "model_name", "dataset", "split"})


@dataclass(frozen=True, eq=False)
class Frank:
    """Judged summaries. Not every system wrote of every document: those of CNN/DailyMail and of XSum differ.

    Attributes:
        origin: where they come from.
        keys: document and system of each of N summaries, each pair once.
        datasets: N keys of `DATASETS`.
        sources: document -> its text.
        summaries: N texts.
        factuality: float64 of shape (N,): share of the sentences without an error; higher is better.
        flipped: type of error -> factuality with the labels of that type turned round, float64 of shape (N,).
        metrics: published metric -> its scores, float64 of shape (N,), NaN where it has none; higher is better.

    Raises:
        ValueError: lengths that do not fit, a summary twice, no summary, or a judgement that is not finite.
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
        if not self.keys:
            raise ValueError("Expected argument `keys` to name at least one summary, but got none.")
        if len(set(self.keys)) < len(self.keys):
            twice = [key for key in dict.fromkeys(self.keys) if self.keys.count(key) > 1]
            raise ValueError(f"Expected each summary once, but several times came {listed(twice)}.")
        columns = {"datasets": self.datasets, "summaries": self.summaries, "factuality": self.factuality}
        for name, values in {**columns, **self.flipped, **self.metrics}.items():
            if len(values) != len(self.keys):
                raise ValueError(f"Expected `{name}` to hold {len(self.keys)} entries, but got {len(values)}.")
        for name, values in {"factuality": self.factuality, **self.flipped}.items():
            if not np.isfinite(values).all():
                index = int(np.flatnonzero(~np.isfinite(values))[0])
                raise ValueError(f"Expected `{name}` to be finite, but it is not for {self.keys[index]}.")

    def __len__(self) -> int:
        return len(self.summaries)

    @property
    def documents(self) -> tuple[str, ...]:
        """Names of the documents, each once, in order."""
        return tuple(dict.fromkeys(document for document, _ in self.keys))

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, each once, in order."""
        return tuple(dict.fromkeys(system for _, system in self.keys))

    @property
    def source_of_each(self) -> list[str]:
        """The source of each summary."""
        return [self.sources[document] for document, _ in self.keys]

    @property
    def digest(self) -> str:
        """Twelve digits that change with any text, name or judgement."""
        columns = {"factuality": self.factuality, **self.flipped, **self.metrics}
        numbers = {name: values.tolist() for name, values in columns.items()}
        content = [self.keys, self.datasets, self.source_of_each, self.summaries, numbers]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:12]

    def head(self, documents: int) -> Frank:
        """The first few documents of each data set, with all their summaries.

        Raises:
            TypeError, ValueError: ``documents`` is no integer or less than 1.
        """
        integer("documents", documents, 1)
        kept: set[str] = set()
        for dataset in DATASETS:
            of_it = dict.fromkeys(key[0] for key, one in zip(self.keys, self.datasets, strict=True) if one == dataset)
            kept |= set(list(of_it)[:documents])
        rows = [index for index, (document, _) in enumerate(self.keys) if document in kept]
        return Frank(
            self.origin,
            [self.keys[row] for row in rows],
            tuple(self.datasets[row] for row in rows),
            self.sources,
            tuple(self.summaries[row] for row in rows),
            self.factuality[rows],
            {name: values[rows] for name, values in self.flipped.items()},
            {name: values[rows] for name, values in self.metrics.items()},
        )


def read(folder: str | Path, split: str = "test", limit: int | None = None) -> Frank:
    """Reads FRANK from a folder of either layout.

    Args:
        folder: has ``documents.jsonl`` (``doc_id``, ``source``) and ``frank.jsonl`` (``doc_id``, ``system``,
            ``dataset``, ``split``, ``summary``, ``factuality``, ``flipped``, ``metrics``). Or it has the authors'
            files: ``human_annotations.json``, ``baseline_factuality_metrics_outputs.json`` and, for the texts,
            ``benchmark_data.json`` or the folder ``articles-wbertscore-json``; their repository itself is taken too.
        split: one of `SPLITS`.
        limit: only so many documents of each data set, the first ones; ``None`` for all.

    Raises:
        OSError: a file is missing.
        ValueError: a record lacks a field, a text is missing, or the split is unknown or empty.
    """
    check_choice("split", split, SPLITS)
    folder = Path(folder)
    if (folder / JUDGED).is_file():
        rows, sources = _read_lines(folder)
    elif (folder / ANNOTATIONS).is_file():
        rows, sources = _read_authors(folder)
    elif (folder / "data" / ANNOTATIONS).is_file():
        rows, sources = _read_authors(folder / "data")
    else:
        raise FileNotFoundError(
            f"Expected {str(folder)!r} to hold {JUDGED} and {DOCUMENTS}, or {ANNOTATIONS}, but it has neither."
        )
    rows = [row for row in rows if row["split"] == split]
    if not rows:
        raise ValueError(f"Expected {str(folder)!r} to hold summaries of the split {split!r}, but there is none.")
    strange = sorted({row["dataset"] for row in rows} - set(DATASETS))
    if strange:
        raise ValueError(f"Expected data sets {', '.join(DATASETS)}, but got {listed(strange)}.")
    lacking = [row["document"] for row in rows if row["document"] not in sources]
    if lacking:
        raise ValueError(f"Expected a source for each document, but there is none for {listed(lacking)}.")
    found = dict.fromkeys(name for row in rows for name in row["metrics"])
    names = [*(name for name in METRICS if name in found), *(name for name in found if name not in METRICS)]
    data = Frank(
        f"{folder.name or folder} ({split})",
        [(row["document"], row["system"]) for row in rows],
        tuple(row["dataset"] for row in rows),
        sources,
        tuple(row["summary"] for row in rows),
        _column(rows, lambda row: row["factuality"]),
        {name: _column(rows, lambda row, name=name: row["flipped"][name]) for name in _shared_types(rows)},
        {name: _column(rows, lambda row, name=name: row["metrics"].get(name)) for name in names},
    )
    return data if limit is None else data.head(limit)


def _shared_types(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The types of error that every record has flipped labels of."""
    return [name for name in ERRORS if all(name in row["flipped"] for row in rows)]


def _column(rows: Sequence[Mapping[str, Any]], value: Any) -> Floats:
    """A number for each record, NaN where there is none."""
    cells = (value(row) for row in rows)
    return np.array([math.nan if cell is None else float(cell) for cell in cells], dtype=np.float64)


def _read_lines(folder: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    documents = _records(folder / DOCUMENTS, ("doc_id", "source"))
    fields = ("doc_id", "system", "dataset", "split", "summary", "factuality", "flipped", "metrics")
    rows = [{**row, "document": str(row["doc_id"])} for row in _records(folder / JUDGED, fields)]
    return rows, {str(row["doc_id"]): row["source"] for row in documents}


def _read_authors(folder: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    judged = _records(folder / ANNOTATIONS, ("hash", "model_name", "dataset", "split", "Factuality"))
    outputs = {_key(row): row for row in _records(folder / METRIC_OUTPUTS, ("hash", "model_name"))}
    summaries, sources = _texts(folder, dict.fromkeys(str(row["hash"]) for row in judged))
    rows = []
    for row in judged:
        key = _key(row)
        if key not in summaries:
            raise ValueError(f"Expected a summary for each judgement of {ANNOTATIONS}, but there is none for {key}.")
        scores = outputs.get(key, {})
        rows.append(
            {
                "document": key[0],
                "system": key[1],
                "dataset": row["dataset"],
                "split": row["split"],
                "summary": summaries[key],
                "factuality": row["Factuality"],
                "flipped": {name: row[f"Flip_{name}"] for name in ERRORS if f"Flip_{name}" in row},
                "metrics": {name: value for name, value in scores.items() if name not in _KEYS},
            }
        )
    return rows, sources


def _texts(folder: Path, documents: Iterable[str]) -> tuple[dict[tuple[str, str], str], dict[str, str]]:
    """Summaries by document and system, and articles by document, from the authors' files."""
    if (folder / TEXTS).is_file():
        rows = _records(folder / TEXTS, ("hash", "model_name", "article", "summary"))
        return {_key(row): row["summary"] for row in rows}, {str(row["hash"]): row["article"] for row in rows}
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
        summaries |= {(document, name): text for name, text in record.items() if isinstance(text, str)}
    return summaries, sources


def _key(row: Mapping[str, Any]) -> tuple[str, str]:
    return str(row["hash"]), str(row["model_name"])


def _records(path: Path, fields: Iterable[str]) -> list[dict[str, Any]]:
    """The records of a file of JSON or JSON Lines, each with the fields that are needed."""
    with path.open(encoding="utf-8") as stream:
        try:
            if path.suffix == ".json":
                records = json.load(stream)
            else:
                records = [json.loads(line) for line in stream if line.strip()]
        except json.JSONDecodeError as error:
            raise ValueError(f"Expected {path.name} to hold JSON, but got {error}.") from error
    for number, record in enumerate(records, start=1):
        missing = [field for field in fields if not isinstance(record, dict) or field not in record]
        if missing:
            raise ValueError(f"Expected record {number} of {path.name} to have {missing[0]!r}, but it has not.")
    return list(records)

"""SummEval (Fabbri et al. 2021): sources, references, summaries of 16 systems, judgements of experts."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from estime_metric.studies.shared.estime_paper import QUALITIES

if TYPE_CHECKING:
    from pandas import DataFrame

Floats = npt.NDArray[np.float64]

#: The Hub's data set and the commit of it that is read.
HUB_DATASET = "mteb/summeval"
HUB_REVISION = "cda12ad7615edc362dbf25a00fdd61d3b1eaf93c"
HUB_SPLIT = "test"

#: Columns of the Hub's data set. Each row is a source; the lists hold an entry for each system.
HUB_TEXT, HUB_SUMMARIES, HUB_REFERENCES = "text", "machine_summaries", "human_summaries"

#: Files of a folder.
DOCUMENTS, REFERENCES, SUMMARIES = "documents.jsonl", "references.jsonl", "summeval.jsonl"
SYSTEMS = "systems.csv"


@dataclass(frozen=True, eq=False)
class SummEval:
    """Every document with every system, once.

    Attributes:
        origin: where it comes from.
        documents: D names, in order.
        systems: S names, in order.
        sources: D texts.
        references: the references of each document.
        summaries: D times S texts, all systems of the first document first.
        judgements: quality -> float64 of shape (D, S): the mean of the experts, 1 to 5, higher is better.
        named_systems: whether the data name the systems; else a position in the list stands for a system.
        names: system -> a name for readers, where there is one.

    Raises:
        ValueError: numbers that do not fit, or a document without references.
    """

    origin: str
    documents: tuple[str, ...]
    systems: tuple[str, ...]
    sources: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    summaries: tuple[str, ...]
    judgements: Mapping[str, Floats]
    named_systems: bool = True
    names: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = (len(self.documents), len(self.systems))
        for name, found, wanted in (
            ("sources", len(self.sources), shape[0]),
            ("references", len(self.references), shape[0]),
            ("summaries", len(self.summaries), shape[0] * shape[1]),
        ):
            if found != wanted:
                raise ValueError(f"Expected argument `{name}` to hold {wanted} entries, but got {found}.")
        for quality, values in self.judgements.items():
            if values.shape != shape or not np.isfinite(values).all():
                raise ValueError(
                    f"Expected the judgements of {quality} to be finite and of shape {shape}, but got {values.shape}."
                )
        bare = [name for name, texts in zip(self.documents, self.references, strict=True) if not texts]
        if bare:
            raise ValueError(f"Expected each document to have references, but {bare[0]!r} has none.")

    def __len__(self) -> int:
        return len(self.summaries)

    @property
    def labels(self) -> list[str]:
        """The systems as they are called in pictures."""
        return [self.names.get(system, system) for system in self.systems]

    @property
    def source_of_each(self) -> list[str]:
        """The source of each summary."""
        return [source for source in self.sources for _ in self.systems]

    @property
    def references_of_each(self) -> list[tuple[str, ...]]:
        """The references of each summary."""
        return [texts for texts in self.references for _ in self.systems]

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Document and system of each summary."""
        return [(document, system) for document in self.documents for system in self.systems]

    @property
    def digest(self) -> str:
        """Twelve digits that change with any text, name or judgement."""
        judged = {quality: values.tolist() for quality, values in self.judgements.items()}
        content = [self.documents, self.systems, self.sources, self.references, self.summaries, judged]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]

    def head(self, documents: int) -> SummEval:
        """The first few documents, with all systems.

        Raises:
            ValueError: ``documents`` is less than 1.
        """
        if documents < 1:
            raise ValueError(f"Expected argument `documents` to be at least 1, but got {documents}.")
        return replace(
            self,
            documents=self.documents[:documents],
            sources=self.sources[:documents],
            references=self.references[:documents],
            summaries=self.summaries[: documents * len(self.systems)],
            judgements={quality: values[:documents] for quality, values in self.judgements.items()},
        )

    def to_pandas(self) -> DataFrame:
        """A tidy table: ``document``, ``system`` and a column of judgements for each quality, in order."""
        import pandas

        judged = {name: values.ravel() for name, values in self.judgements.items()}
        return pandas.DataFrame(self.keys, columns=["document", "system"]).assign(**judged)


def read_folder(folder: Path) -> SummEval:
    """Reads a folder of JSON Lines.

    Args:
        folder: has ``documents.jsonl`` (``doc_id``, ``source``), ``references.jsonl`` (``doc_id``, ``references``) and
            ``summeval.jsonl`` (``doc_id``, ``system``, ``summary`` and the four qualities). It may have
            ``systems.csv`` (``system``, ``name``).

    Raises:
        OSError: a file is missing.
        ValueError: a line is no such record, or a summary is missing or stands twice; the message names it.
    """
    sources = {row["doc_id"]: row["source"] for row in _lines(folder / DOCUMENTS, ("doc_id", "source"))}
    references = {row["doc_id"]: row["references"] for row in _lines(folder / REFERENCES, ("doc_id", "references"))}
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for row in _lines(folder / SUMMARIES, ("doc_id", "system", "summary", *QUALITIES)):
        key = (row["doc_id"], row["system"])
        if key in cells:
            raise ValueError(f"Expected {SUMMARIES} to hold each summary once, but twice came {key}.")
        cells[key] = row
    documents = tuple(dict.fromkeys(document for document, _ in cells))
    systems = tuple(dict.fromkeys(system for _, system in cells))
    for document in documents:
        for name, known in ((DOCUMENTS, sources), (REFERENCES, references)):
            if document not in known:
                raise ValueError(f"Expected {name} to hold the documents of {SUMMARIES}, but {document!r} is missing.")
    keys = [(document, system) for document in documents for system in systems]
    missing = [key for key in keys if key not in cells]
    if missing:
        raise ValueError(f"Expected {SUMMARIES} to hold each document with each system, but {missing[0]} is missing.")
    rows = [cells[key] for key in keys]
    return SummEval(
        origin=folder.name or str(folder),
        documents=documents,
        systems=systems,
        sources=tuple(sources[document] for document in documents),
        references=tuple(tuple(references[document]) for document in documents),
        summaries=tuple(row["summary"] for row in rows),
        judgements={
            quality: np.array([row[quality] for row in rows], dtype=np.float64).reshape(len(documents), len(systems))
            for quality in QUALITIES
        },
        names=_names(folder / SYSTEMS),
    )


def from_hub(name: str = HUB_DATASET, *, revision: str | None = HUB_REVISION, split: str = HUB_SPLIT) -> SummEval:
    """Reads the Hub's data set, or a local folder of its layout.

    Its rows do not name their systems: position k of every row's list is taken for the same system, on which all
    that is said of systems rests (Table 2).

    Args:
        name: name on the Hub, or a folder that ``datasets.load_dataset`` reads.
        revision: commit on the Hub; a folder has none.
        split: its split.

    Raises:
        ImportError: ``datasets`` is not installed.
        OSError: it cannot be loaded; the message says what to do.
        ValueError: it is not of that layout; the message names the row.
    """
    try:
        from datasets import load_dataset
    except ImportError as error:
        raise ImportError("SummEval from the Hub needs datasets: pip install 'estime-metric[evaluate]'.") from error
    local = Path(name).is_dir()
    try:
        rows = list(load_dataset(name, split=split, revision=None if local else revision))
    except (OSError, ValueError, RuntimeError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise OSError(
            f"The data set {name!r} cannot be loaded: {reason.rstrip('.')}. Connect to the Hugging Face Hub, or "
            f"pass a folder with {DOCUMENTS}, {REFERENCES} and {SUMMARIES} as `--data`."
        ) from error
    return from_rows(rows, origin=name if local else f"{name}@{revision}")


def from_rows(rows: Sequence[Mapping[str, Any]], origin: str) -> SummEval:
    """SummEval from rows of the Hub's layout: ``text``, ``machine_summaries``, ``human_summaries``, four qualities.

    Raises:
        ValueError: a column is missing, or the lists of a row differ in length; the message names the row.
    """
    count = len(rows[0][HUB_SUMMARIES]) if rows and HUB_SUMMARIES in rows[0] else 0
    for index, row in enumerate(rows):
        for column in (HUB_TEXT, HUB_REFERENCES, HUB_SUMMARIES, *QUALITIES):
            if column not in row:
                raise ValueError(
                    f"Expected row {index} of {origin!r} to have a column {column!r}, but it has {', '.join(row)}."
                )
            if column in (HUB_SUMMARIES, *QUALITIES) and len(row[column]) != count:
                raise ValueError(
                    f"Expected column {column!r} of {origin!r} to list {count} systems in row {index}, as in row 0, "
                    f"but got {len(row[column])}."
                )
    names = [str(row.get("id", index)) for index, row in enumerate(rows)]
    if len(set(names)) < len(names):
        names = [str(index) for index in range(len(rows))]
    digits = len(str(count))
    return SummEval(
        origin=origin,
        documents=tuple(names),
        systems=tuple(f"S{index + 1:0{digits}d}" for index in range(count)),
        sources=tuple(row[HUB_TEXT] for row in rows),
        references=tuple(tuple(row[HUB_REFERENCES]) for row in rows),
        summaries=tuple(text for row in rows for text in row[HUB_SUMMARIES]),
        judgements={
            quality: np.array([row[quality] for row in rows], dtype=np.float64).reshape(len(rows), count)
            for quality in QUALITIES
        },
        named_systems=False,
    )


def _names(path: Path) -> dict[str, str]:
    """The names of the systems; none where there is no such file."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as stream:
        return {row["system"]: row["name"] for row in csv.DictReader(stream) if row.get("name") and row.get("system")}


def _lines(path: Path, columns: Iterable[str]) -> list[dict[str, Any]]:
    """The records of a JSON Lines file, each with the columns that are needed."""
    records = []
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(f"Expected line {number} of {path.name} to be JSON, but got {error}.") from error
            missing = [column for column in columns if not isinstance(record, dict) or column not in record]
            if missing:
                raise ValueError(f"Expected line {number} of {path.name} to have {missing[0]!r}, but it has not.")
            records.append(record)
    return records

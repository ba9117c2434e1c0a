"""SummEval (Fabbri et al. 2021): sources, references, summaries of 16 systems, judgements of experts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.inputs import integer
from estime_metric.meta.checks import Floats
from estime_metric.studies.shared.estime_paper import QUALITIES
from estime_metric.studies.shared.records import by_key, check_all, digest, read_records
from estime_metric.studies.shared.scoring import Crossed

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
class SummEval(Crossed):
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

    @property
    def labels(self) -> list[str]:
        """The systems as plots call them."""
        return [self.names.get(system, system) for system in self.systems]

    @cached_property
    def source_of_each(self) -> list[str]:
        """The source of each summary."""
        return [source for source in self.sources for _ in self.systems]

    @cached_property
    def references_of_each(self) -> list[tuple[str, ...]]:
        """The references of each summary."""
        return [texts for texts in self.references for _ in self.systems]

    @cached_property
    def digest(self) -> str:
        """Twelve digits that change with any text, name or judgement."""
        judged = {quality: values.tolist() for quality, values in self.judgements.items()}
        return digest(self.documents, self.systems, self.sources, self.references, self.summaries, judged)

    def head(self, documents: int) -> SummEval:
        """The first few documents, at least 1, with all systems."""
        integer("documents", documents, 1)
        return replace(
            self,
            documents=self.documents[:documents],
            sources=self.sources[:documents],
            references=self.references[:documents],
            summaries=self.summaries[: documents * len(self.systems)],
            judgements={quality: values[:documents] for quality, values in self.judgements.items()},
        )

    def to_pandas(self) -> pd.DataFrame:
        """A tidy table: ``document``, ``system`` and a column of judgements for each quality, in order."""
        judged = {name: values.ravel() for name, values in self.judgements.items()}
        return pd.DataFrame(self.keys, columns=["document", "system"]).assign(**judged)


def read(folder: Path | None = None, dataset: str | None = None, limit: int | None = None) -> SummEval:
    """SummEval from a folder (see `read_folder`), else from the Hub or a folder of its layout (see `from_hub`).

    The usual ``dataset`` is read at a fixed commit, another one as it is now; of ``limit`` documents the first are
    taken.
    """
    if folder is not None:
        data = read_folder(folder)
    elif dataset in (None, HUB_DATASET):
        data = from_hub()
    else:
        data = from_hub(str(dataset), revision=None)
    return data if limit is None else data.head(limit)


def read_folder(folder: Path) -> SummEval:
    """Reads a folder of JSON Lines.

    Args:
        folder: has ``documents.jsonl`` (``doc_id``, ``source``), ``references.jsonl`` (``doc_id``, ``references``) and
            ``summeval.jsonl`` (``doc_id``, ``system``, ``summary`` and the four qualities). It may have
            ``systems.csv`` (``system``, ``name``).

    Raises:
        OSError: a file is missing.
        ValueError: a row is no such record, or a summary is missing or occurs twice; the message names it.
    """
    sources, references = (
        {row["doc_id"]: row[field] for row in read_records(folder / name, ("doc_id", field))}
        for name, field in ((DOCUMENTS, "source"), (REFERENCES, "references"))
    )
    fields = ("doc_id", "system", "summary", *QUALITIES)
    cells = by_key(read_records(folder / SUMMARIES, fields), fields[:2], SUMMARIES)
    documents, systems = (tuple(dict.fromkeys(key[axis] for key in cells)) for axis in (0, 1))
    check_all(documents, sources, f"{DOCUMENTS} to hold the documents of {SUMMARIES}")
    check_all(documents, references, f"{REFERENCES} to hold the documents of {SUMMARIES}")
    keys = [(document, system) for document in documents for system in systems]
    check_all(keys, cells, f"{SUMMARIES} to hold each document with each system")
    names = read_records(folder / SYSTEMS, ()) if (folder / SYSTEMS).is_file() else []
    return SummEval(
        origin=folder.name or str(folder),
        documents=documents,
        systems=systems,
        sources=tuple(sources[document] for document in documents),
        references=tuple(tuple(references[document]) for document in documents),
        summaries=tuple(cells[key]["summary"] for key in keys),
        judgements={
            quality: np.array([cells[key][quality] for key in keys], dtype=np.float64).reshape(len(documents), -1)
            for quality in QUALITIES
        },
        names={row["system"]: row["name"] for row in names if row.get("name") and row.get("system")},
    )


def from_hub(name: str = HUB_DATASET, *, revision: str | None = HUB_REVISION, split: str = HUB_SPLIT) -> SummEval:
    """Reads the Hub's data set, or a local folder of its layout that ``datasets.load_dataset`` reads.

    Its rows do not name their systems: position k of every row's list is taken for the same system, on which all that
    is said of systems rests (Table 2).

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
    """SummEval from rows of the Hub's layout; ValueError names a row that lacks a column or a system."""
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
        systems=tuple(f"S{number:0{digits}d}" for number in range(1, count + 1)),
        sources=tuple(row[HUB_TEXT] for row in rows),
        references=tuple(tuple(row[HUB_REFERENCES]) for row in rows),
        summaries=tuple(text for row in rows for text in row[HUB_SUMMARIES]),
        judgements={
            quality: np.array([row[quality] for row in rows], dtype=np.float64).reshape(len(rows), count)
            for quality in QUALITIES
        },
        named_systems=False,
    )

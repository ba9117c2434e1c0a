"""SummEval (Fabbri et al. 2021): sources, references, summaries of 16 systems, judgements of
experts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from estime_metric._extras import needs_extra
from estime_metric.stats.checks import Floats
from estime_metric.studies.benchmarks.shared.data import Crossed, SummaryKey, keys_of
from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.shared.hub import check_reachable
from estime_metric.studies.benchmarks.shared.records import (
    by_key,
    check_all,
    digest,
    read_field,
    read_records,
)
from estime_metric.validation import integer

#: The Hub's dataset and the commit of it that is read.
HUB_DATASET, HUB_REVISION = "mteb/summeval", "cda12ad7615edc362dbf25a00fdd61d3b1eaf93c"
#: Columns of the Hub's dataset. Each row is a source; the lists contain an entry for each system.
HUB_TEXT, HUB_SUMMARIES, HUB_REFERENCES = "text", "machine_summaries", "human_summaries"
DOCUMENTS, REFERENCES = "documents.jsonl", "references.jsonl"
SUMMARIES, SYSTEMS = "summeval.jsonl", "systems.csv"


@dataclass(frozen=True, eq=False)
class SummEval(Crossed):
    """Every document with every system, once.

    Attributes:
        origin: where the data comes from.
        documents, systems: D and S names, in order.
        sources, references: the text of each document, and its references, at least one
            (ValueError).
        summaries: D times S texts, all systems of the first document first.
        judgements: quality -> finite float64 of shape (D, S): the mean of the experts, 1 to 5,
            higher is better.
        named_systems: whether the data names the systems; otherwise a position in the list
            identifies a system.
        names: system -> a name for readers, if there is one.
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
        for quality, values in self.judgements.items():
            if not np.isfinite(values).all():
                raise ValueError(
                    f"Expected the judgements of {quality} to be finite, but they are not."
                )
        for name, texts in zip(self.documents, self.references, strict=True):
            if not texts:
                raise ValueError(
                    f"Expected each document to have references, but {name!r} has none."
                )

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
        return digest(
            self.documents, self.systems, self.sources, self.references, self.summaries, judged
        )

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


def read(
    folder: Path | None = None, dataset: str | None = None, limit: int | None = None
) -> SummEval:
    """SummEval from a folder (see `read_folder`), otherwise from the Hub or a folder of its layout
    (see `from_hub`).

    The usual ``dataset`` is read at a fixed commit, any other in its current state; ``limit`` is
    the number of first documents to use.
    """
    if folder is not None:
        data = read_folder(folder)
    else:
        data = (
            from_hub() if dataset in (None, HUB_DATASET) else from_hub(str(dataset), revision=None)
        )
    return data if limit is None else data.head(limit)


def read_folder(folder: Path) -> SummEval:
    """Reads a folder of JSON Lines.

    It has ``documents.jsonl`` (``doc_id``, ``source``), ``references.jsonl`` (``doc_id``,
    ``references``) and ``summeval.jsonl`` (``doc_id``, ``system``, ``summary`` and the four
    qualities), perhaps ``systems.csv`` (``system``, ``name``). Raises OSError if a file is missing;
    ValueError names a row that is not such a record, and a summary that is missing or occurs twice.
    """
    sources = read_field(folder / DOCUMENTS, "source")
    references = read_field(folder / REFERENCES, "references")
    rows = read_records(folder / SUMMARIES, ("doc_id", "system", "summary", *QUALITIES))
    cells = {
        SummaryKey(*key): row for key, row in by_key(rows, ("doc_id", "system"), SUMMARIES).items()
    }
    documents = tuple(dict.fromkeys(key.document for key in cells))
    systems = tuple(dict.fromkeys(key.system for key in cells))
    check_all(documents, sources, f"{DOCUMENTS} to contain the documents of {SUMMARIES}")
    check_all(documents, references, f"{REFERENCES} to contain the documents of {SUMMARIES}")
    keys = keys_of(product(documents, systems))
    check_all(keys, cells, f"{SUMMARIES} to contain each document with each system")
    judged = {
        name: np.array([cells[key][name] for key in keys], dtype=np.float64) for name in QUALITIES
    }
    names = read_records(folder / SYSTEMS, ()) if (folder / SYSTEMS).is_file() else []
    return SummEval(
        origin=folder.name or str(folder),
        documents=documents,
        systems=systems,
        sources=tuple(sources[document] for document in documents),
        references=tuple(tuple(references[document]) for document in documents),
        summaries=tuple(cells[key]["summary"] for key in keys),
        judgements={name: values.reshape(len(documents), -1) for name, values in judged.items()},
        names={
            row["system"]: row["name"] for row in names if row.get("name") and row.get("system")
        },
    )


def from_hub(
    name: str = HUB_DATASET, *, revision: str | None = HUB_REVISION, split: str = "test"
) -> SummEval:
    """Reads the Hub's dataset, or a local folder of its layout that ``datasets.load_dataset``
    reads.

    Its rows do not name their systems: position k of every row's list is treated as the same
    system. Raises ImportError without ``datasets``, OSError if it cannot be loaded, ValueError for
    a row of another layout.
    """
    with needs_extra("evaluate", "SummEval from the Hub needs datasets"):
        from datasets import load_dataset
    local = Path(name).is_dir()
    try:
        check_reachable(name)
        rows = list(load_dataset(name, split=split, revision=None if local else revision))
    except (OSError, ValueError, RuntimeError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise OSError(
            f"The dataset {name!r} cannot be loaded: {reason.rstrip('.')}. Connect to the Hugging Face Hub, or "
            f"pass a folder with {DOCUMENTS}, {REFERENCES} and {SUMMARIES} as `data`."
        ) from error
    return from_rows(rows, origin=name if local else f"{name}@{revision}")


def from_rows(rows: Sequence[Mapping[str, Any]], origin: str) -> SummEval:
    """SummEval from rows of the Hub's layout; ValueError names a row that lacks a column or a
    system.
    """
    count = len(rows[0].get(HUB_SUMMARIES, ())) if rows else 0
    for index, row in enumerate(rows):
        for column in (HUB_TEXT, HUB_REFERENCES, HUB_SUMMARIES, *QUALITIES):
            if column not in row:
                raise ValueError(
                    f"Expected row {index} of {origin!r} to have a column {column!r}, but it has {', '.join(row)}."
                )
            if column not in (HUB_TEXT, HUB_REFERENCES) and len(row[column]) != count:
                raise ValueError(
                    f"Expected column {column!r} of {origin!r} to list {count} systems in row {index}, as in row 0, "
                    f"but got {len(row[column])}."
                )
    names = [str(row.get("id", index)) for index, row in enumerate(rows)]
    if len(set(names)) < len(names):
        names = [str(index) for index in range(len(rows))]
    judged = {name: np.array([row[name] for row in rows], dtype=np.float64) for name in QUALITIES}
    return SummEval(
        origin=origin,
        documents=tuple(names),
        systems=tuple(f"S{number:0{len(str(count))}d}" for number in range(1, count + 1)),
        sources=tuple(row[HUB_TEXT] for row in rows),
        references=tuple(tuple(row[HUB_REFERENCES]) for row in rows),
        summaries=tuple(text for row in rows for text in row[HUB_SUMMARIES]),
        judgements={name: values.reshape(len(rows), count) for name, values in judged.items()},
        named_systems=False,
    )

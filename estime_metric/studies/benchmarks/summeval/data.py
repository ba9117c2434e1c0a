"""SummEval (Fabbri et al. 2021): sources, references, summaries of 16 systems, judgements of
experts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.shared.records import crossed, join, load_dataset, read_frame

#: The Hub's dataset and the commit of it that is read.
HUB_DATASET, HUB_REVISION = "mteb/summeval", "cda12ad7615edc362dbf25a00fdd61d3b1eaf93c"
#: Columns of the Hub's dataset. Each row is a source; the lists contain an entry for each system.
HUB_TEXT, HUB_SUMMARIES, HUB_REFERENCES = "text", "machine_summaries", "human_summaries"
DOCUMENTS, REFERENCES = "documents.jsonl", "references.jsonl"
SUMMARIES = "summeval.jsonl"


@dataclass(frozen=True, eq=False, kw_only=True)
class SummEval(Summaries):
    """Every document with every system, once, all systems of the first document first.

    Further columns of the table are the ``references``, a list for each summary, at least one,
    and the four `QUALITIES`: the mean of the experts, 1 to 5, higher is better.

    ``named_systems``: whether the data names the systems; otherwise a position in the list
    identifies a system.
    """

    named_systems: bool = True

    def head(self, documents: int) -> SummEval:
        """The first few documents, at least 1, with all systems."""
        first = self.documents[:documents]
        return replace(self, table=self.table[self.table["document"].isin(first)])


def read(folder: Path | None = None, limit: int | None = None) -> SummEval:
    """SummEval from a folder (see `read_folder`), otherwise from the Hub (see `from_hub`); ``limit``
    is the number of first documents to use.
    """
    data = from_hub() if folder is None else read_folder(folder)
    return data if limit is None else data.head(limit)


def read_folder(folder: Path) -> SummEval:
    """Reads a folder of JSON Lines.

    It has ``documents.jsonl`` (``doc_id``, ``source``), ``references.jsonl`` (``doc_id``,
    ``references``) and ``summeval.jsonl`` (``doc_id``, ``system``, ``summary`` and the four
    qualities). Raises OSError if a file is missing;
    ValueError names a row that is not such a record, and a summary that is missing or occurs twice.
    """
    fields = ("doc_id", "system", "summary", *QUALITIES)
    table = read_frame(folder / SUMMARIES, fields, doc_id="document")
    for file, column in ((DOCUMENTS, "source"), (REFERENCES, "references")):
        texts = read_frame(folder / file, ("doc_id", column), doc_id="document")
        what = f"{file} to contain the documents of {SUMMARIES}"
        table = join(table, texts, ["document"], what)
    return SummEval(
        origin=folder.name or str(folder),
        table=crossed(table, SUMMARIES).astype(dict.fromkeys(QUALITIES, float)),
    )


def from_hub(name: str = HUB_DATASET) -> SummEval:
    """Reads the Hub's dataset, or a local folder of its layout that ``datasets.load_dataset``
    reads.

    Its rows do not name their systems: position k of every row's list is treated as the same
    system. Raises ImportError without ``datasets``, OSError if it cannot be loaded.
    """
    advice = f"pass a folder with {DOCUMENTS}, {REFERENCES} and {SUMMARIES} as `data`"
    rows = load_dataset(name, split="test", revision=HUB_REVISION, advice=advice)
    return from_rows(list(rows), origin=name if Path(name).is_dir() else f"{name}@{HUB_REVISION}")


def from_rows(rows: Sequence[Mapping[str, Any]], origin: str) -> SummEval:
    """SummEval from rows of the Hub's layout."""
    named = [str(row.get("id", index)) for index, row in enumerate(rows)]
    if len(set(named)) < len(named):
        named = [str(index) for index in range(len(rows))]
    lists = [HUB_SUMMARIES, *QUALITIES]
    columns = {HUB_TEXT: "source", HUB_REFERENCES: "references", HUB_SUMMARIES: "summary"}
    documents = pd.DataFrame(rows, columns=[HUB_TEXT, HUB_REFERENCES, *lists])
    table = documents.assign(document=named).explode(lists, ignore_index=True)
    numbers = table.groupby("document").cumcount() + 1
    systems = "S" + numbers.astype(str).str.zfill(len(str(numbers.max())))
    table = table.rename(columns=columns).assign(system=systems)
    return SummEval(
        origin=origin,
        table=crossed(table, origin).astype(dict.fromkeys(QUALITIES, float)),
        named_systems=False,
    )

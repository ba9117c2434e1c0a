"""SummEdits (Laban et al. 2023): summaries that a language model edited, each judged by people as
consistent with its document or not.

The authors' files are read (github.com/salesforce/factualNLG, folder ``data/summedits``), one for
each domain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from estime_metric.stats.checks import listed
from estime_metric.stats.detection import Labels
from estime_metric.studies.benchmarks.shared.data import Listed, SummaryKey
from estime_metric.studies.benchmarks.shared.records import Record, digest, read_records
from estime_metric.validation import integer

#: Domain, as in the names of the files -> what it is called in tables, in their order.
DOMAINS = {
    "podcast": "podcast",
    "billsum": "BillSum",
    "samsum": "SAMSum",
    "news": "news",
    "sales_call": "sales call",
    "sales_email": "sales email",
    "shakespeare": "Shakespeare",
    "scitldr": "SciTLDR",
    "qmsumm": "QMSum",
    "ectsum": "ECTSum",
}
#: Where the files may be in a given folder.
FOLDERS = (Path(), Path("data", "summedits"), Path("summedits"))
PREFIX, ENDING = "summedits_", ".json"
_FIELDS = ("id", "doc", "summary", "label")


@dataclass(frozen=True, eq=False)
class SummEdits(Listed):
    """Judged summaries, at least one.

    Attributes:
        origin: where the data comes from.
        keys: domain and id of each of N summaries, each once (ValueError).
        domains: the domains, in the order of tables.
        document_of_each: a name for the document of each summary; the edits of one document belong
            together.
        summaries, source_of_each: N texts, and the text of the document of each.
        labels: int64 of shape (N,): 1 for a consistent summary, 0 for another.
    """

    origin: str
    keys: list[SummaryKey]
    domains: tuple[str, ...]
    document_of_each: tuple[str, ...]
    summaries: tuple[str, ...]
    source_of_each: list[str]
    labels: Labels
    key_names = ("domain", "id")

    def __post_init__(self) -> None:
        if len(set(self.keys)) < len(self.keys):
            twice = [key for index, key in enumerate(self.keys) if key in self.keys[:index]]
            raise ValueError(
                f"Expected each summary once, but these ids occur twice: {listed([key.system for key in twice])}."
            )

    @cached_property
    def digest(self) -> str:
        """Twelve digits that change with any text, name or label."""
        return digest(self.keys, self.summaries, self.source_of_each, self.labels.tolist())

    def rows(self, domain: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Indices of the summaries of a domain."""
        return np.flatnonzero([key.document == domain for key in self.keys])


def read(folder: str | Path, limit: int | None = None) -> SummEdits:
    """Reads the domains that there are.

    Args:
        folder: a copy of the authors' repository, or a folder with ``summedits_DOMAIN.json``.
        limit: only the first documents of each domain.

    Raises:
        OSError: there is no such file.
        ValueError: a record without a field, a summary twice, or a label that is neither 0 nor 1.
    """
    paths = _files(Path(folder))
    rows = {domain: _read_domain(path, domain, limit) for domain, path in paths.items()}
    every = [(domain, row) for domain, of_domain in rows.items() for row in of_domain]
    return SummEdits(
        origin=f"{Path(folder).name or folder}, {len(paths)} domains",
        keys=[SummaryKey(domain, str(row["id"])) for domain, row in every],
        domains=tuple(paths),
        document_of_each=tuple(row["document"] for _, row in every),
        summaries=tuple(row["summary"] for _, row in every),
        source_of_each=[row["doc"] for _, row in every],
        labels=np.array([row["label"] for _, row in every], dtype=np.int64),
    )


def _files(folder: Path) -> dict[str, Path]:
    """Domain -> its file, the known domains first."""
    for place in FOLDERS:
        paths = sorted((folder / place).glob(f"{PREFIX}*{ENDING}"))
        if paths:
            named = {path.name.removeprefix(PREFIX).removesuffix(ENDING): path for path in paths}
            known = {domain: named[domain] for domain in DOMAINS if domain in named}
            return known | {name: path for name, path in named.items() if name not in known}
    raise FileNotFoundError(
        f"Expected {str(folder)!r} to have files {PREFIX}DOMAIN{ENDING}, or the folder data/summedits with "
        "them, but it has neither."
    )


def _read_domain(path: Path, domain: str, limit: int | None) -> list[Record]:
    """The rows of a domain, each with a name for its ``document``."""
    rows = read_records(path, _FIELDS)
    for row in rows:
        if row["label"] not in (0, 1):
            raise ValueError(
                f"Expected labels 0 and 1 in {path.name}, but got {row['label']!r} for {row['id']!r}."
            )
    numbers = {
        text: number for number, text in enumerate(dict.fromkeys(row["doc"] for row in rows))
    }
    kept = len(numbers) if limit is None else integer("limit", limit, 1)
    return [
        {**row, "document": f"{domain}/{numbers[row['doc']]}"}
        for row in rows
        if numbers[row["doc"]] < kept
    ]

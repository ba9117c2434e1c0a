"""Made-up data of SummEval's layout: four documents, three systems, two references."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from estime_metric.report.tables import Table, to_csv
from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.summeval.data import SummEval, read_folder
from tests.command import write_jsonl
from tests.families import SENTENCES

DOCUMENTS = ("b-doc", "a-doc", "007", "d")
SYSTEMS = ("M10", "M2", "M0")


def made_rows() -> list[dict[str, Any]]:
    """Rows of ``summeval.jsonl``: M10 copies, M2 mixes two sentences, M0 takes a sentence from
    another text.
    """
    rng = np.random.default_rng(1)
    rows = []
    for index, document in enumerate(DOCUMENTS):
        first, second = SENTENCES[2 * index], SENTENCES[2 * index + 1]
        for number, system in enumerate(SYSTEMS):
            words = second.split()
            summary = (
                first,
                " ".join([*first.split()[:4], *words[3:9]]),
                SENTENCES[12 + index][:50],
            )[number]
            ratings = {quality: float(rng.integers(3, 16)) / 3 for quality in QUALITIES}
            rows.append({"doc_id": document, "system": system, "summary": summary, **ratings})
    return rows


def write_folder(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """A folder as `read_folder` reads it; documents and references are in another order than the
    summaries.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sentences = {
        document: SENTENCES[2 * index : 2 * index + 2] for index, document in enumerate(DOCUMENTS)
    }
    documents = [{"doc_id": name, "source": " ".join(texts)} for name, texts in sentences.items()]
    references = [
        {"doc_id": name, "references": [one, other[:30]]}
        for name, (one, other) in sentences.items()
    ]
    write_jsonl(folder / "documents.jsonl", documents[::-1])
    write_jsonl(folder / "references.jsonl", references[::-1])
    write_jsonl(folder / "summeval.jsonl", rows)
    return folder


def hub_rows(data: SummEval) -> list[dict[str, Any]]:
    """The same data in the layout of the Hub's."""
    size = len(data.systems)
    return [
        {
            "machine_summaries": list(data.summaries[index * size : (index + 1) * size]),
            "human_summaries": list(data.references[index]),
            **{quality: data.judgements[quality][index].tolist() for quality in QUALITIES},
            "text": data.sources[index],
            "id": document,
        }
        for index, document in enumerate(data.documents)
    ]


def rows(table: Table) -> list[dict[str, str]]:
    """The rows of a table, as its CSV file contains them."""
    return list(csv.DictReader(io.StringIO(to_csv(table))))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "made-up", made_rows())


@pytest.fixture
def data(folder: Path) -> SummEval:
    return read_folder(folder)

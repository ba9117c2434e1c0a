"""Made-up data in both layouts of FRANK: eight documents, two sets of systems, a metric with gaps;
the real data.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from estime_metric.studies.benchmarks.frank.data import ERRORS, Frank, read
from tests.command import write_jsonl
from tests.conftest import SUMMEVAL
from tests.families import SENTENCES

FRANK = SUMMEVAL.parent / "frank"
SOURCES = {f"d{index}": f"{SENTENCES[2 * index]} {SENTENCES[2 * index + 1]}" for index in range(8)}
SYSTEMS = {"cnndm": ("bart", "pgn", "bus"), "bbc": ("PtGen", "TranS2S")}


def made_rows() -> list[dict[str, Any]]:
    """Judged summaries: a copy, a mixture, a sentence of another text; the last document belongs to
    ``valid``.
    """
    rng = np.random.default_rng(5)
    rows = []
    for index in range(8):
        dataset = "cnndm" if index < 4 else "bbc"
        first, second = SENTENCES[2 * index], SENTENCES[2 * index + 1]
        for number, system in enumerate(SYSTEMS[dataset]):
            mixed = " ".join([*first.split()[:4], *second.split()[3:9]])
            summary = (first, mixed, SENTENCES[(2 * index + 7) % len(SENTENCES)][:50])[
                (number + index) % 3
            ]
            known, other = float(rng.integers(5)) / 4, round(float(rng.random()), 3)
            metrics = {
                "FactCC": known,
                "QAGS": None if index == 1 else other,
                "New": float(rng.random()),
            }
            split = "valid" if index in (3, 7) else "test"
            names = {
                "doc_id": f"d{index}",
                "system": system,
                "dataset": dataset,
                "split": split,
                "summary": summary,
            }
            judged = {"factuality": float(rng.integers(4)) / 3, "errors": {}}
            flipped = {name: float(rng.integers(4)) / 3 for name in ERRORS}
            rows.append({**names, **judged, "flipped": flipped, "metrics": metrics})
    return rows


def write_folder(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """The layout of JSON Lines."""
    folder.mkdir()
    write_jsonl(
        folder / "documents.jsonl",
        [{"doc_id": name, "source": text} for name, text in SOURCES.items()],
    )
    write_jsonl(folder / "frank.jsonl", rows)
    return folder


def write_authors(folder: Path, rows: list[dict[str, Any]], *, articles: bool) -> Path:
    """The authors' files; the texts in one file, or one file for each document."""
    data = folder / "data"
    data.mkdir(parents=True)
    keys = [{"hash": row["doc_id"], "model_name": row["system"]} for row in rows]
    sets = [{"dataset": row["dataset"], "split": row["split"]} for row in rows]
    judged = [
        {
            **key,
            **of,
            "Factuality": row["factuality"],
            **{f"Flip_{name}": row["flipped"][name] for name in ERRORS},
        }
        for key, of, row in zip(keys, sets, rows, strict=True)
    ]
    outputs = [
        {**key, **of, **row["metrics"]} for key, of, row in zip(keys, sets, rows, strict=True)
    ]
    (data / "human_annotations.json").write_text(json.dumps(judged), encoding="utf-8")
    (data / "baseline_factuality_metrics_outputs.json").write_text(
        json.dumps(outputs[::-1]), encoding="utf-8"
    )
    if articles:
        (data / "articles-wbertscore-json").mkdir()
        for name, text in SOURCES.items():
            record = {row["system"]: row["summary"] for row in rows if row["doc_id"] == name}
            record |= {"article": text, "hash": name, "article_lines": [text]}
            (data / "articles-wbertscore-json" / f"{name}.json").write_text(
                json.dumps(record), encoding="utf-8"
            )
    else:
        benchmark = [
            {
                **key,
                "article": SOURCES[key["hash"]],
                "summary": row["summary"],
                "reference": "",
                "split": row["split"],
            }
            for key, row in zip(keys, rows, strict=True)
        ]
        (data / "benchmark_data.json").write_text(json.dumps(benchmark), encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "made-up", made_rows())


@pytest.fixture
def data(folder: Path) -> Frank:
    return read(folder)


@pytest.fixture(scope="session")
def frank() -> Frank:
    """The test split of FRANK."""
    if not (FRANK / "frank.jsonl").is_file():
        pytest.skip(
            "FRANK is missing: it is looked for in shared/data/frank next to the repository"
        )
    return read(FRANK)

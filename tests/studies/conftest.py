"""Made-up data of SummEval, and resamples by plain loops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.summeval.data import SummEval, read_folder
from tests.studies.made import made_folder


def hub_rows(data: SummEval) -> list[dict[str, Any]]:
    """The same data in the layout of the Hub's."""
    return [
        {
            "machine_summaries": list(rows["summary"]),
            "human_summaries": rows["references"].iloc[0],
            **{quality: list(rows[quality]) for quality in QUALITIES},
            "text": rows["source"].iloc[0],
            "id": document,
        }
        for document, rows in data.table.groupby("document", sort=False)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made_folder(tmp_path / "made-up", "summeval")


@pytest.fixture
def data(folder: Path) -> SummEval:
    return read_folder(folder)

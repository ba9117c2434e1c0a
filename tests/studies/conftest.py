"""Made-up data of SummEval, and resamples by plain loops."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
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


def drawn_rows(group_of_each: Sequence[str], n: int) -> list[list[int]]:
    """Bootstrap samples of groups by a plain loop: in each sample, the rows of every drawn group."""
    groups = list(dict.fromkeys(group_of_each))
    draws = np.random.default_rng(0).integers(len(groups), size=(n, len(groups)))
    return [
        [row for place in drawn for row, name in enumerate(group_of_each) if name == groups[place]]
        for drawn in draws
    ]


def ends(drawn: Sequence[float]) -> tuple[float, float]:
    """The 95% interval of what resamples give."""
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return pytest.approx(low), pytest.approx(high)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made_folder(tmp_path / "made-up", "summeval")


@pytest.fixture
def data(folder: Path) -> SummEval:
    return read_folder(folder)

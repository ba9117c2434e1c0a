"""Made-up data of SummEval."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from estime_metric.studies.benchmarks.summeval.data import SummEval, read_folder

#: Made-up data of each benchmark.
DATA = Path(__file__).parent / "data"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(DATA / "summeval", tmp_path / "made-up")


@pytest.fixture
def data(folder: Path) -> SummEval:
    return read_folder(folder)

"""Made-up data of BUMP, and the real data."""

from __future__ import annotations

import pytest

from estime_metric.studies.benchmarks.bump.data import read
from estime_metric.studies.benchmarks.shared.data import Summaries
from tests.conftest import SUMMEVAL
from tests.studies.made import DATA

BUMP = SUMMEVAL.parent / "bump"


@pytest.fixture(scope="session")
def data() -> Summaries:
    return read(DATA / "bump")


@pytest.fixture(scope="session")
def bump() -> Summaries:
    """Task 1 of BUMP."""
    if not (BUMP / "data" / "task1_dataset.json").is_file():
        pytest.skip("BUMP is missing: it is looked for in shared/data/bump next to the repository")
    return read(BUMP)

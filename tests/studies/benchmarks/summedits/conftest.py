"""Made-up data of SummEdits, and the real data."""

from __future__ import annotations

import pytest

from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.summedits.data import read
from tests.conftest import SUMMEVAL
from tests.studies.made import DATA

SUMMEDITS = SUMMEVAL.parent / "summedits"


@pytest.fixture(scope="session")
def data() -> Summaries:
    return read(DATA / "summedits")


@pytest.fixture(scope="session")
def summedits() -> Summaries:
    """The domains of SummEdits that there are."""
    if not (SUMMEDITS / "data").is_dir():
        pytest.skip(
            "SummEdits is missing: it is looked for in shared/data/summedits next to the repository"
        )
    return read(SUMMEDITS)

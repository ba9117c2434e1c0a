"""Made-up data of FRANK, and the real data."""

from __future__ import annotations

import pytest

from estime_metric.studies.benchmarks.frank.data import read
from estime_metric.studies.benchmarks.shared.data import Summaries
from tests.conftest import SUMMEVAL
from tests.studies.made import DATA

FRANK = SUMMEVAL.parent / "frank"


@pytest.fixture(scope="session")
def data() -> Summaries:
    return read(DATA / "frank")


@pytest.fixture(scope="session")
def frank() -> Summaries:
    """The test split of FRANK."""
    if not (FRANK / "frank.jsonl").is_file():
        pytest.skip(
            "FRANK is missing: it is looked for in shared/data/frank next to the repository"
        )
    return read(FRANK)

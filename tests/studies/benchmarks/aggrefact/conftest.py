"""Made-up data of both layouts: the authors' tables, and folders of JSON Lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from estime_metric.studies.benchmarks.aggrefact.data import Place
from tests.studies.made import made_folder

#: The place that the made-up data have.
PLACE = Place("cnndm", "CLIFF", "recent")


@pytest.fixture
def authors(tmp_path: Path) -> Path:
    return made_folder(tmp_path / "AggreFact", "aggrefact")

"""Caches of `evaluate` in a temporary folder, and no Hub to be reached."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.conftest import Pairs, unzip

SCRIPT = Path(__file__).resolve().parents[3] / "hub_space" / "estime.py"

#: A port on which nothing listens: connections are refused immediately.
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="session")
def evaluate_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of evaluate's caches. One for the session: Python keeps the modules that were
    imported from it.
    """
    config = pytest.importorskip("evaluate").config
    home = tmp_path_factory.mktemp("evaluate")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "HF_MODULES_CACHE", home / "modules")
        patch.setattr(config, "HF_METRICS_CACHE", home / "metrics")
        patch.setattr(config, "HF_EVALUATE_CACHE", home / "evaluate")
        patch.setattr(config, "DOWNLOADED_EVALUATE_PATH", home / "evaluate" / "downloads")
        patch.setattr(
            config, "HUB_EVALUATE_URL", NOWHERE + "/spaces/{path}/resolve/{revision}/{name}"
        )
        patch.setattr(config, "HF_UPDATE_DOWNLOAD_COUNTS", False)
        yield home


@pytest.fixture
def metric(bert_folder: str) -> Any:
    """The metric with the small BERT, without a cache, so that repeated values are equal bit by bit."""
    from estime_metric.integrations.evaluate import Estime

    return Estime(model=bert_folder, cache=None)


@pytest.fixture
def texts(pairs: Pairs) -> dict[str, list[str]]:
    """Six pairs as keyword arguments."""
    return dict(zip(("predictions", "sources"), unzip(pairs[:6]), strict=True))

"""Several processes, one metric; several jobs, one cache directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.command import FORKS, one_thread
from tests.integrations.conftest import Pairs, unzip

pytest.importorskip("evaluate")

from estime_metric.integrations.evaluate import Estime, register


@pytest.fixture(scope="module")
def workers() -> Any:
    """Two processes that do not share this one's memory."""
    with FORKS.Pool(2, initializer=one_thread) as pool:
        yield pool


def score_often(model: str, pairs: Pairs, cache: str) -> list[Any]:
    """Results of one job that loads, adds and computes again and again."""
    found = []
    for _ in range(4):
        metric = Estime(model=model, cache_dir=cache, cache=None)
        for summary, source in pairs:
            metric.add(prediction=summary, source=source)
        found.append(metric.compute())
    return found


def test_two_jobs_on_one_cache_directory(
    workers: Any, bert_folder: str, pairs: Pairs, tmp_path: Path
) -> None:
    parts = [pairs[:6], pairs[6:9]]
    given = [(bert_folder, part, str(tmp_path)) for part in parts]
    for scores, part in zip(
        workers.starmap_async(score_often, given).get(timeout=300), parts, strict=True
    ):
        summaries, sources = unzip(part)
        alone = Estime(model=bert_folder, cache=None)
        assert scores == [alone.compute(predictions=summaries, sources=sources)] * 4
    assert list(tmp_path.rglob("*.arrow")) == []  # no texts are left behind


def register_often(modules: str) -> int:
    """Registers in a given cache again and again; how many scripts were found whole."""
    import evaluate

    evaluate.config.HF_MODULES_CACHE = Path(modules)
    return sum("import Estime" in register().read_text(encoding="utf-8") for _ in range(50))


def test_two_jobs_register_at_once(workers: Any, tmp_path: Path) -> None:
    assert workers.map_async(register_often, [str(tmp_path)] * 2).get(timeout=300) == [50, 50]
    assert len(list(tmp_path.rglob("estime.py"))) == 1
    assert list(tmp_path.rglob("*.tmp")) == []

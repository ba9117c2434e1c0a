"""Several processes, one metric; several jobs, one cache directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from estime_metric import estime
from tests.command import FORKS, one_thread
from tests.integrations.conftest import Pairs, unzip
from tests.integrations.evaluate.conftest import computed

pytest.importorskip("evaluate")

from estime_metric.integrations.evaluate import Estime, register


@pytest.fixture(scope="module")
def workers() -> Any:
    """Two processes that do not share this one's memory."""
    with FORKS.Pool(2, initializer=one_thread) as pool:
        yield pool


def score_part(model: str, pairs: Pairs, cache: str, size: int, rank: int) -> tuple[Any, int]:
    """The result of one process, and how many encoders it keeps."""
    from estime_metric.engine.encoder import store

    metric = Estime(
        model=model,
        num_process=size,
        process_id=rank,
        cache_dir=cache,
        experiment_id="part",
        timeout=300,
    )
    for summary, source in pairs[:1]:
        metric.add(prediction=summary, source=source)
    if pairs[1:]:
        summaries, sources = unzip(pairs[1:])
        metric.add_batch(predictions=summaries, sources=sources)
    scores = metric.compute()
    held = len(store.STORE._held)
    metric.unload()
    return scores, held


def score_often(model: str, pairs: Pairs, cache: str) -> list[Any]:
    """Results of one job that loads, adds and computes again and again."""
    found = []
    for _ in range(4):
        metric = Estime(model=model, cache_dir=cache, cache=None)
        for summary, source in pairs:
            metric.add(prediction=summary, source=source)
        found.append(metric.compute())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 2, 5])
def test_two_processes_give_what_one_gives(
    workers: Any, bert_folder: str, pairs: Pairs, tmp_path: Path, first: int
) -> None:
    parts = [pairs[:first], pairs[first:5]]
    given = [(bert_folder, part, str(tmp_path), 2, rank) for rank, part in enumerate(parts)]
    (scores, held), other = workers.starmap_async(score_part, given).get(timeout=300)
    assert scores == computed(estime(*unzip(pairs[:5]), model=bert_folder))
    assert held == 1
    assert other == (None, 0)  # only process 0 loads the encoder and computes


def test_two_processes_without_examples(workers: Any, bert_folder: str, tmp_path: Path) -> None:
    given = [(bert_folder, [], str(tmp_path), 2, rank) for rank in range(2)]
    (scores, _), (other, _) = workers.starmap_async(score_part, given).get(timeout=300)
    assert scores["alarms_scores"] == []
    assert scores["estime"] != scores["estime"]  # NaN: a mean of nothing
    assert other is None


def test_two_jobs_on_one_cache_directory(
    workers: Any, bert_folder: str, pairs: Pairs, tmp_path: Path
) -> None:
    parts = [pairs[:6], pairs[6:9]]
    given = [(bert_folder, part, str(tmp_path)) for part in parts]
    for scores, part in zip(
        workers.starmap_async(score_often, given).get(timeout=300), parts, strict=True
    ):
        assert scores == [computed(estime(*unzip(part), model=bert_folder))] * 4
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

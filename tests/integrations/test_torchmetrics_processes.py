"""`ESTIME` on two processes: examples that a sampler repeats, a metric that goes on after `compute`,
synchronizing by hand, steps. `tests.integrations.test_toolkits` has shares without ids.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import distributed

torchmetrics = pytest.importorskip("torchmetrics")

from torchmetrics.utilities.exceptions import TorchMetricsUserError  # noqa: E402

from estime_metric import EstimeResult, EstimeScorer, estime  # noqa: E402
from estime_metric.integrations.torchmetrics import ESTIME  # noqa: E402
from tests.command import FORKS, one_thread  # noqa: E402
from tests.integrations.conftest import Pairs, named, unzip  # noqa: E402

#: The indices of the examples that each process gets.
SPLITS = {
    "uneven": ([0, 1, 2, 3, 4], [5, 6]),
    "empty": ([], [0, 1, 2, 3, 4, 5, 6]),
    "sampler": ([0, 2, 4, 6], [1, 3, 5, 0]),  # as a DistributedSampler splits 7 examples
}


def metrics(model: str) -> dict[str, ESTIME]:
    return {
        "mean": ESTIME(model=model, measure="alarms"),
        "each": ESTIME(model=model, reduction=None, layers=[2, 4], return_dict=True),
    }


def update(metric: ESTIME, pairs: Pairs, indices: list[int]) -> None:
    """One update for every two examples, none at all if there are no examples."""
    for start in range(0, len(indices), 2):
        some = indices[start : start + 2]
        metric.update(**named([pairs[index] for index in some]), ids=some)


def run(rank: int, model: str, pairs: Pairs, folder: Path) -> None:
    """What one of the two processes does; what it finds goes to a file."""
    one_thread()
    distributed.init_process_group(
        "gloo",
        f"file://{folder / 'meeting'}",
        rank=rank,
        world_size=2,
        timeout=timedelta(minutes=5),
    )
    found: dict[Any, Any] = {}
    scored: list[int] = []
    score = EstimeScorer.score

    def counted(self: EstimeScorer, preds: Any, sources: Any) -> Any:
        scored.append(len(preds))
        return score(self, preds, sources)

    EstimeScorer.score = counted  # type: ignore[method-assign, assignment]

    for split, shares in SPLITS.items():
        for name, metric in metrics(model).items():
            scored.clear()
            update(metric, pairs, shares[rank])
            found[split, name] = metric.compute()
            found[split, name, "scored"] = sum(scored)
            metric.update(**named(pairs[:1]), ids=[0])  # continues after compute
            found[split, name, "again"] = metric.compute()

    # The sums of every state, synchronized by hand; an update is refused then, and nothing is lost.
    metric = ESTIME(model=model, measure="alarms")
    metric.update(**named([pairs[index] for index in SPLITS["uneven"][rank]]))
    metric.sync()
    found["synced count"] = metric.count[0, 0]
    try:
        metric.update(**named(pairs[7:8]))
    except TorchMetricsUserError as error:
        found["refused"] = str(error)
    metric.unsync()
    metric.update(**named(pairs[7:8]))
    found["unsynced count"] = metric.count[0, 0]

    # A value for each step over both processes, and one for each process.
    for on_step in (True, False):
        metric = ESTIME(model=model, dist_sync_on_step=on_step, measure="alarms")
        found["step", on_step] = [
            metric(**named(pairs[index : index + 1])) for index in (rank, 2 + rank)
        ]
        found["epoch", on_step] = metric.compute()

    # One process alone, while the other does not take part.
    if rank == 0:
        alone = ESTIME(model=model, sync_on_compute=False, measure="alarms")
        alone.update(**named(pairs[:3]))
        found["alone"] = alone.compute()

    # A folder of source embeddings that both fill and read at the same time.
    for _ in range(2):
        cached = ESTIME(model=model, cache=str(folder / "cache"), measure="alarms")
        update(cached, pairs, SPLITS["sampler"][rank])
        found["cached"] = cached.compute()
        distributed.barrier()
        found["misses"] = cached.source_cache.misses  # type: ignore[union-attr]

    torch.save(found, folder / f"{rank}.pt")
    distributed.destroy_process_group()


Found = list[dict[Any, Any]]


@pytest.fixture(scope="module")
def found(
    bert_folder: str, pairs: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> Found:
    folder = tmp_path_factory.mktemp("processes")
    processes = [
        FORKS.Process(target=run, args=(rank, bert_folder, pairs, folder)) for rank in range(2)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)]


@pytest.fixture(scope="module")
def result(bert_folder: str, pairs: list[tuple[str, str]]) -> EstimeResult:
    return estime(*unzip(pairs), model=bert_folder, layers=[2, 4])


def mean(values: torch.Tensor) -> Any:
    """The mean to float32, NaN if there is none, which equals NaN."""
    return pytest.approx(float(values.mean().float()), rel=0, abs=0, nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("split", SPLITS)
def test_two_processes_equal_one(found: Found, result: EstimeResult, split: str) -> None:
    alarms = result.values("alarms", 4)
    shares = SPLITS[split]
    distinct = sorted({*shares[0], *shares[1]})
    for rank, own in enumerate(found):
        # Each process scored what it was given and nothing else.
        assert own[split, "mean", "scored"] == own[split, "each", "scored"] == len(shares[rank])
        # After `compute` the states are its own again, and grow; the example is counted already.
        for when in ((split, "mean"), (split, "mean", "again")):
            assert float(own[when]) == mean(alarms[distinct])
        for when in ((split, "each"), (split, "each", "again")):
            for layer in (2, 4):
                values = result.values("alarms", layer)[distinct]
                assert own[when][f"alarms_layer{layer}"].tolist() == values.tolist()


def test_synchronizing_by_hand_loses_nothing(found: Found) -> None:
    assert [int(own["synced count"]) for own in found] == [7, 7]
    assert all("Expected a metric that is not synchronized" in own["refused"] for own in found)
    assert [int(own["unsynced count"]) for own in found] == [5 + 1, 2 + 1]


def test_values_of_each_step(found: Found, result: EstimeResult) -> None:
    alarms = result.values("alarms", 4)
    for rank, own in enumerate(found):
        assert [float(value) for value in own["step", True]] == [
            mean(alarms[:2]),
            mean(alarms[2:4]),
        ]
        assert [float(value) for value in own["step", False]] == [
            float(alarms[rank]),
            float(alarms[2 + rank]),
        ]
        assert float(own["epoch", True]) == float(own["epoch", False]) == mean(alarms[:4])


def test_one_process_alone_returns_and_both_share_a_folder_of_sources(
    found: Found, result: EstimeResult
) -> None:
    assert float(found[0]["alone"]) == mean(result.values("alarms", 4)[:3])
    assert "alone" not in found[1]
    for own in found:
        assert own["cached"] == own["sampler", "mean"]
        assert own["misses"] == 0  # the second time

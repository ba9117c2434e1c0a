"""What two processes do together in one start; `test_torchmetrics_processes` looks at what each of them found."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from torch import distributed
from torchmetrics.utilities.exceptions import TorchMetricsUserError

from estime_metric import EstimeScorer
from estime_metric.integrations.torchmetrics import ESTIME
from tests.integrations.conftest import Pairs, named

#: The indices of the examples that each process gets.
SPLITS = {
    "uneven": ([0, 1, 2, 3, 4], [5, 6]),
    "even": ([0, 1, 2, 3], [4, 5, 6]),
    "first empty": ([], [0, 1, 2, 3, 4, 5, 6]),
    "second empty": ([0, 1, 2, 3, 4, 5, 6], []),
    "both empty": ([], []),
    "sampler": ([0, 2, 4, 6], [1, 3, 5, 0]),  # as a DistributedSampler splits 7 examples
}


def metrics(model: str) -> dict[str, ESTIME]:
    return {
        "mean": ESTIME(model=model),
        "mean by ids": ESTIME(model=model),
        "each": ESTIME(model=model, reduction=None),
        "each by ids": ESTIME(model=model, reduction=None, layers=[2, 4], return_dict=True),
    }


def update(metric: ESTIME, name: str, pairs: Pairs, indices: list[int]) -> None:
    """One update for every two examples, none at all where there are no examples."""
    for start in range(0, len(indices), 2):
        some = indices[start : start + 2]
        metric.update(**named([pairs[index] for index in some]), ids=some if "ids" in name else None)


def run(rank: int, model: str, pairs: Pairs, folder: Path) -> None:
    """What one of the two processes does; what it finds goes to a file."""
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", f"file://{folder / 'meeting'}", rank=rank, world_size=2, timeout=timedelta(minutes=5)
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
            update(metric, name, pairs, shares[rank])
            found[split, name] = metric.compute()
            found[split, name, "scored"] = sum(scored)
            metric.update(**named(pairs[:1]), ids=[0] if "ids" in name else None)  # continues after compute
            found[split, name, "again"] = metric.compute()

    # The sums of every state, synchronized by hand; an update is refused then, and nothing is lost.
    metric = ESTIME(model=model)
    update(metric, "mean", pairs, SPLITS["uneven"][rank])
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
        metric = ESTIME(model=model, dist_sync_on_step=on_step)
        found["step", on_step] = [metric(**named(pairs[index : index + 1])) for index in (rank, 2 + rank)]
        found["epoch", on_step] = metric.compute()

    # One process alone, while the other does not take part.
    if rank == 0:
        alone = ESTIME(model=model, sync_on_compute=False)
        alone.update(**named(pairs[:3]))
        found["alone"] = alone.compute()

    # A folder of source embeddings that both fill and read at the same time.
    for _ in range(2):
        cached = ESTIME(model=model, cache=str(folder / "cache"))
        update(cached, "mean", pairs, SPLITS["sampler"][rank])
        found["cached"] = cached.compute()
        distributed.barrier()
        found["misses"] = cached.source_cache.misses  # type: ignore[union-attr]

    torch.save(found, folder / f"{rank}.pt")
    distributed.destroy_process_group()

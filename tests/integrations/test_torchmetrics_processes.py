"""`ESTIME` on two processes: examples that a sampler repeats, a metric that goes on after `compute`,
synchronizing by hand, steps. `tests.integrations.test_toolkits` has shares without ids.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

torchmetrics = pytest.importorskip("torchmetrics")

from torchmetrics.utilities.exceptions import TorchMetricsUserError  # noqa: E402

from estime_metric import estime  # noqa: E402
from estime_metric.integrations.torchmetrics import ESTIME  # noqa: E402
from tests.integrations.conftest import Pairs, named, unzip  # noqa: E402
from tests.integrations.two_processes import process_group, run_twice  # noqa: E402

#: The examples of each process, as a DistributedSampler splits 7.
SAMPLED = ([0, 2, 4, 6], [1, 3, 5, 0])


def update(metric: ESTIME, pairs: Pairs, numbers: list[int], **options: Any) -> None:
    metric.update(**named([pairs[number] for number in numbers]), **options)


def report(rank: int, model: str, pairs: Pairs, folder: Path) -> None:
    """What one of the two processes gets goes to a file."""
    got: dict[str, Any] = {}
    make = partial(ESTIME, model=model, measure="alarms")
    own = SAMPLED[rank]
    with process_group(rank, folder):
        each = ESTIME(model=model, reduction=None, layers=[2, 4], return_dict=True)
        for name, metric in {"mean": make(), "each": each}.items():
            for start in (0, 2):
                update(metric, pairs, own[start : start + 2], ids=own[start : start + 2])
            got[name] = metric.compute()
            update(metric, pairs, [0], ids=[0])  # continues after compute; is counted already
            got[name, "again"] = metric.compute()

        # Synchronized by hand; an update would be lost then.
        metric = make()
        update(metric, pairs, own)
        metric.sync()
        try:
            update(metric, pairs, [7])
        except TorchMetricsUserError as error:
            got["refused"] = str(error)
        metric.unsync()
        update(metric, pairs, [7])
        got["by hand"] = metric.compute()

        # A value for each step over both processes, and one for each process.
        for on_step in (True, False):
            metric = make(dist_sync_on_step=on_step)
            got["step", on_step] = [metric(**named([pairs[at + rank]])) for at in (0, 2)]
            got["epoch", on_step] = metric.compute()

        # One process alone, while the other does not take part.
        if rank == 0:
            metric = make(sync_on_compute=False)
            update(metric, pairs, [0, 1, 2])
            got["alone"] = metric.compute()
    torch.save(got, folder / f"{rank}.pt")


Reports = list[dict[Any, Any]]


@pytest.fixture(scope="module")
def reports(bert_folder: str, pairs: Pairs, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    folder = tmp_path_factory.mktemp("processes")
    run_twice(report, bert_folder, pairs, folder)
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)]


@pytest.fixture(scope="module")
def alarms_of(bert_folder: str, pairs: Pairs) -> Any:
    """layer -> the alarms of each pair"""
    result = estime(*unzip(pairs), model=bert_folder, layers=[2, 4])
    return {layer: result.values("alarms", layer) for layer in (2, 4)}


def mean(values: torch.Tensor) -> Any:
    return pytest.approx(float(values.mean()))


@pytest.mark.slow
@pytest.mark.parametrize("when", ["first", "again"])
def test_an_example_that_a_sampler_repeats_is_counted_once(
    reports: Reports, alarms_of: Any, when: str
) -> None:
    for got in reports:
        overall, values_by_name = (
            got[name if when == "first" else (name, when)] for name in ("mean", "each")
        )
        assert float(overall) == mean(alarms_of[4][:7])
        for layer in (2, 4):
            assert values_by_name[f"alarms_layer{layer}"].tolist() == alarms_of[layer][:7].tolist()


def test_synchronizing_by_hand_loses_nothing(reports: Reports, alarms_of: Any) -> None:
    numbers = [*SAMPLED[0], 7, *SAMPLED[1], 7]
    for got in reports:
        assert "Expected a metric that is not synchronized" in got["refused"]
        assert float(got["by hand"]) == mean(alarms_of[4][numbers])


def test_values_of_each_step(reports: Reports, alarms_of: Any) -> None:
    alarms = alarms_of[4]
    for rank, got in enumerate(reports):
        assert [float(value) for value in got["step", True]] == [
            mean(alarms[:2]),
            mean(alarms[2:4]),
        ]
        assert [float(value) for value in got["step", False]] == alarms[[rank, 2 + rank]].tolist()
        assert float(got["epoch", True]) == float(got["epoch", False]) == mean(alarms[:4])


def test_one_process_alone_returns(reports: Reports, alarms_of: Any) -> None:
    assert float(reports[0]["alone"]) == mean(alarms_of[4][:3])
    assert "alone" not in reports[1]

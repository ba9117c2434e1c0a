"""`ESTIME` on two processes equals one process: uneven shares, empty ones, examples that a sampler repeats."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

torchmetrics = pytest.importorskip("torchmetrics")

from estime_metric import EstimeResult, estime  # noqa: E402
from tests.integrations import two_processes  # noqa: E402
from tests.integrations.conftest import unzip  # noqa: E402
from tests.integrations.two_processes import SPLITS  # noqa: E402

Found = list[dict[Any, Any]]


@pytest.fixture(scope="module")
def found(bert_folder: str, pairs: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Found:
    """What each of the two processes found."""
    folder = tmp_path_factory.mktemp("processes")
    torch.multiprocessing.spawn(two_processes.run, (bert_folder, pairs, folder), nprocs=2)
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)]


@pytest.fixture(scope="module")
def result(bert_folder: str, pairs: list[tuple[str, str]]) -> EstimeResult:
    """All pairs, scored by one process."""
    return estime(*unzip(pairs), model=bert_folder, layers=[2, 4])


def mean(values: torch.Tensor) -> float:
    """NaN where there is none, which `equal` takes for equal."""
    return float(values.mean())


def equal(found: torch.Tensor, expected: float) -> bool:
    return float(found) == expected or (bool(found.isnan()) and math.isnan(expected))


@pytest.mark.slow
@pytest.mark.parametrize("split", SPLITS)
def test_two_processes_equal_one(found: Found, result: EstimeResult, split: str) -> None:
    alarms = result.values("alarms", 4)
    shares = SPLITS[split]
    in_turn, distinct = shares[0] + shares[1], sorted({*shares[0], *shares[1]})
    for rank, own in enumerate(found):
        assert equal(own[split, "mean"], mean(alarms[in_turn]))
        assert equal(own[split, "mean by ids"], mean(alarms[distinct]))
        assert own[split, "each"].tolist() == alarms[in_turn].tolist()
        by_ids = own[split, "each by ids"]
        for layer in (2, 4):
            assert by_ids[f"alarms_{layer}"].tolist() == result.values("alarms", layer)[distinct].tolist()
        # Each process scored what it was given and nothing else.
        assert own[split, "mean", "scored"] == own[split, "each by ids", "scored"] == len(shares[rank])
        # After `compute` the states are its own again, and grow.
        assert float(own[split, "mean", "again"]) == mean(alarms[[*in_turn, 0, 0]])
        assert float(own[split, "mean by ids", "again"]) == mean(alarms[sorted({*distinct, 0})])
        assert sorted(own[split, "each", "again"].tolist()) == sorted(alarms[[*in_turn, 0, 0]].tolist())


def test_seven_examples_on_two_processes(found: Found, result: EstimeResult) -> None:
    """A sampler repeats the first example: with ids the value is that of one process, without it is not."""
    alarms = result.values("alarms", 4)[:7]
    assert found[0]["sampler", "mean by ids"] == alarms.mean()
    assert found[0]["sampler", "mean"] == torch.cat([alarms, alarms[:1]]).mean() != alarms.mean()


def test_synchronizing_by_hand_loses_nothing(found: Found) -> None:
    assert [int(own["synced count"]) for own in found] == [7, 7]
    assert all("Expected a metric that is not synchronized" in own["refused"] for own in found)
    assert [int(own["unsynced count"]) for own in found] == [5 + 1, 2 + 1]


def test_values_of_each_step(found: Found, result: EstimeResult) -> None:
    alarms = result.values("alarms", 4)
    for rank, own in enumerate(found):
        assert [float(value) for value in own["step", True]] == [mean(alarms[:2]), mean(alarms[2:4])]
        assert [float(value) for value in own["step", False]] == [float(alarms[rank]), float(alarms[2 + rank])]
        assert float(own["epoch", True]) == float(own["epoch", False]) == mean(alarms[:4])


def test_one_process_alone_returns(found: Found, result: EstimeResult) -> None:
    assert float(found[0]["alone"]) == mean(result.values("alarms", 4)[:3])
    assert "alone" not in found[1]


def test_processes_share_a_folder_of_sources(found: Found) -> None:
    for own in found:
        assert own["cached"] == own["sampler", "mean"]
        assert own["misses"] == 0  # the second time

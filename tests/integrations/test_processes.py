"""`ESTIME` and the metric of `evaluate` on two processes. All that one toolkit is asked runs in one pair
of processes; what each of them got is in a file.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torchmetrics")
pytest.importorskip("evaluate")

from torchmetrics.utilities.exceptions import TorchMetricsUserError

from estime_metric import EstimeResult, estime
from estime_metric.integrations.evaluate import Estime
from estime_metric.integrations.torchmetrics import ESTIME
from tests.integrations.conftest import Pairs, named, unzip
from tests.integrations.two_processes import process_group, run_twice

#: The pairs of each process: uneven shares, one that is empty, both.
SHARES = {"uneven": (range(5), range(5, 7)), "one empty": ((), range(5)), "empty": ((), ())}

#: The examples of each process, as a DistributedSampler splits 7.
SAMPLED = ([0, 2, 4, 6], [1, 3, 5, 0])

Got = dict[Any, Any]


def in_torchmetrics(rank: int, model: str, pairs: Pairs, folder: Path) -> Got:
    got: Got = {}
    make = partial(ESTIME, model=model, measure="alarms")
    make_each = partial(ESTIME, model=model, reduction=None, layers=[2, 4], return_dict=True)
    own = SAMPLED[rank]

    def update(metric: ESTIME, numbers: Any, **options: Any) -> None:
        metric.update(**named([pairs[number] for number in numbers]), **options)

    with process_group(rank, folder):
        for share, numbers in SHARES.items():
            for name, metric in {"mean": make(), "each": make_each()}.items():
                for number in numbers[rank]:
                    update(metric, [number])
                got[share, name] = metric.compute()
        for name, metric in {"mean": make(), "each": make_each()}.items():
            for start in (0, 2):
                update(metric, own[start : start + 2], ids=own[start : start + 2])
            got["ids", name] = metric.compute()
            update(metric, [0], ids=[0])  # continues after compute; is counted already
            got["ids again", name] = metric.compute()

        # Synchronized by hand; an update would be lost then.
        metric = make()
        update(metric, own)
        metric.sync()
        try:
            update(metric, [7])
        except TorchMetricsUserError as error:
            got["refused"] = str(error)
        metric.unsync()
        update(metric, [7])
        got["by hand"] = metric.compute()

        # A value for each step over both processes, and one for each process.
        for on_step in (True, False):
            metric = make(dist_sync_on_step=on_step)
            got["step", on_step] = [metric(**named([pairs[at + rank]])) for at in (0, 2)]
            got["epoch", on_step] = metric.compute()

        # One process alone, while the other does not take part.
        if rank == 0:
            metric = make(sync_on_compute=False)
            update(metric, [0, 1, 2])
            got["alone"] = metric.compute()
    return got


def in_evaluate(rank: int, model: str, pairs: Pairs, folder: Path) -> Got:
    """Only the first process scores and needs an encoder."""
    got: Got = {}
    model = model if rank == 0 else "nobody/no-such-encoder"
    for share in ("uneven", "empty"):
        cache = folder / share
        cache.mkdir(exist_ok=True)
        shared = {"cache_dir": str(cache), "experiment_id": "shared", "timeout": 300}
        metric = Estime(model=model, num_process=2, process_id=rank, **shared)
        for number in SHARES[share][rank]:
            metric.add(prediction=pairs[number][0], sources=pairs[number][1])
        got[share] = metric.compute()
    return got


def keep(rank: int, run: Callable[..., Got], model: str, pairs: Pairs, folder: Path) -> None:
    (folder / f"{rank}.pickle").write_bytes(pickle.dumps(run(rank, model, pairs, folder)))


@pytest.fixture(scope="module")
def run(bert_folder: str, pairs: Pairs, tmp_path_factory: pytest.TempPathFactory) -> Any:
    def run(function: Callable[..., Got]) -> list[Got]:
        folder = tmp_path_factory.mktemp("processes")
        run_twice(keep, function, bert_folder, pairs, folder)
        return [pickle.loads((folder / f"{rank}.pickle").read_bytes()) for rank in range(2)]

    return run


@pytest.fixture(scope="module")
def both(run: Any) -> list[Got]:
    return run(in_torchmetrics)


@pytest.fixture(scope="module")
def result(bert_folder: str, pairs: Pairs) -> EstimeResult:
    return estime(*unzip(pairs), model=bert_folder, layers=[2, 4])


pytestmark = pytest.mark.slow


@pytest.mark.parametrize("share", SHARES)
def test_shares_of_any_size_equal_one_process(
    both: list[Got], result: EstimeResult, share: str
) -> None:
    alarms = result.values("alarms", 4)[[number for part in SHARES[share] for number in part]]
    for got in both:
        assert float(got[share, "mean"]) == pytest.approx(float(alarms.mean()), nan_ok=True)
        assert got[share, "each"]["alarms_layer4"].tolist() == alarms.tolist()


@pytest.mark.parametrize("when", ["ids", "ids again"])
def test_an_example_that_a_sampler_repeats_is_counted_once(
    both: list[Got], result: EstimeResult, when: str
) -> None:
    for got in both:
        for layer in (2, 4):
            alarms = result.values("alarms", layer)[:7]
            assert got[when, "each"][f"alarms_layer{layer}"].tolist() == alarms.tolist()
        assert float(got[when, "mean"]) == pytest.approx(float(alarms.mean()))


def test_synchronizing_by_hand_loses_nothing(both: list[Got], result: EstimeResult) -> None:
    alarms = result.values("alarms", 4)[[*SAMPLED[0], 7, *SAMPLED[1], 7]]
    for got in both:
        assert "Expected a metric that is not synchronized" in got["refused"]
        assert float(got["by hand"]) == pytest.approx(float(alarms.mean()))


def test_values_of_each_step_and_of_one_process_alone(
    both: list[Got], result: EstimeResult
) -> None:
    alarms = result.values("alarms", 4)
    for rank, got in enumerate(both):
        of_both = [float(alarms[at : at + 2].mean()) for at in (0, 2)]
        assert [float(value) for value in got["step", True]] == pytest.approx(of_both)
        assert [float(value) for value in got["step", False]] == alarms[[rank, 2 + rank]].tolist()
        for on_step in (True, False):
            assert float(got["epoch", on_step]) == pytest.approx(float(alarms[:4].mean()))
    assert float(both[0]["alone"]) == pytest.approx(float(alarms[:3].mean()))


def test_evaluate_scores_the_pairs_of_all_in_the_first(run: Any, result: EstimeResult) -> None:
    first, second = run(in_evaluate)
    assert set(second.values()) == {None}
    assert first["uneven"]["alarms_scores"] == result.values("alarms", 4)[:7].tolist()
    assert first["empty"]["alarms_scores"] == []

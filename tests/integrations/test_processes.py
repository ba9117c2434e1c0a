"""`ESTIME` on two processes, alone and in Lightning. Everything runs in one pair of processes; what each of
them got is in a file.
"""

from __future__ import annotations

import os
import pickle
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torchmetrics")
pytest.importorskip("lightning")

from torch import distributed
from torchmetrics.utilities.exceptions import TorchMetricsUserError

from docs.examples import lightning_seq2seq as example
from estime_metric import EstimeResult, estime
from estime_metric.integrations.torchmetrics import ESTIME
from tests.command import FORKS, free_port, one_thread
from tests.integrations.conftest import Pairs, named, unzip

#: The pairs of each process: uneven shares, one that is empty, both.
SHARES = {"uneven": (range(5), range(5, 7)), "one empty": ((), range(5)), "empty": ((), ())}

#: The examples of each process, as a DistributedSampler splits 7.
SAMPLED = ([0, 2, 4, 6], [1, 3, 5, 0])

Got = dict[Any, Any]


def validated(encoder: str, folder: Path, devices: int) -> dict[str, Any]:
    """What Lightning logs of a model's summaries of seven sources."""
    command = f"--accelerator cpu --validation 7 --batch 2 --epochs 1 --devices {devices}"
    options = ["--encoder", encoder, "--folder", str(folder), *command.split()]
    if devices == 1:
        return example.main([*options, "--training", "8"])
    return example.main([*options, "--validate", str(folder / "last.ckpt")])


def in_torchmetrics(rank: int, model: str, pairs: Pairs) -> Got:
    got: Got = {}
    make = partial(ESTIME, model=model, measure="alarms")
    make_each = partial(ESTIME, model=model, reduction=None, layers=[2, 4], return_dict=True)
    own = SAMPLED[rank]

    def update(metric: ESTIME, numbers: Any, **options: Any) -> None:
        metric.update(**named([pairs[number] for number in numbers]), **options)

    for share, numbers in SHARES.items():
        for name, metric in {"mean": make(), "each": make_each()}.items():
            for number in numbers[rank]:
                update(metric, [number])
            got[share, name] = metric.compute()
    for name, metric in {"mean": make(), "each": make_each()}.items():
        for start in (0, 2):
            update(metric, own[start : start + 2], ids=own[start : start + 2])
        metric.compute()
        update(metric, [0], ids=[0])  # continues after compute; is counted already
        got["ids", name] = metric.compute()

    # Synchronized by hand; an update would be lost then.
    metric = make()
    update(metric, own)
    metric.sync()
    with pytest.raises(TorchMetricsUserError, match="Expected a metric that is not synchronized"):
        update(metric, [7])
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


def run(rank: int, port: int, model: str, pairs: Pairs, folder: Path) -> None:
    """What one of the two processes does; ``torchrun`` sets the same variables."""
    one_thread()
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), TORCHELASTIC_RUN_ID="test")
    os.environ.update(WORLD_SIZE="2", LOCAL_WORLD_SIZE="2", RANK=str(rank), LOCAL_RANK=str(rank))
    distributed.init_process_group("gloo", timeout=timedelta(minutes=5))
    got = in_torchmetrics(rank, model, pairs)
    got["lightning"] = validated(model, folder, devices=2)
    (folder / f"{rank}.pickle").write_bytes(pickle.dumps(got))
    distributed.destroy_process_group()


pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Lightning's and torch's own


@pytest.fixture(scope="module")
def result(bert_folder: str, pairs: Pairs) -> EstimeResult:
    return estime(*unzip(pairs), model=bert_folder, layers=[2, 4])


@pytest.fixture(scope="module")
def alone(bert_folder: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Got]:
    """A folder with a checkpoint, and what Lightning logged of it on one process."""
    folder = tmp_path_factory.mktemp("processes")
    return folder, validated(bert_folder, folder, devices=1)


@pytest.fixture(scope="module")
def both(bert_folder: str, pairs: Pairs, alone: tuple[Path, Got]) -> list[Got]:
    folder, _ = alone
    port = free_port()
    processes = [
        FORKS.Process(target=run, args=(rank, port, bert_folder, pairs, folder))
        for rank in range(2)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    return [pickle.loads((folder / f"{rank}.pickle").read_bytes()) for rank in range(2)]


@pytest.mark.parametrize("share", SHARES)
def test_shares_of_any_size_equal_one_process(
    both: list[Got], result: EstimeResult, share: str
) -> None:
    alarms = result.values("alarms", 4)[[number for part in SHARES[share] for number in part]]
    for got in both:
        assert float(got[share, "mean"]) == pytest.approx(float(alarms.mean()), nan_ok=True)
        assert got[share, "each"]["alarms_layer4"].tolist() == alarms.tolist()


def test_an_example_that_a_sampler_repeats_is_counted_once(
    both: list[Got], result: EstimeResult
) -> None:
    for got in both:
        for layer in (2, 4):
            alarms = result.values("alarms", layer)[:7]
            assert got["ids", "each"][f"alarms_layer{layer}"].tolist() == alarms.tolist()
        assert float(got["ids", "mean"]) == pytest.approx(float(alarms.mean()))


def test_synchronizing_by_hand_loses_nothing(both: list[Got], result: EstimeResult) -> None:
    alarms = result.values("alarms", 4)[[*SAMPLED[0], 7, *SAMPLED[1], 7]]
    for got in both:
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


def test_lightning_logs_the_same_of_seven_examples_on_two_processes(
    both: list[Got], alone: tuple[Path, Got]
) -> None:
    _, expected = alone
    assert expected["val/inconsistency"] > 0
    for got in both:
        for name in ("inconsistency", "copied_density", "tokens"):
            assert got["lightning"][f"val/{name}"] == pytest.approx(
                expected[f"val/{name}"], rel=1e-6
            )
        assert got["lightning"]["signature"] == expected["signature"]

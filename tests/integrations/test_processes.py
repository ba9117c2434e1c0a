"""`ESTIME` on two processes, alone and in Lightning. Everything runs in one pair of processes, which
compare it with what one process gives.
"""

from __future__ import annotations

import os
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
from estime_metric import estime
from estime_metric.integrations.torchmetrics import ESTIME
from tests.command import FORKS, free_port, one_thread
from tests.integrations.conftest import Pairs, named, unzip

#: The pairs of each process: uneven shares, one that is empty, both.
SHARES = [(range(5), range(5, 7)), ((), range(5)), ((), ())]

#: The examples of each process, as a DistributedSampler splits 7.
SAMPLED = ([0, 2, 4, 6], [1, 3, 5, 0])


def validated(encoder: str, folder: Path, devices: int) -> dict[str, Any]:
    """What Lightning logs of a model's summaries of seven sources."""
    command = f"--accelerator cpu --validation 7 --batch 2 --epochs 1 --devices {devices}"
    options = ["--encoder", encoder, "--folder", str(folder), *command.split()]
    if devices == 1:
        return example.main([*options, "--training", "8"])
    return example.main([*options, "--validate", str(folder / "last.ckpt")])


def check_torchmetrics(rank: int, model: str, pairs: Pairs) -> None:
    alarms = estime(*unzip(pairs), model=model).values("alarms")
    make = partial(ESTIME, model=model, measure="alarms", cache=None)

    def update(metric: ESTIME, numbers: Any, **options: Any) -> None:
        metric.update(**named([pairs[number] for number in numbers]), **options)

    for shares in SHARES:
        mean, each = make(), make(reduction=None)
        for number in shares[rank]:
            update(mean, [number])
            update(each, [number])
        expected = alarms[[number for share in shares for number in share]]
        assert float(mean.compute()) == pytest.approx(float(expected.mean()), nan_ok=True)
        assert each.compute().tolist() == expected.tolist()

    mean, each = make(), make(reduction=None)
    own = SAMPLED[rank]
    for metric in (mean, each):  # an example that a sampler repeats is counted once
        for start in (0, 2):
            update(metric, own[start : start + 2], ids=own[start : start + 2])
        metric.compute()
        update(metric, [0], ids=[0])  # continues after compute; is counted already
    assert float(mean.compute()) == pytest.approx(float(alarms[:7].mean()))
    assert each.compute().tolist() == alarms[:7].tolist()

    metric = make()
    update(metric, own)
    metric.sync()  # by hand; an update would be lost then
    with pytest.raises(TorchMetricsUserError, match="Expected a metric that is not synchronized"):
        update(metric, [7])
    metric.unsync()
    update(metric, [7])
    expected = alarms[[*SAMPLED[0], 7, *SAMPLED[1], 7]]
    assert float(metric.compute()) == pytest.approx(float(expected.mean()))

    for on_step in (True, False):  # a value for each step over both processes, or for each process
        metric = make(dist_sync_on_step=on_step)
        for at in (0, 2):
            of_step = alarms[at : at + 2] if on_step else alarms[[at + rank]]
            assert float(metric(**named([pairs[at + rank]]))) == float(of_step.mean())
        assert float(metric.compute()) == float(alarms[:4].mean())

    if rank == 0:  # one process alone, while the other does not take part
        metric = make(sync_on_compute=False)
        update(metric, [0, 1, 2])
        assert float(metric.compute()) == pytest.approx(float(alarms[:3].mean()))


def check_lightning(encoder: str, folder: Path, expected: dict[str, Any]) -> None:
    logged = validated(encoder, folder, devices=2)
    assert expected["val/inconsistency"] > 0
    for name in ("val/inconsistency", "val/copied_density", "val/tokens"):
        assert logged[name] == pytest.approx(expected[name], rel=1e-6)
    assert logged["signature"] == expected["signature"]


def run(rank: int, port: int, model: str, pairs: Pairs, folder: Path, logged: Any) -> None:
    """What one of the two processes does; ``torchrun`` sets the same variables."""
    one_thread()
    os.environ.update(
        {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "TORCHELASTIC_RUN_ID": "test"},
        **dict.fromkeys(("WORLD_SIZE", "LOCAL_WORLD_SIZE"), "2"),
        **dict.fromkeys(("RANK", "LOCAL_RANK"), str(rank)),
    )
    distributed.init_process_group("gloo", timeout=timedelta(minutes=5))
    check_torchmetrics(rank, model, pairs)
    check_lightning(model, folder, logged)
    distributed.destroy_process_group()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Lightning's and torch's own
def test_two_processes_give_what_one_gives(bert_folder: str, pairs: Pairs, tmp_path: Path) -> None:
    logged = validated(bert_folder, tmp_path, devices=1)
    shared = (free_port(), bert_folder, pairs, tmp_path, logged)
    processes = [FORKS.Process(target=run, args=(rank, *shared)) for rank in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0

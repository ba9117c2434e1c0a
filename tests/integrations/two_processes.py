"""Runs a function in two processes that may be one group of ``torch.distributed``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from torch import distributed

from tests.command import FORKS, one_thread


def run_twice(function: Callable[..., None], *arguments: Any) -> None:
    """Calls ``function(rank, *arguments)`` in two processes at once; both have to succeed."""
    processes = [
        FORKS.Process(target=_on_one_thread, args=(function, rank, *arguments)) for rank in range(2)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0


def _on_one_thread(function: Callable[..., None], *arguments: Any) -> None:
    one_thread()
    function(*arguments)


@contextmanager
def process_group(rank: int, folder: Path) -> Iterator[None]:
    """The two processes meet in a file of ``folder``."""
    distributed.init_process_group(
        "gloo",
        f"file://{folder / 'meeting'}",
        rank=rank,
        world_size=2,
        timeout=timedelta(minutes=5),
    )
    yield
    distributed.destroy_process_group()

"""Work of the host that runs ahead of the device: the next item is made while the one before is worked on."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

import torch

Item = TypeVar("Item")


def ahead_of(device: torch.device, items: Generator[Item]) -> Generator[Item]:
    """`run_ahead` where the device works by itself; the items as they are on the CPU, whose cores both would share."""
    return items if device.type == "cpu" else run_ahead(items)


def run_ahead(items: Iterable[Item]) -> Generator[Item]:
    """The same items in the same order, each made in a thread while the caller works on the one before.

    At most one item is made ahead. An error arrives where its item would have. Closing the generator waits for the item
    that is being made; no thread is left. The thread has the caller's context variables.
    """
    iterator = iter(items)
    context = copy_context()

    def make() -> tuple[Item] | None:
        return next(((item,) for item in iterator), None)

    with ThreadPoolExecutor(1, thread_name_prefix="estime-ahead") as pool:
        coming = pool.submit(context.run, make)
        while (made := coming.result()) is not None:
            coming = pool.submit(context.run, make)
            yield made[0]

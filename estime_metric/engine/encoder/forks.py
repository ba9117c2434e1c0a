"""Forks: a forked process inherits the locks of its parent but not its threads, and would wait for
both forever.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch

from estime_metric._process import IMPORTED_IN

#: The processes of the calls that load or score. A process that is forked inherits what its parent was
#: doing at that moment, and with it locks that nobody will release.
_IN_FLIGHT: dict[object, int] = {}


@contextmanager
def in_flight() -> Iterator[None]:
    """A call that loads or scores; a decorator, too. RuntimeError in a process that was forked while
    its parent was inside: the encoder that it inherited may be permanently locked.
    """
    process = os.getpid()
    if set(_IN_FLIGHT.values()) - {process}:
        raise RuntimeError(
            "This process was forked while its parent was scoring with ESTIME, so the encoder may be permanently locked. "
            'Start processes with `spawn`, as in multiprocessing.get_context("spawn"), or fork them before anything '
            "is scored."
        )
    call = object()
    _IN_FLIGHT[call] = process
    try:
        yield
    finally:
        del _IN_FLIGHT[call]


@contextmanager
def threads_for(device: torch.device) -> Iterator[None]:
    """One thread of the CPU while somebody is inside, if another device calculates, or in a process
    that was forked from one that had imported this package. Any code of that process may have
    computed.

    The threads of OpenMP do not survive a fork, and a product that waits for them waits forever.
    Next to a GPU they have nothing to do but copies, and wait for the next one actively, each on a
    core.
    """
    threads = torch.get_num_threads()
    is_forked = os.getpid() != IMPORTED_IN
    if threads == 1 or (device.type == "cpu" and not is_forked):
        yield
        return
    if is_forked:
        _warn_of_fork()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@cache
def _warn_of_fork() -> None:
    """Warns, once per process."""
    warnings.warn(
        "This process was forked from one that had already imported ESTIME, so it scores with one "
        "thread: after a fork, PyTorch may wait forever for its other threads. To use several, start "
        "processes with `spawn`.",
        RuntimeWarning,
        stacklevel=2,
    )

"""Memory that is no longer used goes back to the system."""

from __future__ import annotations

import contextlib
import ctypes
import gc

import torch


def return_memory() -> None:
    """Collects what only refers to itself, and hands free memory of the C library and of CUDA back to the system.

    glibc keeps what it freed: without this the weights of an encoder stay with the process after their last holder.
    """
    gc.collect()  # modules of some encoders hold each other
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.empty_cache()
    with contextlib.suppress(OSError, TypeError, AttributeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)

"""Memory: errors that report a lack of it, what is kept, and how much a forward pass may need."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

#: What CUDA, its libraries, torch's allocator, Windows and oneDNN report if memory runs out.
_PHRASES = (
    *("out of memory", "status_alloc_failed", "can't allocate memory", "not enough memory"),
    "could not create a primitive",
)
_UNSUPPORTED = (
    "could not create a primitive descriptor"  # what oneDNN says of a product that it does not have
)
_ERRORS = (
    MemoryError,
    torch.cuda.OutOfMemoryError,
)  # torch.OutOfMemoryError is that one, since torch 2.5

#: The two caches of oneDNN's kernels (in oneDNN and in the layer between it and PyTorch), and their
#: limits.
_KERNEL_LIMITS, _KERNELS_KEPT = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"), 16

#: Positions in one forward pass if the configuration does not set them. On a CPU, large batches do
#: not fit into its caches; a GPU needs them to be busy.
_BUDGETS, _BUDGET_ELSEWHERE = {"cpu": 2_000, "cuda": 65_536}, 16_384

_LENGTH = 512  # of a window at which attention is counted


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error reports a lack of memory."""
    text = str(error).lower().replace(_UNSUPPORTED, "")
    return isinstance(error, _ERRORS) or any(phrase in text for phrase in _PHRASES)


@contextmanager
def few_kernels_kept() -> Iterator[None]:
    """Makes oneDNN keep fewer kernels than its default of a thousand, if this process uses it for
    the first time.

    It makes some for each shape of a product, half a megabyte each, and there are as many shapes as
    batches. A batch needs six, because all its blocks have the same shapes. Keeping more does not
    save time. oneDNN reads its limits once; a user's settings are not changed.
    """
    own = {name: str(_KERNELS_KEPT) for name in _KERNEL_LIMITS if name not in os.environ}
    os.environ.update(own)
    try:
        yield
    finally:
        for name in own:
            os.environ.pop(name, None)


def return_memory(*, cycles: bool = True) -> None:
    """Hands free memory of the C library and of CUDA back to the system; first collects reference
    cycles, which takes a tenth of a second, unless there are no ``cycles``.

    glibc keeps what it freed: without this the weights of an encoder stay with the process after
    their last holder.
    """
    if cycles:
        gc.collect()  # modules of some encoders refer to each other
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.empty_cache()
    with contextlib.suppress(OSError, TypeError, AttributeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)


def default_budget(device: torch.device, bytes_per_position: int) -> int:
    """Positions in a forward pass: what suits the device; on CUDA at most half of the memory that
    torch can use.
    """
    default = _BUDGETS.get(device.type, _BUDGET_ELSEWHERE)
    if device.type != "cuda":
        return default
    free = (
        torch.cuda.mem_get_info(device)[0]
        + torch.cuda.memory_reserved(device)
        - torch.cuda.memory_allocated(device)
    )
    return min(default, max(_BUDGETS["cpu"], free // 2 // bytes_per_position))


def bytes_per_position(config: Any, itemsize: int) -> int:
    """Memory that one position needs within a block, by the ``transformers`` configuration; an
    overestimate.
    """
    # Hidden states, queries, keys, values and the wide layer twice over, and attention as if it
    # were written out.
    width = config.hidden_size
    wide = getattr(config, "intermediate_size", 4 * width)
    heads = getattr(config, "num_attention_heads", width // 64)
    return int(itemsize * (8 * width + 2 * wide + 2 * heads * _LENGTH))

"""The device and the process: memory, numbers that go to a device and come back, precision, forks, what
the processor can do.

Nothing that a process has set changes a score: precision, in torch's old interface and the new,
autocast, device.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import platform
import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from estime_metric._process import IMPORTED_IN
from estime_metric.config import AUTO

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

#: The largest difference between two hidden states that counts as rounding, as a fraction of their
#: length. In bfloat16, rounding changes the bundled encoder's states by 2%, and an ignored mask by
#: half.
_ROUNDING, _ROUNDING_OF_LOWER_PRECISION = 1e-3, 0.1

_LENGTH = 512  # of a window at which attention is counted


def put(values: NDArray[Any] | Tensor, device: torch.device) -> Tensor:
    """Numbers of the host on a device; a GPU reads them from pinned memory and does not wait for
    them.
    """
    tensor = values if isinstance(values, Tensor) else torch.from_numpy(values)
    if device.type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def put_all(arrays: Sequence[NDArray[Any]], device: torch.device) -> list[Tensor]:
    """One-dimensional arrays of one dtype on a device, in one copy."""
    if not arrays:
        return []
    return list(torch.split(put(np.concatenate(arrays), device), [len(array) for array in arrays]))


def to_host(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Tensors of shape (l, n, ...), with equal shapes except for ``n``, on the CPU; they are copied
    from a device together.
    """
    if not tensors or tensors[0].device.type == "cpu":
        return list(tensors)
    sizes = [tensor.shape[1] for tensor in tensors]
    return list(torch.split(torch.cat(list(tensors), dim=1).cpu(), sizes, dim=1))


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


AMD = "AuthenticAMD"  # as processors name the vendor

#: Flags of ``/proc/cpuinfo`` that indicate products in bfloat16: Intel's AMX, Arm's, and the
#: instructions of AVX-512, which AMD runs at twice the rate of float32. A Xeon that has the latter
#: without AMX was slower in bfloat16 than in float32.
_BFLOAT16, _BFLOAT16_OF_AMD = {"amx_bf16", "bf16"}, "avx512_bf16"


def vendor() -> str:
    """The vendor as the processor names it, such as ``AuthenticAMD``; empty if it is unknown."""
    if vendor_id := _description().get("vendor_id"):
        return vendor_id
    _, _, last = platform.processor().rpartition(", ")  # of Windows' description
    return last


def is_fast_in_bfloat16() -> bool:
    """Whether the processor has products in bfloat16 in hardware that are faster than products in
    float32, as reported by Linux; False on other systems.
    """
    description = _description()
    flags = description.get("flags", description.get("Features", "")).split()  # x86; Arm
    return not _BFLOAT16.isdisjoint(flags) or (_BFLOAT16_OF_AMD in flags and vendor() == AMD)


@cache
def _description() -> dict[str, str]:
    """What ``/proc/cpuinfo`` says of the first processor; empty if the file does not exist."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    lines = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}


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


#: Precisions of products that lose nothing; products in "none" are in float32 too.
_FULL = ("none", "ieee")

# The settings belong to the process: calls that overlap share one change, so none leaves another's
# setting behind.
_LOCK = threading.Lock()
_INSIDE: dict[str, int] = defaultdict(int)  # by type of device
_BEFORE: dict[str, list[Callable[[], None]]] = {}


@contextmanager
def _settings_held(device_type: str) -> Iterator[None]:
    """Holds the settings of a device at full precision, and cuDNN's attention off, while somebody is
    inside, and restores them after the last.
    """
    with _LOCK:
        if not _INSIDE[device_type]:
            _BEFORE[device_type] = _raise(device_type) + _without_cudnn_attention(device_type)
        _INSIDE[device_type] += 1
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE[device_type] -= 1
            if not _INSIDE[device_type]:
                for restore in _BEFORE.pop(device_type):
                    restore()


def _raise(device_type: str) -> list[Callable[[], None]]:
    if not hasattr(torch.backends, "fp32_precision"):  # torch before 2.9
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        return [partial(torch.set_float32_matmul_precision, before)]
    backends: Any = torch.backends
    #: Settings for all backends and for one, then those that reach the products of a device, which
    #: follow the first two unless they were set.
    settings: dict[str, tuple[Any, ...]] = {
        "cuda": (backends, backends.cudnn, backends.cuda.matmul, backends.cudnn.conv),
        "cpu": (backends, backends.mkldnn, backends.mkldnn.matmul, backends.mkldnn.conv),
    }
    restore: list[Callable[[], None]] = []
    chain = settings.get(device_type, ())
    for setting in chain:
        # Reading cannot show whether a value was set or inherited. What still differs once the
        # settings above are at full precision was set, so it may be set again.
        if setting.fp32_precision != "ieee" and any(
            product.fp32_precision not in _FULL for product in chain[2:]
        ):
            restore.insert(0, partial(setattr, setting, "fp32_precision", setting.fp32_precision))
            setting.fp32_precision = "ieee"
    return restore


def _without_cudnn_attention(device_type: str) -> list[Callable[[], None]]:
    """Turns off cuDNN's attention. It plans each new shape of a batch on the host, which takes longer
    than the attention; PyTorch prefers it on some GPUs in 16 bits, and has other fast kernels.
    """
    if device_type != "cuda" or not torch.backends.cuda.cudnn_sdp_enabled():  # type: ignore[no-untyped-call]
        return []
    torch.backends.cuda.enable_cudnn_sdp(False)
    return [partial(torch.backends.cuda.enable_cudnn_sdp, True)]


@contextmanager
def inference_context(device: torch.device) -> Iterator[None]:
    """No gradients, no autocast, float32 products in float32, no attention of cuDNN, new tensors on the
    CPU, whatever the code around has set; `threads_for` the device.

    Of several CUDA devices ``device`` is the one in use, for memory that is pinned too.
    """
    in_use: AbstractContextManager[Any] = nullcontext()
    if device.type == "cuda" and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        in_use = torch.cuda.device(device)
    autocast = torch.autocast(device.type, enabled=False)
    with (
        threads_for(device),
        _settings_held(device.type),
        torch.inference_mode(),
        autocast,
        cpu_by_default(),
        in_use,
    ):
        yield


def cpu_by_default() -> AbstractContextManager[Any]:
    """New tensors are on the CPU if no device is named, regardless of the default device."""
    return nullcontext() if torch.get_default_device().type == "cpu" else torch.device("cpu")


def choose_device(device: str | None) -> torch.device:
    """The device with the given name; for ``None`` a CUDA device if there is one, otherwise the
    CPU. `ValueError` if no device has the name, or this machine does not have the device.
    """
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        chosen = torch.device(device)
    except RuntimeError as error:
        raise ValueError(
            f"Expected argument `device` to name a torch device, such as cpu, cuda, cuda:1 or mps, "
            f"but got {device!r}."
        ) from error
    number = _number_of(chosen.type)
    if number == 0:
        is_for_cpu = (
            chosen.type == "cuda" and torch.version.cuda is None and torch.version.hip is None
        )
        reason = "this PyTorch is a build for the CPU" if is_for_cpu else "PyTorch finds none"
        raise ValueError(
            f"Expected argument `device` to be a device of this machine, but got {device!r}: {reason}."
        )
    if chosen.type == "cuda" and chosen.index is not None and chosen.index >= number:
        raise ValueError(
            f"Expected argument `device` to be one of the {number} GPUs of this machine, numbered "
            f"from 0, but got {device!r}."
        )
    if chosen.type == "cuda" and chosen.index is None and torch.cuda.is_available():
        return torch.device(
            "cuda", torch.cuda.current_device()
        )  # "cuda" and "cuda:0" are one device
    return chosen


def _number_of(kind: str) -> int:
    """How many devices of a kind this machine has; one is assumed of kinds that are not known here."""
    if kind == "cuda":
        return torch.cuda.device_count()
    if kind == "mps":
        return int(torch.backends.mps.is_available())
    return 0 if kind == "meta" else 1  # tensors of "meta" have no values


def choose_dtype(dtype: str, device: torch.device) -> str:
    """The name of a dtype; for ``"auto"`` bfloat16 if the device is fast in it, otherwise float32."""
    if dtype != AUTO:
        return dtype
    if device.type == "cpu":
        lower = is_fast_in_bfloat16()
    elif device.type == "cuda" and torch.cuda.is_available():
        with torch.cuda.device(device):
            lower = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        lower = False
    return "bfloat16" if lower else "float32"


def are_near(states: Tensor, expected: Tensor) -> bool:
    """Whether hidden states of shape (r, d) agree except for rounding, by the length of their difference
    at each position. NaN and infinity count as equal: `MaskedEncoder` refuses them by name.
    """
    most = _ROUNDING if expected.dtype == torch.float32 else _ROUNDING_OF_LOWER_PRECISION
    states, expected = states.float().nan_to_num(), expected.float().nan_to_num()
    difference = (states - expected).norm(dim=-1)
    return bool((difference <= most * expected.norm(dim=-1).clamp(min=1)).all())


def warn_where_slower(dtype: torch.dtype) -> None:
    """Warns of a lower precision that CPUs rarely multiply as fast as float32."""
    if dtype == torch.float32 or (dtype == torch.bfloat16 and is_fast_in_bfloat16()):
        return
    name = str(dtype).removeprefix("torch.")
    warnings.warn(
        f"dtype={name!r} is slower than float32 on most processors that have no instructions for it.",
        RuntimeWarning,
        stacklevel=2,
    )

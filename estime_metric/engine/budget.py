"""How many positions go into one forward pass: what suits the device and its free memory."""

from __future__ import annotations

from typing import Any

import torch

#: Positions in one forward pass where the configuration leaves it open. On a CPU large batches fall out of its
#: caches; a GPU needs them to be busy.
BUDGETS = {"cpu": 2_000, "cuda": 65_536}
BUDGET_ELSEWHERE = 16_384

#: Length of a window at which attention is counted.
_LENGTH = 512


def default_budget(device: torch.device, bytes_per_position: int) -> int:
    """What suits the device; on CUDA no more than half of the memory that is free, beside a training model say."""
    default = BUDGETS.get(device.type, BUDGET_ELSEWHERE)
    free = free_memory(device)
    if free is None:
        return default
    return min(default, max(BUDGETS["cpu"], free // 2 // bytes_per_position))


def free_memory(device: torch.device) -> int | None:
    """Bytes that CUDA has free, and those that torch holds there without using them; ``None`` for other devices."""
    if device.type != "cuda":
        return None
    free, _ = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)


def bytes_per_position(config: Any, itemsize: int) -> int:
    """Memory that one position takes within a block, by the ``transformers`` configuration; an overestimate.

    Hidden states, queries, keys, values and the wide layer twice over, and attention as if it were written out.
    """
    width = config.hidden_size
    wide = getattr(config, "intermediate_size", 4 * width)
    heads = getattr(config, "num_attention_heads", width // 64)
    return int(itemsize * (8 * width + 2 * wide + 2 * heads * _LENGTH))

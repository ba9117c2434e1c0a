"""How many positions go into one forward pass: what suits the device, its free memory, and what did not fit before."""

from __future__ import annotations

import sys
from typing import Any

import torch

#: Positions in one forward pass where the configuration leaves it open. On a CPU large batches fall out of its
#: caches; a GPU needs them to be busy.
BUDGETS = {"cpu": 2_000, "cuda": 65_536}
BUDGET_ELSEWHERE = 16_384

#: Length of a window at which attention is counted.
_LENGTH = 512

#: Calls that a lowered budget has to suffice for before it is raised, at first and at most.
_PATIENCE = 8
_MOST_PATIENCE = 1_024


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
    """Memory that one position takes within a block, by the ``transformers`` configuration; rather too much.

    Hidden states, queries, keys, values and the wide layer twice over, and attention as if it were written out.
    """
    width = config.hidden_size
    wide = getattr(config, "intermediate_size", 4 * width)
    heads = getattr(config, "num_attention_heads", width // 64)
    return int(itemsize * (8 * width + 2 * wide + 2 * heads * _LENGTH))


class BudgetLimit:
    """Limits a budget where memory ran out, and gives more of it back once the limit has sufficed for some calls.

    Each time that more did not fit it waits twice as long. Calls that overlap share the limit, which changes their
    speed alone.
    """

    def __init__(self) -> None:
        self._most = self._least = sys.maxsize
        self._patience = _PATIENCE
        self._sufficed = 0
        self._raised = False

    def of(self, budget: int) -> int:
        """The budget, or the limit where that is lower."""
        return min(budget, self._most)

    def lower(self, most: int) -> None:
        """Memory ran out: no more than so many positions."""
        self._most = min(self._most, most)

    def settle(self, budget: int, ran_out: bool) -> bool:
        """Takes note of how a call went that wanted ``budget``; returns whether the limit is lower than ever."""
        if ran_out:
            if self._raised:
                self._patience = min(2 * self._patience, _MOST_PATIENCE)
            self._sufficed, self._raised = 0, False
            before, self._least = self._least, min(self._least, self._most)
            return self._least < before
        if self._most < budget:
            self._sufficed += 1
            if self._sufficed >= self._patience:
                self._most *= 2
                self._sufficed, self._raised = 0, True
        return False

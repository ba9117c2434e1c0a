"""Reads hidden layers out of any BERT-like model, and drops the blocks that nobody reads.

Layer ``k`` is what ``transformers`` returns as ``hidden_states[k]``: the input of block ``k`` and, after the last
block, the model's output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from estime_metric.engine.fused import BiasedEncoder, FusedBlock, ReadPositions
from estime_metric.engine.memory import is_out_of_memory


class _DeepestReadError(Exception):
    """Ends a forward pass that has nothing more to read."""


class BlockTaps:
    """Taps on the blocks of one model.

    On construction the blocks above ``depth`` are taken off the model. A probe checks, against the whole model, that
    this leaves the layers below as they were; where an architecture resists, all blocks stay. NaN and infinity
    count as equal here: `MaskedEncoder` refuses them by name.

    Args:
        model: a base model of ``transformers``, without head, in eval mode.
        blocks: how many blocks it runs.
        depth: the deepest layer that will be read.
        probe: token ids of shape (1, p) for the check.

    Raises:
        ValueError: the model does not run its blocks in a way that can be followed.
    """

    def __init__(self, model: Any, blocks: int, depth: int, probe: Tensor) -> None:
        self._model = model
        self._blocks = blocks
        self._list = _block_list(model, blocks)
        self._kept = blocks
        self._depth = depth
        self._in_tuple = False
        self._fused = False
        self._mask_by_key = False
        try:
            expected = model(input_ids=probe, output_hidden_states=True).hidden_states
        except Exception as error:  # whatever an architecture that takes no plain input raises
            if is_out_of_memory(error):
                raise
            raise _unreadable(model) from error
        whole = list(self._list)
        self._drop_above(max(depth, 1))
        if not self._agrees(probe, expected, depth):
            self._restore(whole)
            if not self._agrees(probe, expected, depth):
                raise _unreadable(model)
        self._fuse(probe, expected, depth)

    @property
    def kept(self) -> int:
        """How many blocks are still run."""
        return self._kept

    def read(
        self,
        ids: Tensor,
        attended: Tensor | None,
        layers: Sequence[int],
        pick: Callable[[Tensor], Tensor],
        only: ReadPositions | None = None,
    ) -> list[Tensor]:
        """Runs the model once and returns ``pick`` of each of the layers, in their order.

        Hidden states that are not picked are let go at once: memory does not grow with the number of layers. Blocks
        above the deepest of the layers are not run.

        Args:
            ids: token ids, int64 of shape (b, p).
            attended: bool of shape (b, p), False at padding; ``None`` where there is none.
            layers: layers to read, none deeper than the taps' depth.
            pick: takes hidden states of shape (b, p, d).
            only: the positions that ``pick`` takes; ``None`` for all. Where the architecture allows, the deepest layer
                is computed there alone.
        """
        taken: dict[int, Tensor] = {}
        calls = 0
        deepest = max(layers)

        def before_block(module: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
            if calls in layers:
                taken[calls] = pick(arguments[0] if arguments else named["hidden_states"])
            if calls == deepest:
                raise _DeepestReadError

        def after_block(module: nn.Module, arguments: tuple[Any, ...], output: Any) -> None:
            nonlocal calls
            calls += 1
            self._in_tuple = isinstance(output, tuple)
            if calls == self._kept < self._blocks and calls in layers:
                taken[calls] = pick(output[0] if self._in_tuple else output)

        with ExitStack() as hooks:
            for block in self._list:
                hooks.callback(block.register_forward_pre_hook(before_block, with_kwargs=True).remove)
                hooks.callback(block.register_forward_hook(after_block).remove)
            fused: Any = self._list if self._fused else ()
            for number, block in enumerate(fused, start=1):
                block.only = only if number == deepest else None
            mask = attended
            if attended is not None:  # some encoders calculate with it: no bool
                mask = attended[:, None, None] if self._mask_by_key else attended.long()
            try:
                last = self._model(input_ids=ids, attention_mask=mask).last_hidden_state
            except _DeepestReadError:
                last = None
        if self._blocks in layers:
            taken[self._blocks] = pick(last)
        return [taken[layer] for layer in layers]

    def takes_padding(self, probe: Tensor, padding: int) -> bool:
        """Whether padding, marked as such, leaves the states of all layers as they are.

        Fused blocks are given the mask in the shape in which attention takes it, if that does: from another shape
        `transformers` makes it anew in each forward pass, and waits for the device to ask whether there is padding.

        Args:
            probe: token ids of shape (1, p).
            padding: the id of the padding.
        """
        if self._fused:
            self._mask_by_key = True
            if self._padding_agrees(probe, padding):
                return True
            self._mask_by_key = False
        return self._padding_agrees(probe, padding)

    def _padding_agrees(self, probe: Tensor, padding: int) -> bool:
        probe = probe.to(next(self._model.parameters()).device)
        size = probe.shape[1]
        half = probe[:, : size // 2]
        layers = range(self._depth + 1)
        alone = self.read(half, None, layers, lambda hidden: hidden)
        short = nn.functional.pad(half, (0, size - half.shape[1]), value=padding)
        attended = torch.arange(size, device=probe.device) < torch.tensor(
            [[size], [half.shape[1]]], device=probe.device
        )
        try:
            padded = self.read(torch.cat([probe, short]), attended, layers, lambda hidden: hidden[1:, : half.shape[1]])
        except Exception as error:  # whatever an architecture that knows no padding raises
            if is_out_of_memory(error):
                raise
            return False
        return all(_near(found, expected) for found, expected in zip(padded, alone, strict=True))

    def _fuse(self, probe: Tensor, expected: Sequence[Tensor], depth: int) -> None:
        """Runs the blocks by their parts, if that gives the same hidden states."""
        self._fused = all(isinstance(block, FusedBlock) for block in self._list)
        if self._fused:
            return
        if len(self._list) != self._kept or depth < self._kept or not all(map(FusedBlock.fits, self._list)):
            return
        whole, encoder = list(self._list), getattr(self._model, "encoder", None)
        biased = BiasedEncoder.fits(encoder)
        for number, block in enumerate(whole):
            self._list[number] = FusedBlock(block, in_tuple=self._in_tuple and not biased)
        if biased:
            self._model.encoder = BiasedEncoder(encoder)
        self._fused = True
        column = torch.arange(probe.shape[1], device=probe.device)[1:]
        row = torch.zeros_like(column)
        only = ReadPositions(row, column, column - 1, len(column))
        layers = range(depth + 1)
        try:
            found = self.read(probe, None, layers, lambda hidden: hidden)
            found += self.read(probe, None, [depth], lambda hidden: hidden[row, column], only)
        except (AttributeError, IndexError, RuntimeError, TypeError) as error:
            if is_out_of_memory(error):
                raise
            found = []
        wanted = [*(expected[layer] for layer in layers), expected[depth][row, column]]
        if len(found) != len(wanted) or not all(map(_near, found, wanted)):
            for number, block in enumerate(whole):
                self._list[number] = block
            if biased:
                self._model.encoder = encoder
            self._fused = False

    def _drop_above(self, depth: int) -> None:
        if len(self._list) == self._blocks:
            del self._list[depth:]
        else:  # one group of weights run again and again: nothing to drop, but fewer runs
            self._model.config.num_hidden_layers = depth
        self._kept = depth

    def _restore(self, whole: Sequence[nn.Module]) -> None:
        self._list.extend(whole[len(self._list) :])
        self._model.config.num_hidden_layers = self._blocks
        self._kept = self._blocks

    def _agrees(self, probe: Tensor, expected: Sequence[Tensor], depth: int) -> bool:
        layers = range(depth + 1)
        try:
            found = self.read(probe, None, layers, lambda hidden: hidden)
        except Exception as error:  # whatever an architecture raises that runs otherwise
            if is_out_of_memory(error):
                raise
            return False
        return all(torch.allclose(found[k], expected[k], rtol=1e-3, atol=1e-3, equal_nan=True) for k in layers)


def _near(found: Tensor, expected: Tensor) -> bool:
    """Whether hidden states (..., d) agree but for rounding, by how long their difference is at each position.

    In bfloat16 rounding makes up 2% of the embedded encoder's states, a mask that is ignored half of them.
    """
    near = 1e-3 if expected.dtype == torch.float32 else 0.1
    found, expected = (states.float().nan_to_num() for states in (found, expected))
    return bool(((found - expected).norm(dim=-1) <= near * expected.norm(dim=-1).clamp(min=1)).all())


def _unreadable(model: nn.Module) -> ValueError:
    return ValueError(
        "Expected argument `model` to name a BERT-like encoder whose hidden layers can be read one by one, "
        f"but those of {type(model).__name__} cannot."
    )


def _block_list(model: nn.Module, blocks: int) -> nn.ModuleList:
    """The list of blocks: the outermost of the right length, or ALBERT's groups, which are run again and again."""
    lists = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    for candidate in lists:
        if len(candidate) == blocks:
            return candidate
    if lists:
        return lists[0]
    raise ValueError(
        f"Expected argument `model` to name an encoder made of a list of blocks, but {type(model).__name__} has none."
    )

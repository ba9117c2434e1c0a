"""Reads hidden layers out of any BERT-like model, and drops the blocks above them.

Layer ``k`` is ``hidden_states[k]`` of ``transformers``: the input of block ``k``, after the last
block the output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from estime_metric.engine.encoder.fused import BiasedEncoder, FusedBlock, ReadPositions
from estime_metric.engine.encoder.memory import is_out_of_memory


class _DeepestReadError(Exception):
    """Ends a forward pass that has nothing more to read."""


class BlockTaps:
    """Taps on the blocks of a base model of ``transformers`` or of `ShippedModel`, in eval mode.

    The ``blocks`` above ``depth``, the deepest layer that will be read, are taken off it; ``kept``
    is how many are still run. A probe, token ids of shape (1, p), checks that this leaves the
    layers below as they were; where an architecture resists, all blocks stay. NaN and infinity
    count as equal here: `MaskedEncoder` refuses them by name.

    Raises:
        ValueError: the model does not run its blocks in a way that can be followed.
    """

    def __init__(self, model: Any, blocks: int, depth: int, probe: Tensor) -> None:
        self._model, self._blocks, self._depth = model, blocks, depth
        self._list = _block_list(model, blocks)
        self.kept = blocks
        self._in_tuple = self._fused = self._mask_by_key = False
        try:
            expected = model(input_ids=probe, output_hidden_states=True).hidden_states
        except Exception as error:  # whatever an architecture that takes no plain input raises
            if is_out_of_memory(error):
                raise
            raise _unreadable(model) from error
        whole = list(self._list)
        self.kept = max(depth, 1)
        if len(whole) == blocks:
            del self._list[self.kept :]
        else:  # one group of weights run again and again: nothing to drop, but fewer runs
            model.config.num_hidden_layers = self.kept
        if not self._agrees(probe, expected, exact=True):
            self._list.extend(whole[len(self._list) :])
            model.config.num_hidden_layers = self.kept = blocks
            if not self._agrees(probe, expected, exact=True):
                raise _unreadable(model)
        self._fuse(probe, expected)

    def read(
        self,
        ids: Tensor,
        attended: Tensor | None,
        layers: Sequence[int],
        pick: Callable[[Tensor], Tensor],
        only: ReadPositions | None = None,
    ) -> list[Tensor]:
        """Runs the model once, no block above the layers, and returns ``pick`` of each of the
        layers, in their order.

        Hidden states, of shape (b, p, d), that are not picked are let go at once: memory does not
        grow with the layers.

        Args:
            ids: token ids, int64 of shape (b, p).
            attended: bool of shape (b, p), False at padding; ``None`` where there is none.
            only: the positions that ``pick`` takes, where the deepest layer is computed alone if
                possible; or ``None``.
        """
        taken: dict[int, Tensor] = {}
        calls = 0
        deepest = max(layers)

        def before_block(
            module: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]
        ) -> None:
            if calls in layers:
                taken[calls] = pick(arguments[0] if arguments else named["hidden_states"])
            if calls == deepest:
                raise _DeepestReadError

        def after_block(module: nn.Module, arguments: tuple[Any, ...], output: Any) -> None:
            nonlocal calls
            calls += 1
            self._in_tuple = isinstance(output, tuple)
            if calls == self.kept < self._blocks and calls in layers:
                taken[calls] = pick(output[0] if self._in_tuple else output)

        with ExitStack() as hooks:
            for block in self._list:
                hooks.callback(
                    block.register_forward_pre_hook(before_block, with_kwargs=True).remove
                )
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
        """Whether padding, of that id and marked as such, leaves the states of all layers as they
        are.

        Fused blocks are given the mask in the shape in which attention takes it, if that does: from
        another shape ``transformers`` makes it anew in each forward pass, and waits for the device
        to ask whether there is padding.
        """
        probe = probe.to(next(self._model.parameters()).device)
        size, most = probe.shape[1] // 2, probe.shape[1]
        layers = range(self._depth + 1)
        alone = self.read(probe[:, :size], None, layers, lambda hidden: hidden)
        short = nn.functional.pad(probe[:, :size], (0, most - size), value=padding)
        lengths = torch.tensor([[most], [size]], device=probe.device)
        attended = torch.arange(most, device=probe.device) < lengths
        for by_key in [True, False] if self._fused else [False]:
            self._mask_by_key = by_key
            found = self._try(
                torch.cat([probe, short]), attended, layers, lambda hidden: hidden[1:, :size]
            )
            if _all_near(found, alone):
                return True
        return False

    def _try(self, *given: Any) -> list[Tensor]:
        """As `read`; nothing where an architecture cannot be run so."""
        try:
            return self.read(*given)
        except Exception as error:  # whatever it raises
            if is_out_of_memory(error):
                raise
            return []

    def _fuse(self, probe: Tensor, expected: Sequence[Tensor]) -> None:
        """Runs the blocks by their parts, if that gives the same hidden states."""
        self._fused = all(
            isinstance(block, FusedBlock) for block in self._list
        )  # of an encoder that ships
        cut = len(self._list) != self.kept or self._depth < self.kept
        if self._fused or cut or not all(map(FusedBlock.fits, self._list)):
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
        found = self._try(probe, None, [self._depth], lambda hidden: hidden[row, column], only)
        if not self._agrees(probe, expected) or not _all_near(
            found, [expected[self._depth][row, column]]
        ):
            for number, block in enumerate(whole):
                self._list[number] = block
            if biased:
                self._model.encoder = encoder
            self._fused = False

    def _agrees(self, probe: Tensor, expected: Sequence[Tensor], exact: bool = False) -> bool:
        found = self._try(probe, None, range(self._depth + 1), lambda hidden: hidden)
        return _all_near(found, expected[: self._depth + 1], exact)


def _all_near(found: Sequence[Tensor], expected: Sequence[Tensor], exact: bool = False) -> bool:
    """Whether hidden states (..., d) agree but for rounding, by how long their difference is at
    each position.

    In bfloat16 rounding makes up 2% of the embedded encoder's states, a mask that is ignored half
    of them; where the same operations ran (``exact``) there is none.
    """

    def near(one: Tensor, another: Tensor) -> bool:
        most = 1e-3 if exact or another.dtype == torch.float32 else 0.1
        one, another = (states.float().nan_to_num() for states in (one, another))
        return bool(
            ((one - another).norm(dim=-1) <= most * another.norm(dim=-1).clamp(min=1)).all()
        )

    return len(found) == len(expected) and all(map(near, found, expected))


def _unreadable(model: nn.Module) -> ValueError:
    wanted = "a BERT-like encoder whose hidden layers can be read one by one"
    return ValueError(
        f"Expected argument `model` to name {wanted}, but those of {type(model).__name__} cannot."
    )


def _block_list(model: nn.Module, blocks: int) -> nn.ModuleList:
    """The list of blocks: the outermost of the right length, or ALBERT's groups, which are run
    again and again.
    """
    lists = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    if not lists:
        wanted = f"an encoder made of a list of blocks, but {type(model).__name__} has none."
        raise ValueError(f"Expected argument `model` to name {wanted}")
    return next((candidate for candidate in lists if len(candidate) == blocks), lists[0])

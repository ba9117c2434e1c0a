"""Reads hidden layers out of any BERT-like model, and drops the blocks above them.

Layer ``k`` is ``hidden_states[k]`` of ``transformers``: the input of block ``k``, after the last
block the output. Axes as in `blocks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from estime_metric.engine.encoder.blocks import BiasedEncoder, FusedBlock
from estime_metric.engine.encoder.device import is_out_of_memory
from estime_metric.engine.masking import WindowBatch

#: The largest difference between two hidden states that counts as rounding, as a fraction of their
#: length. In bfloat16, rounding changes the bundled encoder's states by 2%, and an ignored mask by
#: half; if the same operations ran, there is no difference.
_ROUNDING, _ROUNDING_OF_LOWER_PRECISION = 1e-3, 0.1


class _DeepestReadError(Exception):
    """Ends a forward pass that has nothing more to read."""


class BlockTaps:
    """Taps on the blocks of a base model of ``transformers`` or of `BundledModel`, in eval mode.

    Changes the model: removes the ``blocks`` above ``depth``, the deepest layer that will be read,
    and replaces the blocks below by `FusedBlock`s. A probe, one window without padding, checks that
    either change leaves the layers as they were; if it does not, the blocks stay as they are.
    NaN and infinity count as equal here: `MaskedEncoder` refuses them by name.

    Attributes:
        list: the blocks that are left.
        kept: how many blocks are run.
        fused: whether each is a `FusedBlock`.
        mask_by_key: whether attention gets the mask of padding in the shape that it needs.

    Raises:
        ValueError: the model does not run its blocks in a way that can be followed.
    """

    def __init__(self, model: Any, blocks: int, depth: int, probe: WindowBatch) -> None:
        self._model, self._blocks, self._depth = model, blocks, depth
        self.list = _block_list(model, blocks)
        self.kept = blocks
        self._in_tuple = self.fused = self.mask_by_key = False
        expected = self._states_of_the_whole(probe)
        self._drop_blocks_above(probe, expected)
        self._fuse(probe, expected)
        for block in self._fused_blocks():
            block.pack(probe.ids.device)

    def read(self, batch: WindowBatch, layers: Sequence[int]) -> list[Tensor]:
        """Runs the model once, no block above the layers, and returns the hidden states of each layer at
        the positions to read, of shape (r, d), in the order of the layers.

        Other hidden states are released immediately, so memory does not grow with the layers, and
        fused blocks do not compute them for the deepest layer.
        """
        states: dict[int, Tensor] = {}
        layer = 0
        deepest = max(layers)

        def keep(hidden: Tensor) -> None:
            if layer in layers and layer not in states:
                states[layer] = hidden[batch.row, batch.column]

        def before_block(
            module: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]
        ) -> None:
            keep(arguments[0] if arguments else named["hidden_states"])
            if layer == deepest:
                raise _DeepestReadError

        def after_block(module: nn.Module, arguments: tuple[Any, ...], output: Any) -> None:
            nonlocal layer
            layer += 1
            self._in_tuple = isinstance(output, tuple)
            if (
                layer == deepest
                and isinstance(module, FusedBlock)
                and module.states_read is not None
            ):
                states[layer], module.states_read = module.states_read, None
            if layer == self.kept < self._blocks:
                keep(output[0] if self._in_tuple else output)

        with ExitStack() as hooks:
            for block in self.list:
                before = block.register_forward_pre_hook(before_block, with_kwargs=True)
                after = block.register_forward_hook(after_block)
                hooks.callback(before.remove)
                hooks.callback(after.remove)
            for number, block in enumerate(self._fused_blocks(), start=1):
                block.only = batch if number == deepest else None
            try:
                output = self._model(input_ids=batch.ids, **self._mask_of(batch.attended))
            except _DeepestReadError:
                pass
            else:
                layer = self._blocks
                keep(output.last_hidden_state)
        return [states[layer] for layer in layers]

    def takes_padding(self, alone: WindowBatch, padded: WindowBatch) -> bool:
        """Whether padding leaves all layers as they are: whether a window has the same states ``alone``
        as when it is the last one of a batch that is ``padded``.

        Fused blocks get the mask in the shape that attention needs, if that works: ``transformers``
        would convert another shape in each forward pass, and waits for the device to ask whether
        there is padding.
        """
        layers = range(self._depth + 1)
        expected = self.read(alone, layers)
        for by_key in [True, False] if self.fused else [False]:
            self.mask_by_key = by_key
            states = self._try(padded, layers)
            if _all_near([state[-len(alone.row) :] for state in states], expected):
                return True
        return False

    def _mask_of(self, attended: Tensor | None) -> dict[str, Tensor]:
        """The mask in the format of the model, if something is padded; FNet accepts none in
        ``transformers`` before version 5.
        """
        if attended is None:
            return {}
        # Some encoders calculate with integers.
        return {"attention_mask": attended[:, None, None] if self.mask_by_key else attended.long()}

    def _fused_blocks(self) -> list[FusedBlock]:
        """The blocks, if they are run by their parts."""
        return [block for block in self.list if self.fused and isinstance(block, FusedBlock)]

    def _states_of_the_whole(self, probe: WindowBatch) -> list[Tensor]:
        """What `read` returns of all layers, as the model itself has them."""
        try:
            output = self._model(input_ids=probe.ids, output_hidden_states=True)
        except Exception as error:  # any error of an architecture that does not accept plain input
            if is_out_of_memory(error):
                raise
            raise _unreadable(self._model) from error
        return [hidden[probe.row, probe.column] for hidden in output.hidden_states]

    def _drop_blocks_above(self, probe: WindowBatch, expected: Sequence[Tensor]) -> None:
        """Removes the blocks above the depth from the model, unless that changes the layers below."""
        whole = list(self.list)
        self.kept = max(self._depth, 1)
        if len(whole) == self._blocks:
            del self.list[self.kept :]
        else:  # one group of weights run again and again: nothing to drop, but fewer runs
            self._model.config.num_hidden_layers = self.kept
        if self._agrees(probe, expected, exact=True):
            return
        self.list.extend(whole[len(self.list) :])
        self._model.config.num_hidden_layers = self.kept = self._blocks
        if not self._agrees(probe, expected, exact=True):
            raise _unreadable(self._model)

    def _fuse(self, probe: WindowBatch, expected: Sequence[Tensor]) -> None:
        """Runs the blocks by their parts, if that gives the same hidden states."""
        # A bundled encoder is made of such blocks.
        self.fused = all(isinstance(block, FusedBlock) for block in self.list)
        cut = len(self.list) == self.kept and self._depth >= self.kept
        if self.fused or not cut or not all(map(FusedBlock.fits, self.list)):
            return
        whole, encoder = list(self.list), getattr(self._model, "encoder", None)
        biased = BiasedEncoder.fits(encoder)
        for number, block in enumerate(whole):
            self.list[number] = FusedBlock(block, in_tuple=self._in_tuple and not biased)
        if biased:
            self._model.encoder = BiasedEncoder(encoder)
        self.fused = True
        if self._agrees(probe, expected):
            return
        for number, block in enumerate(whole):
            self.list[number] = block
        if biased:
            self._model.encoder = encoder
        self.fused = False

    def _agrees(self, probe: WindowBatch, expected: Sequence[Tensor], exact: bool = False) -> bool:
        """Whether the layers are those that are expected."""
        states = self._try(probe, range(self._depth + 1))
        return _all_near(states, expected[: self._depth + 1], exact)

    def _try(self, batch: WindowBatch, layers: Sequence[int]) -> list[Tensor]:
        """As `read`; empty if an architecture cannot be run in this way."""
        try:
            return self.read(batch, layers)
        except Exception as error:  # whatever it raises
            if is_out_of_memory(error):
                raise
            return []


def _all_near(states: Sequence[Tensor], expected: Sequence[Tensor], exact: bool = False) -> bool:
    """Whether hidden states (r, d) of several layers agree except for rounding, by the length of their
    difference at each position; ``exact`` if the same operations ran.
    """
    if len(states) != len(expected):
        return False
    lower = expected[0].dtype != torch.float32 and not exact
    most = _ROUNDING_OF_LOWER_PRECISION if lower else _ROUNDING
    computed, wanted = (
        torch.stack([*layers]).float().nan_to_num() for layers in (states, expected)
    )
    difference = (computed - wanted).norm(dim=-1)
    return bool((difference <= most * wanted.norm(dim=-1).clamp(min=1)).all())


def _unreadable(model: nn.Module) -> ValueError:
    wanted = "a BERT-like encoder whose hidden layers can be read one by one"
    return ValueError(
        f"Expected argument `model` to name {wanted}, but the blocks of {type(model).__name__} cannot."
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

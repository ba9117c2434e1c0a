"""Reads hidden layers out of any BERT-like model, and drops the blocks above them.

Layer ``k`` is ``hidden_states[k]`` of ``transformers``: the input of block ``k``, after the last
block the output. Axes as in `fused`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from estime_metric.engine.encoder.fused import FusedBlock, ReadPositions
from estime_metric.engine.encoder.memory import is_out_of_memory
from estime_metric.engine.encoder.position_bias import BiasedEncoder

#: The largest difference between two hidden states that counts as rounding, as a fraction of their
#: length. In bfloat16, rounding changes the bundled encoder's states by 2%, and an ignored mask by
#: half; if the same operations ran, there is no difference.
_ROUNDING, _ROUNDING_OF_LOWER_PRECISION = 1e-3, 0.1


class _DeepestReadError(Exception):
    """Ends a forward pass that has nothing more to read."""


@dataclass(frozen=True)
class RunMode:
    """How the blocks of an encoder are run.

    Attributes:
        blocks: how many of them.
        fused: whether each is a `FusedBlock`.
        mask_by_key: whether attention gets the mask of padding in the shape that it needs.
    """

    blocks: int
    fused: bool
    mask_by_key: bool


class BlockTaps:
    """Taps on the blocks of a base model of ``transformers`` or of `ShippedModel`, in eval mode.

    Changes the model: removes the ``blocks`` above ``depth``, the deepest layer that will be read,
    and replaces the blocks below by `FusedBlock`s. A probe, token ids of shape (1, p), checks that
    either change leaves the layers as they were; if it does not, the blocks stay as they are.
    ``list`` has the blocks that are left; ``mode`` says how they are run. NaN and infinity count as
    equal here: `MaskedEncoder` refuses them by name.

    Raises:
        ValueError: the model does not run its blocks in a way that can be followed.
    """

    def __init__(self, model: Any, blocks: int, depth: int, probe: Tensor) -> None:
        self._model, self._blocks, self._depth = model, blocks, depth
        self.list = _block_list(model, blocks)
        self._kept = blocks
        self._in_tuple = self._fused = self._mask_by_key = False
        expected = self._states_of_the_whole(probe)
        self._drop_blocks_above(probe, expected)
        self._fuse(probe, expected)
        for block in self._fused_blocks():
            block.pack(probe.device)

    @property
    def mode(self) -> RunMode:
        """How the blocks are run, as found out with the probe and by `takes_padding`."""
        return RunMode(blocks=self._kept, fused=self._fused, mask_by_key=self._mask_by_key)

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

        Hidden states, of shape (b, p, d), that are not picked are released immediately, so memory
        does not grow with the layers.

        Args:
            ids: token ids, int64 of shape (b, p).
            attended: bool of shape (b, p), False at padding; ``None`` if there is none.
            layers: the layers to read.
            pick: what is kept of the hidden states of a layer.
            only: the positions that ``pick`` uses; if possible, the deepest layer is computed only
                there; or ``None``.
        """
        picked: dict[int, Tensor] = {}
        layer = 0
        deepest = max(layers)

        def before_block(
            module: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]
        ) -> None:
            if layer in layers:
                picked[layer] = pick(arguments[0] if arguments else named["hidden_states"])
            if layer == deepest:
                raise _DeepestReadError

        def after_block(module: nn.Module, arguments: tuple[Any, ...], output: Any) -> None:
            nonlocal layer
            layer += 1
            self._in_tuple = isinstance(output, tuple)
            if layer == self._kept < self._blocks and layer in layers:
                picked[layer] = pick(output[0] if self._in_tuple else output)

        with ExitStack() as hooks:
            for block in self.list:
                before = block.register_forward_pre_hook(before_block, with_kwargs=True)
                after = block.register_forward_hook(after_block)
                hooks.callback(before.remove)
                hooks.callback(after.remove)
            self._compute_deepest_at(only, deepest)
            try:
                output = self._model(input_ids=ids, attention_mask=self._mask_of(attended))
            except _DeepestReadError:
                pass
            else:
                if self._blocks in layers:
                    picked[self._blocks] = pick(output.last_hidden_state)
        return [picked[layer] for layer in layers]

    def takes_padding(self, probe: Tensor, padding: int) -> bool:
        """Whether padding, of that id and marked as such, leaves the states of all layers as they
        are.

        Fused blocks get the mask in the shape that attention needs, if that works: ``transformers``
        would convert another shape in each forward pass, and waits for the device to ask whether
        there is padding.
        """
        probe = probe.to(next(self._model.parameters()).device)
        most = probe.shape[1]
        size = most // 2
        layers = range(self._depth + 1)
        alone = self.read(probe[:, :size], None, layers, lambda hidden: hidden)
        short = nn.functional.pad(probe[:, :size], (0, most - size), value=padding)
        together = torch.cat([probe, short])
        lengths = torch.tensor([[most], [size]], device=probe.device)
        attended = torch.arange(most, device=probe.device) < lengths
        for by_key in [True, False] if self._fused else [False]:
            self._mask_by_key = by_key
            found = self._try(together, attended, layers, lambda hidden: hidden[1:, :size])
            if _all_near(found, alone):
                return True
        return False

    def _mask_of(self, attended: Tensor | None) -> Tensor | None:
        """The mask in the format of the model."""
        if attended is None:
            return None
        if self._mask_by_key:
            return attended[:, None, None]
        return attended.long()  # some encoders calculate with it

    def _compute_deepest_at(self, only: ReadPositions | None, deepest: int) -> None:
        """Sets for each fused block whether it is the last one that is read, and at which
        positions."""
        for number, block in enumerate(self._fused_blocks(), start=1):
            block.only = only if number == deepest else None

    def _fused_blocks(self) -> list[FusedBlock]:
        """The blocks, if they are run by their parts."""
        return [block for block in self.list if isinstance(block, FusedBlock)]

    def _states_of_the_whole(self, probe: Tensor) -> Sequence[Tensor]:
        """All layers, as the model itself returns them."""
        try:
            output = self._model(input_ids=probe, output_hidden_states=True)
        except Exception as error:  # any error of an architecture that does not accept plain input
            if is_out_of_memory(error):
                raise
            raise _unreadable(self._model) from error
        states: Sequence[Tensor] = output.hidden_states
        return states

    def _drop_blocks_above(self, probe: Tensor, expected: Sequence[Tensor]) -> None:
        """Removes the blocks above the depth from the model, unless that changes the layers below."""
        whole = list(self.list)
        self._kept = max(self._depth, 1)
        if len(whole) == self._blocks:
            del self.list[self._kept :]
        else:  # one group of weights run again and again: nothing to drop, but fewer runs
            self._model.config.num_hidden_layers = self._kept
        if self._agrees(probe, expected, exact=True):
            return
        self.list.extend(whole[len(self.list) :])
        self._model.config.num_hidden_layers = self._kept = self._blocks
        if not self._agrees(probe, expected, exact=True):
            raise _unreadable(self._model)

    def _fuse(self, probe: Tensor, expected: Sequence[Tensor]) -> None:
        """Runs the blocks by their parts, if that gives the same hidden states."""
        # A bundled encoder is made of such blocks.
        self._fused = all(isinstance(block, FusedBlock) for block in self.list)
        cut = len(self.list) == self._kept and self._depth >= self._kept
        if self._fused or not cut or not all(map(FusedBlock.fits, self.list)):
            return
        whole, encoder = list(self.list), getattr(self._model, "encoder", None)
        biased = BiasedEncoder.fits(encoder)
        for number, block in enumerate(whole):
            self.list[number] = FusedBlock(block, in_tuple=self._in_tuple and not biased)
        if biased:
            self._model.encoder = BiasedEncoder(encoder)
        self._fused = True
        if self._agrees(probe, expected) and self._agrees_at_some_positions(probe, expected):
            return
        for number, block in enumerate(whole):
            self.list[number] = block
        if biased:
            self._model.encoder = encoder
        self._fused = False

    def _agrees(self, probe: Tensor, expected: Sequence[Tensor], exact: bool = False) -> bool:
        """Whether the layers are those that are expected."""
        found = self._try(probe, None, range(self._depth + 1), lambda hidden: hidden)
        return _all_near(found, expected[: self._depth + 1], exact)

    def _agrees_at_some_positions(self, probe: Tensor, expected: Sequence[Tensor]) -> bool:
        """Whether the deepest layer is what is expected if it is computed at all positions but the
        first.
        """
        column = torch.arange(probe.shape[1], device=probe.device)[1:]
        row = torch.zeros_like(column)
        only = ReadPositions(row=row, column=column, slot=column - 1, most=len(column))
        found = self._try(probe, None, [self._depth], lambda hidden: hidden[row, column], only)
        return _all_near(found, [expected[self._depth][row, column]])

    def _try(self, *given: Any) -> list[Tensor]:
        """As `read`; empty if an architecture cannot be run in this way."""
        try:
            return self.read(*given)
        except Exception as error:  # whatever it raises
            if is_out_of_memory(error):
                raise
            return []


def _all_near(found: Sequence[Tensor], expected: Sequence[Tensor], exact: bool = False) -> bool:
    """Whether hidden states (..., d) agree except for rounding, by the length of their difference
    at each position; ``exact`` if the same operations ran.
    """
    return len(found) == len(expected) and all(
        _near(one, another, exact) for one, another in zip(found, expected, strict=True)
    )


def _near(found: Tensor, expected: Tensor, exact: bool) -> bool:
    lower = expected.dtype != torch.float32 and not exact
    most = _ROUNDING_OF_LOWER_PRECISION if lower else _ROUNDING
    found, expected = (states.float().nan_to_num() for states in (found, expected))
    difference, length = (found - expected).norm(dim=-1), expected.norm(dim=-1).clamp(min=1)
    return bool((difference <= most * length).all())


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

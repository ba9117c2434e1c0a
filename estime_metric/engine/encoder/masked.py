"""Batches of windows -> embeddings: an encoder, cut to the blocks that are needed, run under a token
budget.

Axes: ``b`` windows in a batch, ``p`` positions in a window, ``r`` positions read, ``l`` layers,
``d`` hidden width.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from estime_metric.config import EstimeConfig
from estime_metric.engine.encoder.device import cpu_by_default, inference_context, put
from estime_metric.engine.encoder.folder import is_bundled
from estime_metric.engine.encoder.foreign import Pretrained, load_commit
from estime_metric.engine.encoder.forks import threads_for
from estime_metric.engine.encoder.memory import (
    bytes_per_position,
    default_budget,
    few_kernels_kept,
    is_out_of_memory,
    return_memory,
)
from estime_metric.engine.encoder.own import Bundled, load_bundled
from estime_metric.engine.encoder.precision import are_finite, are_near, warn_where_slower
from estime_metric.engine.masking import (
    MaskedText,
    TextWindow,
    Window,
    WindowBatch,
    assemble,
    pack,
    text_windows,
)


class MaskedEncoder:
    """A BERT-like encoder that returns hidden states at masked positions.

    It is not a ``torch.nn.Module``, so it never appears in the parameters, checkpoints or modes of
    a module that contains it. It stays in eval mode and keeps its dtype.

    Attributes:
        depth: the deepest layer that can be read; the blocks above it are gone.
        itemsize: bytes of one number of a hidden state.
        layers: what its hidden states are read from.
        takes_padding: whether texts of different lengths may be in one batch.
    """

    def __init__(self, pretrained: Pretrained | Bundled, depth: int, device: torch.device) -> None:
        self.info, self.tokenizer = pretrained.info, pretrained.tokenizer
        self.depth, self.device = depth, device
        self._dtype = pretrained.dtype
        self.itemsize = self._dtype.itemsize
        # What is tried may be the first to use oneDNN.
        with few_kernels_kept(), inference_context(device):
            self.layers = pretrained.layers(depth, device)
            if device.type == "cpu":
                warn_where_slower(self._dtype)
            self.takes_padding = self._takes_padding()
        self._lock = threading.Lock()
        self._most_positions = sys.maxsize  # in a forward pass: fewer if memory ran out
        self._bytes_per_position = bytes_per_position(pretrained.config, self.itemsize)

    @classmethod
    def load(cls, config: EstimeConfig, device: torch.device) -> MaskedEncoder:
        """A new copy of the encoder that ``config`` names, with its revision and dtype resolved.

        Raises `EncoderUnavailableError`, which says what to do, and ValueError and MemoryError if
        it cannot be used.
        """
        assert config.revision is not None, "resolved"
        bundled = is_bundled(config.model)
        load = load_bundled if bundled else load_commit
        with threads_for(torch.device("cpu")), cpu_by_default():
            pretrained = load(config.model, config.revision, getattr(torch, config.dtype))
        depth = max(pretrained.info.resolve(config).layer_tuple)
        try:
            encoder = cls(pretrained, depth, device)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            raise MemoryError(
                f"There is not enough memory on {device} for the encoder {config.model!r}."
            ) from error
        del pretrained
        return_memory(cycles=not bundled)  # of the blocks above and the plain weights
        return encoder

    def encode(
        self,
        texts: Sequence[MaskedText],
        layers: Sequence[int],
        *,
        token_budget: int | None = None,
        on_progress: Callable[[float], None] | None = None,
    ) -> list[Tensor]:
        """Hidden states at the masked positions of many texts, for each of shape (l, wanted, d), on
        the device.

        The windows of all texts are sorted by length and packed into batches of at most
        ``token_budget`` positions, so memory is bounded however long a text is. Where memory runs
        out, the budget is halved, with a warning, until the batch fits, and stays so. The budget
        never changes what is returned, rounding apart.

        No layer may be deeper than ``depth``. ``on_progress`` is called after each batch with its
        fraction of all positions. Raises FloatingPointError if a state is not finite, which happens
        if float16 overflows.
        """
        windows = text_windows(texts)
        sizes = [text.wanted for text in texts]
        states = torch.empty(
            len(layers), sum(sizes), self.info.width, dtype=self._dtype, device=self.device
        )
        positions = sum(map(len, windows))
        budget = token_budget or default_budget(self.device, self._bytes_per_position)
        start, most = 0, self._most_positions
        while start < len(windows):
            for batch in self._batches(windows[start:], min(budget, self._most_positions)):
                try:
                    with self._lock, inference_context(self.device):
                        self._run(batch, layers, states)
                except (RuntimeError, MemoryError) as error:
                    if not is_out_of_memory(error) or len(batch.ids) == 1:
                        raise
                    self._most_positions = min(self._most_positions, batch.ids.numel() // 2)
                    break
                done = windows[start : start + len(batch.ids)]
                start += len(done)
                if on_progress is not None:
                    on_progress(sum(map(len, done)) / positions)
        if self._most_positions < most:
            warnings.warn(
                f"Out of memory on {self.device}: the token budget was reduced to {self._most_positions}. "
                "Scores change only by rounding.",
                RuntimeWarning,
                stacklevel=2,
            )
        with inference_context(self.device):
            is_finite = are_finite(states)
        if not is_finite:
            overflow = (
                ", or they need `dtype` float32 or bfloat16" if self._dtype == torch.float16 else ""
            )
            raise FloatingPointError(
                f"The encoder produced non-finite embeddings in {self._dtype}: its weights contain NaN "
                f"or infinity{overflow}."
            )
        return list(torch.split(states, sizes, dim=1))

    def input_embeddings(self, ids: Tensor) -> Tensor:
        """Context-free embeddings, of shape (n, d), of token ids of shape (n,)."""
        return self.layers.input_embeddings[ids]

    def _batches(self, windows: Sequence[TextWindow], budget: int) -> Iterator[WindowBatch]:
        lengths = [len(window) + self.info.special.around for window in windows]
        for numbers in pack(lengths, budget, self.takes_padding):
            yield assemble([windows[number] for number in numbers], self.info.special)

    def _run(self, batch: WindowBatch, layers: Sequence[int], states: Tensor) -> None:
        """One forward pass; writes the hidden states that are read into their rows of ``states``. What
        it needed is free when it returns.
        """
        batch = _put_batch(batch, self.device)
        for number, layer_states in enumerate(self.layers.read(batch, layers)):
            states[number].index_copy_(0, batch.target, layer_states)

    def _takes_padding(self) -> bool:
        """Whether padding leaves all layers as they are: whether a window has the same states alone as
        when it is the last one of a batch that is padded.
        """
        special, tokenizer = self.info.special, self.tokenizer
        ordinary = sorted(set(tokenizer.get_vocab().values()) - set(tokenizer.all_special_ids))
        ids = np.array([*ordinary[:: max(1, len(ordinary) // 20)][:20], special.mask])
        positions = np.arange(len(ids))
        long, short = (
            TextWindow(ids, Window(0, len(read), masked=read[:0], read=read, rows=read), offset=0)
            for read in (positions, positions[: len(ids) // 2])
        )
        alone, padded = (
            _put_batch(assemble(windows, special), self.device)
            for windows in ([short], [long, short])
        )
        layers = range(self.depth + 1)
        expected = self.layers.read(alone, layers)
        try:
            states = self.layers.read(padded, layers)
        except Exception as error:  # whatever an architecture raises that accepts no mask
            if is_out_of_memory(error):
                raise
            return False
        return all(
            are_near(of_both[-len(of_one) :], of_one)
            for of_both, of_one in zip(states, expected, strict=True)
        )


def _put_batch(batch: WindowBatch, device: torch.device) -> WindowBatch:
    """The batch on a device; all of it is known before the device is asked."""
    return replace(
        batch,
        ids=put(batch.ids, device),
        attended=None if batch.attended is None else put(batch.attended, device),
        positions=put(batch.positions, device),
    )

"""Batches of windows -> embeddings: the encoder, cut to the blocks that are needed, run under a token
budget; the encoders in memory, loaded once and shared by all who ask for the same one.

Axes: ``b`` windows in a batch, ``p`` positions in a window, ``r`` positions read, ``l`` layers,
``d`` hidden width.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from estime_metric.config import EstimeConfig
from estime_metric.engine.encoder import device as devices
from estime_metric.engine.encoder.bundled import load_bundled
from estime_metric.engine.encoder.device import inference_context, is_out_of_memory, put
from estime_metric.engine.encoder.layers import BlockTaps
from estime_metric.engine.encoder.loading import (
    Pretrained,
    is_bundled,
    load_commit,
    location,
    revision_of,
)
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
        taps: how its blocks are run.
        takes_padding: whether texts of different lengths may be in one batch.
    """

    def __init__(self, pretrained: Pretrained, depth: int, device: torch.device) -> None:
        self.info, self.tokenizer = pretrained.info, pretrained.tokenizer
        self.depth, self.device = depth, device
        self._model = pretrained.model.to(device).requires_grad_(False)
        self._input_embeddings: torch.nn.Embedding = pretrained.model.get_input_embeddings()
        self._dtype = pretrained.dtype
        self.itemsize = self._dtype.itemsize
        long, short = _probes(pretrained)
        probe, alone, padded = (
            _put_batch(assemble(windows, self.info.special), device)
            for windows in ([long], [short], [long, short])
        )
        # The probe may be the first to use oneDNN.
        with devices.few_kernels_kept(), inference_context(device):
            self.taps = BlockTaps(self._model, self.info.blocks, depth, probe)
            if device.type == "cpu":
                devices.warn_where_slower(self._dtype)
            self.takes_padding = self.taps.takes_padding(alone, padded)
        self._lock = threading.Lock()
        self._most_positions = sys.maxsize  # in a forward pass: fewer if memory ran out
        self._bytes_per_position = devices.bytes_per_position(self._model.config, self.itemsize)

    @classmethod
    def load(cls, config: EstimeConfig, device: torch.device) -> MaskedEncoder:
        """A new copy of the encoder that ``config`` names, with its revision and dtype resolved.

        Raises `EncoderUnavailableError`, which says what to do, and ValueError and MemoryError if
        it cannot be used.
        """
        assert config.revision is not None, "resolved"
        bundled = is_bundled(config.model)
        load = load_bundled if bundled else load_commit
        with devices.threads_for(torch.device("cpu")), devices.cpu_by_default():
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
        devices.return_memory(cycles=not bundled)  # of the blocks above and the plain weights
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
        budget = token_budget or devices.default_budget(self.device, self._bytes_per_position)
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
            is_finite = bool(states.isfinite().all())
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
        return self._input_embeddings.weight[ids]

    def _batches(self, windows: Sequence[TextWindow], budget: int) -> Iterator[WindowBatch]:
        lengths = [len(window) + self.info.special.around for window in windows]
        for numbers in pack(lengths, budget, self.takes_padding):
            yield assemble([windows[number] for number in numbers], self.info.special)

    def _run(self, batch: WindowBatch, layers: Sequence[int], states: Tensor) -> None:
        """One forward pass; writes the hidden states that are read into their rows of ``states``. What
        it needed is free when it returns.
        """
        batch = _put_batch(batch, self.device)
        for number, layer_states in enumerate(self.taps.read(batch, layers)):
            states[number].index_copy_(0, batch.target, layer_states)


def _probes(pretrained: Pretrained) -> tuple[TextWindow, TextWindow]:
    """Some tokens of the vocabulary and a mask, all of them read, and the first half of them."""
    special, tokenizer = pretrained.info.special, pretrained.tokenizer
    ordinary = sorted(set(tokenizer.get_vocab().values()) - set(tokenizer.all_special_ids))
    ids = np.array([*ordinary[:: max(1, len(ordinary) // 20)][:20], special.mask])

    def window(length: int) -> TextWindow:
        read = np.arange(length)
        return TextWindow(ids, Window(0, length, masked=read[:0], read=read, rows=read), offset=0)

    return window(len(ids)), window(len(ids) // 2)


def _put_batch(batch: WindowBatch, device: torch.device) -> WindowBatch:
    """The batch on a device; all of it is known before the device is asked."""
    return replace(
        batch,
        ids=put(batch.ids, device),
        attended=None if batch.attended is None else put(batch.attended, device),
        positions=put(batch.positions, device),
    )


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


MOST_HELD = 2  # encoders that are cached while unused


class EncoderStore:
    """The ``MOST_HELD`` encoders that were requested last, by model, revision, dtype and device.

    A deeper encoder serves requests for the layers below, and replaces one that is not deep enough.
    A revision that is not set or names a branch means the same commit until everything is released.
    While one thread loads, others wait.
    """

    def __init__(self) -> None:
        self._held: dict[Hashable, MaskedEncoder] = {}  # the last requested one at the end
        self._revisions: dict[Hashable, str] = {}
        self._lock = threading.Lock()

    def get(self, config: EstimeConfig) -> tuple[MaskedEncoder, EstimeConfig]:
        """The encoder that ``config`` requests, and the fully resolved ``config``; raises the
        errors of loading.
        """
        with self._lock:
            files = location(config.model)
            requested = (files, config.revision)
            if requested not in self._revisions:
                self._revisions[requested] = revision_of(config.model, config.revision)
            device = choose_device(config.device)
            config = replace(
                config,
                revision=self._revisions[requested],
                dtype=devices.choose_dtype(config.dtype, device),
            )
            origin = (files, config.revision, config.dtype, str(device))
            encoder = self._held.get(origin)
            if encoder is None or encoder.depth < max(encoder.info.resolve(config).layer_tuple):
                encoder = MaskedEncoder.load(config, device)
            self._held.pop(origin, None)
            self._held[origin] = encoder
            while len(self._held) > MOST_HELD:
                del self._held[next(iter(self._held))]
        return encoder, encoder.info.resolve(config)

    def release(self, *encoders: MaskedEncoder) -> None:
        """Holds some encoders no longer, or all if none is named; they are gone when their last
        user is.
        """
        with self._lock:
            self._held = {
                origin: held
                for origin, held in self._held.items()
                if encoders and held not in encoders
            }
            if not encoders:
                self._revisions.clear()


STORE = EncoderStore()  # one per process

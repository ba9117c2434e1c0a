"""A trial: the linear maps of an encoder's blocks in int8, next to bfloat16 and float32.

    python -m experiments.speed.int8 SUMMEVAL --threads 1 --clock cpu

Prints pairs per second of float32, bfloat16 and two ways to multiply in int8, from alternating
runs, and how many alarms differ from float32's. Attention, norms and sums stay in bfloat16. It
replaces parts inside the encoder: it shows what int8 would gain and is not an option of the
package.

Weights are rows of int8, as the bundled encoders store them, and so are the states that go in: a
row is scaled so that its largest number is near 127.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence
from typing import NamedTuple
from unittest import mock

import torch
from torch import Tensor, nn

from estime_metric import EstimeResult, EstimeScorer
from estime_metric.engine.encoder import linear, store
from estime_metric.engine.encoder.fused import FusedBlock
from experiments.speed import common

#: The maps of a block.
MAPS = ("query", "key", "value", "attention_output", "widen", "narrow")

#: Largest magnitude of a quantized state: its scale is rounded to bfloat16, which may raise it
#: by less than one.
_LARGEST_STATE = 126
_WITHOUT_SIGN = 0x7FFF  # the bits of bfloat16 but for its sign
ZERO = 128  # what stands for zero in uint8, which oneDNN multiplies faster than int8

_LARGEST_WEIGHT = 127


class QuantizedRows(NamedTuple):
    """States by row: ``numbers`` uint8 of shape (rows, width), ``scale`` of shape (rows, 1)."""

    numbers: Tensor
    scale: Tensor


def quantize_rows(states: Tensor) -> QuantizedRows:
    """Quantizes states of shape (rows, width), in bfloat16.

    The largest magnitude of a row is found in the bits of its numbers: without the sign, bfloat16
    is ordered as integers are.
    """
    magnitudes = states.view(torch.int16).bitwise_and(_WITHOUT_SIGN)
    largest = magnitudes.amax(1, keepdim=True).view(states.dtype)
    scale = (largest.float() / _LARGEST_STATE).clamp_min(1e-9).to(states.dtype)
    signed = states.mul(scale.float().reciprocal().to(states.dtype)).round_().to(torch.int8)
    return QuantizedRows(signed.view(torch.uint8).bitwise_xor_(ZERO), scale)


class SharedRows:
    """Quantizes the states that queries, keys and values share once."""

    def __init__(self) -> None:
        self._states: Tensor | None = None
        self._rows: QuantizedRows | None = None

    def __call__(self, states: Tensor) -> QuantizedRows:
        """The rows of states of shape (..., width)."""
        if self._rows is None or states is not self._states:
            self._states = states
            self._rows = quantize_rows(states.reshape(-1, states.shape[-1]))
        return self._rows


class Int8Linear(nn.Module):
    """A linear map by `torch._int_mm`, whose int32 products are scaled afterwards."""

    def __init__(self, plain: nn.Linear, *, with_gelu: bool, rows: SharedRows) -> None:
        super().__init__()
        weight = plain.weight.detach().float()
        self._scale = weight.abs().amax(1) / _LARGEST_WEIGHT
        self._weight = torch.round(weight / self._scale[:, None]).to(torch.int8)
        self._bias: Tensor = plain.bias.detach()
        self._with_gelu, self._rows = with_gelu, rows
        self._prepare()

    def _prepare(self) -> None:
        self._columns = self._weight.t().contiguous()

    def forward(self, states: Tensor) -> Tensor:
        """States of shape (..., in) -> (..., out), in the same dtype."""
        rows = self._rows(states)
        found = torch.addcmul(
            self._bias.to(states.dtype), self.multiply(rows, states.dtype), rows.scale
        )
        if self._with_gelu:
            found = nn.functional.gelu(found)
        return found.view(*states.shape[:-1], -1)

    def multiply(self, rows: QuantizedRows, dtype: torch.dtype) -> Tensor:
        """Of shape (rows, out), without the scale of the rows."""
        signed = (rows.numbers ^ ZERO).view(torch.int8)
        return torch._int_mm(signed, self._columns).mul(self._scale).to(dtype)


class FusedInt8Linear(Int8Linear):
    """A linear map by oneDNN, with weights packed once and their scale within the product."""

    def _prepare(self) -> None:
        self._packed = torch.ops.onednn.qlinear_prepack(self._weight, None)
        self._zeros = torch.zeros(len(self._weight), dtype=torch.int64)
        del self._weight

    def multiply(self, rows: QuantizedRows, dtype: torch.dtype) -> Tensor:
        states = rows.numbers, 1.0, ZERO  # their scale is that of a tensor: rows come afterwards
        weights = self._packed, self._scale, self._zeros
        to_output = None, 1.0, 0, dtype  # no bias here, no scale, no zero
        product: Tensor = torch.ops.onednn.qlinear_pointwise(
            *states, *weights, *to_output, "none", [], ""
        )
        return product


WAYS: dict[str, type[Int8Linear]] = {
    "int8, products scaled afterwards": Int8Linear,
    "int8, weights packed": FusedInt8Linear,
}


def int8_scorer(way: type[Int8Linear], model: str, distance: int) -> EstimeScorer:
    """A scorer in bfloat16 with an encoder of its own, whose maps are in int8."""

    def load(dtype: str) -> EstimeScorer:
        with (
            mock.patch.object(store, "STORE", store.EncoderStore()),
            mock.patch.object(linear, "VENDORS", ()),  # weights as they are
        ):
            scorer = EstimeScorer(model=model, distance=distance, dtype=dtype, device="cpu")
            scorer.load()
        return scorer

    scorer = load("bfloat16")
    exact = load("float32")  # int8 times their scales, as they were stored
    for block, of_float32 in zip(blocks_of(scorer), blocks_of(exact), strict=True):
        shared = SharedRows()
        for name in MAPS:
            with_gelu = name == "widen" and linear.is_gelu(of_float32.activation)
            rows = shared if name in ("query", "key", "value") else SharedRows()
            setattr(block, name, way(getattr(of_float32, name), with_gelu=with_gelu, rows=rows))
            if with_gelu:
                block.activation = nn.Identity()
    return scorer


def blocks_of(scorer: EstimeScorer) -> list[FusedBlock]:
    """The blocks of a loaded encoder that takes the fast path."""
    found = [one for one in scorer.encoder._model.modules() if isinstance(one, FusedBlock)]
    if not found:
        raise ValueError("Expected argument `model` to name an encoder with blocks like BERT's.")
    return found


def scorers(model: str, distance: int) -> dict[str, EstimeScorer]:
    """What is compared, by name; the first is what the others are compared with."""
    plain = {
        dtype: EstimeScorer(model=model, distance=distance, dtype=dtype, device="cpu")
        for dtype in ("float32", "bfloat16")
    }
    return {**plain, **{name: int8_scorer(way, model, distance) for name, way in WAYS.items()}}


def run(options: argparse.Namespace) -> None:
    """The table of one distance."""
    pairs, texts = common.pairs_of(options.summeval, options.sources)
    summaries, sources = common.unzip(pairs)

    def scoring(scorer: EstimeScorer) -> Callable[[], EstimeResult]:
        return lambda: scorer.score(summaries, sources)

    runs = {
        name: scoring(scorer) for name, scorer in scorers(options.model, options.distance).items()
    }
    found = common.alternate(runs, options.rounds, common.clock(options.clock))
    rows = [row(name, found, len(pairs)) for name in runs]
    title = f"{options.model}, distance {options.distance}, {len(pairs)} pairs of {texts}, {options.rounds} rounds"
    columns = (
        "",
        "pairs/s",
        "x float32",
        "x bfloat16",
        "alarms differ",
        "mean |difference| of inconsistency",
    )
    common.print_table(title, columns, rows)


def row(name: str, found: dict[str, common.Runs[EstimeResult]], pairs: int) -> Sequence[object]:
    """The row of one way."""
    seconds, result = found[name].seconds, found[name].returned
    exact = found["float32"].returned
    differ = int((result.values("alarms") != exact.values("alarms")).sum())
    moved = (result.values("inconsistency") - exact.values("inconsistency")).abs().mean()
    times = [found[other].ratio_to(found[name]) for other in ("float32", "bfloat16")]
    return (
        name,
        f"{pairs / statistics.median(seconds):.1f}",
        *(f"{one:.2f}" for one in times),
        differ,
        f"{moved:.5f}",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; ``arguments`` in place of the process's."""
    parser = common.arguments(
        __doc__,
        model="embedded",
        sources=(3, "with 16 summaries each"),
        distance=2,
        rounds=5,
    )
    common.add_summeval(parser, "summeval", nargs="?")
    run(common.start(parser, arguments))


if __name__ == "__main__":
    main()

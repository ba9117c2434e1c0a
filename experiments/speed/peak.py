"""The fastest products of this machine, and our share of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from torch import Tensor, nn

from estime_metric import EstimeScorer
from estime_metric.engine.encoder.batching import WindowBatch
from estime_metric.engine.encoder.linear import PackedLinear, can_pack
from experiments.speed import common

ROWS = 4096  # of a product
ROUNDS = 2
SOURCES = 1  # of SummEval, with 16 summaries
DISTANCES = (2, 8)


@dataclass(frozen=True)
class Shape:
    """A linear map of a block, and how many of its kind a block has."""

    inputs: int
    outputs: int
    number: int

    @property
    def operations(self) -> float:
        """Floating-point operations of a product of `ROWS` rows."""
        return 2.0 * ROWS * self.inputs * self.outputs


#: The maps of a block of a base-size encoder.
SHAPES = (
    Shape(inputs=768, outputs=768, number=4),
    Shape(inputs=768, outputs=3072, number=1),
    Shape(inputs=3072, outputs=768, number=1),
)

MKL = "float32, PyTorch's default (MKL)"
ONEDNN = "float32, oneDNN, packed"
BFLOAT16 = "bfloat16, PyTorch's default"
ONEDNN_BFLOAT16 = "bfloat16, oneDNN, packed"

Product = Callable[[], object]


def products(shape: Shape) -> dict[str, Product]:
    """The product of a shape in each way that this machine has."""
    plain = nn.Linear(shape.inputs, shape.outputs)
    lower = nn.Linear(shape.inputs, shape.outputs, dtype=torch.bfloat16)
    states = torch.randn(ROWS, shape.inputs)
    states_lower = states.bfloat16()
    ways: dict[str, Product] = {
        MKL: lambda: plain(states),
        BFLOAT16: lambda: lower(states_lower),
    }
    if can_pack(plain, torch.device("cpu")):
        packed = PackedLinear(plain)
        ways[ONEDNN] = lambda: packed(states)
    if can_pack(lower, torch.device("cpu")):
        packed_lower = PackedLinear(lower)
        ways[ONEDNN_BFLOAT16] = lambda: packed_lower(states_lower)
    return ways


@dataclass(frozen=True)
class Speeds:
    """GFLOP/s of a way to multiply, by `Shape`."""

    by_shape: Mapping[Shape, float]

    @property
    def whole_block(self) -> float:
        """Of all maps of a block together."""
        work = {shape: shape.number * shape.operations for shape in self.by_shape}
        return sum(work.values()) / sum(
            work[shape] / speed for shape, speed in self.by_shape.items()
        )


def product_speeds() -> dict[str, Speeds]:
    """The fastest of some alternating runs of each product."""
    speeds: dict[str, dict[Shape, float]] = {}
    with torch.inference_mode():
        for shape in SHAPES:
            for name, runs in common.alternate(products(shape), 2 * ROUNDS).items():
                fastest = shape.operations / min(runs.seconds) / 1e9
                speeds.setdefault(name, {})[shape] = fastest
    return {name: Speeds(by_shape) for name, by_shape in speeds.items()}


def rows_of_products(speeds: Mapping[str, Speeds]) -> list[dict[str, object]]:
    """A row for each way to multiply."""
    return [
        {
            "product": name,
            **{
                f"({ROWS}, {shape.inputs}) x ({shape.inputs}, {shape.outputs})": f"{speed:.0f}"
                for shape, speed in way.by_shape.items()
            },
            "a block's maps": f"{way.whole_block:.0f}",
        }
        for name, way in speeds.items()
    ]


# Our share


class Counted:
    """The work of some forward passes of an encoder built like BERT."""

    def __init__(self) -> None:
        self.operations = 0.0  # of tokens; padding is not counted
        self.positions = 0  # with padding
        self.tokens = 0


@contextmanager
def counted(scorer: EstimeScorer) -> Iterator[Counted]:
    """Counts the work of the encoder of a scorer."""
    encoder, work = scorer.encoder, Counted()
    shape = encoder._model.config
    width, inner, depth = shape.hidden_size, shape.intermediate_size, max(encoder.depth, 1)
    maps = 8 * width**2 + 4 * width * inner  # of a position, in a block
    keys_and_values = 4 * width**2
    read_states = encoder.taps.read

    def count(batch: WindowBatch, layers: Sequence[int]) -> list[Tensor]:
        windows, longest = batch.ids.shape
        lengths = np.full(windows, longest)
        if batch.attended is not None:
            lengths = batch.attended.numpy().sum(1)
        read = np.bincount(batch.row.numpy(), minlength=windows)
        attention = 4 * lengths * width  # of a position, in a block
        whole = lengths * (maps + attention)
        last = lengths * keys_and_values + read * (maps - keys_and_values + attention)
        work.positions += batch.ids.numel()
        work.tokens += int(lengths.sum())
        work.operations += float(((depth - 1) * whole + last).sum())
        return read_states(batch, layers)

    with mock.patch.object(encoder.taps, "read", count):
        yield work


def rows_of_scorings(
    pairs: Sequence[common.Pair], speeds: Mapping[str, Speeds]
) -> list[dict[str, object]]:
    """A row for each dtype and distance: the speed of scoring, and its shares of the products."""
    scorers = {
        (dtype, distance): EstimeScorer(dtype=dtype, distance=distance, device="cpu")
        for dtype in ("float32", "bfloat16")
        for distance in DISTANCES
    }
    timed = common.alternate(
        {key: common.scoring(scorer, pairs) for key, scorer in scorers.items()}, ROUNDS
    )
    rows: list[dict[str, object]] = []
    for (dtype, distance), scorer in scorers.items():
        with counted(scorer) as work:
            scorer.score(*common.unzip(pairs))
        seconds = timed[dtype, distance].median
        speed = work.operations / seconds / 1e9
        default, packed = (MKL, ONEDNN) if dtype == "float32" else (BFLOAT16, ONEDNN_BFLOAT16)
        rows.append(
            {
                "dtype": dtype,
                "distance": distance,
                "pairs/s": f"{len(pairs) / seconds:.1f}",
                "tokens/s": f"{work.tokens / seconds:,.0f}",
                "GFLOP/s": f"{speed:.0f}",
                "of PyTorch's default product": f"{speed / speeds[default].whole_block:.0%}",
                "of oneDNN's, packed": (
                    f"{speed / speeds[packed].whole_block:.0%}" if packed in speeds else ""
                ),
                "padding": f"{1 - work.tokens / work.positions:.1%}",
            }
        )
    return rows


def peak(*, data: Path = common.DATA) -> None:
    """The products of the machine, and our share of them.

    Prints two tables: GFLOP/s of the three products of a base-size block, in each precision and by
    each library that PyTorch comes with; and GFLOP/s of scorings, with their shares of these
    products.
    """
    speeds = product_speeds()
    common.print_table("GFLOP/s", rows_of_products(speeds))
    pairs = common.pairs_of(data, SOURCES)
    common.print_table(f"Whole scorings of {len(pairs)} pairs", rows_of_scorings(pairs, speeds))

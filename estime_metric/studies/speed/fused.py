"""Speed of an encoder's blocks run by their parts, beside `transformers`' own path and the matrix
product.

    python -m estime_metric.studies.speed.fused FOLDER --depth 5
    python -m estime_metric.studies.speed.fused FOLDER --depth 5 --batch 28 --length 70 --distance 2

Random tokens; every ``--distance``-th position is read at the layer ``--depth``. The ways run in
turn; the share is of the product that the same rounds measured. The floating-point operations are
those that each way does.
"""

from __future__ import annotations

import torch

from estime_metric.engine.encoder.blocks import BlockTaps
from estime_metric.engine.encoder.fused import FusedBlock, ReadPositions
from estime_metric.engine.encoder.loading import load_pretrained
from estime_metric.engine.encoder.precision import inference_context
from estime_metric.studies.speed import common


def taps_of(folder: str, dtype: torch.dtype, depth: int, fused: bool) -> BlockTaps:
    """The encoder cut at a depth; fused as the scorer runs it, or as `transformers` does."""
    loaded = load_pretrained(folder, None, dtype)
    probe = torch.tensor([[*loaded.info.special.before, *[loaded.info.special.mask] * 20]])
    fits = FusedBlock.fits
    if not fused:
        FusedBlock.fits = staticmethod(lambda block: False)
    try:
        return BlockTaps(loaded.model, loaded.info.blocks, depth, probe)
    finally:
        FusedBlock.fits = fits


def main() -> None:
    parser = common.arguments(
        __doc__,
        depth=(5, "the layer that is read"),
        dtype="float32",
        batch=(4, "windows"),
        length=(452, "positions of a window"),
        distance=8,
        rounds=5,
    )
    parser.add_argument("folder")
    options = common.start(parser)
    dtype, windows, length, depth = (
        getattr(torch, options.dtype),
        options.batch,
        options.length,
        options.depth,
    )
    column, now = torch.arange(1, length - 1, options.distance), common.clock(options.clock)
    each = len(column)
    only = ReadPositions(
        torch.arange(windows).repeat_interleave(each),
        column.repeat(windows),
        torch.arange(each).repeat(windows),
        each,
    )
    ids = torch.randint(1000, 20000, (windows, length))
    with inference_context(torch.device("cpu")):
        ways = {
            name: taps_of(options.folder, dtype, depth, name == "fused")
            for name in ("transformers", "fused")
        }
        runs = {
            name: lambda taps=taps: taps.read(
                ids, None, [depth], lambda hidden: hidden[only.row, only.column], only
            )[0]
            for name, taps in ways.items()
        }
        states = {name: run() for name, run in runs.items()}
        runs["product"] = lambda: common.matrix_peak(options.dtype, now=now)
        taken = common.alternate(runs, options.rounds, now)
    config = ways["fused"]._model.config
    width, wide, positions, read = (
        config.hidden_size,
        config.intermediate_size,
        windows * length,
        windows * each,
    )
    block = (
        8 * width**2 + 4 * width * wide + 4 * length * width
    )  # a position: maps, feed-forward, attention
    last = positions * 4 * width**2 + read * (block - 4 * width**2)
    work = {
        "transformers": depth * positions * block,
        "fused": (depth - 1) * positions * block + last,
    }
    peak = taken["product"][1]
    rows = []
    for name, flop in work.items():
        seconds = taken[name][0]
        speed = flop / seconds / 1e9
        rows.append((name, f"{seconds * 1e3:.0f}", f"{speed:.0f}", f"{speed / peak:.0%}"))
    differ = float((states["fused"] - states["transformers"]).abs().max())
    title = f"{windows} windows of {length}, {options.dtype}: product {peak:.0f} GFLOP/s; states differ by {differ:.1e}"
    common.print_table(title, ("path", "ms", "GFLOP/s", "of the product"), rows)


if __name__ == "__main__":
    main()

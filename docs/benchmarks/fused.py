"""Speed of an encoder whose blocks are run by their parts, beside `transformers`' own path and the matrix product.

    python -m docs.benchmarks.fused FOLDER --depth 8
    python -m docs.benchmarks.fused FOLDER --batch 28 --length 70 --distance 2 --dtype bfloat16

Random tokens, every ``--distance``-th position read at the layer ``--depth``. Each way runs in turn; the share is of
the product that the same rounds measured. Floating point operations are those that the way itself does.
"""

from __future__ import annotations

import torch

from docs.benchmarks import common
from estime_metric.engine.blocks import BlockTaps
from estime_metric.engine.fused import FusedBlock, ReadPositions
from estime_metric.engine.loading import load_pretrained
from estime_metric.engine.precision import inference_context


def taps_of(folder: str, dtype: torch.dtype, depth: int, fused: bool) -> BlockTaps:
    """The encoder cut at a depth; fused as the scorer runs it, or as `transformers` does."""
    loaded = load_pretrained(folder, None, dtype)
    probe = torch.tensor([[*loaded.info.special.before, *[loaded.info.special.mask] * 20]])
    fits = FusedBlock.fits
    if not fused:
        FusedBlock.fits = staticmethod(lambda block: False)
    try:
        taps = BlockTaps(loaded.model, loaded.info.blocks, depth, probe)
    finally:
        FusedBlock.fits = fits
    return taps


def main() -> None:
    """Prints one table."""
    parser = common.arguments(__doc__)
    parser.add_argument("folder")
    parser.add_argument("--depth", type=int, required=True, help="the layer that is read")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--batch", type=int, default=4, help="windows")
    parser.add_argument("--length", type=int, default=452, help="positions of a window")
    parser.add_argument("--distance", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    dtype, now, windows, length, depth = (
        getattr(torch, given.dtype), common.clock(given.clock), given.batch, given.length, given.depth
    )  # fmt: skip
    column = torch.arange(1, length - 1, given.distance)
    each = len(column)
    only = ReadPositions(
        torch.arange(windows).repeat_interleave(each), column.repeat(windows), torch.arange(each).repeat(windows), each
    )
    ids = torch.randint(1000, 20000, (windows, length))
    with inference_context(torch.device("cpu")):
        ways = {"transformers": taps_of(given.folder, dtype, depth, False)}
        ways["fused"] = taps_of(given.folder, dtype, depth, True)
        runs = {
            name: lambda taps=taps: taps.read(ids, None, [depth], lambda hidden: hidden[only.row, only.column], only)[0]
            for name, taps in ways.items()
        }
        states = {name: run() for name, run in runs.items()}
        runs["product"] = lambda: common.matrix_peak(given.dtype, now=now)
        taken = common.alternate(runs, given.rounds, now)
    config = ways["fused"]._model.config
    width, wide, positions, read = config.hidden_size, config.intermediate_size, windows * length, windows * each
    block = 8 * width**2 + 4 * width * wide + 4 * length * width  # a position: maps, feed-forward, attention
    last = positions * 4 * width**2 + read * (block - 4 * width**2)
    work = {"transformers": depth * positions * block, "fused": (depth - 1) * positions * block + last}
    peak = taken["product"][1]
    print(common.machine())
    print(f"{windows} windows of {length}, {given.dtype}: product {peak:.0f} GFLOP/s; "
          f"hidden states differ by {float((states['fused'] - states['transformers']).abs().max()):.1e}")  # fmt: skip
    rows = []
    for name, flop in work.items():
        speed = flop / taken[name][0] / 1e9
        rows.append((name, f"{taken[name][0] * 1e3:.0f}", f"{speed:.0f}", f"{speed / peak:.0%}"))
    common.print_table("", ("path", "ms", "GFLOP/s", "of the product"), rows)


if __name__ == "__main__":
    main()

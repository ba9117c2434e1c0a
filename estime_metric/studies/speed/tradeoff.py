"""What speed costs: layer, distance and precision against pairs per second and correlation with
SummEval's experts.

    python -m estime_metric.studies.speed.tradeoff ../shared/data/summeval               # all 1,600 pairs
    python -m estime_metric.studies.speed.tradeoff ../shared/data/summeval --sources 20  # a quick look

Correlations are Spearman's rho of the negated alarms over all pairs. ``flips`` is the share of
summaries whose alarms differ from those of the first precision at the same layer and distance,
``rank`` the rank correlation with it. ``int8`` quantizes the linear maps of the encoder
dynamically, as PyTorch does it, and is no option of the package: it is here to be judged.
``--encoder large`` times a random encoder of bert-large's size; its correlations mean nothing and
are left out.
"""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

import torch
from scipy.stats import spearmanr
from torch import nn

from estime_metric import EstimeScorer, embedded
from estime_metric.studies.speed import common

QUALITIES = ("consistency", "relevance", "coherence", "fluency")


def make_scorer(folder: str, layer: int, distance: int, dtype: str) -> EstimeScorer:
    """A loaded scorer; ``int8`` is float32 with its linear maps quantized."""
    options: dict[str, Any] = {
        "model": folder,
        "layers": layer,
        "distance": distance,
        "device": "cpu",
    }
    if dtype != "int8":
        scorer = EstimeScorer(dtype=dtype, **options)
        _ = scorer.encoder
        return scorer
    folder = {"embedded": embedded.BASE, "embedded-small": embedded.SMALL}.get(folder, folder)
    with (
        tempfile.TemporaryDirectory() as copy
    ):  # another folder, another encoder: not the one that is shared
        for file in Path(folder).iterdir():
            if file.is_file():
                (Path(copy) / file.name).symlink_to(file.resolve())
        scorer = EstimeScorer(**{**options, "model": copy})
        maps = {nn.Linear}  # int8 weights, and inputs quantized as they come
        torch.ao.quantization.quantize_dynamic(
            scorer.encoder._model, maps, dtype=torch.qint8, inplace=True
        )
    return scorer


def main() -> None:
    parser = common.arguments(
        __doc__,
        sources=(100, "the first so many, 16 summaries each"),
        distances="16,8,4,2",
        dtypes="float32,bfloat16,int8",
        layers=("", "default: the encoder's own"),
    )
    common.add_summeval(parser, "folder", nargs="?")
    parser.add_argument(
        "--encoder", choices=("embedded", "embedded-small", "large"), default="embedded-small"
    )
    options = common.start(parser)
    pairs, rows = common.read_summeval(options.folder, options.sources)
    large = options.encoder == "large"
    with tempfile.TemporaryDirectory() as made:
        if large:
            common.make_encoder(made)
        folder = made if large else options.encoder
        layers = options.layers or ("21" if large else "5")
        table = []
        now = common.clock(options.clock)
        for layer, distance in itertools.product(
            *(map(int, text.split(",")) for text in (layers, options.distances))
        ):
            exact = None
            for dtype in options.dtypes.split(","):
                scorer = make_scorer(folder, layer, distance, dtype)
                scorer.score(*common.unzip(pairs[:1]))
                start = now()
                alarms = scorer.score(*common.unzip(pairs)).values("alarms")
                seconds = now() - start
                exact = alarms if exact is None else exact
                judged = [
                    ""
                    if large
                    else f"{spearmanr(-alarms, [row[name] for row in rows]).statistic:.3f}"
                    for name in QUALITIES
                ]
                flips, rank = (alarms != exact).double().mean(), spearmanr(alarms, exact).statistic
                table.append(
                    (
                        layer,
                        distance,
                        dtype,
                        f"{seconds:.1f}",
                        f"{len(pairs) / seconds:.3g}",
                        *judged,
                        f"{alarms.mean():.2f}",
                        f"{flips:.1%}",
                        f"{rank:.4f}",
                    )
                )
                print(*table[-1], flush=True)
                del scorer
    columns = (
        "layer",
        "distance",
        "dtype",
        "seconds",
        "pairs/s",
        *QUALITIES,
        "mean alarms",
        "flips",
        "rank",
    )
    common.print_table(
        f"Speed against quality: {options.encoder} encoder, {len(pairs)} pairs", columns, table
    )


if __name__ == "__main__":
    main()

"""Peak memory of a sweep over all layers of a large encoder (appendix A), above what the encoder
itself takes.

    python -m estime_metric.studies.speed.layer_sweep                        # the size of bert-large, all 25 layers
    python -m estime_metric.studies.speed.layer_sweep --layers 3 --width 64  # a quick check

The encoder is random and lives in a temporary folder, about 1.3 GB at full size. Another process
makes it, so that nothing but scoring counts. Texts are the pair of SummEval with the longest source
if you have it, else made up.
"""

from __future__ import annotations

import tempfile
import time

from estime_metric import EstimeScorer
from estime_metric.studies.speed import common


def main() -> None:
    parser = common.arguments(
        __doc__,
        layers=(24, "blocks of the encoder"),
        width=(1024, "width of its hidden states"),
        token_budget=(None, "most tokens in one forward pass"),
    )
    parser.add_argument("--unit", choices=("token", "word"), default="token")
    given = common.start(parser)
    summary, source = max(common.pairs_of(common.SUMMEVAL, 100)[0], key=lambda pair: len(pair[1]))
    with tempfile.TemporaryDirectory() as folder:
        common.apart(common.make_encoder, folder, given.layers, given.width)
        scorer = EstimeScorer(
            model=folder,
            layers="all",
            unit=given.unit,
            token_budget=given.token_budget,
            device="cpu",
            measures=("alarms_alltokens", "soft", "coherence"),
        )
        before = common.resident()
        weights = sum(weight.nbytes for weight in scorer.encoder._model.parameters())
        loaded = common.resident()
        started = time.perf_counter()
        with common.Peak() as peak:
            result = scorer.score([summary], [source])
        seconds = time.perf_counter() - started
    tokens = len(
        scorer.encoder.tokenizer(source, add_special_tokens=False, verbose=False)["input_ids"]
    )
    above = peak.most - max(
        loaded, before + weights
    )  # weights that are mapped count in full, read so far or not
    print(
        f"{len(result.layers)} layers of width {given.width}, unit {given.unit}, source of {tokens} tokens"
    )
    print(
        f"alarms by layer: {[int(result.values('alarms', layer).item()) for layer in result.layers]}"
    )
    weights, loaded, most, above = (
        size / common.MEGABYTE for size in (weights, loaded, peak.most, above)
    )
    print(f"encoder: {weights:.0f} MB; resident before the sweep: {loaded:.0f} MB")
    print(f"peak: {most:.0f} MB, {above:.0f} MB above the encoder; {seconds:.0f} s")


if __name__ == "__main__":
    main()

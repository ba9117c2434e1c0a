"""Peak memory of a sweep over all layers of a large encoder (appendix A), above what the encoder itself takes.

    python -m docs.benchmarks.layer_sweep                           # the size of bert-large, all 25 layers
    python -m docs.benchmarks.layer_sweep --layers 3 --width 64  # a quick check

The encoder is random and lives in a temporary folder, about 1.3 GB at full size. It is made by another process, so
that nothing but scoring counts. Texts are one pair of SummEval where it is at hand, else sentences of the same length.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time

from docs.benchmarks import common


def longest_pair() -> tuple[str, str]:
    """Summary and source: the pair of SummEval with the longest source, or made up."""
    pairs, _ = common.pairs_of(common.SUMMEVAL, 100)
    return max(pairs, key=lambda pair: len(pair[1]))


def main() -> None:
    """Makes the encoder, scores one pair at every layer, prints what it took."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--layers", type=int, default=24, help="blocks of the encoder")
    options.add_argument("--width", type=int, default=1024, help="width of its hidden states")
    options.add_argument("--unit", choices=("token", "word"), default="token")
    options.add_argument("--token-budget", type=int, default=None, help="most tokens in one forward pass")
    given = options.parse_args()
    summary, source = longest_pair()
    with tempfile.TemporaryDirectory() as folder:
        maker = multiprocessing.get_context("spawn").Process(
            target=common.make_encoder, args=(folder, given.layers, given.width)
        )
        maker.start()
        maker.join()
        if maker.exitcode:
            raise SystemExit("The encoder could not be made.")

        from estime_metric import EstimeScorer

        scorer = EstimeScorer(
            model=folder, layers="all", unit=given.unit, token_budget=given.token_budget, device="cpu",
            measures=("alarms_alltokens", "soft", "coherence"),
        )  # fmt: skip
        before = common.resident()
        weights = sum(weight.nbytes for weight in scorer.encoder._model.parameters())
        loaded = common.resident()
        started = time.perf_counter()
        with common.Peak() as peak:
            result = scorer.score([summary], [source])
        seconds = time.perf_counter() - started
    tokens = len(scorer.encoder.tokenizer(source, add_special_tokens=False, verbose=False)["input_ids"])
    above = peak.most - max(loaded, before + weights)  # weights that are mapped count in full, read so far or not
    print(f"{len(result.layers)} layers of width {given.width}, unit {given.unit}, source of {tokens} tokens")
    print(f"alarms by layer: {[int(result.values('alarms', layer).item()) for layer in result.layers]}")
    weights, loaded, most, above = (size / common.MEGABYTE for size in (weights, loaded, peak.most, above))
    print(f"encoder: {weights:.0f} MB; resident before the sweep: {loaded:.0f} MB")
    print(f"peak: {most:.0f} MB, {above:.0f} MB above the encoder; {seconds:.0f} s")


if __name__ == "__main__":
    main()

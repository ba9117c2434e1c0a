"""Peak memory of a sweep over all layers of a large encoder (appendix A), above what the encoder itself takes.

    python tests/benchmarks/layer_sweep.py                        # the size of bert-large, all 25 layers
    python tests/benchmarks/layer_sweep.py --layers 3 --width 64  # a quick check

The encoder is random and lives in a temporary folder, about 1.3 GB at full size. It is made by another process, so
that nothing but scoring counts. Texts are one pair of SummEval where it is at hand, else sentences of the same length.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SUMMEVAL = REPOSITORY.parent / "shared" / "data" / "summeval"
MEGABYTE = 1 << 20


def make_encoder(folder: str, blocks: int, width: int) -> None:
    """Saves a random BERT with the embedded encoder's tokenizer."""
    import transformers

    from estime_metric import embedded

    tokenizer = transformers.AutoTokenizer.from_pretrained(embedded.PATH)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=blocks,
        num_attention_heads=max(1, width // 64),
        intermediate_size=4 * width,
    )
    transformers.BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def longest_pair() -> tuple[str, str]:
    """Summary and source: the pair of SummEval with the longest source, or made up."""
    if (SUMMEVAL / "documents.jsonl").is_file():
        with (SUMMEVAL / "documents.jsonl").open(encoding="utf-8") as lines:
            document = max(map(json.loads, lines), key=lambda row: len(row["source"]))
        with (SUMMEVAL / "summeval.jsonl").open(encoding="utf-8") as lines:
            summary = next(row["summary"] for row in map(json.loads, lines) if row["doc_id"] == document["doc_id"])
        return summary, document["source"]
    sentence = "The river broke its banks in the night and the mayor asked people to leave their homes. "
    return sentence * 3, sentence * 40


def resident() -> int:
    """Bytes of memory that this process holds now."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:  # not Linux: the peak so far is the best there is
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class Peak:
    """Watches the resident memory while a block runs."""

    def __enter__(self) -> Peak:
        self.most = resident()
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._done.wait(0.01):
            self.most = max(self.most, resident())


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
            target=make_encoder, args=(folder, given.layers, given.width)
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
        before = resident()
        weights = sum(weight.nbytes for weight in scorer.encoder._model.parameters())
        loaded = resident()
        started = time.perf_counter()
        with Peak() as peak:
            result = scorer.score([summary], [source])
        seconds = time.perf_counter() - started
    tokens = len(scorer.encoder.tokenizer(source, add_special_tokens=False, verbose=False)["input_ids"])
    above = peak.most - max(loaded, before + weights)  # weights that are mapped count in full, read so far or not
    print(f"{len(result.layers)} layers of width {given.width}, unit {given.unit}, source of {tokens} tokens")
    print(f"alarms by layer: {[int(result.values('alarms', layer).item()) for layer in result.layers]}")
    print(f"encoder: {weights / MEGABYTE:.0f} MB; resident before the sweep: {loaded / MEGABYTE:.0f} MB")
    print(f"peak: {peak.most / MEGABYTE:.0f} MB, {above / MEGABYTE:.0f} MB above the encoder; {seconds:.0f} s")


if __name__ == "__main__":
    main()

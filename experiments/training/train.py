"""Train the bundled encoders: masked language modeling and matching, resumable, on a CPU or a GPU.

    python -m experiments.training.train CORPUS START WORK --blocks 8 --minutes 50
    python -m experiments.training.export WORK/checkpoint.pt START OUT --blocks 7

`CORPUS` is a folder of ``*.jsonl.gz`` files with one document (``{"text": ..., "source": ...}``)
per line, `START` the folder of a BERT or an MPNet with its tokenizer (without weights: random
ones), `WORK` keeps token ids and checkpoint, and is all that another machine needs next to `START`;
`export` makes the folder of the bundled encoder.

Most blocks are masked as ESTIME masks them, the others at random. With ``--matching`` every other
batch contains sources with pseudo-summaries, and a second loss asks what ESTIME asks: that a masked
summary token be most similar to the same token of its source (`pairs`).

Short blocks come first, long ones at the end. The learning rate falls with the larger of
``steps / --steps`` and ``time / --minutes``; time counts only while the script runs. Started again
with the same `WORK`, it resumes exactly where its last checkpoint was made: weights, optimizer, and
the position in each stream of blocks. A run that ends by steps is repeatable.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from experiments.training.data import (
    BlockStream,
    Corpus,
    MaskedBatch,
    Vocabulary,
    documents,
    hide,
    load_tokenizer,
    random_masks,
    spaced_masks,
    tokenize,
)
from experiments.training.model import Trainee
from experiments.training.pairs import (
    PHASES,
    SUMMARIES,
    SUMMARY_LENGTH,
    MatchingPairs,
    make_pairs,
    matching_loss,
)

# Axes: b blocks of a batch, t positions of a block, d width, m masked positions, v vocabulary.

RANDOM = 0.3  # share of the batches masked at random, not as ESTIME does
MASK_RATES = (0.12, 0.45)  # there, drawn per block
WHOLE_WORDS = 0.8  # there, share of the blocks in which whole words are masked
SHORT = 190  # block length at first, without special tokens
LONG = (382, 450)  # block lengths at the end, in turn
SOURCE = 254  # length of the sources of pairs at first
LONG_SOURCES = (382,)  # at the end
LONG_SHARE = 0.2  # of the run, at its end, with long blocks
BATCHES = 2  # of a step
HEADS = 600  # masked positions of a batch that the head sees
PEAK = 1e-4  # learning rate of the body; the head has ten times
WARMUP = 20  # steps
DECAY = 0.7  # share of the run in which the learning rate falls
SAVED_EVERY = 300.0  # seconds between checkpoints, with the held-out loss


def loss_of(model: Trainee, group: MaskedBatch | MatchingPairs, args: argparse.Namespace) -> Tensor:
    """Mean cross-entropy of a sample of the masked positions; for pairs, the matching loss is
    added, weighted.
    """
    if isinstance(group, MaskedBatch):
        (states,) = model.states(group, -1)
        return _sampled(model, states, group.targets)
    of_summaries, *summaries = model.states(group.summaries, -1, *args.matching_layer)
    of_sources, *sources = model.states(group.sources, -1, *args.matching_layer)
    loss: Tensor = _sampled(model, torch.cat([of_summaries, of_sources]), group.targets)
    for summary_states, source_states in zip(summaries, sources, strict=True):
        loss = loss + args.matching * matching_loss(summary_states, source_states, group)
    return loss


def _sampled(model: Trainee, states: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy of `HEADS` positions, spread evenly; of all if there are fewer.

    Always as many, since a CPU keeps a kernel, and its memory, for every size of a product.
    """
    count = min(HEADS, len(targets))
    chosen = torch.linspace(0, len(targets) - 1, count, device=targets.device).round().long()
    return nn.functional.cross_entropy(model.logits(states[chosen]).float(), targets[chosen])


@torch.inference_mode()
def held_out_loss(model: Trainee, texts: list[np.ndarray], vocabulary: Vocabulary) -> float:
    """Loss per masked token of texts set aside.

    The first 254 tokens of each text, 15% masked by whole words, always the same ones.
    """
    rows = np.stack([ids[:SOURCE] for ids in texts])
    rng = np.random.default_rng(0)
    total, tokens = 0.0, 0
    for start in range(0, len(rows), 8):
        blocks = rows[start : start + 8]
        masked = random_masks(blocks, vocabulary.continues, (0.15, 0.15), 1.0, rng)
        batch = hide(blocks, masked, vocabulary).to(model.device)
        (states,) = model.states(batch, -1)
        logits = model.logits(states).float()
        total += float(nn.functional.cross_entropy(logits, batch.targets, reduction="sum"))
        tokens += len(batch.targets)
    return total / tokens


def make_optimizer(model: Trainee) -> torch.optim.Optimizer:
    """AdamW; the head has ten times the learning rate of the body."""
    body = [weight for weight in model.body.parameters() if weight.requires_grad]
    head = [*model.head.parameters(), model.bias]
    groups: list[dict[str, Any]] = [
        {"params": head, "peak": 10 * PEAK},
        {"params": [weight for weight in body if weight.ndim == 2], "weight_decay": 0.01},
        {"params": [weight for weight in body if weight.ndim != 2]},
    ]
    for group in groups:
        group.setdefault("peak", PEAK)
    return torch.optim.AdamW(groups, lr=PEAK, betas=(0.9, 0.98), weight_decay=0.0, fused=True)


def rate(step: int, progress: float) -> float:
    """Share of the peak learning rate: warm-up, stable, then linear to 0 over the last share
    `DECAY` of the run.
    """
    return min(1.0, (step + 1) / WARMUP, (1.0 - progress) / DECAY)


def save(path: Path, **state: Any) -> None:
    """Write a checkpoint under another name, then rename it."""
    torch.save(state, path.with_suffix(".tmp"))
    path.with_suffix(".tmp").rename(path)


def read_tokens(
    corpus: Path, start: Path, work: Path
) -> tuple[Corpus, list[np.ndarray], Vocabulary]:
    """Token ids of the documents to train on and of 200 documents set aside, and the vocabulary.

    They are kept compressed in `work`, so that the corpus need not travel to another machine.
    """
    tokenizer = load_tokenizer(start)
    file = work / "tokens.npz"
    if not file.exists():
        parts = [
            Corpus.of(tokenize(documents(corpus, aside=aside), tokenizer))
            for aside in (False, True)
        ]
        arrays: dict[str, Any] = {"ids": parts[0].ids, "bounds": parts[0].bounds}
        arrays |= {"aside": parts[1].ids, "aside_bounds": parts[1].bounds}
        with file.with_suffix(".tmp").open("wb") as stream:
            np.savez_compressed(stream, **arrays)
        file.with_suffix(".tmp").rename(file)
    with np.load(file) as stored:
        train = Corpus(stored["ids"], stored["bounds"])
        aside = np.split(stored["aside"], stored["aside_bounds"][1:-1])
    return train, [ids for ids in aside if len(ids) >= SOURCE][:200], Vocabulary.of(tokenizer)


class Batches:
    """Masked batches without end, from one stream of blocks for each length; resumes exactly from
    `positions`.
    """

    def __init__(
        self,
        corpus: Corpus,
        vocabulary: Vocabulary,
        args: argparse.Namespace,
        positions: dict[int, int],
    ):
        self._vocabulary, self._args = vocabulary, args
        lengths = {SHORT, *LONG}
        if args.matching:  # tokens drawn behind each source fill its pseudo-summaries
            lengths |= {length + SUMMARY_LENGTH for length in (SOURCE, *LONG_SOURCES)}
        self._streams = {
            length: BlockStream(corpus, length, args.seed, positions.get(length, 0))
            for length in lengths
        }

    @property
    def positions(self) -> dict[int, int]:
        """How many blocks of each length were drawn."""
        return {length: stream.position for length, stream in self._streams.items()}

    def step(self, step: int, progress: float) -> list[MaskedBatch | MatchingPairs]:
        """The batches of a step: short blocks at first, long ones in the last share
        `LONG_SHARE` of the run.
        """
        return [self._batch(step * BATCHES + number, progress) for number in range(BATCHES)]

    def _batch(self, number: int, progress: float) -> MaskedBatch | MatchingPairs:
        short, pairs = progress < 1.0 - LONG_SHARE, self._args.matching and number % 2
        lengths = ((SOURCE,) if short else LONG_SOURCES) if pairs else ((SHORT,) if short else LONG)
        length = lengths[number // 2 % len(lengths)]
        stream = self._streams[length + SUMMARY_LENGTH if pairs else length]
        rng = np.random.default_rng([self._args.seed, number, stream.position])
        if pairs:
            size = self._args.batch // (PHASES * (length + 2) + SUMMARIES * (SUMMARY_LENGTH + 2))
            return make_pairs(stream.draw(max(1, size)), self._vocabulary, rng)
        blocks = stream.draw(max(1, self._args.batch // (length + 2)))
        if rng.random() < RANDOM:
            masked = random_masks(blocks, self._vocabulary.continues, MASK_RATES, WHOLE_WORDS, rng)
        else:
            masked = spaced_masks(blocks.shape, rng)
        return hide(blocks, masked, self._vocabulary)


def working_copy(master: Trainee, dtype: torch.dtype) -> tuple[Trainee, Callable[[], None]]:
    """The model that is run, and what copies the float32 weights into it after each step."""
    if dtype == torch.float32:
        return master, master.zero_grad
    model = deepcopy(master).to(dtype).train()
    pairs = list(zip(master.parameters(), model.parameters(), strict=True))

    def refresh() -> None:
        with torch.no_grad():
            for full, low in pairs:
                low.copy_(full)
                low.grad = None

    refresh()
    return model, refresh


def train(args: argparse.Namespace) -> None:
    """Run the training."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    args.work.mkdir(parents=True, exist_ok=True)
    corpus, aside, vocabulary = read_tokens(args.corpus, args.start, args.work)
    print(f"{len(corpus.ids)} tokens in {len(corpus.bounds) - 1} documents", flush=True)
    counts = np.bincount(corpus.ids, minlength=len(vocabulary.continues))
    master = Trainee.start(args.start, args.blocks, counts).to(args.device).train()
    if args.weights:
        weights = torch.load(args.weights, weights_only=True, map_location=args.device)["model"]
        master.load_state_dict({name: weights[name] for name in master.state_dict()})
    optimizer = make_optimizer(master)
    counted: dict[str, Any] = {"step": 0, "spent": 0.0, "tokens": 0, "positions": {}}
    checkpoint = args.work / "checkpoint.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True, map_location=args.device)
        master.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        counted = {name: state[name] for name in counted}
    batches = Batches(corpus, vocabulary, args, counted["positions"])
    model, refresh = working_copy(master, getattr(torch, args.dtype))
    begun, saved = time.monotonic() - counted["spent"], counted["spent"]
    losses: list[float] = []

    def keep() -> None:
        loss = held_out_loss(model, aside, vocabulary)
        print(f"{counted['spent']:.0f}s, held-out loss {loss:.4f}", flush=True)
        counted["positions"] = batches.positions
        save(checkpoint, model=master.state_dict(), optimizer=optimizer.state_dict(), **counted)

    while True:
        step = counted["step"]
        done = max(step / args.steps, (time.monotonic() - begun) / (60 * args.minutes))
        if done >= 1.0:
            break
        for batch in batches.step(step, done):
            loss = loss_of(model, batch.to(args.device), args)
            torch.autograd.backward(loss / BATCHES)
            losses.append(float(loss.detach()))
            counted["tokens"] += batch.tokens
        if model is not master:
            for full, low in zip(master.parameters(), model.parameters(), strict=True):
                full.grad = None if low.grad is None else low.grad.float()
        nn.utils.clip_grad_norm_(master.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = group["peak"] * rate(step, done)
        optimizer.step()
        refresh()
        counted["step"] += 1
        counted["spent"] = time.monotonic() - begun
        if counted["step"] % 25 == 0:
            print(f"{counted['step']} steps, loss {np.mean(losses[-50:]):.4f}", flush=True)
        if counted["spent"] - saved > SAVED_EVERY:
            keep()
            saved = counted["spent"]
    keep()
    minutes = counted["spent"] / 60
    print(f"{counted['step']} steps, {counted['tokens']} tokens, {minutes:.0f} minutes", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; ``arguments`` replace the arguments of the process."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )

    def add(name: str, kind: Callable[[str], Any], default: Any, text: str) -> None:
        parser.add_argument(name, type=kind, default=default, help=text)

    parser.add_argument(
        "corpus", type=Path, help="folder of *.jsonl.gz files; not read if WORK has tokens.npz"
    )
    parser.add_argument(
        "start",
        type=Path,
        help="folder of the starting encoder: config, safetensors, tokenizer.json",
    )
    parser.add_argument("work", type=Path, help="folder for tokens and checkpoint")
    add("--weights", Path, None, "checkpoint of another run, with as many blocks or more")
    add("--blocks", int, None, "lowest blocks of the encoder to keep (default: all)")
    add("--minutes", float, 120.0, "end by the clock, restarts included")
    add("--steps", int, 10**9, "end by steps")
    add("--batch", int, 4096, "tokens of a batch, special tokens included")
    add("--matching", float, 0.0, "weight of the loss that matches pairs; 0: none")
    parser.add_argument(
        "--matching-layer",
        type=int,
        nargs="+",
        default=[-1],
        help="layers that are matched (default: the topmost)",
    )
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    add("--device", str, "cuda" if torch.cuda.is_available() else "cpu", "of the training")
    add("--threads", int, 2, "of PyTorch")
    add("--seed", int, 0, "of everything that is drawn")
    train(parser.parse_args(arguments))


if __name__ == "__main__":
    main()

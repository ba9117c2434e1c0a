"""Train the bundled encoders: masked language modeling and matching, on a CPU or a GPU.

    python -m experiments.training.train CORPUS START WORK --blocks 8 --minutes 50
    python -m experiments.training.export WORK/checkpoint.pt START OUT --blocks 7 --layer 7

Most blocks are masked as ESTIME masks them, the others at random. With ``--matching`` every other
batch contains sources with pseudo-summaries, and a second loss asks what ESTIME asks: that a masked
summary token be most similar to the same token of its source (`pairs`).

Short blocks come first, long ones at the end. The learning rate falls with the larger of
``steps / --steps`` and ``time / --minutes``. A run that ends by steps is repeatable.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
from cyclopts import App, Parameter
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
LONG_SOURCE = 382  # at the end
LONG_SHARE = 0.2  # of the run, at its end, with long blocks
BATCHES = 2  # of a step
HEADS = 600  # masked positions of a batch that the head sees
PEAK = 1e-4  # learning rate of the body; the head has ten times
WARMUP = 20  # steps
DECAY = 0.7  # share of the run in which the learning rate falls

app = App(name="python -m experiments.training.train", help=__doc__, result_action="return_value")


def loss_of(
    model: Trainee, group: MaskedBatch | MatchingPairs, matching: float, layers: Sequence[int]
) -> Tensor:
    """Mean cross-entropy of a sample of the masked positions; for pairs, the matching loss of these
    layers is added, weighted by `matching`.
    """
    if isinstance(group, MaskedBatch):
        (states,) = model.states(group, -1)
        return _sampled(model, states, group.targets)
    last_of_summaries, *summaries = model.states(group.summaries, -1, *layers)
    last_of_sources, *sources = model.states(group.sources, -1, *layers)
    loss: Tensor = _sampled(model, torch.cat([last_of_summaries, last_of_sources]), group.targets)
    for summary_states, source_states in zip(summaries, sources, strict=True):
        loss = loss + matching * matching_loss(summary_states, source_states, group)
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
    """Loss per masked token of the first 200 texts set aside that are long enough.

    The first 254 tokens of each text, 15% masked by whole words, always the same ones.
    """
    rows = np.stack([ids[:SOURCE] for ids in texts if len(ids) >= SOURCE][:200])
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


class Batches:
    """Masked batches without end, from one stream of blocks for each length; about `batch` tokens
    in each.
    """

    def __init__(
        self, corpus: Corpus, vocabulary: Vocabulary, *, batch: int, pairs: bool, seed: int
    ) -> None:
        self._vocabulary, self._batch, self._pairs, self._seed = vocabulary, batch, pairs, seed
        lengths = {SHORT, *LONG}
        if pairs:  # tokens drawn behind each source fill its pseudo-summaries
            lengths |= {length + SUMMARY_LENGTH for length in (SOURCE, LONG_SOURCE)}
        self._streams = {length: BlockStream(corpus, length, seed) for length in lengths}

    def step(self, step: int, progress: float) -> list[MaskedBatch | MatchingPairs]:
        """The batches of a step: short blocks at first, long ones in the last share
        `LONG_SHARE` of the run.
        """
        is_short = progress < 1.0 - LONG_SHARE
        return [self._draw(step * BATCHES + number, is_short) for number in range(BATCHES)]

    def _draw(self, number: int, is_short: bool) -> MaskedBatch | MatchingPairs:
        rng = np.random.default_rng([self._seed, number])
        if self._pairs and number % 2:
            length = SOURCE if is_short else LONG_SOURCE
            size = self._batch // (PHASES * (length + 2) + SUMMARIES * (SUMMARY_LENGTH + 2))
            blocks = self._streams[length + SUMMARY_LENGTH].draw(max(1, size))
            return make_pairs(blocks, self._vocabulary, rng)
        length = SHORT if is_short else LONG[number // 2 % len(LONG)]
        blocks = self._streams[length].draw(max(1, self._batch // (length + 2)))
        if rng.random() < RANDOM:
            masked = random_masks(blocks, self._vocabulary.continues, MASK_RATES, WHOLE_WORDS, rng)
        else:
            masked = spaced_masks(blocks.shape, rng)
        return hide(blocks, masked, self._vocabulary)


@app.default
def train(
    corpus: Path,
    start: Path,
    work: Path,
    *,
    weights: Path | None = None,
    blocks: int | None = None,
    minutes: float = 120.0,
    steps: int = 10**9,
    batch: int = 4096,
    matching: float = 0.0,
    matching_layer: Annotated[list[int] | None, Parameter(consume_multiple=True)] = None,
    dtype: Literal["float32", "bfloat16"] = "float32",
    seed: int = 0,
) -> None:
    """Run the training.

    Args:
        corpus: Folder of *.jsonl.gz files with one document, {"text": ..., "source": ...}, per line.
        start: Folder of a BERT or an MPNet with its tokenizer.
        work: Folder for checkpoint.pt.
        weights: Checkpoint of another run, with as many blocks or more.
        blocks: Lowest blocks of the encoder to keep (default: all).
        minutes: End by the clock.
        steps: End by steps.
        batch: Tokens of a batch, special tokens included.
        matching: Weight of the loss that matches pairs; 0: none.
        matching_layer: Layers that are matched (default: the topmost).
        dtype: Of the products.
        seed: Of everything that is drawn.
    """
    torch.manual_seed(seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = load_tokenizer(start)
    vocabulary = Vocabulary.of(tokenizer)
    tokens = Corpus.of(tokenize(documents(corpus, aside=False), tokenizer))
    aside = tokenize(documents(corpus, aside=True), tokenizer)
    print(f"{len(tokens.ids)} tokens in {len(tokens.bounds) - 1} documents", flush=True)
    counts = np.bincount(tokens.ids, minlength=len(vocabulary.continues))
    model = Trainee.start(start, blocks, counts).to(device).train()
    if weights:
        other = torch.load(weights, weights_only=True, map_location=device)
        model.load_state_dict({name: other[name] for name in model.state_dict()})
    optimizer = make_optimizer(model)
    batches = Batches(tokens, vocabulary, batch=batch, pairs=matching > 0, seed=seed)
    begun, step, seen = time.monotonic(), 0, 0
    losses: list[float] = []
    while (progress := max(step / steps, (time.monotonic() - begun) / (60 * minutes))) < 1.0:
        for drawn in batches.step(step, progress):
            with torch.autocast(device, torch.bfloat16, enabled=dtype == "bfloat16"):
                loss = loss_of(model, drawn.to(device), matching, matching_layer or [-1])
            torch.autograd.backward(loss / BATCHES)
            losses.append(float(loss.detach()))
            seen += drawn.tokens
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = group["peak"] * rate(step, progress)
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        if step % 25 == 0:
            print(f"{step} steps, loss {np.mean(losses[-50:]):.4f}", flush=True)
    work.mkdir(parents=True, exist_ok=True)
    torch.save(model.state_dict(), work / "checkpoint.pt")
    loss_aside = held_out_loss(model, aside, vocabulary)
    print(f"{step} steps, {seen} tokens, held-out loss {loss_aside:.4f}")


if __name__ == "__main__":
    app()

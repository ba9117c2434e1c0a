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

At its start the script times forward and backward in float32 and in bfloat16, and uses the faster
one. Short blocks come first, long ones at the end. The learning rate falls with the larger of
``steps / --steps`` and ``time / --minutes``; time counts only while the script runs. Started again
with the same `WORK`, it resumes exactly where its last checkpoint was made: weights, optimizer, and
the position in each stream of blocks. A run that ends by steps is repeatable.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
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


class _SumCrossEntropy(torch.autograd.Function):
    """Cross-entropy summed over (m, d) inputs of a tied decoder; the gradient is made in the
    forward, in slices.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        logits = torch.addmm(bias, hidden, weight.T)  # (m, v)
        loss = torch.zeros((), device=hidden.device)
        slice_size = 128 if hidden.device.type == "cpu" else 4096
        for start in range(0, len(targets), slice_size):
            rows, wanted = logits[start : start + slice_size], targets[start : start + slice_size]
            log_probabilities = torch.log_softmax(rows.float(), dim=-1)
            loss -= log_probabilities.gather(1, wanted[:, None]).sum()
            gradient = log_probabilities.exp_()
            gradient[torch.arange(len(wanted), device=wanted.device), wanted] -= 1
            rows.copy_(gradient)
        ctx.save_for_backward(logits @ weight, logits.T @ hidden, logits.sum(0))
        return loss

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        hidden, weight, bias = ctx.saved_tensors
        scale = grads[0].to(hidden.dtype)
        return hidden * scale, weight * scale, bias * scale, None


def cross_entropy(model: Trainee, states: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy of the prediction head, summed over the masked positions whose states (m, d)
    these are.
    """
    sum_cross_entropy: Any = _SumCrossEntropy.apply
    loss: Tensor = sum_cross_entropy(model.head(states), model.table, model.bias, targets)
    return loss


def loss_of(model: Trainee, group: MaskedBatch | MatchingPairs, args: argparse.Namespace) -> Tensor:
    """Mean cross-entropy of a sample of the masked positions; for pairs, the matching loss is
    added, weighted.
    """
    if isinstance(group, MaskedBatch):
        (states,) = model.states(group, -1)
        return _sampled(model, states, group.targets, args.heads)
    of_summaries, *summaries = model.states(group.summaries, -1, *args.matching_layer)
    of_sources, *sources = model.states(group.sources, -1, *args.matching_layer)
    loss: Tensor = _sampled(model, torch.cat([of_summaries, of_sources]), group.targets, args.heads)
    for summary_states, source_states in zip(summaries, sources, strict=True):
        loss = loss + args.matching * matching_loss(summary_states, source_states, group)
    return loss


def _sampled(model: Trainee, states: Tensor, targets: Tensor, heads: int) -> Tensor:
    """Mean cross-entropy of `heads` positions, spread evenly; of all if there are fewer.

    Always as many, since a CPU keeps a kernel, and its memory, for every size of a product.
    """
    chosen = (
        torch.linspace(0, len(targets) - 1, min(heads, len(targets)), device=targets.device)
        .round()
        .long()
    )
    return cross_entropy(model, states[chosen], targets[chosen]) / len(chosen)


@torch.inference_mode()
def measure(
    model: Trainee, texts: list[np.ndarray], vocabulary: Vocabulary
) -> tuple[float, float, float]:
    """Held-out loss per masked token, share of masked tokens and of masked words (all pieces) that
    are predicted.

    The first 254 tokens of each text, 15% masked by whole words, always the same ones.
    """
    rows = np.stack([ids[:254] for ids in texts if len(ids) >= 254])
    rng = np.random.default_rng(0)
    total, hits, tokens, words_hit, words = 0.0, 0, 0, 0, 0
    for start in range(0, len(rows), 8):
        blocks = rows[start : start + 8]
        batch = hide(
            blocks, random_masks(blocks, vocabulary.continues, (0.15, 0.15), 1.0, rng), vocabulary
        )
        (states,) = model.states(batch.to(model.device), -1)
        logits = model.logits(states).float().cpu()  # (m, v)
        total += float(nn.functional.cross_entropy(logits, batch.targets, reduction="sum"))
        right = (logits.argmax(-1) == batch.targets).numpy()
        word = np.cumsum(~vocabulary.continues[batch.targets.numpy()])  # masked words in order
        word -= word[0]
        words_hit += int((np.bincount(word, ~right) == 0).sum())
        words += int(word[-1]) + 1
        hits, tokens = hits + int(right.sum()), tokens + len(right)
    return total / tokens, hits / tokens, words_hit / words


def make_optimizer(model: Trainee, args: argparse.Namespace) -> torch.optim.Optimizer:
    """AdamW; the head has ten times the learning rate of the body."""
    groups: list[dict[str, Any]] = [
        {"params": [*model.head.parameters(), model.bias], "peak": 10 * args.lr}
    ]
    groups += [{"params": [], "peak": args.lr, "weight_decay": decay} for decay in (0.01, 0.0)]
    for weight in model.body.parameters():
        if weight.requires_grad:
            groups[1 if weight.ndim == 2 else 2]["params"].append(weight)
    return torch.optim.AdamW(groups, lr=args.lr, betas=(0.9, 0.98), weight_decay=0.0, fused=True)


def rate(step: int, progress: float, warmup: int, decay: float) -> float:
    """Share of the peak learning rate: warm-up, stable, then linear to 0 over the last share
    `decay` of the run.
    """
    return min(1.0, (step + 1) / warmup, (1.0 - progress) / decay)


def save(path: Path, **state: Any) -> None:
    """Write a checkpoint under another name, then rename it."""
    torch.save(state, path.with_suffix(".tmp"))
    path.with_suffix(".tmp").rename(path)


def read_tokens(args: argparse.Namespace) -> tuple[Corpus, list[np.ndarray], Vocabulary]:
    """Token ids of the documents to train on and of 200 documents set aside, and the vocabulary.

    They are kept compressed in `WORK`, so that the corpus need not travel to another machine.
    """
    tokenizer = load_tokenizer(args.start)
    kept = args.work / "tokens.npz"
    if not kept.exists():
        train = Corpus.of(
            tokenize(documents(args.corpus, aside=False), tokenizer, args.corpus_tokens)
        )
        others = Corpus.of(tokenize(documents(args.corpus, aside=True), tokenizer))
        with kept.with_suffix(".tmp").open("wb") as stream:
            np.savez_compressed(
                stream,
                ids=train.ids,
                bounds=train.bounds,
                aside=others.ids,
                aside_bounds=others.bounds,
            )
        kept.with_suffix(".tmp").rename(kept)
    with np.load(kept) as stored:
        train = Corpus(stored["ids"], stored["bounds"])
        aside = np.split(stored["aside"], stored["aside_bounds"][1:-1])
    return train, [ids for ids in aside if len(ids) >= 254][:200], Vocabulary.of(tokenizer)


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
        """The batches of a step: short blocks at first, long ones in the last share ``--long`` of
        the run.
        """
        return [
            self._batch(step * self._args.batches + number, progress)
            for number in range(self._args.batches)
        ]

    def _batch(self, number: int, progress: float) -> MaskedBatch | MatchingPairs:
        short, pairs = progress < 1.0 - self._args.long, self._args.matching and number % 2
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


def choose_dtype(model: Trainee, batch: MaskedBatch, args: argparse.Namespace) -> torch.dtype:
    """The faster of float32 and bfloat16 for forward and backward of `batch`; both are printed."""
    speeds = {}
    for dtype in (torch.float32, torch.bfloat16):
        copy = model.copy(dtype)
        for _ in range(3):  # the first is a warm-up
            begun = time.monotonic()
            torch.autograd.backward(loss_of(copy, batch, args))
            if copy.device.type == "cuda":
                torch.cuda.synchronize()
            speeds[dtype] = batch.ids.numel() / (time.monotonic() - begun)
    print(
        ", ".join(f"{dtype}: {speed:.0f} tokens/s" for dtype, speed in speeds.items()), flush=True
    )
    return max(speeds, key=lambda dtype: speeds[dtype])


def working_copy(master: Trainee, dtype: torch.dtype) -> tuple[Trainee, Callable[[], None]]:
    """The model that is run, and what copies the float32 weights into it after each step."""
    if dtype == torch.float32:
        return master, master.zero_grad
    model = master.copy(dtype).train()
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
    corpus, aside, vocabulary = read_tokens(args)
    print(f"{len(corpus.ids)} tokens in {len(corpus.bounds) - 1} documents", flush=True)
    counts = np.bincount(corpus.ids, minlength=len(vocabulary.continues))
    master = Trainee.start(args.start, args.blocks, counts).to(args.device).train()
    if args.weights:
        weights = torch.load(args.weights, weights_only=True, map_location=args.device)["model"]
        master.load_state_dict({name: weights[name] for name in master.state_dict()})
    optimizer = make_optimizer(master, args)
    step, spent, tokens, positions = 0, 0.0, 0, {}
    checkpoint = args.work / "checkpoint.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True, map_location=args.device)
        master.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step, spent, tokens, positions = (
            state[name] for name in ("step", "spent", "tokens", "positions")
        )
    batches = Batches(corpus, vocabulary, args, positions)
    rows = corpus.ids[: 32 * SHORT].reshape(-1, SHORT)
    trial = hide(rows, spaced_masks(rows.shape, np.random.default_rng()), vocabulary)
    dtype = (
        getattr(torch, args.dtype)
        if args.dtype
        else choose_dtype(master, trial.to(args.device), args)
    )
    model, refresh = working_copy(master, dtype)
    resumed, begun = spent, time.monotonic() - spent
    logged = saved = spent
    running: list[float] = []

    def keep() -> None:
        counted = {"step": step, "spent": spent, "tokens": tokens, "positions": batches.positions}
        save(checkpoint, model=master.state_dict(), optimizer=optimizer.state_dict(), **counted)

    while True:
        done = max(step / args.steps, (time.monotonic() - begun) / (60 * args.minutes))
        if done >= 1.0 or spent - resumed > 60 * args.pause_after:
            break
        for batch in batches.step(step, done):
            loss = loss_of(model, batch.to(args.device), args)
            torch.autograd.backward(loss / args.batches)
            running.append(float(loss.detach()))
            tokens += batch.tokens
        if model is not master:
            for full, low in zip(master.parameters(), model.parameters(), strict=True):
                full.grad = None if low.grad is None else low.grad.float()
        norm = float(nn.utils.clip_grad_norm_(master.parameters(), 1.0))
        for group in optimizer.param_groups:
            group["lr"] = group["peak"] * rate(step, done, args.warmup, args.decay)
        optimizer.step()
        refresh()
        step += 1
        spent = time.monotonic() - begun
        if step % 25 == 0:
            print(
                f"{step} {spent:.0f}s tokens {tokens} loss {np.mean(running):.4f} norm {norm:.2f}",
                flush=True,
            )
            running = []
        if spent - logged > 60 * args.log_minutes:
            report(model, aside, vocabulary, spent)
            logged = spent
        if spent - saved > 60 * args.save_minutes:
            keep()
            saved = spent
    report(model, aside, vocabulary, spent)
    keep()
    print(f"{step} steps, {tokens} tokens, {spent / 60:.0f} minutes", flush=True)


def report(model: Trainee, aside: list[np.ndarray], vocabulary: Vocabulary, spent: float) -> None:
    """Print the held-out measurements."""
    loss, hit, word_hit = measure(model, aside, vocabulary)
    print(
        f"held-out {spent:.0f}s loss {loss:.4f} tokens {hit:.4f} words {word_hit:.4f}", flush=True
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; ``arguments`` replace the arguments of the process."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "corpus", type=Path, help="folder of *.jsonl.gz files; not read if WORK has tokens.npz"
    )
    parser.add_argument(
        "start",
        type=Path,
        help="folder of the starting encoder: config, safetensors, tokenizer.json",
    )
    parser.add_argument("work", type=Path, help="folder for tokens and checkpoint")
    parser.add_argument(
        "--weights",
        type=Path,
        help="checkpoint of another run to start from, with as many blocks or more",
    )
    parser.add_argument(
        "--blocks", type=int, help="lowest blocks of the encoder to keep (default: all)"
    )
    parser.add_argument(
        "--corpus-tokens", type=int, default=10**12, help="tokens to read from the corpus"
    )
    parser.add_argument(
        "--minutes", type=float, default=120.0, help="end by the clock, restarts included"
    )
    parser.add_argument(
        "--pause-after",
        type=float,
        default=10**9,
        help="minutes after which to stop, to be resumed",
    )
    parser.add_argument("--steps", type=int, default=10**9, help="end by steps")
    parser.add_argument(
        "--batch", type=int, default=4096, help="tokens of a batch, special tokens included"
    )
    parser.add_argument("--batches", type=int, default=2, help="batches of a step")
    parser.add_argument(
        "--long", type=float, default=0.2, help="share of the run, at its end, with long blocks"
    )
    parser.add_argument(
        "--heads", type=int, default=600, help="masked positions of a batch that the head sees"
    )
    parser.add_argument(
        "--matching", type=float, default=0.0, help="weight of the loss that matches pairs; 0: none"
    )
    parser.add_argument(
        "--matching-layer",
        type=int,
        nargs="+",
        default=[-1],
        help="layers that are matched (default: the topmost)",
    )
    parser.add_argument(
        "--lr",
        type=float,
        default=1e-4,
        help="peak learning rate of the body; the head has ten times",
    )
    parser.add_argument("--warmup", type=int, default=20, help="steps of warm-up")
    parser.add_argument(
        "--decay", type=float, default=0.7, help="share of the run in which the learning rate falls"
    )
    parser.add_argument(
        "--log-minutes", type=float, default=5.0, help="minutes between held-out measurements"
    )
    parser.add_argument(
        "--save-minutes", type=float, default=5.0, help="minutes between checkpoints"
    )
    parser.add_argument(
        "--dtype", choices=("float32", "bfloat16"), help="of the products (default: the faster one)"
    )
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    train(parser.parse_args(arguments))


if __name__ == "__main__":
    main()

"""Train the embedded encoder: masked language modelling and matching, resumable, on a CPU or a GPU.

    python -m estime_metric.studies.embedded_encoder.train CORPUS START WORK --minutes 120
    python -m estime_metric.studies.embedded_encoder.export WORK/checkpoint.pt START OUT

`CORPUS` is a folder of ``*.jsonl.gz`` files with one document (``{"text": ..., "source": ...}``) per line, `START` the
folder of a BERT with its tokenizer (without weights: random ones), `WORK` keeps token ids and checkpoint, and is all
that another machine needs beside `START`; `export` makes the folder that ships.

With ``--matching`` the blocks are sources with pseudo-summaries, and a second loss asks what ESTIME asks: that a masked
summary token be most similar to the same token of its source (`pairs`). Without it masked language modelling is all.

At its start the script times forward and backward in float32 and in bfloat16, and takes the faster. Short blocks come
first, long ones at the end. The learning rate falls with the larger of ``steps / --steps`` and ``time / --minutes``;
time counts only while the script runs. Started again with the same `WORK`, it resumes exactly where its last checkpoint
was made: weights, optimizers, and the position in each stream of blocks. A run that ends by steps is repeatable.
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
from transformers import BertConfig, BertForMaskedLM

from estime_metric.config import default_layer
from estime_metric.studies.embedded_encoder.data import (
    Batch,
    BlockStream,
    Corpus,
    continuations,
    documents,
    load_tokenizer,
    mask_batch,
    tokenize,
)
from estime_metric.studies.embedded_encoder.pairs import SUMMARIES, SUMMARY_LENGTH, Pairs, make_pairs, matching_loss

# Axes: b blocks of a batch, t positions of a block, d width, m masked positions, v vocabulary.

MASK_RATES = (0.12, 0.45)  # drawn per block
WHOLE_WORDS = 0.8  # share of the blocks in which whole words are masked
SHORT = 126  # block length at first, without [CLS] and [SEP]
LONG = (254, 510, 510)  # block lengths at the end, in turn
SOURCE = 254  # length of the sources of pairs at first
LONG_SOURCES = (510,)  # at the end


class _SumCrossEntropy(torch.autograd.Function):
    """Cross-entropy summed over (m, d) inputs of a tied decoder; the gradient is made in the forward, in slices."""

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


def masked_outputs(model: BertForMaskedLM, batch: Batch, *layers: int) -> list[Tensor]:
    """Outputs of some layers at the masked positions, (m, d) each."""
    states = model.bert(input_ids=batch.ids, output_hidden_states=True).hidden_states
    return [states[layer].flatten(0, 1)[batch.positions] for layer in layers]


def cross_entropy(model: BertForMaskedLM, output: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy of the prediction head, summed over the masked positions whose output this is."""
    head = model.cls.predictions
    sum_cross_entropy: Any = _SumCrossEntropy.apply
    loss: Tensor = sum_cross_entropy(head.transform(output), head.decoder.weight, head.decoder.bias, targets)
    return loss


def loss_of(model: BertForMaskedLM, group: Batch | Pairs, matching: float = 0.0) -> Tensor:
    """Cross-entropy summed over the masked positions; for pairs, the matching loss as often as there are, weighted."""
    if isinstance(group, Batch):
        (output,) = masked_outputs(model, group, -1)
        return cross_entropy(model, output, group.targets)
    read = default_layer(model.config.num_hidden_layers)
    of_summaries, summaries = masked_outputs(model, group.summaries, -1, read)
    of_sources, sources = masked_outputs(model, group.sources, -1, read)
    loss = cross_entropy(model, torch.cat([of_summaries, of_sources]), group.targets)
    return loss + matching * len(group.targets) * matching_loss(summaries, sources, group)


@torch.inference_mode()
def measure(model: BertForMaskedLM, texts: list[np.ndarray], continues: np.ndarray) -> tuple[float, float, float]:
    """Held-out loss per masked token, share of masked tokens and of masked words (all pieces) that are predicted.

    The first 254 tokens of each text, 15% masked by whole words, always the same ones.
    """
    rows = np.stack([ids[:254] for ids in texts if len(ids) >= 254])
    rng = np.random.default_rng(0)
    total, hits, tokens, words_hit, words = 0.0, 0, 0, 0, 0
    for start in range(0, len(rows), 8):
        batch = mask_batch(rows[start : start + 8], continues, (0.15, 0.15), 1.0, rng)
        (output,) = masked_outputs(model, batch.to(model.device), -1)
        logits = model.cls.predictions(output).float().cpu()  # (m, v)
        total += float(nn.functional.cross_entropy(logits, batch.targets, reduction="sum"))
        right = (logits.argmax(-1) == batch.targets).numpy()
        word = np.cumsum(~continues[batch.targets.numpy()])  # masked words in order
        word -= word[0]
        words_hit += int((np.bincount(word, ~right) == 0).sum())
        words += int(word[-1]) + 1
        hits, tokens = hits + int(right.sum()), tokens + len(right)
    return total / tokens, hits / tokens, words_hit / words


def make_optimizers(model: BertForMaskedLM, args: argparse.Namespace) -> list[torch.optim.Optimizer]:
    """AdamW for everything, or Muon for the hidden matrices and AdamW for the rest."""
    matrices: list[Tensor] = []
    others: list[Tensor] = []
    plain: list[Tensor] = []
    for name, weight in model.named_parameters():
        hidden = weight.ndim == 2 and "embeddings" not in name and "decoder" not in name
        (matrices if hidden else others if weight.ndim == 2 else plain).append(weight)
    groups: list[dict[str, Any]] = [{"params": others}, {"params": plain, "weight_decay": 0.0}]
    if not args.muon_lr:
        groups.append({"params": matrices})
    rest = torch.optim.AdamW(groups, lr=args.lr, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    if not args.muon_lr:
        return [rest]
    muon = torch.optim.Muon(
        matrices, lr=args.muon_lr, weight_decay=0.01, momentum=0.95, ns_steps=4, adjust_lr_fn="match_rms_adamw"
    )
    return [muon, rest]


def rate(step: int, progress: float, warmup: int, decay: float) -> float:
    """Share of the peak learning rate: warm-up, stable, then linear to 0 over the last share `decay` of the run."""
    return min(1.0, (step + 1) / warmup, (1.0 - progress) / decay)


def save(path: Path, **state: Any) -> None:
    """Write a checkpoint under another name, then rename it."""
    torch.save(state, path.with_suffix(".tmp"))
    path.with_suffix(".tmp").rename(path)


def read_tokens(args: argparse.Namespace) -> tuple[Corpus, list[np.ndarray], np.ndarray]:
    """Token ids of the documents to train on and of 200 documents set aside, and which ids continue a word.

    They are kept compressed in `WORK`, so that the corpus need not travel to another machine.
    """
    tokenizer = load_tokenizer(args.start)
    kept = args.work / "tokens.npz"
    if not kept.exists():
        train = Corpus.of(tokenize(documents(args.corpus, aside=False), tokenizer, args.corpus_tokens))
        others = Corpus.of(tokenize(documents(args.corpus, aside=True), tokenizer))
        with kept.with_suffix(".tmp").open("wb") as stream:
            np.savez_compressed(
                stream, ids=train.ids, bounds=train.bounds, aside=others.ids, aside_bounds=others.bounds
            )
        kept.with_suffix(".tmp").rename(kept)
    with np.load(kept) as stored:
        train = Corpus(stored["ids"], stored["bounds"])
        aside = np.split(stored["aside"], stored["aside_bounds"][1:-1])
    return train, [ids for ids in aside if len(ids) >= 254][:200], continuations(tokenizer)


class Batches:
    """Masked batches without end, from one stream of blocks for each length; resumes exactly from `positions`."""

    def __init__(self, corpus: Corpus, continues: np.ndarray, args: argparse.Namespace, positions: dict[int, int]):
        self._continues, self._args = continues, args
        self._long: tuple[int, ...]
        self._short, self._long = (SOURCE, LONG_SOURCES) if args.matching else (SHORT, LONG)
        behind = SUMMARY_LENGTH if args.matching else 0  # tokens drawn with each block, which fill its pseudo-summaries
        self._streams = {
            length: BlockStream(corpus, length + behind, args.seed, positions.get(length, 0))
            for length in {self._short, *self._long}
        }

    @property
    def positions(self) -> dict[int, int]:
        """How many blocks of each length were drawn."""
        return {length: stream.position for length, stream in self._streams.items()}

    def step(self, step: int, progress: float) -> list[Batch] | list[Pairs]:
        """The batches of a step: short blocks at first, long ones in the last share ``--long`` of the run."""
        length = self._short if progress < 1.0 - self._args.long else self._long[step % len(self._long)]
        stream = self._streams[length]
        rng = np.random.default_rng([self._args.seed, length, stream.position])  # new masks in each epoch
        if self._args.matching:
            size = self._args.batch // (length + 2 + SUMMARIES * (SUMMARY_LENGTH + 2))
            return [make_pairs(stream.draw(size), self._continues, rng) for _ in range(self._args.batches)]
        size = self._args.batch // (length + 2)
        blocks = [stream.draw(size) for _ in range(self._args.batches)]
        return [mask_batch(rows, self._continues, MASK_RATES, WHOLE_WORDS, rng) for rows in blocks]


def start_model(folder: Path, corpus: Corpus) -> BertForMaskedLM:
    """The starting weights without dropout; a head that `folder` lacks starts with the frequencies of tokens."""
    options = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "attn_implementation": "sdpa"}
    if not (folder / "model.safetensors").exists():
        model, missing = BertForMaskedLM(BertConfig.from_pretrained(folder, **options)), {"cls.predictions.bias"}
    else:
        model, info = BertForMaskedLM.from_pretrained(folder, output_loading_info=True, **options)
        missing = set(info["missing_keys"])
    if "cls.predictions.bias" in missing:
        counts = np.bincount(corpus.ids, minlength=model.config.vocab_size) + 0.1
        with torch.no_grad():
            model.cls.predictions.decoder.bias.copy_(torch.from_numpy(np.log(counts / counts.sum())))
    return model.train()


def choose_dtype(model: BertForMaskedLM, batch: Batch) -> torch.dtype:
    """The faster of float32 and bfloat16 for forward and backward of `batch`; both are printed."""
    speeds = {}
    for dtype in (torch.float32, torch.bfloat16):
        copy = BertForMaskedLM(model.config).to(model.device, dtype)
        for _ in range(3):  # the first is a warm-up
            begun = time.monotonic()
            torch.autograd.backward(loss_of(copy, batch))
            if copy.device.type == "cuda":
                torch.cuda.synchronize()
            speeds[dtype] = batch.ids.numel() / (time.monotonic() - begun)
    print(", ".join(f"{dtype}: {speed:.0f} tokens/s" for dtype, speed in speeds.items()), flush=True)
    return max(speeds, key=lambda dtype: speeds[dtype])


def working_copy(master: BertForMaskedLM, dtype: torch.dtype) -> tuple[BertForMaskedLM, Callable[[], None]]:
    """The model that is run, and what copies the float32 weights into it after each step."""
    if dtype == torch.float32:
        return master, master.zero_grad
    model = BertForMaskedLM(master.config).to(master.device, dtype).train()
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
    corpus, aside, continues = read_tokens(args)
    print(f"{len(corpus.ids)} tokens in {len(corpus.bounds) - 1} documents", flush=True)
    master = start_model(args.start, corpus).to(args.device)
    optimizers = make_optimizers(master, args)
    step, spent, tokens, positions = 0, 0.0, 0, {}
    checkpoint = args.work / "checkpoint.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=False, map_location=args.device)
        master.load_state_dict(state["model"])
        for optimizer, values in zip(optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(values)
        step, spent, tokens, positions = (state[name] for name in ("step", "spent", "tokens", "positions"))
    batches = Batches(corpus, continues, args, positions)
    trial = mask_batch(corpus.ids[: 32 * SHORT].reshape(-1, SHORT), continues, MASK_RATES, 1.0, np.random.default_rng())
    dtype = choose_dtype(master, trial.to(args.device)) if args.dtype is None else getattr(torch, args.dtype)
    model, refresh = working_copy(master, dtype)
    if args.compile:
        model.bert.forward = torch.compile(model.bert.forward, dynamic=False)
    resumed, begun = spent, time.monotonic() - spent
    logged = saved = spent
    running, masked = 0.0, 0

    def keep() -> None:
        states = [optimizer.state_dict() for optimizer in optimizers]
        counts = {"step": step, "spent": spent, "tokens": tokens, "positions": batches.positions}
        save(checkpoint, model=master.state_dict(), optimizers=states, **counts)

    while True:
        done = max(step / args.steps, (time.monotonic() - begun) / (60 * args.minutes))
        if done >= 1.0 or spent - resumed > 60 * args.pause_after:
            break
        group = batches.step(step, done)
        wanted = sum(len(batch.targets) for batch in group)
        for batch in group:
            loss = loss_of(model, batch.to(args.device), args.matching)
            torch.autograd.backward(loss / wanted)
            running += float(loss.detach())
            tokens += batch.tokens
        masked += wanted
        if model is not master:
            for full, low in zip(master.parameters(), model.parameters(), strict=True):
                full.grad = low.grad.float()
        norm = float(nn.utils.clip_grad_norm_(master.parameters(), 1.0))
        for optimizer in optimizers:
            peak = args.muon_lr if isinstance(optimizer, torch.optim.Muon) else args.lr
            for params in optimizer.param_groups:
                params["lr"] = peak * rate(step, done, args.warmup, args.decay)
            optimizer.step()
        refresh()
        step += 1
        spent = time.monotonic() - begun
        if step % 25 == 0:
            print(f"{step} {spent:.0f}s tokens {tokens} loss {running / masked:.4f} norm {norm:.2f}", flush=True)
            running, masked = 0.0, 0
        if spent - logged > 60 * args.log_minutes:
            report(model, aside, continues, spent)
            logged = spent
        if spent - saved > 60 * args.save_minutes:
            keep()
            saved = spent
    report(model, aside, continues, spent)
    keep()
    print(f"{step} steps, {tokens} tokens, {spent / 60:.0f} minutes", flush=True)


def report(model: BertForMaskedLM, aside: list[np.ndarray], continues: np.ndarray, spent: float) -> None:
    """Print the held-out measurements."""
    loss, hit, word_hit = measure(model, aside, continues)
    print(f"held-out {spent:.0f}s loss {loss:.4f} tokens {hit:.4f} words {word_hit:.4f}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; ``arguments`` in place of those of the process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="folder of *.jsonl.gz files; not read where WORK has tokens.npz")
    parser.add_argument("start", type=Path, help="folder of the starting BERT: config, safetensors, tokenizer.json")
    parser.add_argument("work", type=Path, help="folder for tokens and checkpoint")
    parser.add_argument("--corpus-tokens", type=int, default=10**12, help="tokens to read from the corpus")
    parser.add_argument("--minutes", type=float, default=120.0, help="end by the clock, restarts included")
    parser.add_argument("--pause-after", type=float, default=10**9, help="minutes after which to stop, to be resumed")
    parser.add_argument("--steps", type=int, default=10**9, help="end by steps")
    parser.add_argument("--batch", type=int, default=4096, help="tokens of a batch, special tokens included")
    parser.add_argument("--batches", type=int, default=2, help="batches of a step")
    parser.add_argument("--long", type=float, default=0.2, help="share of the run, at its end, with long blocks")
    parser.add_argument("--matching", type=float, default=0.0, help="weight of the loss that matches pairs; 0: none")
    parser.add_argument("--lr", type=float, default=7e-4, help="peak learning rate of AdamW")
    parser.add_argument("--muon-lr", type=float, default=1.5e-3, help="peak learning rate of Muon; 0: AdamW alone")
    parser.add_argument("--warmup", type=int, default=100, help="steps of warm-up")
    parser.add_argument("--decay", type=float, default=0.8, help="share of the run in which the learning rate falls")
    parser.add_argument("--log-minutes", type=float, default=5.0, help="minutes between held-out measurements")
    parser.add_argument("--save-minutes", type=float, default=5.0, help="minutes between checkpoints")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), help="of the products; left out: the faster one")
    parser.add_argument("--compile", action="store_true", help="torch.compile the encoder")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    train(parser.parse_args(arguments))


if __name__ == "__main__":
    main()

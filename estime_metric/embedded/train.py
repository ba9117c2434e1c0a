"""Train the embedded encoder: plain masked language modelling from the weights of a small BERT.

    python -m estime_metric.embedded.train CORPUS START WORK --minutes 90
    python -m estime_metric.embedded.export WORK/checkpoint.pt START OUT

`CORPUS` is a folder of ``*.jsonl.gz`` files with one document (``{"text": ..., "source": ...}``) per line, `START` the
folder of a BERT with its tokenizer, `WORK` keeps token ids and checkpoint; `export` makes the folder that ships.
Written for a CPU: weights and activations are bfloat16, the optimizers update a float32 copy of the weights.

The run ends after ``--steps`` steps or ``--minutes`` minutes, whichever comes first; the learning rate follows the
larger of the two fractions, so that a run which ends by steps is repeatable. Started again with the same `WORK`, it
resumes from the last checkpoint.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AttentionInterface, BertForMaskedLM

from estime_metric.embedded.data import (
    Batch,
    continuations,
    cut_blocks,
    documents,
    load_tokenizer,
    mask_batch,
    tokenize,
)

# Axes: b blocks of a batch, t positions of a block, h heads, d width, m masked positions, v vocabulary.

MASK_RATES = (0.12, 0.45)  # drawn per block
WHOLE_WORDS = 0.8  # share of the blocks in which whole words are masked


def plain_attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **kwargs: Any
) -> tuple[Tensor, None]:
    """Attention over blocks without padding; on a CPU with 32-wide heads its backward beats the fused kernel's.

    query, key, value: (b, h, t, d); returns (b, t, h, d).
    """
    weights = torch.softmax((query * query.shape[-1] ** -0.5) @ key.transpose(-1, -2), dim=-1)
    return (weights @ value).transpose(1, 2).contiguous(), None


class _SumCrossEntropy(torch.autograd.Function):
    """Cross-entropy summed over (m, d) inputs of a tied decoder; the gradient is made in the forward, in slices."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        logits = torch.addmm(bias, hidden, weight.T)  # (m, v)
        loss = torch.zeros(())
        for start in range(0, len(targets), 128):
            rows, wanted = logits[start : start + 128], targets[start : start + 128]
            logp = torch.log_softmax(rows.float(), dim=-1)
            loss -= logp.gather(1, wanted[:, None]).sum()
            slope = logp.exp_()
            slope[torch.arange(len(wanted)), wanted] -= 1
            rows.copy_(slope)
        ctx.save_for_backward(logits @ weight, logits.T @ hidden, logits.sum(0))
        return loss

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        hidden, weight, bias = ctx.saved_tensors
        scale = grads[0].to(hidden.dtype)
        return hidden * scale, weight * scale, bias * scale, None


def masked_hidden(model: BertForMaskedLM, batch: Batch) -> Tensor:
    """Input of the decoder at the masked positions, (m, d)."""
    hidden = model.bert(input_ids=batch.ids).last_hidden_state.flatten(0, 1)
    inputs: Tensor = model.cls.predictions.transform(hidden[batch.positions])
    return inputs


def loss_of(model: BertForMaskedLM, batch: Batch) -> Tensor:
    """Cross-entropy summed over the masked positions of a batch."""
    decoder = model.cls.predictions.decoder
    sum_cross_entropy: Any = _SumCrossEntropy.apply
    loss: Tensor = sum_cross_entropy(masked_hidden(model, batch), decoder.weight, decoder.bias, batch.targets)
    return loss


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
        logits = model.cls.predictions.decoder(masked_hidden(model, batch)).float()  # (m, v)
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


def read_tokens(args: argparse.Namespace) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Token ids of the documents to train on and of 200 documents set aside, and which ids continue a word."""
    tokenizer = load_tokenizer(args.start)
    cache = args.work / "tokens.pt"
    if not cache.exists():
        kept = tokenize(documents(args.corpus, aside=False), tokenizer, args.corpus_tokens)
        save(cache, train=kept, aside=tokenize(documents(args.corpus, aside=True), tokenizer))
    texts = torch.load(cache, weights_only=False)
    return texts["train"], [ids for ids in texts["aside"] if len(ids) >= 254][:200], continuations(tokenizer)


def make_steps(
    texts: list[np.ndarray], continues: np.ndarray, args: argparse.Namespace, first: int
) -> Iterator[list[Batch]]:
    """The batches of each step from step `first` on, without end. A batch has one block length; epochs are shuffled."""
    blocks = cut_blocks(texts, np.random.default_rng(args.seed))
    pieces = []  # (blocks of one length, first row, rows)
    for length, rows in blocks.items():
        size = args.batch // (length + 2)
        pieces += [(rows, row, size) for row in range(0, len(rows) - size + 1, size)]
    index = first * args.batches
    while True:
        group = []
        for i in range(index, index + args.batches):
            epoch, place = divmod(i, len(pieces))
            rows, row, size = pieces[np.random.default_rng([args.seed, epoch]).permutation(len(pieces))[place]]
            rng = np.random.default_rng([args.seed, i])
            group.append(mask_batch(rows[row : row + size], continues, MASK_RATES, WHOLE_WORDS, rng))
        yield group
        index += args.batches


def start_model(folder: Path, texts: list[np.ndarray]) -> BertForMaskedLM:
    """The starting weights with a fresh prediction head, its bias the log frequency of each token; no dropout."""
    AttentionInterface.register("plain", plain_attention)
    model = BertForMaskedLM.from_pretrained(
        folder, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, attn_implementation="plain"
    )
    counts = np.bincount(np.concatenate(texts), minlength=model.config.vocab_size) + 0.1
    with torch.no_grad():
        model.cls.predictions.decoder.bias.copy_(torch.from_numpy(np.log(counts / counts.sum())))
    return model


def train(args: argparse.Namespace) -> None:
    """Run the training."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    args.work.mkdir(parents=True, exist_ok=True)
    texts, aside, continues = read_tokens(args)
    master = start_model(args.start, texts)
    optimizers = make_optimizers(master, args)
    step, spent, tokens = 0, 0.0, 0
    checkpoint = args.work / "checkpoint.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=False)
        master.load_state_dict(state["model"])
        for optimizer, values in zip(optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(values)
        step, spent, tokens = state["step"], state["spent"], state["tokens"]
    model = BertForMaskedLM(master.config).to(torch.bfloat16)
    pairs = list(zip(master.parameters(), model.parameters(), strict=True))

    def refresh() -> None:
        """Copy the float32 weights into the bfloat16 ones."""
        with torch.no_grad():
            for full, half in pairs:
                half.copy_(full)
                half.grad = None

    refresh()
    begun = time.monotonic() - spent
    logged = saved = spent
    running, masked = 0.0, 0
    for group in make_steps(texts, continues, args, step):
        done = max(step / args.steps, (time.monotonic() - begun) / (60 * args.minutes))
        if done >= 1.0:
            break
        wanted = sum(len(batch.targets) for batch in group)
        for batch in group:
            loss = loss_of(model, batch)
            torch.autograd.backward(loss / wanted)
            running += float(loss.detach())
            tokens += batch.ids.numel()
        masked += wanted
        for full, half in pairs:
            full.grad = half.grad.float()
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
        if spent - saved > 600:
            states = [optimizer.state_dict() for optimizer in optimizers]
            save(checkpoint, model=master.state_dict(), optimizers=states, step=step, spent=spent, tokens=tokens)
            saved = spent
    report(model, aside, continues, spent)
    states = [optimizer.state_dict() for optimizer in optimizers]
    save(checkpoint, model=master.state_dict(), optimizers=states, step=step, spent=spent, tokens=tokens)
    print(f"{step} steps, {tokens} tokens, {spent / 60:.0f} minutes", flush=True)


def report(model: BertForMaskedLM, aside: list[np.ndarray], continues: np.ndarray, spent: float) -> None:
    """Print the held-out measurements."""
    loss, hit, word_hit = measure(model, aside, continues)
    print(f"held-out {spent:.0f}s loss {loss:.4f} tokens {hit:.4f} words {word_hit:.4f}", flush=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="folder of *.jsonl.gz files")
    parser.add_argument("start", type=Path, help="folder of the starting BERT: config, safetensors, tokenizer.json")
    parser.add_argument("work", type=Path, help="folder for tokens and checkpoint")
    parser.add_argument("--corpus-tokens", type=int, default=40_000_000, help="tokens to read from the corpus")
    parser.add_argument("--minutes", type=float, default=90.0, help="end by the clock")
    parser.add_argument("--steps", type=int, default=10**9, help="end by steps")
    parser.add_argument("--batch", type=int, default=4096, help="tokens of a batch, special tokens included")
    parser.add_argument("--batches", type=int, default=2, help="batches of a step")
    parser.add_argument("--lr", type=float, default=7e-4, help="peak learning rate of AdamW")
    parser.add_argument("--muon-lr", type=float, default=1.5e-3, help="peak learning rate of Muon; 0: AdamW alone")
    parser.add_argument("--warmup", type=int, default=100, help="steps of warm-up")
    parser.add_argument("--decay", type=float, default=0.8, help="share of the run in which the learning rate falls")
    parser.add_argument("--log-minutes", type=float, default=5.0, help="minutes between held-out measurements")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    train(parser.parse_args())


if __name__ == "__main__":
    main()

"""Data of the masked language model: documents of the corpus, token ids, blocks, and what is masked in them."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

# Axes: b blocks of a batch, t positions of a block, m masked positions, v vocabulary.

CLS, SEP, MASK = 101, 102, 103
LENGTHS = {126: 0.3, 254: 0.3, 510: 0.4}  # block length without [CLS] and [SEP] -> share of the tokens
LEFT_OUT = frozenset({"zach-porter/NLP", "mlschmitt/classic-books-markdown"})  # licence not stated or not verified


def held_out(text: str) -> bool:
    """Whether a document is set aside for measurements: one in 150, by the hash of its text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % 150 == 0


def documents(corpus: Path, *, aside: bool) -> Iterator[str]:
    """Texts of the corpus in file order: those to train on, or those set aside; sources in `LEFT_OUT` are skipped."""
    for path in sorted(corpus.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                if record["source"] not in LEFT_OUT and held_out(record["text"]) == aside:
                    yield record["text"]


def load_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a folder, without its truncation and padding."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def continuations(tokenizer: Tokenizer) -> np.ndarray:
    """Which ids of the vocabulary continue a word, (v,) bool."""
    vocabulary = tokenizer.get_vocab()
    flags = np.zeros(len(vocabulary), bool)
    flags[[i for token, i in vocabulary.items() if token.startswith("##")]] = True
    return flags


def tokenize(texts: Iterator[str], tokenizer: Tokenizer, limit: int = 10**12) -> list[np.ndarray]:
    """Token ids of each text, without special tokens, until `limit` tokens are reached."""
    ids: list[np.ndarray] = []
    while sum(map(len, ids)) < limit and (batch := list(islice(texts, 500))):
        ids += [np.array(e.ids, np.uint16) for e in tokenizer.encode_batch_fast(batch, add_special_tokens=False)]
    return ids


def cut_blocks(texts: list[np.ndarray], rng: np.random.Generator) -> dict[int, np.ndarray]:
    """Cut each text into blocks that stay inside it, lengths drawn by their share of tokens; rests are dropped.

    Returns length -> (blocks, length) in random order.
    """
    blocks: dict[int, list[np.ndarray]] = {length: [] for length in LENGTHS}
    weights = np.array([share / length for length, share in LENGTHS.items()])
    for ids in texts:
        start = 0
        while len(ids) - start >= min(LENGTHS):
            fits = np.array([len(ids) - start >= length for length in LENGTHS])
            length = int(rng.choice(list(LENGTHS), p=weights * fits / (weights * fits).sum()))
            blocks[length].append(ids[start : start + length])
            start += length
    return {length: np.stack(rows)[rng.permutation(len(rows))] for length, rows in blocks.items() if rows}


@dataclass(frozen=True)
class Batch:
    """One batch: ids (b, t) with [MASK] in place, flat positions (m,) that are masked, their true ids (m,)."""

    ids: Tensor
    positions: Tensor
    targets: Tensor


def mask_batch(
    blocks: np.ndarray, continues: np.ndarray, rates: tuple[float, float], whole: float, rng: np.random.Generator
) -> Batch:
    """Mask a batch of blocks (b, t) of one length and put it between [CLS] and [SEP].

    `continues` (v,) says which ids continue a word. Each block masks a share drawn from `rates` of its tokens, by
    whole words with probability `whole`, else by single tokens. A masked token is always replaced by [MASK].
    """
    ids = np.pad(blocks.astype(np.int64), ((0, 0), (1, 1)))
    ids[:, 0], ids[:, -1] = CLS, SEP
    masked = np.zeros(ids.shape, bool)
    for row, flags in zip(blocks, masked, strict=True):
        word = np.cumsum(~continues[row]) if rng.random() < whole else np.arange(len(row))
        word -= word[0]
        order = rng.permutation(word[-1] + 1)
        taken = np.cumsum(np.bincount(word)[order]) <= max(1, rng.uniform(*rates) * len(row))
        chosen = np.zeros(len(order), bool)
        chosen[order[: max(1, int(taken.sum()))]] = True
        flags[1:-1] = chosen[word]
    positions = np.flatnonzero(masked)
    targets = ids.reshape(-1)[positions]
    ids[masked] = MASK
    return Batch(torch.from_numpy(ids), torch.from_numpy(positions), torch.from_numpy(targets))

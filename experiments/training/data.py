"""Data of the masked language model: documents of the corpus, token ids, blocks, and what is masked
in them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice, pairwise
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

# Axes: b blocks of a batch, t positions of a block, m masked positions, v vocabulary.

DISTANCES = (2, 2, 2, 3, 4)  # between masked tokens, one drawn for each block
LEFT_OUT = frozenset(
    {"zach-porter/NLP", "mlschmitt/classic-books-markdown"}
)  # license not stated or not verified


def held_out(text: str) -> bool:
    """Whether a document is set aside for measurements: one in 150, by the hash of its text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % 150 == 0


def documents(corpus: Path, *, aside: bool) -> Iterator[str]:
    """Texts of the corpus in file order: those to train on, or those set aside; sources in
    `LEFT_OUT` are skipped.
    """
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


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What the training knows of a WordPiece vocabulary, whichever ids its tokens have.

    Attributes:
        cls: the token before a text.
        sep: the token behind it.
        mask: the mask token.
        ends: tokens that end a sentence.
        stop: the full stop.
        comma: the comma.
        continues: which ids continue a word, bool of shape (v,).
    """

    cls: int
    sep: int
    mask: int
    ends: tuple[int, ...]
    stop: int
    comma: int
    continues: np.ndarray

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Vocabulary:
        """That of a tokenizer that puts one special token before a text and one behind it, as
        BERT's and MPNet's do.
        """
        vocabulary = tokenizer.get_vocab()
        continues = np.zeros(max(vocabulary.values()) + 1, bool)
        continues[[i for token, i in vocabulary.items() if token.startswith("##")]] = True
        before, behind = tokenizer.encode("").ids
        mask = next(vocabulary[name] for name in ("[MASK]", "<mask>") if name in vocabulary)
        ends = tuple(vocabulary[mark] for mark in ".?!" if mark in vocabulary)
        return cls(before, behind, mask, ends, vocabulary["."], vocabulary[","], continues)


def tokenize(texts: Iterator[str], tokenizer: Tokenizer) -> list[np.ndarray]:
    """Token ids of each text, without special tokens."""
    ids: list[np.ndarray] = []
    while batch := list(islice(texts, 500)):
        ids += [
            np.array(e.ids, np.uint16)
            for e in tokenizer.encode_batch_fast(batch, add_special_tokens=False)
        ]
    return ids


@dataclass(frozen=True)
class Corpus:
    """Token ids of all documents, one behind the other.

    Attributes:
        ids: uint16 of shape (t,).
        bounds: where each document begins, and the end of the last; int64 of shape (documents +
            1,).
    """

    ids: np.ndarray
    bounds: np.ndarray

    @classmethod
    def of(cls, texts: list[np.ndarray]) -> Corpus:
        """The corpus of documents given by their token ids."""
        return cls(
            np.concatenate(texts), np.concatenate([[0], np.cumsum([len(ids) for ids in texts])])
        )


class BlockStream:
    """Blocks of one length without end: each epoch cuts the documents again and shuffles the
    blocks. A block is within one document; the rest at a document's ends is dropped.
    """

    def __init__(self, corpus: Corpus, length: int, seed: int) -> None:
        self._corpus, self._length, self._seed = corpus, length, seed
        self._starts = self._drawn_starts()

    def draw(self, blocks: int) -> np.ndarray:
        """The next blocks, uint16 of shape (blocks, length)."""
        starts = np.fromiter(islice(self._starts, blocks), np.int64)
        drawn: np.ndarray = self._corpus.ids[starts[:, None] + np.arange(self._length)]
        return drawn

    def _drawn_starts(self) -> Iterator[int]:
        for epoch in count():
            rng = np.random.default_rng([self._seed, self._length, epoch])
            starts = []
            for begin, end in pairwise(self._corpus.bounds):
                offset = rng.integers((end - begin) % self._length + 1)
                starts.append(np.arange(begin + offset, end - self._length + 1, self._length))
            places = np.concatenate(starts)
            assert len(places), f"no document has {self._length} tokens"
            yield from rng.permutation(places)


@dataclass(frozen=True)
class MaskedBatch:
    """One batch: ids (b, t) with [MASK] in place, flat positions (m,) that are masked, their true
    ids (m,).
    """

    ids: Tensor
    positions: Tensor
    targets: Tensor

    @property
    def tokens(self) -> int:
        """Positions to encode, special tokens included."""
        return self.ids.numel()

    def to(self, device: torch.device | str) -> MaskedBatch:
        """The batch on a device."""
        return MaskedBatch(
            *(
                values.to(device, non_blocking=True)
                for values in (self.ids, self.positions, self.targets)
            )
        )


def hide(blocks: np.ndarray, masked: np.ndarray, vocabulary: Vocabulary) -> MaskedBatch:
    """The batch of blocks (b, t) between their special tokens, with the mask token where `masked`
    (b, t) says so.
    """
    ids = np.pad(blocks.astype(np.int64), ((0, 0), (1, 1)))
    ids[:, 0], ids[:, -1] = vocabulary.cls, vocabulary.sep
    flags = np.pad(masked, ((0, 0), (1, 1)))
    positions = np.flatnonzero(flags)
    targets = ids.reshape(-1)[positions]
    ids[flags] = vocabulary.mask
    return MaskedBatch(
        torch.from_numpy(ids), torch.from_numpy(positions), torch.from_numpy(targets)
    )


def random_masks(
    blocks: np.ndarray,
    continues: np.ndarray,
    rates: tuple[float, float],
    whole: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Random masks of blocks (b, t), (b, t) bool.

    `continues` (v,) says which ids continue a word. Each block masks a share drawn from `rates` of
    its tokens, by whole words with probability `whole`, otherwise by single tokens.
    """
    masked = np.zeros(blocks.shape, bool)
    for row, flags in zip(blocks, masked, strict=True):
        word = np.cumsum(~continues[row]) if rng.random() < whole else np.arange(len(row))
        word -= word[0]
        order = rng.permutation(word[-1] + 1)
        taken = np.cumsum(np.bincount(word)[order]) <= max(1, rng.uniform(*rates) * len(row))
        chosen = np.zeros(len(order), bool)
        chosen[order[: max(1, int(taken.sum()))]] = True
        flags[:] = chosen[word]
    return masked


def spaced_masks(shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Masks as ESTIME makes them, bool of `shape` (b, t): in each row every second to fourth token,
    from any phase on.

    In a third of the rows, up to half of them are excluded, because ESTIME masks only tokens of the
    source in a summary.
    """
    rows, length = shape
    distances = rng.choice(DISTANCES, rows)
    phases = rng.integers(distances)
    kept = 1 - rng.uniform(0, 0.5, rows) * (rng.random(rows) < 1 / 3)
    on_phase = (np.arange(length) - phases[:, None]) % distances[:, None] == 0
    chosen: np.ndarray = on_phase & (rng.random(shape) < kept[:, None])
    return chosen

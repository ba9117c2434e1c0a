"""Pairs of a source and pseudo-summaries of it, and the loss that matches their masked tokens.

ESTIME asks of a masked summary token which masked source token is most similar, and raises an alarm
if that is a different token. The loss asks the same of a block of a document and of sentences cut
out of it: each masked token of a pseudo-summary should have a larger dot product with the same
token of its source than with any other. No judgement and no summary written by anyone is needed for
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from experiments.training.data import MaskedBatch, Vocabulary, hide, spaced_masks

# Axes: b source blocks, t positions of a block, m masked positions of the summaries, s of the
# sources, d width.

SUMMARIES = 2  # pseudo-summaries of each source
SUMMARY_LENGTH = 126  # tokens of one, without [CLS] and [SEP]
THINNED = 0.85  # share of the pseudo-summaries made of sentences of the source; the others are what follows it
SENTENCES = 4  # maximum number of sentences
SHORTEST = 6  # minimum number of tokens of a sentence
CUT = 0.5  # share of the sentences that are cut at a comma
TOKENS_LEFT_OUT = (0.0, 1 / 15, 0.2)  # shares of a sentence's tokens, one drawn for each sentence
PHASES = 2  # masked copies of a source: each masks every second token, together they mask all
TEMPERATURE = 0.03  # of the dot products, in mean squared lengths of the embeddings
ACROSS = (
    0.5  # weight of the loss in which all sources of the batch compete, not the summary's own alone
)
IMPOSSIBLE = -1e4  # represents minus infinity among logits


@dataclass(frozen=True)
class MatchingPairs:
    """Masked sources, (b * PHASES, t), and pseudo-summaries, (b * SUMMARIES, SUMMARY_LENGTH + 2),
    in the same order.
    """

    summaries: MaskedBatch
    sources: MaskedBatch

    @property
    def tokens(self) -> int:
        """Positions to encode, special tokens included."""
        return self.summaries.ids.numel() + self.sources.ids.numel()

    @property
    def targets(self) -> Tensor:
        """True ids of all masked positions, the summaries first, (m + s,)."""
        return torch.cat([self.summaries.targets, self.sources.targets])

    @property
    def owners(self) -> tuple[Tensor, Tensor]:
        """Which source each masked position belongs to: of the summaries (m,), of the sources (s,)."""
        return _owners(self.summaries, SUMMARIES), _owners(self.sources, PHASES)

    def to(self, device: torch.device | str) -> MatchingPairs:
        """The pairs on a device."""
        return MatchingPairs(self.summaries.to(device), self.sources.to(device))


def _owners(batch: MaskedBatch, rows: int) -> Tensor:
    """Which source each masked position belongs to, (m,), if the given number of rows of the batch
    belong to one source.
    """
    return batch.positions // (rows * batch.ids.shape[1])


def pseudo_summary(
    source: np.ndarray, following: np.ndarray, vocabulary: Vocabulary, rng: np.random.Generator
) -> np.ndarray:
    """Up to `SENTENCES` sentences of `source` in their order, cut and thinned, then as much of
    `following` as fits.
    """
    bounds = [0, *(np.flatnonzero(np.isin(source, vocabulary.ends)) + 1), len(source)]
    sentences = [source[a:b] for a, b in pairwise(bounds) if b - a >= SHORTEST]
    taken: list[np.ndarray] = []
    if sentences and rng.random() < THINNED:
        count = rng.integers(1, SENTENCES + 1)
        for index in np.sort(rng.permutation(len(sentences))[:count]):
            sentence = sentences[index]
            commas = np.flatnonzero(sentence == vocabulary.comma)
            commas = commas[commas >= SHORTEST - 1]
            if len(commas) and rng.random() < CUT:
                sentence = np.append(sentence[: rng.choice(commas)], vocabulary.stop).astype(
                    source.dtype
                )
            taken.append(sentence[rng.random(len(sentence)) >= rng.choice(TOKENS_LEFT_OUT)])
    return np.concatenate([*taken, following])[: len(following)]


def make_pairs(
    blocks: np.ndarray, vocabulary: Vocabulary, rng: np.random.Generator
) -> MatchingPairs:
    """Pairs from blocks (b, t + SUMMARY_LENGTH) of documents: the first t tokens are the source."""
    sources, following = blocks[:, :-SUMMARY_LENGTH], blocks[:, -SUMMARY_LENGTH:]
    summaries = np.stack(
        [
            pseudo_summary(*pair, vocabulary, rng)
            for pair in zip(sources, following, strict=True)
            for _ in range(SUMMARIES)
        ]
    )
    copies = np.repeat(sources, PHASES, axis=0)
    phases = np.tile(np.arange(PHASES), len(sources))
    masked = (np.arange(copies.shape[1]) - phases[:, None]) % PHASES == 0
    return MatchingPairs(
        hide(summaries, spaced_masks(summaries.shape, rng), vocabulary),
        hide(copies, masked, vocabulary),
    )


def matching_loss(summaries: Tensor, sources: Tensor, pairs: MatchingPairs) -> Tensor:
    """Mean over the summaries' masked tokens of -log of the share that the same token has among
    masked source tokens.

    `summaries` (m, d) and `sources` (s, d) are the embeddings at the masked positions of `pairs`.
    The share is a softmax of dot products; tokens that no masked source token equals are excluded.
    In one term only the tokens of the summary's own source compete, in the other the tokens of all
    sources; the two are weighted by `ACROSS`.
    """
    length = torch.cat([summaries, sources]).detach().float().pow(2).sum(1).mean()
    logits = (summaries @ sources.T).float() / (length * TEMPERATURE)  # (m, s)
    same = pairs.summaries.targets[:, None] == pairs.sources.targets  # (m, s)
    summary_owner, source_owner = pairs.owners
    own = summary_owner[:, None] == source_owner  # (m, s)
    alone = _missing(logits.masked_fill(~own, IMPOSSIBLE), same & own)
    return (1 - ACROSS) * alone + ACROSS * _missing(logits, same)


def _missing(logits: Tensor, same: Tensor) -> Tensor:
    """Mean of -log of the probability on `same`, over the rows that have any; 0 without such a row."""
    matchable = same.any(1)
    logits, same = logits[matchable], same[matchable]
    lost = logits.logsumexp(1) - logits.masked_fill(~same, IMPOSSIBLE).logsumexp(1)
    return lost.sum() / max(1, len(lost))

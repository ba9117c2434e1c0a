"""Distillation: a small encoder learns which source tokens a larger one finds similar to each summary token.

Both need the same tokens, under whichever ids: BERT's uncased vocabulary and MPNet's, say.
"""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor

from docs.training.data import Batch, Vocabulary, load_tokenizer
from docs.training.model import Trainee
from docs.training.pairs import IMPOSSIBLE, Pairs, similarities

# Axes: m masked positions of the summaries, s of the sources, d width, v vocabulary.


def translation(own: Tokenizer, other: Tokenizer) -> Tensor:
    """The ids that `other` gives to the tokens of `own`, (v,); -1 where it lacks one.

    Special tokens are matched by their use, not by their names.
    """
    here, there = own.get_vocab(), other.get_vocab()
    ids = torch.full((max(here.values()) + 1,), -1)
    for token, i in here.items():
        ids[i] = there.get(token, -1)
    mine, theirs = Vocabulary.of(own), Vocabulary.of(other)
    for use in ("cls", "sep", "mask"):
        ids[getattr(mine, use)] = getattr(theirs, use)
    return ids


class Teacher:
    """A trained encoder, read at one layer, for batches in the ids of the encoder that learns from it.

    Args:
        folder: of the teacher, as `Pretrained.save` of the engine writes it.
        layer: the layer that is read.
        student: folder of the encoder that learns.
        dtype, device: of the computation.
    """

    def __init__(self, folder: Path, layer: int, student: Path, dtype: torch.dtype, device: str) -> None:
        self._ids = translation(load_tokenizer(student), load_tokenizer(folder)).to(device)
        self._model = Trainee.start(folder, layer).to(device).copy(dtype).eval()

    @torch.no_grad()
    def states(self, batch: Batch) -> Tensor:
        """The teacher's embeddings at the masked positions, (m, d); ValueError where it lacks a token."""
        ids = self._ids[batch.ids]
        if bool((ids < 0).any()):
            raise ValueError("Expected the teacher's vocabulary to hold every token of the batch, but it lacks some.")
        return self._model.states(Batch(ids, batch.positions, batch.targets), -1)[0]

    def loss(self, summaries: Tensor, sources: Tensor, pairs: Pairs) -> Tensor:
        """`distillation_loss` of the student's embeddings (m, d) and (s, d) of `pairs`."""
        return distillation_loss(summaries, sources, self.states(pairs.summaries), self.states(pairs.sources), pairs)


def distillation_loss(
    summaries: Tensor, sources: Tensor, taught_summaries: Tensor, taught_sources: Tensor, pairs: Pairs
) -> Tensor:
    """Mean over the summaries' masked tokens of the divergence of the student's shares from the teacher's.

    A share is the softmax of the similarities (`similarities`) of a summary token with the masked tokens of its own
    source. Kullback-Leibler divergence, 0 where both agree; `summaries` (m, d) and `sources` (s, d) are the student's
    embeddings, the other two, of any width, the teacher's.
    """
    of_summary, of_source = pairs.owners
    foreign = of_summary[:, None] != of_source  # (m, s)
    student, teacher = (
        torch.log_softmax(similarities(*states).masked_fill(foreign, IMPOSSIBLE), dim=1)
        for states in ((summaries, sources), (taught_summaries, taught_sources))
    )
    return (teacher.exp() * (teacher - student)).sum(1).mean()

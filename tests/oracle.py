"""A naive ESTIME, from the paper, without code of the package: loops, float64, the whole model, a
window at a time.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import torch
import transformers

#: Two dot products with one embedding are nearly equal when they differ by no more than this share of
#: its length times the greatest length of a source embedding.
NEARLY = 1e-4


def rounding(source_embeddings: np.ndarray, embedding: np.ndarray) -> float:
    """By how much dot products with an embedding may differ that are nearly equal."""
    longest = np.linalg.norm(source_embeddings, axis=-1).max()
    return float(NEARLY * longest * np.linalg.norm(embedding))


@dataclass
class Verdict:
    tokens: int
    overlap: int = 0  # how many summary tokens occur in the source
    alarms: int = 0  # N_a, Eq. 1
    near_ties: int = 0  # alarms that depend on rounding
    least_winners: int = 0  # N_w, Eq. 3, without those that nearly equal s(i)
    most_winners: int = 0  # or counted in

    def allows(self, tokens: float, overlap: float, alarms: float, winners: float) -> bool:
        """Whether these numbers differ by rounding alone."""
        return (
            (tokens, overlap) == (self.tokens, self.overlap)
            and abs(alarms - self.alarms) <= self.near_ties
            and self.least_winners <= winners <= self.most_winners
        )


def schedule(
    length: int, wanted: set[int], window: int, margin: int, distance: int
) -> list[tuple[int, int, list[int]]]:
    """Figure 1 of arXiv 2104.05156v1, by sentence; edges as published, section 2: start, stop,
    masked positions.
    """
    windows = []
    not_taken = set(wanted)
    while not_taken:
        # "Select leftmost token t with embedding not yet taken"
        t = min(not_taken)
        # "Make input window of size W start to the left by M tokens from the index of t"
        start = max(t - margin, 0)
        stop = min(start + window, length)
        # "Starting from token t, in the input window mask each L-th token with embedding not yet
        # taken"
        masked = []
        for position in range(t, stop):
            touches_end = stop == length
            within_right_margin = position >= stop - margin
            if (within_right_margin and not touches_end) or position not in not_taken:
                continue
            if not masked or position - masked[-1] >= distance:
                masked.append(position)
        windows.append((start, stop, masked))
        not_taken -= set(masked)
    return windows


class Oracle:
    """Scores one pair at a time with a model and a tokenizer from a folder."""

    def __init__(
        self,
        folder: str,
        window: int = 450,
        margin: int = 50,
        distance: int = 8,
        normalize: bool = False,
        leave_out: Collection[str] = (),
    ):
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
        self.window, self.margin, self.distance = window, margin, distance
        self.normalize, self.leave_out = normalize, leave_out
        self.known: dict[str, np.ndarray] = {}

    def tokens(self, text: str) -> list[int]:
        """The encoder's own tokens, without special tokens."""
        return list(
            self.tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        )

    def used(self, text: str) -> list[int]:
        """Positions of the tokens outside of the words that are left out, which are lower-case."""
        encoded = self.tokenizer(text, add_special_tokens=False, split_special_tokens=True)
        if not self.leave_out:
            return list(range(len(encoded["input_ids"])))
        spans = [encoded.word_to_chars(word) for word in encoded.word_ids()]
        words = [text[span.start : span.end].lower() for span in spans]
        return [position for position, word in enumerate(words) if word not in self.leave_out]

    @torch.no_grad()
    def hidden_states(self, ids: list[int]) -> list[np.ndarray]:
        """The hidden states of one input with its two special tokens put around it, and taken off
        again; float64.
        """
        full = [self.tokenizer.cls_token_id, *ids, self.tokenizer.sep_token_id]
        states = self.model(input_ids=torch.tensor([full]), output_hidden_states=True).hidden_states
        return [state[0, 1:-1].double().numpy() for state in states]

    def embeddings(self, ids: list[int], wanted: set[int]) -> dict[int, np.ndarray]:
        """Position -> its embedding at every layer, of shape (layers, width)."""
        taken = {}
        for start, stop, masked in schedule(
            len(ids), wanted, self.window, self.margin, self.distance
        ):
            piece = list(ids[start:stop])
            for position in masked:
                piece[position - start] = self.tokenizer.mask_token_id
            states = self.hidden_states(piece)
            for position in masked:
                taken[position] = np.stack([state[position - start] for state in states])
        if self.normalize:
            taken = {at: e / np.linalg.norm(e, axis=-1, keepdims=True) for at, e in taken.items()}
        return taken

    def source_embeddings(self, source: str) -> np.ndarray:
        """The embeddings of the tokens that are used, of shape (tokens, layers, width)."""
        if source not in self.known:
            positions = self.used(source)
            taken = self.embeddings(self.tokens(source), set(positions))
            self.known[source] = np.stack([taken[position] for position in positions])
        return self.known[source]

    def best_matches(self, summary: str, source: str, layer: int) -> list[tuple[int, int, bool]]:
        """For each token of a summary that is used, all of them masked in turn: its id, that of its
        best match, where that is among the tokens of the source, and whether rounding may change it.
        """
        ids, source_ids = self.tokens(summary), self.tokens(source)
        positions = self.used(summary)
        embeddings, matches = self.embeddings(ids, set(positions)), []
        source_embeddings = self.source_embeddings(source)[:, layer]
        for i in positions:
            dots = source_embeddings @ embeddings[i][layer]
            near = dots.max() - dots <= rounding(source_embeddings, embeddings[i][layer])
            best = int(dots.argmax())
            matches.append((ids[i], source_ids[self.used(source)[best]], best, near.sum() > 1))
        return matches

    def score(self, summary: str, source: str, layers: list[int]) -> dict[int, Verdict]:
        summary_ids, source_ids = self.tokens(summary), self.tokens(source)
        source_ids = [source_ids[position] for position in self.used(source)]
        used = self.used(summary)
        verdicts = {layer: Verdict(len(used)) for layer in layers}
        # An unknown token represents any characters that the tokenizer cannot distinguish: neither it nor
        # any other special token is checked.
        special = self.tokenizer.all_special_ids
        known = set(source_ids) - set(special)
        checked = {i for i in used if summary_ids[i] in known}
        if not checked:
            return verdicts
        summary_embeddings = self.embeddings(summary_ids, checked)
        for layer, verdict in verdicts.items():
            source_embeddings = self.source_embeddings(source)[:, layer]
            for i in sorted(checked):
                # One dot product with each source token.
                dots = source_embeddings @ summary_embeddings[i][layer]
                equal = np.array(source_ids) == summary_ids[i]
                same, others = dots[equal].max(), dots[~equal]  # s(i), Eq. 2, and all of o(i)
                near = abs(others - same) <= rounding(
                    source_embeddings, summary_embeddings[i][layer]
                )
                best = others.max(initial=-np.inf)
                verdict.overlap += 1
                verdict.alarms += int(best > same)  # the Heaviside step is 0 at 0
                verdict.near_ties += int((near & (others == best)).any())
                verdict.least_winners += int((~near & (others > same)).sum())
                verdict.most_winners += int((near | (others > same)).sum())
        return verdicts

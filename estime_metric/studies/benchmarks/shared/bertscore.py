"""BERTScore (Zhang et al. 2020) with any encoder that ESTIME supports; ``torchmetrics`` 1.9 pairs
the texts of a batch wrongly, because it sorts summaries and references by length independently."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from estime_metric.studies.benchmarks.shared.baselines import References, Texts, column_of
from estime_metric.studies.benchmarks.shared.blocks import (
    REFERENCE_BASED,
    Block,
    ColumnValues,
    Prepared,
    ScoreColumn,
)
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.coherence_measures import batches_by_length, check_lengths
from estime_metric.table.arrays import Floats

if TYPE_CHECKING:
    from torch import Tensor

#: The encoder of the paper's rows (``bert_score``'s default for English), and the relative depth
#: that is read there.
PAPER_ENCODER, PAPER_DEPTH = "roberta-large", 17 / 24
NAMES = ("BERTScore-F1", "BERTScore-P", "BERTScore-R")
BATCH = 32


class BertScorer:
    """An encoder that compares texts; EncoderUnavailableError if it cannot be loaded. ``model`` is
    a Hub name, a folder or a bundled encoder, whose hidden layer ``round(17 / 24 * blocks)`` is read,
    as in ``bert_score``; ``device`` as in `EstimeConfig`."""

    def __init__(self, model: str = PAPER_ENCODER, *, device: str | None = None) -> None:
        import torch

        from estime_metric.engine.encoder.foreign import load_pretrained

        self._loaded = load_pretrained(model, None, torch.float32)
        info = self._loaded.info
        self.layer = round(PAPER_DEPTH * info.blocks)
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._loaded.model.to(self._device)
        self.signature = (
            f"BERTScore|model:{model}@{info.revision}|layer:{self.layer}|idf:no|rescaled:no"
        )

    def score(
        self,
        summaries: Texts,
        references: Sequence[Texts],
    ) -> dict[str, Floats]:
        """F1, precision and recall of each summary (`NAMES`), between -1 and 1; higher is better.

        Precision is the mean of the best cosines of the summary's tokens, recall the mean for the
        reference's tokens, F1 their harmonic mean; no special tokens, no weights by inverse
        document frequency, no rescaling; the mean over the references. A text without tokens has 0
        in all three. ValueError for a text longer than the encoder can read.
        """
        scores: dict[str, list[float]] = {name: [] for name in NAMES}
        pairs = zip(summaries, references, strict=True)
        for _, group in groupby(pairs, key=lambda pair: tuple(pair[1])):
            together = list(group)
            texts = list(
                dict.fromkeys(text for summary, others in together for text in (summary, *others))
            )
            encoded = dict(zip(texts, self._encode(texts), strict=True))
            for summary, others in together:
                similarities = [_compare(encoded[summary], encoded[other]) for other in others]
                for name, values in zip(NAMES, zip(*similarities, strict=True), strict=True):
                    scores[name].append(float(np.mean(values)))
        return {name: np.array(values, dtype=np.float64) for name, values in scores.items()}

    def _encode(self, texts: list[str]) -> list[Tensor]:
        """The embeddings of each text, of length one; each of shape (tokens, width)."""
        import torch

        tokenizer, info = self._loaded.tokenizer, self._loaded.info
        check_lengths("texts", texts, tokenizer, info.positions)
        encoded: dict[int, Tensor] = {}
        for batch in batches_by_length(texts, BATCH):
            inputs = tokenizer(
                [texts[index] for index in batch],
                padding=True,
                return_special_tokens_mask=True,
                return_tensors="pt",
            ).to(self._device)
            is_special = inputs.pop("special_tokens_mask").bool()  # (b, n), padding too
            with torch.inference_mode():
                output = self._loaded.model(**inputs, output_hidden_states=True)
            states = torch.nn.functional.normalize(
                output.hidden_states[self.layer], dim=-1
            )  # (b, n, d)
            for index, row, special in zip(batch, states, is_special, strict=True):
                encoded[index] = row[~special]
        return [encoded[index] for index in range(len(texts))]


def bertscore_block(
    model: str,
    references: References,
    *,
    device: str | None = None,
) -> Block:
    """BERTScore as measures of a benchmark; the options are the same as in `BertScorer`."""

    def prepare() -> Prepared:
        scorer = BertScorer(model, device=device)

        def compute(data: Summaries) -> ColumnValues:
            scores = scorer.score(data.summaries, references(data))
            return {column_of(name): values for name, values in scores.items()}

        return Prepared(f"{scorer.signature}|references:mean", compute)

    return Block(
        "BERTScore",
        tuple(ScoreColumn(column_of(name), name, REFERENCE_BASED) for name in NAMES),
        prepare,
    )


def _compare(summary: Tensor, reference: Tensor) -> tuple[float, float, float]:
    """F1, precision and recall of embeddings of shapes (s, d) and (r, d)."""
    if not len(summary) or not len(reference):
        return 0.0, 0.0, 0.0
    cosines = summary @ reference.T  # (s, r)
    precision, recall = float(cosines.amax(1).mean()), float(cosines.amax(0).mean())
    total = precision + recall
    return (2 * precision * recall / total if total else 0.0), precision, recall

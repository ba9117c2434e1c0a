"""Coherence measures of Steen & Markert 2022 that do not need a published checkpoint; higher is
more coherent. ``scoring`` has them all by name; ``train`` fine-tunes the encoder of ``classifier``
on shuffled texts."""

# Annotations are evaluated here, not postponed, because Cyclopts reads them.
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cyclopts import Parameter

BARTSCORE_MODEL = "facebook/bart-large-cnn"


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class CoherenceOptions:
    """What the measures need.

    Attributes:
        classifier: Folder or Hub name of a trained classifier (python -m
            estime_metric.studies.coherence_measures.train).
        bartscore_model: Sequence-to-sequence model, Hub name or folder.
        truncate: Truncate texts that are longer than the model's maximum input.
        device: cpu, cuda ... (default: cuda if available, otherwise cpu)
        seed: Seed of the measure random.
    """

    classifier: str | None = None
    bartscore_model: str = BARTSCORE_MODEL
    truncate: bool = False
    device: str | None = None
    seed: int = 0


OPTIONS = CoherenceOptions()


def check_lengths(name: str, texts: Sequence[str], tokenizer: Any, limit: int | None) -> None:
    """Raises ValueError for a text of more tokens, special ones included, than a model has positions."""
    rows = tokenizer(list(texts), verbose=False)["input_ids"] if texts else []
    for index, row in enumerate(rows):
        if limit is not None and len(row) > limit:
            raise ValueError(
                f"Expected argument `{name}` to contain texts of at most {limit} tokens, the positions of the "
                f"model, but the one at index {index} has {len(row)}."
            )


def batches_by_length(texts: Sequence[str], size: int) -> Iterator[list[int]]:
    """The indices of the texts in batches of similar lengths, the longest first."""
    order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
    for start in range(0, len(order), size):
        yield order[start : start + size]

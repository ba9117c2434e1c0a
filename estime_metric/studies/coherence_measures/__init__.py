"""Coherence measures of Steen & Markert 2022 that do not need a published checkpoint; higher is
more coherent. ``scoring`` has them all by name; ``train`` fine-tunes the encoder of ``classifier``
on shuffled texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

BARTSCORE_MODEL = "facebook/bart-large-cnn"


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

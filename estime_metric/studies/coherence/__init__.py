"""Coherence measures of Steen & Markert 2022 that need no published checkpoint of their own; higher is more coherent.

``scoring`` has them all by name, as ``estime coherence`` does. ``entity_graph`` needs nothing, ``bartscore`` takes any
sequence-to-sequence model, ``classifier`` any encoder, which ``train`` fine-tunes on shuffled texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: The toolbox paper's checkpoint of BARTScore.
BARTSCORE_MODEL = "facebook/bart-large-cnn"


def token_ids(
    name: str, texts: Sequence[str], tokenizer: Any, limit: int | None, truncate: bool, key: str = "text"
) -> list[list[int]]:
    """Token ids of each text, special tokens included; one longer than the limit is cut or refused (ValueError)."""
    if isinstance(texts, str):
        raise TypeError(f"Expected argument `{name}` to be a sequence of texts, but got the string {texts!r}.")
    if not len(texts):
        return []
    rows: list[list[int]] = tokenizer(**{key: list(texts)}, verbose=False)["input_ids"]
    long = [index for index, row in enumerate(rows) if limit is not None and len(row) > limit]
    if not long:
        return rows
    if not truncate:
        raise ValueError(
            f"Expected argument `{name}` to hold texts of at most {limit} tokens, the positions of the model, but the "
            f"one at index {long[0]} has {len(rows[long[0]])}. With `truncate=True` it is cut."
        )
    cut: list[list[int]] = tokenizer(**{key: list(texts)}, truncation=True, max_length=limit)["input_ids"]
    return cut

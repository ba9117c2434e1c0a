"""Coherence measures of Steen & Markert 2022 that do not need a published checkpoint; higher is
more coherent. ``scoring`` has them all by name; ``train`` fine-tunes the encoder of ``classifier``
on shuffled texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

BARTSCORE_MODEL = "facebook/bart-large-cnn"


def token_ids(
    name: str,
    texts: Sequence[str],
    tokenizer: Any,
    limit: int | None,
    truncate: bool,
    key: str = "text",
) -> list[list[int]]:
    """Token ids of each text, special tokens included; one longer than the limit is cut or refused
    (ValueError).
    """
    rows: list[list[int]] = (
        tokenizer(**{key: list(texts)}, verbose=False)["input_ids"] if texts else []
    )
    long = [index for index, row in enumerate(rows) if limit is not None and len(row) > limit]
    if long and not truncate:
        raise ValueError(
            f"Expected argument `{name}` to contain texts of at most {limit} tokens, the positions of the model, but the "
            f"one at index {long[0]} has {len(rows[long[0]])}. With `truncate=True` it is cut."
        )
    cut: list[list[int]] = (
        tokenizer(**{key: list(texts)}, truncation=True, max_length=limit)["input_ids"]
        if long
        else rows
    )
    return cut

"""Text -> units: what is masked and compared, with ids and exact character spans.

Axes: ``n`` units of a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


class Tokenizer(Protocol):
    """The part of a fast ``transformers`` tokenizer that this room uses."""

    all_special_ids: list[int]

    def __call__(self, text: Any, **options: Any) -> Any:
        """Encodes one text or several."""


@dataclass(frozen=True, eq=False, slots=True)
class Units:
    """The units of one text.

    Attributes:
        ids: token ids, int64 of shape (n,). No special tokens are added, and where the text spells one out it is
            split like any text, as far as the tokenizer can: a Unigram model may still know it as one piece.
        spans: start and end of each unit in the text, in characters, int64 of shape (n, 2).
        known: False where the id is a special one, bool of shape (n,): most often the unknown token, where the
            tokenizer has no token of its own for the characters.
    """

    ids: IntArray
    spans: IntArray
    known: BoolArray

    def __len__(self) -> int:
        return len(self.ids)


def tokenize(texts: Sequence[str], tokenizer: Tokenizer) -> list[Units]:
    """Splits each text into the encoder's own tokens, whole: no truncation, no special tokens.

    Args:
        texts: any strings, empty ones included.
        tokenizer: a fast tokenizer.

    Returns:
        The units of each text, in the order of ``texts``.

    Source: Vasilyev & Bohannon 2021, section 2.
    """
    if not texts:
        return []
    encoded = tokenizer(
        list(texts),
        add_special_tokens=False,
        split_special_tokens=True,
        padding=False,
        truncation=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )
    units = []
    for ids, spans in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True):
        numbers = np.asarray(ids, dtype=np.int64)
        known = ~np.isin(numbers, tokenizer.all_special_ids)
        units.append(Units(numbers, np.asarray(spans, dtype=np.int64).reshape(-1, 2), known))
    return units


def occurring(summary: Units, source: Units) -> BoolArray:
    """Which units of the summary occur in the source: those that Eq. 1 sums over.

    An unknown token stands for characters that the tokenizer cannot tell apart, so it never counts as occurring, nor
    does any other special token.

    Returns:
        bool of shape (n,), ``n`` being the summary's units.
    """
    return np.isin(summary.ids, source.ids) & summary.known


def positions(chosen: BoolArray) -> list[int]:
    """The positions at which ``chosen`` is true, as plain integers for the masking schedule."""
    found: Iterable[int] = np.flatnonzero(chosen).tolist()
    return list(found)

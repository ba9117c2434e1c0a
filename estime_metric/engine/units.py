"""Texts -> units: what is masked and compared, with ids and exact character spans, and which units of a
summary occur in its source.

Axes: ``n`` units of a text, ``p`` tokens of a text. With the unit ``token`` they are the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from estime_metric.config import EstimeConfig
from estime_metric.engine.splitter import (
    Splitter,
    Tagger,
    find_splitter,
    find_tagger,
    locate_in,
    tags_of,
)
from estime_metric.wording.source import SourceWording

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Tags = tuple[str, ...]

Tokenizer: TypeAlias = Any  # a fast one of ``transformers``, or `BundledTokenizer`


@dataclass(frozen=True, eq=False)
class Units:
    """The units of one text; two objects are never equal, so that one can be the key of what belongs to it.

    No special tokens are added. If the text spells out a special token, it is split like any other
    text, as far as the tokenizer can: a Unigram model may still know it as one piece.

    Attributes:
        text: the text itself.
        tokens: ids of all tokens of the text, int64 of shape (p,).
        first, stop: the tokens of each unit are ``tokens[first:stop]``, int64 of shape (n,).
        spans: start and end of each unit in the text, in characters, int64 of shape (n, 2).
        index: number of each unit in the text, with parts of speech that are excluded counted too,
            int64 of shape (n,).
        names: what makes units the same for Eq. 1's ``t_i in T``: token ids, or words as written,
            of shape (n,).
        known: False if a unit must not be checked: a special token, most often the unknown token,
            bool of shape (n,).
        key: identifies a source in a `SourceCache` by text and configuration; ``None`` if they do not
            decide its units.
    """

    text: str
    tokens: IntArray
    first: IntArray
    stop: IntArray
    spans: IntArray
    index: IntArray
    names: NDArray[Any]
    known: BoolArray
    key: str | None = None

    @cached_property
    def wording(self) -> SourceWording:
        """The wording of the text as a source."""
        return SourceWording(self.text)

    @cached_property
    def different_names(self) -> frozenset[Any]:
        """Each of the names once."""
        return frozenset(self.names.tolist())

    @property
    def ids(self) -> IntArray:
        """Token id at which two units are compared, the first of each; int64 of shape (n,)."""
        return self.tokens[self.first]

    @cached_property
    def nbytes(self) -> int:
        """The memory of the arrays, the text and the wording, in bytes."""
        arrays = (
            self.tokens,
            self.first,
            self.stop,
            self.spans,
            self.index,
            self.names,
            self.known,
        )
        different = {id(array): array.nbytes for array in arrays}
        names = self.names.tolist() if self.are_words else self.different_names
        others = [self.text, self.different_names, *names]
        return sum(different.values()) + sum(map(sys.getsizeof, others)) + self.wording.nbytes

    @property
    def are_words(self) -> bool:
        """Whether the units are words."""
        return bool(self.names.dtype == object)

    def __len__(self) -> int:
        return len(self.first)

    def only(self, kept: BoolArray) -> Units:
        """The units with ``kept`` true; the text around the other units stays."""
        return replace(
            self,
            first=self.first[kept],
            stop=self.stop[kept],
            spans=self.spans[kept],
            index=self.index[kept],
            names=self.names[kept],
            known=self.known[kept],
        )


def units_of(texts: Sequence[str], config: EstimeConfig, tokenizer: Tokenizer) -> list[Units]:
    """The units of each text, without the parts of speech that ``config`` leaves out."""
    if config.unit == "word":
        units_of_texts = split_into_words(texts, tokenizer, find_splitter(config.splitter))
    else:
        units_of_texts = tokenize(texts, tokenizer)
    if config.tagger is None:
        return units_of_texts
    splitter, tagger = find_splitter(config.splitter), find_tagger(config.tagger)
    return [
        leave_out_tags(units, splitter, tagger, config.keep_tags, config.drop_tags)
        for units in units_of_texts
    ]


def tokenize(texts: Sequence[str], tokenizer: Tokenizer) -> list[Units]:
    """Splits each text into the encoder's own tokens, whole: no truncation, no special tokens.

    Source: Vasilyev & Bohannon 2021, section 2.
    """
    units = []
    special = frozenset(tokenizer.all_special_ids)
    for text, (ids, spans) in zip(texts, encode(texts, tokenizer), strict=True):
        tokens = np.asarray(ids, dtype=np.int64)
        first = np.arange(len(tokens), dtype=np.int64)
        units.append(
            Units(
                text=text,
                tokens=tokens,
                first=first,
                stop=first + 1,
                spans=spans,
                index=first,
                names=tokens,
                known=np.asarray([token not in special for token in ids], dtype=np.bool_),
            )
        )
    return units


def split_into_words(texts: Sequence[str], tokenizer: Tokenizer, splitter: Splitter) -> list[Units]:
    """Splits each text into words (`locate_in`), and each word separately into the encoder's
    tokens.

    A word in which the tokenizer finds no token at all (such as a lone control character) is
    excluded.

    Source: the authors' released code, ``blanc`` 0.3.4; there, a word of no tokens is read at its
    neighbor's position.
    """
    units = []
    for text in texts:
        words, spans = locate_in(text, splitter)
        different = list(dict.fromkeys(words))
        encoded = zip(different, encode(different, tokenizer), strict=True)
        pieces = {word: np.asarray(ids, dtype=np.int64) for word, (ids, _) in encoded}
        sizes = np.asarray([len(pieces[word]) for word in words], dtype=np.int64)
        stop = np.cumsum(sizes)
        whole = Units(
            text=text,
            tokens=np.concatenate([np.empty(0, np.int64), *(pieces[word] for word in words)]),
            first=stop - sizes,
            stop=stop,
            spans=np.asarray(spans, dtype=np.int64).reshape(-1, 2),
            index=np.arange(len(words), dtype=np.int64),
            names=np.asarray(words, dtype=object),
            known=np.ones(len(words), dtype=np.bool_),
        )
        units.append(whole.only(sizes > 0))
    return units


def leave_out_tags(
    units: Units,
    splitter: Splitter,
    tagger: Tagger,
    keep: Tags | None,
    drop: Tags | None,
) -> Units:
    """The units of a text whose part of speech is kept. A token has the tag of the word in which it
    begins.

    ``keep`` are the tags to keep, ``None`` for all; ``drop`` are the tags to exclude, even if
    ``keep`` contains them.

    Source: Vasilyev & Bohannon 2021, appendix E.
    """
    words, spans = locate_in(units.text, splitter)
    kept = [
        (keep is None or tag in keep) and (drop is None or tag not in drop)
        for tag in tags_of(words, tagger)
    ]
    if not kept:
        return units.only(np.zeros(len(units), dtype=np.bool_))
    kept_word = np.asarray(kept, dtype=np.bool_)
    if units.are_words:  # numbered as these are
        return units.only(kept_word[units.index])
    starts = np.asarray([start for start, _ in spans], dtype=np.int64)
    word = np.searchsorted(starts, units.spans[:, 0], side="right") - 1
    return units.only(kept_word[np.clip(word, 0, None)])


def occurring(prediction: Units, source: Units) -> BoolArray:
    """Which units of the summary, of shape (n,), occur in the source: those that Eq. 1 sums over.

    Tokens are the same if their ids are, words if they are written the same, including capitals. An
    unknown token represents characters that the tokenizer cannot distinguish, so it never counts as
    occurring, and neither does any other special token.
    """
    of_source = source.different_names
    occurs = np.fromiter(
        map(of_source.__contains__, prediction.names.tolist()), np.bool_, len(prediction)
    )
    return occurs & prediction.known


def encode(texts: Sequence[str], tokenizer: Tokenizer) -> Iterator[tuple[list[int], IntArray]]:
    """Token ids and spans, of shape (p, 2), of each text; white space that a tokenizer counts to the token behind it
    is cut off.
    """
    if not texts:
        return
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
    for text, ids, spans in zip(
        texts, encoded["input_ids"], encoded["offset_mapping"], strict=True
    ):
        array = np.asarray(spans, dtype=np.int64).reshape(-1, 2)
        for row, (start, stop) in enumerate(spans):
            if text[start:stop][:1].isspace():
                array[row, 0] = stop - len(text[start:stop].lstrip())
        yield ids, array

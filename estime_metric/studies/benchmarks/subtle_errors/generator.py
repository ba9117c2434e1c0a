"""Subtle errors: words of a text replaced by what a masked language model would rather read there."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from estime_metric._version import __version__
from estime_metric.checks import check_texts, integer
from estime_metric.config import EstimeConfig
from estime_metric.engine.encoder.device import choose_device, inference_context
from estime_metric.engine.encoder.folder import EncoderUnavailableError
from estime_metric.engine.encoder.foreign import load_pretrained
from estime_metric.engine.encoder.precision import choose_dtype
from estime_metric.engine.splitter import Span, locate_words, split_words
from estime_metric.engine.units import IntArray, Units, tokenize
from estime_metric.signature import versioned

PAPER_GENERATOR = "bert-base-cased"


@dataclass(frozen=True, slots=True)
class SubtleError:
    """One word that was put in place of another.

    Attributes:
        span, clean_span: start and end of the word in the corrupted and in the clean text, in
            characters.
        original, replacement: the old and the new word, as written.
        rank: rank of the new word's token among all tokens of the vocabulary, by the model's
            prediction; 1 is the top. It is 2 if the original itself was the top, and more if the
            predictions before it were not whole words.
        probability: what the model gave that token, 0 to 1, over the whole vocabulary.
        step: how many errors were put in before this one.
    """

    span: Span
    clean_span: Span
    original: str
    replacement: str
    rank: int
    probability: float
    step: int


@dataclass(frozen=True, slots=True)
class Corrupted:
    """A text with its errors.

    Attributes:
        clean: the text as it came.
        text: the text with the errors in it; outside of their spans it is ``clean``, character by
            character.
        errors: the errors, from left to right.
        n_missing: number of missing errors; 0 unless the text has too few whole words.
    """

    clean: str
    text: str
    errors: tuple[SubtleError, ...]
    n_missing: int

    def first(self, n_errors: int) -> Corrupted:
        """This text with only the first ``n_errors`` errors, the same as if the generator had been
        asked for this number.
        """
        return substitute(
            self.clean, [error for error in self.errors if error.step < n_errors], n_errors
        )


def substitute(clean: str, errors: Sequence[SubtleError], n_asked: int) -> Corrupted:
    """Puts errors into a text by their ``clean_span`` and ``replacement``, in any order; the spans
    must not overlap.
    """
    parts: list[str] = []
    placed: list[SubtleError] = []
    length = end = 0
    for error in sorted(errors, key=lambda error: error.clean_span):
        start, stop = error.clean_span
        parts += [clean[end:start], error.replacement]
        length += start - end + len(error.replacement)
        span = (length - len(error.replacement), length)
        placed.append(replace(error, span=span, original=clean[start:stop]))
        end = stop
    return Corrupted(clean, "".join([*parts, clean[end:]]), tuple(placed), n_asked - len(placed))


class PredictionHead:
    """A masked language model with its prediction head: which token is at a masked position?"""

    def __init__(self, config: EstimeConfig) -> None:
        try:
            loaded = load_pretrained(config.model, config.revision, getattr(torch, config.dtype))
        except EncoderUnavailableError as error:  # which advises an encoder without that head
            raise EncoderUnavailableError(
                f"The model {config.model!r}, which makes the errors, cannot be loaded. Name a "
                "masked language model in a folder or on the Hugging Face Hub, or 'embedded-small'."
            ) from error
        headed = loaded.with_head()
        self.tokenizer: Any = loaded.tokenizer
        self.ignores_case = ignores_case(loaded.tokenizer)
        resolved = loaded.info.resolve(config)
        self.revision = resolved.revision
        self.window: int = resolved.schedule["window"]
        self._special, self._device = loaded.info.special, choose_device(config.device)
        self._model = headed.to(self._device).requires_grad_(False)

    def scores(self, tokens: IntArray, position: int) -> Tensor:
        """The logits of each token of the vocabulary at one position, which alone is masked;
        float64, on the CPU.

        The model sees up to ``window`` of the text's tokens, the position as near to their middle
        as the ends let it. Each call is a forward pass of one window, so that no other text changes
        the result even in its last digit.
        """
        start = max(0, min(position - self.window // 2, len(tokens) - self.window))
        inside = tokens[start : start + self.window].tolist()
        inside[position - start] = self._special.mask
        ids = torch.tensor(
            [[*self._special.before, *inside, *self._special.after]], device=self._device
        )
        with inference_context(self._device):
            everywhere: Tensor = self._model(input_ids=ids).logits  # (1, positions, vocabulary)
        return everywhere[0, len(self._special.before) + position - start].double().cpu()


class SubtleErrors:
    """Inserts subtle errors into texts: masks a word, predicts it, and inserts the best prediction
    that is a different word.

    The words are picked at random among those that are one token, each at most once. Each error is put
    in before the next is predicted, as the paper's wording has it. A prediction is accepted if it is a whole word, is not the original in other capitals or accents, and leaves
    all other tokens of the text unchanged. If capitals make no difference to the tokenizer, the new
    word has the capitals of the old one.

    The result depends only on the text and the options: not on its position in the list, nor on the
    other texts. Errors come in one order for each text, so ``n_errors=1`` makes the first of the
    errors that ``n_errors=3`` makes.

    Args:
        model: Hub name or folder of a masked language model with its prediction head, or
            ``"embedded-small"``.
        revision: commit, tag or branch of a Hub model.
        n_errors: errors in each text, at least 1. A text with fewer whole words gets as many as it
            has.
        seed: another seed picks other words.
        window: most tokens that the model sees around a mask; no text is cut, the window moves. ``None``
            selects 450, or as many as the model allows if that is less.
        dtype, device: as in `estime_metric.config.EstimeConfig`.

    Source: Vasilyev & Bohannon 2021, section 4.

    Example:
        >>> corrupt = SubtleErrors(model="embedded-small", n_errors=1)
        >>> [corrupted] = corrupt(["The cat sat on the mat and slept."])
        >>> error = corrupted.errors[0]
        >>> corrupted.text[error.span[0] : error.span[1]] == error.replacement != error.original
        True
    """

    def __init__(
        self,
        model: str = PAPER_GENERATOR,
        revision: str | None = None,
        n_errors: int = 3,
        seed: int = 0,
        *,
        window: int | None = None,
        dtype: str = "float32",
        device: str | None = None,
    ) -> None:
        config = EstimeConfig(
            model=model,
            revision=revision,
            window=window,
            margin=0,
            distance=1,
            dtype=dtype,
            device=device,
        )
        chosen = choose_dtype(config.dtype, choose_device(config.device))
        self._config = replace(config, dtype=chosen)
        self.n_errors = integer("n_errors", n_errors, 1)
        self.seed = integer("seed", seed)

    @property
    def signature(self) -> str:
        """One line that says how the errors were made. Loads the model, because its revision is
        part of the line."""
        model = f"model:{versioned(self._config.model, self.head.revision)}"
        return (
            f"SubtleErrors|{model}|errors:{self.n_errors}|seed:{self.seed}"
            f"|window:{self.head.window}|dtype:{self._config.dtype}|version:{__version__}"
        )

    def __call__(self, texts: Sequence[str], *, progress: bool = False) -> list[Corrupted]:
        """Corrupts each text, in order. An empty text has no words, so all its errors are missing.

        Raises:
            TypeError, ValueError, EncoderUnavailableError: an invalid text, or the model cannot be
                loaded.
        """
        bar = tqdm(
            check_texts("texts", texts), unit="text", disable=not progress, dynamic_ncols=True
        )
        return [self._corrupt(text) for text in bar]

    @cached_property
    def head(self) -> PredictionHead:
        """The model that makes the errors, loaded at first use."""
        return PredictionHead(self._config)

    def _corrupt(self, text: str) -> Corrupted:
        (units,) = tokenize([text], self.head.tokenizer)
        tokens = units.tokens.copy()
        corrupted = substitute(text, [], self.n_errors)
        for word in shuffled(whole_words(text, units), text, self.seed):
            if len(corrupted.errors) == self.n_errors:
                break
            for error, token in self._errors(text, corrupted, tokens, word):
                tokens[word.position] = token
                corrupted = substitute(text, [*corrupted.errors, error], self.n_errors)
                break
        return corrupted

    def _errors(
        self, text: str, corrupted: Corrupted, tokens: IntArray, word: WholeWord
    ) -> Iterator[tuple[SubtleError, int]]:
        """The predictions at a word that will do, the best one first, with their tokens."""
        tokenizer, original = self.head.tokenizer, text[slice(*word.span)]
        logits = self.head.scores(tokens, word.position)
        special = set(tokenizer.all_special_ids)
        for rank, token in enumerate(
            torch.sort(logits, descending=True, stable=True).indices.tolist(), start=1
        ):
            if token in special or token == tokens[word.position]:
                continue
            replacement = tokenizer.decode([token]).strip()
            if not is_word(replacement) or same_word(replacement, original):
                continue
            if self.head.ignores_case:
                replacement = with_case_of(replacement, original)
            probability = float(torch.exp(logits[token] - logits.logsumexp(0)))
            error = SubtleError(
                span=(0, 0),  # `substitute` fills it in
                clean_span=word.span,
                original=original,
                replacement=replacement,
                rank=rank,
                probability=probability,
                step=len(corrupted.errors),
            )
            expected = tokens.copy()
            expected[word.position] = token
            (units,) = tokenize([substitute(text, [*corrupted.errors, error], 0).text], tokenizer)
            if units.tokens.tolist() == expected.tolist():  # the other tokens are as they were
                yield error, token


@dataclass(frozen=True, slots=True)
class WholeWord:
    """A word of a text that is one token: the token's position and the word's characters."""

    position: int
    span: Span


def whole_words(text: str, units: Units) -> list[WholeWord]:
    """The words of a text that are a single token each, from left to right; ``units`` are its
    tokens.

    A word is what `estime_metric.engine.splitter.split_words` finds, with a letter or digit in
    it. It is whole if exactly one token touches it, and that token touches nothing else and is not
    the unknown token. A word that an invisible character joins to its neighbor (zero-width joiner,
    soft hyphen) is part of one.
    """
    spans, whole, low = units.spans.tolist(), [], 0
    for start, stop in locate_words(text, split_words(text)):
        while low < len(spans) and spans[low][1] <= start:
            low += 1
        touching = [
            position
            for position in range(low, min(low + 2, len(spans)))
            if spans[position][0] < stop
        ]
        if len(touching) != 1 or not is_word(text[start:stop]) or _joined(text, start, stop):
            continue
        (position,) = touching
        if start <= spans[position][0] and spans[position][1] <= stop and units.known[position]:
            whole.append(WholeWord(position, (start, stop)))
    return whole


def is_word(text: str) -> bool:
    """Whether a text is exactly one word and has a letter or a digit in it.

    Example:
        >>> [is_word(text) for text in ("tree", "1874", "##ing", "a b", ".", "", "\\ufffd")]
        [True, True, False, False, False, False, False]
    """
    return split_words(text) == [text] and any(char.isalnum() for char in text)


def same_word(one: str, other: str) -> bool:
    """Whether two words differ in nothing but capitals, accents and compatible forms of their
    letters.
    """
    return _plain(one) == _plain(other)


def ignores_case(tokenizer: Any) -> bool:
    """Whether capitals make no difference to a tokenizer."""
    letters = " ".join("abcdefghijklmnopqrstuvwxyz")
    tokens = [
        tokenizer(text, add_special_tokens=False)["input_ids"]
        for text in (letters, letters.upper())
    ]
    return bool(tokens[0] == tokens[1])


def with_case_of(word: str, model: str) -> str:
    """A lower-case word with the capitals of another: all, the first, or none; none also if a
    capital is longer.

    Example:
        >>> [with_case_of("dog", model) for model in ("Cats", "NATO", "A", "iPad")]
        ['Dog', 'DOG', 'Dog', 'dog']
    """
    if len(model) > 1 and model.isupper():
        changed = word.upper()
    elif model[:1].isupper():
        changed = word[:1].upper() + word[1:]
    else:
        return word
    return changed if len(changed) == len(word) and changed.lower() == word else word


def shuffled(words: list[WholeWord], text: str, seed: int) -> list[WholeWord]:
    """The words in a random order that depends only on the seed and the text, on every machine and
    in every version.
    """

    def key(word: WholeWord) -> bytes:
        return hashlib.sha256(f"{seed}\0{text}\0{word.span[0]}".encode()).digest()

    return sorted(words, key=key)


def _joined(text: str, start: int, stop: int) -> bool:
    """Whether an invisible character is directly before or after a word."""
    return any(
        unicodedata.category(char) == "Cf"
        for char in (text[max(0, start - 1) : start] + text[stop : stop + 1])
    )


def _plain(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", word).casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))

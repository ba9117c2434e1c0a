"""Subtle errors: words of a text replaced by what a masked language model would rather read there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from estime_metric._version import __version__
from estime_metric.config import EstimeConfig
from estime_metric.engine.encoder import choose_device
from estime_metric.engine.loading import load_pretrained
from estime_metric.engine.precision import inference_context
from estime_metric.engine.text import IntArray, tokenize
from estime_metric.inputs import check_choice, check_texts, integer
from estime_metric.studies.subtle_errors.records import Corrupted, SubtleError, substitute
from estime_metric.studies.subtle_errors.words import (
    WholeWord,
    ignores_case,
    is_word,
    same_word,
    shuffled,
    whole_words,
    with_case_of,
)  # fmt: skip

#: The paper's model for the errors (section 4).
PAPER_GENERATOR = "bert-base-cased"
#: Whether each error sees those before it.
ORDERS = ("sequential", "clean")


class PredictionHead:
    """A masked language model with its prediction head: which token stands at a masked position?"""

    def __init__(self, config: EstimeConfig) -> None:
        loaded = load_pretrained(config.model, config.revision, getattr(torch, config.dtype))
        headed = loaded.with_head()
        self.tokenizer: Any = loaded.tokenizer
        self.ignores_case = ignores_case(loaded.tokenizer)
        self.revision = loaded.info.resolve(config).revision
        self._window = config.window
        self._special = loaded.info.special
        self._device = choose_device(config.device)
        self._model = headed.to(self._device).requires_grad_(False)

    def scores(self, tokens: IntArray, position: int) -> Tensor:
        """What the model gives each token of the vocabulary at one position, which alone is masked.

        It sees up to ``window`` of the text's tokens with the position in their middle, or as near to it as the ends
        let it. Each call is one forward pass of one window, so that no other text can change the result even in its
        last digit. Logits, float64 of shape (vocabulary,), on the CPU.
        """
        start = max(0, min(position - self._window // 2, len(tokens) - self._window))
        inside = tokens[start : start + self._window].tolist()
        inside[position - start] = self._special.mask
        ids = torch.tensor([[*self._special.before, *inside, *self._special.after]], device=self._device)
        with inference_context(self._device):
            everywhere: Tensor = self._model(input_ids=ids).logits  # (1, positions, vocabulary)
        return everywhere[0, len(self._special.before) + position - start].double().cpu()


class SubtleErrors:
    """Puts subtle errors into texts: masks a word, predicts it, takes the best prediction that is another word.

    The words are picked at random among those that are one token (see `whole_words`), each at most once. A prediction
    is taken if it is one whole word itself, is not the original in other capitals or accents, and leaves all other
    tokens of the text as they are; word pieces, punctuation and special tokens are passed over, and ``rank`` tells how
    many. Where capitals make no difference to the tokenizer, the new word has the capitals of the old one.

    The result depends only on the text and the options: not on its position in the list, nor on the other texts.
    Errors come in one order for each text, so ``n_errors=1`` makes the first of the errors that ``n_errors=3`` makes.

    Args:
        model: Hub name or folder of a masked language model with its prediction head, or ``"embedded-small"``.
        revision: commit, tag or branch of a Hub model.
        n_errors: errors in each text, at least 1. A text with fewer whole words gets as many as it has, and
            `Corrupted.n_missing` says how many are missing.
        seed: another seed picks other words.
        order: ``"sequential"``: each error is put in before the next is predicted, as the paper's wording has it;
            ``"clean"``: each is predicted from the clean text.
        window: most tokens that the model sees around a mask; no text is cut, the window moves.
        dtype, device: as in `estime_metric.config.EstimeConfig`.

    Raises:
        TypeError, ValueError: a bad option; the message names it.

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
        order: str = "sequential",
        window: int = 450,
        dtype: str = "float32",
        device: str | None = None,
    ) -> None:
        self._config = EstimeConfig(
            model=model, revision=revision, window=window, margin=0, distance=1, dtype=dtype, device=device
        )
        check_choice("order", order, ORDERS)
        self.n_errors = integer("n_errors", n_errors, 1)
        self.seed = integer("seed", seed)
        self.order = order

    @property
    def signature(self) -> str:
        """One line that says how the errors came about; loads the model, which tells its revision."""
        config = EstimeConfig(model=self._config.model, revision=self._head.revision)
        model = config.signature().split("|")[1]
        return (
            f"SubtleErrors|{model}|errors:{self.n_errors}|seed:{self.seed}|order:{self.order}"
            f"|window:{self._config.window}|dtype:{self._config.dtype}|version:{__version__}"
        )

    def __call__(self, texts: Sequence[str], *, progress: bool = False) -> list[Corrupted]:
        """Corrupts each text, in order. An empty text has no words, so all its errors are missing.

        Raises:
            TypeError, ValueError: ``texts`` is no list of strings; the message names the index.
            EncoderUnavailableError: the model cannot be loaded.
        """
        checked = check_texts("texts", texts)
        bar = tqdm(checked, unit="text", disable=not progress, dynamic_ncols=True)
        return [self._corrupt(text) for text in bar]

    @cached_property
    def _head(self) -> PredictionHead:
        return PredictionHead(self._config)

    def _corrupt(self, text: str) -> Corrupted:
        tokenizer = self._head.tokenizer
        (units,) = tokenize([text], tokenizer)
        tokens = units.tokens.copy()
        corrupted = substitute(text, [], self.n_errors)
        for word in shuffled(whole_words(text, units), text, self.seed):
            if len(corrupted.errors) == self.n_errors:
                break
            found = self._error(text, corrupted, tokens, word)
            if found is not None:
                error, token = found
                if self.order == "sequential":
                    tokens[word.position] = token
                corrupted = substitute(text, [*corrupted.errors, error], self.n_errors)
        return corrupted

    def _error(
        self, text: str, corrupted: Corrupted, tokens: IntArray, word: WholeWord
    ) -> tuple[SubtleError, int] | None:
        """The error at a word and its token; ``None`` where no prediction will do."""
        tokenizer = self._head.tokenizer
        logits = self._head.scores(tokens, word.position)
        original = text[slice(*word.span)]
        special = set(tokenizer.all_special_ids)
        earlier = corrupted.errors if self.order == "sequential" else ()
        for rank, token in enumerate(torch.sort(logits, descending=True, stable=True).indices.tolist(), start=1):
            if token in special or token == tokens[word.position]:
                continue
            replacement = tokenizer.decode([token]).strip()
            if not is_word(replacement) or same_word(replacement, original):
                continue
            if self._head.ignores_case:
                replacement = with_case_of(replacement, original)
            probability = float(torch.exp(logits[token] - logits.logsumexp(0)))
            error = SubtleError((0, 0), word.span, original, replacement, rank, probability, len(corrupted.errors))
            if self._keeps_tokens(text, [*earlier, error], tokens, word.position, token):
                return error, token
        return None

    def _keeps_tokens(
        self, text: str, errors: Sequence[SubtleError], tokens: IntArray, position: int, token: int
    ) -> bool:
        """Whether a text with these errors has the token at the position and the other tokens as they were."""
        expected = tokens.copy()
        expected[position] = token
        (units,) = tokenize([substitute(text, errors, 0).text], self._head.tokenizer)
        return bool(units.tokens.tolist() == expected.tolist())

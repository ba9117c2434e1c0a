"""Pairs of texts -> scores: the hall where the engine's rooms meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from estime_metric.config import EstimeConfig
from estime_metric.engine.batching import MaskedText
from estime_metric.engine.encoder import MaskedEncoder
from estime_metric.engine.masking import plan_token_windows
from estime_metric.engine.matching import match
from estime_metric.engine.measures import STATISTICS
from estime_metric.engine.text import Units, occurring, positions, tokenize
from estime_metric.inputs import check_pairs, check_text, check_texts
from estime_metric.result import EstimeResult

#: Bytes of embeddings held at once. Pairs are scored in portions of that size, so memory does not grow with their
#: number; a portion is large enough to find windows of equal length for every batch.
PORTION_BYTES = 256_000_000

#: Summaries of one source that are tokenized in one call.
_TOKENIZED_AT_ONCE = 256


@dataclass(eq=False, slots=True)
class _Source:
    """A source under way. Its embeddings, of shape (l, t, d), are kept while summaries of it are left."""

    units: Units
    embeddings: Tensor | None = None


@dataclass(eq=False, slots=True)
class _Summary:
    """A summary under way: its units, the positions that are checked, the rows of the result that it fills."""

    units: Units
    checked: list[int]
    rows: list[int]


_Portion = list[tuple[_Source, list[_Summary]]]


class EstimeScorer:
    """Scores summaries with one configuration.

    The encoder is loaded at first use and shared with every other scorer that asks for the same one.

    Args:
        config: an `EstimeConfig`; the default is the paper's setting.
        options: options of `EstimeConfig`, laid over ``config``.

    Raises:
        TypeError, ValueError: a bad option; the message names it.

    Example:
        >>> scorer = EstimeScorer(model="embedded")
        >>> result = scorer.score(["A dog slept."], ["A cat slept in the sun while a dog barked."])
        >>> result.values("tokens").tolist()
        [4.0]
    """

    def __init__(self, config: EstimeConfig | None = None, **options: Any) -> None:
        self.config = EstimeConfig.from_options(config, options)
        self._ready: tuple[MaskedEncoder, EstimeConfig] | None = None

    @property
    def encoder(self) -> MaskedEncoder:
        """The encoder, loaded at first use."""
        return self._load()[0]

    @property
    def signature(self) -> str:
        """The signature that the results will carry; loads the encoder, which tells revision and default layer."""
        return self._load()[1].signature()

    def score(self, predictions: Sequence[str], sources: Sequence[str], *, progress: bool = False) -> EstimeResult:
        """Scores each summary against its source.

        Equal sources are encoded once, equal pairs scored once; neither order nor company changes a score. A summary
        or a source without tokens (empty, blank) has nothing to check: its alarms are 0, see `EstimeResult.unchecked`.

        Args:
            predictions: the summaries.
            sources: one source for each summary.
            progress: show a progress bar on stderr.

        Raises:
            TypeError: an argument is no list of strings; the message names argument and index.
            ValueError: the lengths differ.
            EncoderUnavailableError: the encoder cannot be had.
        """
        return self._score(*check_pairs(predictions, sources), progress)

    def score_candidates(self, source: str, summaries: Sequence[str], *, progress: bool = False) -> EstimeResult:
        """Scores several summaries of one source, which is encoded once. Otherwise as `score`."""
        texts = check_texts("summaries", summaries)
        return self._score(texts, [check_text("source", source)] * len(texts), progress)

    def unload(self) -> None:
        """Lets go of the encoder; its memory is free once no other scorer holds it. The next use loads it again."""
        self._ready = None

    def __getstate__(self) -> dict[str, Any]:
        return {"config": self.config, "_ready": None}

    def __repr__(self) -> str:
        return f"EstimeScorer({self.config.signature()})"

    def _load(self) -> tuple[MaskedEncoder, EstimeConfig]:
        if self._ready is None:
            self._ready = MaskedEncoder.shared(self.config)
        return self._ready

    def _score(self, predictions: list[str], sources: list[str], progress: bool) -> EstimeResult:
        encoder, config = self._load()
        groups: dict[str, dict[str, list[int]]] = {}
        for row, (prediction, source) in enumerate(zip(predictions, sources, strict=True)):
            groups.setdefault(source, {}).setdefault(prediction, []).append(row)
        statistics = torch.zeros(len(predictions), len(config.layer_tuple), len(STATISTICS), dtype=torch.float64)
        with _progress_bar(len(predictions), progress) as advance:
            for portion in self._portions(groups):
                pairs = sum(len(summary.rows) for _, summaries in portion for summary in summaries)
                _score_portion(portion, encoder, config, statistics, partial(advance, pairs))
        return EstimeResult(statistics, config)

    def _portions(self, groups: dict[str, dict[str, list[int]]]) -> Iterator[_Portion]:
        """Tokenizes source by source and cuts the work into portions of bounded memory."""
        encoder, config = self._load()
        room = PORTION_BYTES // (len(config.layer_tuple) * encoder.facts.width * encoder.itemsize)
        portion: _Portion = []
        taken = 0
        for text, summaries in groups.items():
            source = _Source(tokenize([text], encoder.tokenizer)[0])
            portion.append((source, []))
            taken += len(source.units)
            for summary in self._summaries(source, summaries):
                if taken >= room:
                    yield portion
                    portion, taken = [(source, [])], 0
                portion[-1][1].append(summary)
                taken += len(summary.checked)
        if portion:
            yield portion

    def _summaries(self, source: _Source, summaries: dict[str, list[int]]) -> Iterator[_Summary]:
        """Tokenizes the summaries of one source and finds what is to be checked in each."""
        texts = list(summaries)
        for start in range(0, len(texts), _TOKENIZED_AT_ONCE):
            some = texts[start : start + _TOKENIZED_AT_ONCE]
            for text, units in zip(some, tokenize(some, self.encoder.tokenizer), strict=True):
                yield _Summary(units, positions(occurring(units, source.units)), summaries[text])


def _score_portion(
    portion: _Portion,
    encoder: MaskedEncoder,
    config: EstimeConfig,
    statistics: Tensor,
    on_progress: Callable[[float], None],
) -> None:
    """Encodes the sources and summaries of a portion side by side and writes the statistics of their pairs."""
    texts: list[MaskedText] = []
    fresh = [source for source, summaries in portion if source.embeddings is None and any(s.checked for s in summaries)]
    texts += [_masked(source.units, range(len(source.units)), config) for source in fresh]
    texts += [_masked(summary.units, summary.checked, config) for _, summaries in portion for summary in summaries]
    encoded = iter(encoder.encode(texts, config.layer_tuple, token_budget=config.token_budget, on_progress=on_progress))
    for source in fresh:
        source.embeddings = next(encoded)
    for source, summaries in portion:
        for summary in summaries:
            counts = _count(summary, source, next(encoded), config.normalize)
            for place, name in enumerate(STATISTICS):
                statistics[summary.rows, :, place] = counts[name].to(statistics)


def _count(summary: _Summary, source: _Source, embeddings: Tensor, normalize: bool) -> dict[str, Tensor]:
    """The statistics of one pair, each of shape (l,); ``embeddings`` are those of the checked tokens, (l, s, d)."""
    if source.embeddings is None:
        source.embeddings = embeddings.new_empty(len(embeddings), 0, embeddings.shape[-1])
    ids = torch.from_numpy(summary.units.ids[summary.checked]).to(embeddings.device)
    source_ids = torch.from_numpy(source.units.ids).to(embeddings.device)
    matches = match(embeddings, source.embeddings, ids, source_ids, normalize=normalize)
    return {**matches.statistics(), "tokens": torch.full((len(embeddings),), len(summary.units))}


def _masked(units: Units, wanted: Sequence[int], config: EstimeConfig) -> MaskedText:
    windows = plan_token_windows(
        len(units), wanted, window=config.window, margin=config.margin, distance=config.distance
    )
    return MaskedText(units.ids, windows, len(wanted))


@contextmanager
def _progress_bar(pairs: int, shown: bool) -> Iterator[Callable[[int, float], None]]:
    """A bar on stderr that counts pairs; what it yields takes a portion's pairs and the share of them done since."""
    done = 0.0
    with tqdm(total=pairs, unit="pair", disable=not shown, dynamic_ncols=True) as bar:

        def advance(portion: int, share: float) -> None:
            nonlocal done
            done += portion * share
            bar.update(round(done) - bar.n)

        yield advance

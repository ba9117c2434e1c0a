"""Pairs of texts -> scores: the hall where the engine's rooms meet."""

from __future__ import annotations

import os
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
from estime_metric.engine.cache import SourceCache, source_key
from estime_metric.engine.encoder import MaskedEncoder, undisturbed
from estime_metric.engine.masking import plan_token_windows, plan_word_windows
from estime_metric.engine.matching import Matches, cosine_sum, kendall_tau_c, match
from estime_metric.engine.measures import STATISTICS
from estime_metric.engine.text import BoolArray, Units, leave_out_tags, occurring, split_into_words, tokenize
from estime_metric.engine.words import find_splitter, find_tagger
from estime_metric.inputs import check_pairs, check_text, check_texts
from estime_metric.result import EstimeResult

#: Bytes of embeddings held at once. Pairs are scored in portions of that size, so memory does not grow with their
#: number; a portion is large enough to find windows of equal length for every batch.
PORTION_BYTES = 256_000_000

#: Summaries of one source that are taken apart in one call.
_TAKEN_APART_AT_ONCE = 256


@dataclass(eq=False, slots=True)
class _Source:
    """A source under way. Its embeddings, of shape (l, t, d), are kept while summaries of it are left."""

    units: Units
    embeddings: Tensor | None = None


@dataclass(eq=False, slots=True)
class _Summary:
    """A summary under way.

    Attributes:
        units: its units.
        checked: which of them occur in the source, bool of shape (n,).
        encodings: the sets of units that are encoded, each with a masking schedule of its own: those that are checked
            (unit ``token``), all (unit ``word``), or one after the other.
        rows: the rows of the result that it fills.
    """

    units: Units
    checked: BoolArray
    encodings: list[Units]
    rows: list[int]


_Portion = list[tuple[_Source, list[_Summary]]]


class EstimeScorer:
    """Scores summaries with one configuration.

    The encoder is loaded at first use and shared with every other scorer that asks for the same one.

    Args:
        config: an `EstimeConfig`; the default is the paper's setting.
        cache: keeps the embeddings of sources from one call to the next: bytes of memory, a folder, a `SourceCache`
            that says more, or ``None`` for none. It never changes a score.
        options: options of `EstimeConfig`, laid over ``config``.

    Raises:
        TypeError, ValueError: a bad option; the message names it.

    Example:
        >>> scorer = EstimeScorer(model="embedded")
        >>> result = scorer.score(["A dog slept."], ["A cat slept in the sun while a dog barked."])
        >>> result.values("tokens").tolist()
        [4.0]
    """

    def __init__(
        self,
        config: EstimeConfig | None = None,
        *,
        cache: int | str | os.PathLike[str] | SourceCache | None = None,
        **options: Any,
    ) -> None:
        self.config = EstimeConfig.from_options(config, options)
        self.cache = SourceCache.of(cache)
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
        return {"config": self.config, "cache": self.cache, "_ready": None}

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
        with _progress_bar(len(predictions), progress) as advance, undisturbed(encoder.device):
            for portion in self._portions(groups):
                pairs = sum(len(summary.rows) for _, summaries in portion for summary in summaries)
                _score_portion(portion, encoder, config, self.cache, statistics, partial(advance, pairs))
        return EstimeResult(statistics, config)

    def _portions(self, groups: dict[str, dict[str, list[int]]]) -> Iterator[_Portion]:
        """Takes the texts apart, source by source, and cuts the work into portions of bounded memory."""
        encoder, config = self._load()
        room = PORTION_BYTES // (len(config.layer_tuple) * encoder.facts.width * encoder.itemsize)
        portion: _Portion = []
        taken = 0
        for text, summaries in groups.items():
            source = _Source(self._units([text])[0])
            portion.append((source, []))
            taken += len(source.units)
            for summary in self._summaries(source, summaries):
                if taken >= room:
                    yield portion
                    portion, taken = [(source, [])], 0
                portion[-1][1].append(summary)
                taken += sum(map(len, summary.encodings))
        if portion:
            yield portion

    def _summaries(self, source: _Source, summaries: dict[str, list[int]]) -> Iterator[_Summary]:
        """Takes the summaries of one source apart and finds what is to be checked in each."""
        texts = list(summaries)
        for start in range(0, len(texts), _TAKEN_APART_AT_ONCE):
            some = texts[start : start + _TAKEN_APART_AT_ONCE]
            for text, units in zip(some, self._units(some), strict=True):
                checked = occurring(units, source.units)
                if self.config.unit == "word":
                    encodings = [units]
                elif self.config.needs_every_unit and not checked.all():
                    encodings = [units.only(checked), units]
                else:
                    encodings = [units.only(checked)]
                yield _Summary(units, checked, encodings, summaries[text])

    def _units(self, texts: list[str]) -> list[Units]:
        """The units of each text, parts of speech that are left out excepted."""
        config, tokenizer = self.config, self.encoder.tokenizer
        if config.unit == "word":
            found = split_into_words(texts, tokenizer, find_splitter(config.splitter))
        else:
            found = tokenize(texts, tokenizer)
        if config.tagger is None:
            return found
        splitter, tagger = find_splitter(config.splitter), find_tagger(config.tagger)
        return [
            leave_out_tags(text, units, splitter, tagger, config.keep_tags, config.drop_tags)
            for text, units in zip(texts, found, strict=True)
        ]


def _score_portion(
    portion: _Portion,
    encoder: MaskedEncoder,
    config: EstimeConfig,
    cache: SourceCache | None,
    statistics: Tensor,
    on_progress: Callable[[float], None],
) -> None:
    """Encodes the sources and summaries of a portion side by side and writes the statistics of their pairs."""
    fresh = [
        source
        for source, summaries in portion
        if source.embeddings is None and any(len(units) for summary in summaries for units in summary.encodings)
    ]
    keys = {} if cache is None else _look_up(fresh, cache, encoder, config)
    fresh = [source for source in fresh if source.embeddings is None]
    texts = [_masked(source.units, config) for source in fresh]
    texts += [
        _masked(units, config) for _, summaries in portion for summary in summaries for units in summary.encodings
    ]
    encoded = iter(encoder.encode(texts, config.layer_tuple, token_budget=config.token_budget, on_progress=on_progress))
    for source in fresh:
        source.embeddings = next(encoded)
        if cache is not None:
            cache.put(keys[source], source.embeddings)
    context_free = _context_free(encoder, config)
    for source, summaries in portion:
        for summary in summaries:
            matched = [_match(units, next(encoded), source, config) for units in summary.encodings]
            counts = _count(summary, source, matched, config, context_free)
            for place, name in enumerate(STATISTICS):
                statistics[summary.rows, :, place] = counts[name].to(statistics)


def _look_up(
    sources: list[_Source], cache: SourceCache, encoder: MaskedEncoder, config: EstimeConfig
) -> dict[_Source, str]:
    """Takes from the cache what it has; returns the keys of the sources."""
    signature, keys = config.signature(), {}
    for source in sources:
        units = source.units
        keys[source] = source_key(signature, units.tokens, units.first, units.stop, units.place)
        known = cache.get(keys[source])
        if known is not None:
            source.embeddings = known.to(encoder.device)
    return keys


def _masked(units: Units, config: EstimeConfig) -> MaskedText:
    """The windows in which the units of a text are masked."""
    length = len(units.tokens)
    first = units.first.tolist()
    sizes = {"window": config.window, "margin": config.margin, "distance": config.distance}
    if config.unit == "word":
        words = list(zip(first, units.stop.tolist(), strict=True))
        windows = plan_word_windows(length, words, units.place.tolist(), **sizes)
    else:
        windows = plan_token_windows(length, first, **sizes)
    return MaskedText(units.tokens, windows, len(units))


def _match(units: Units, embeddings: Tensor, source: _Source, config: EstimeConfig) -> Matches:
    """The best matches of a summary's units, whose embeddings are of shape (l, s, d)."""
    if source.embeddings is None:  # no unit of any summary was encoded
        source.embeddings = embeddings.new_empty(len(embeddings), 0, embeddings.shape[-1])
    ids = torch.from_numpy(units.ids).to(embeddings.device)
    source_ids = torch.from_numpy(source.units.ids[: source.embeddings.shape[1]]).to(embeddings.device)
    return match(embeddings, source.embeddings, ids, source_ids, normalize=config.normalize)


def _count(
    summary: _Summary,
    source: _Source,
    matched: list[Matches],
    config: EstimeConfig,
    context_free: Callable[[Units], Tensor] | None,
) -> dict[str, Tensor]:
    """The statistics of one pair, each of shape (l,)."""
    checked, every = matched[0], matched[-1]
    overlap = int(summary.checked.sum())
    if config.unit == "word" and overlap:
        checked = every.only(torch.from_numpy(summary.checked).to(every.same.device))
    layers = len(every.same)
    counts = {
        **checked.counts(),
        "overlap": torch.full((layers,), overlap),
        "tokens": torch.full((layers,), len(summary.units)),
        **dict.fromkeys(("alarms_alltokens", "cosines", "coherence"), torch.full((layers,), torch.nan)),
    }
    if config.unit == "word" and not overlap:  # the released code's rule
        counts["alarms"] = every.alarms_or_unmatched
    if config.needs_every_unit:
        counts["alarms_alltokens"] = every.alarms_or_unmatched
        counts["coherence"] = kendall_tau_c(every.best_at)
    if context_free is not None:
        counts["cosines"] = cosine_sum(context_free(summary.units), context_free(source.units), every.best_at)
    return counts


def _context_free(encoder: MaskedEncoder, config: EstimeConfig) -> Callable[[Units], Tensor] | None:
    """What gives the input embeddings of units, of shape (n, d), where ``soft`` is asked for."""
    if "soft" not in config.measures:
        return None
    if config.soft_model is None:
        other = encoder
    else:
        asked = EstimeConfig(
            model=config.soft_model, layers=0, window=1, margin=0, dtype=config.dtype, device=config.device
        )
        other, _ = MaskedEncoder.shared(asked)
        other.check_vocabulary(encoder)
    return lambda units: other.input_embeddings(units.ids)


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

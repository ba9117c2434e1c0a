"""Pairs of texts -> scores: the hall where the engine's rooms meet."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from tqdm import tqdm

from estime_metric.config import ALL_UNIT_MEASURES, EstimeConfig
from estime_metric.engine.batching import MaskedText
from estime_metric.engine.cache import SourceCache, source_key
from estime_metric.engine.encoder import MaskedEncoder, inference_context
from estime_metric.engine.masking import plan_token_windows, plan_word_windows
from estime_metric.engine.matching import Matches, cosine_sum, kendall_tau_c, match
from estime_metric.engine.measures import STATISTICS
from estime_metric.engine.text import Units
from estime_metric.explanation import Explanation, explain_units
from estime_metric.inputs import check_choice, check_pairs, check_text, check_texts
from estime_metric.pairs import Chunk, SourceText, SummaryText, chunks
from estime_metric.result import EstimeResult

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from estime_metric.config import EstimeOptions

#: Bytes of embeddings held at once. Pairs are scored in chunks of that size, so memory does not grow with their
#: number; a chunk is large enough to find windows of equal length for every batch.
CHUNK_BYTES = 256_000_000


@dataclass(frozen=True, eq=False, slots=True)
class _Ready:
    """What a scorer holds once it is loaded: the encoder, the configuration with nothing left open, and the encoder
    whose input embeddings ``soft`` compares."""

    encoder: MaskedEncoder
    config: EstimeConfig
    soft_encoder: MaskedEncoder


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
        **options: Unpack[EstimeOptions],
    ) -> None:
        self.config = EstimeConfig.from_options(config, options)
        self.cache = SourceCache.of(cache)
        self._ready: _Ready | None = None

    @property
    def encoder(self) -> MaskedEncoder:
        """The encoder, loaded at first use."""
        return self._load().encoder

    @property
    def signature(self) -> str:
        """The signature that the results will carry; loads the encoder, which tells revision and default layer."""
        return self._load().config.signature()

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

    def explain(self, prediction: str, source: str, *, layer: int | None = None) -> Explanation:
        """Shows what stands behind the alarms of one pair: for each unit of the summary its verdict and its evidence
        in the source. `estime_metric.explain` draws it.

        Units that the source lacks are shown with the place that their context leads to, for which they are encoded
        too; that changes no verdict.

        Args:
            prediction: the summary.
            source: the text to judge it against.
            layer: one of the layers of the configuration; may be left out where there is just one.

        Raises:
            TypeError: an argument is no string.
            ValueError: a layer that is not read, or none given where several are.
            EncoderUnavailableError: the encoder cannot be had.

        Example:
            >>> scorer = EstimeScorer(model="embedded")
            >>> shown = scorer.explain("A dog slept.", "A cat slept in the sun while a dog barked.")
            >>> [shown.prediction[unit.start : unit.end] for unit in shown.units]
            ['A', 'dog', 'slept', '.']
        """
        texts = [check_text("prediction", prediction)], [check_text("source", source)]
        return self._explain(*texts, layer, progress=False)[0]

    def explain_pairs(
        self, predictions: Sequence[str], sources: Sequence[str], *, layer: int | None = None, progress: bool = False
    ) -> list[Explanation]:
        """`explain` for several pairs, encoded together. Arguments and errors as for `score` and `explain`."""
        return self._explain(*check_pairs(predictions, sources), layer, progress)

    def unload(self) -> None:
        """Lets go of the encoder; its memory is free once no other scorer holds it. The next use loads it again."""
        self._ready = None
        gc.collect()  # modules of some encoders hold each other

    def __getstate__(self) -> dict[str, Any]:
        return {"config": self.config, "cache": self.cache, "_ready": None}

    def __repr__(self) -> str:
        return f"EstimeScorer({self.config.signature()})"

    def _load(self) -> _Ready:
        if self._ready is None:
            encoder, config = MaskedEncoder.shared(self.config)
            soft_encoder = encoder
            if config.soft_model is not None and "soft" in config.measures:
                least = EstimeConfig(
                    model=config.soft_model,
                    revision=config.soft_revision,
                    layers=0,
                    window=1,
                    margin=0,
                    dtype=config.dtype,
                    device=config.device,
                )
                soft_encoder, found = MaskedEncoder.shared(least)
                soft_encoder.check_vocabulary(encoder)
                config = replace(config, soft_revision=found.revision)
            self._ready = _Ready(encoder, config, soft_encoder)
        return self._ready

    def _score(self, predictions: list[str], sources: list[str], progress: bool) -> EstimeResult:
        ready = self._load()
        shape = len(predictions), len(ready.config.layer_tuple), len(STATISTICS)
        statistics = torch.zeros(shape, dtype=torch.float64)
        with inference_context(ready.encoder.device):
            for summary, source, matched in self._matched(predictions, sources, ready, progress):
                counts = _count(summary, source, matched, ready)
                for place, name in enumerate(STATISTICS):
                    statistics[summary.rows, :, place] = counts[name].to(statistics)
        return EstimeResult(statistics, ready.config)

    def _explain(
        self, predictions: list[str], sources: list[str], layer: int | None, progress: bool
    ) -> list[Explanation]:
        ready = self._load()
        layers = ready.config.layer_tuple
        if layer is not None or len(layers) > 1:
            check_choice("layer", layer, layers)
        layer = layers[0] if layer is None else layer
        every_unit = replace(ready, config=replace(ready.config, measures=ALL_UNIT_MEASURES[:1]))
        explanations: dict[int, Explanation] = {}
        with inference_context(ready.encoder.device):
            for summary, source, matched in self._matched(predictions, sources, every_unit, progress):
                texts = predictions[summary.rows[0]], sources[summary.rows[0]]
                explanation = explain_units(
                    *texts, summary.units, source.units, summary.checked, matched, layer, ready.config
                )
                explanations |= dict.fromkeys(summary.rows, explanation)
        return [explanations[row] for row in range(len(predictions))]

    def _matched(
        self, predictions: list[str], sources: list[str], ready: _Ready, progress: bool
    ) -> Iterator[tuple[SummaryText, SourceText, list[Matches]]]:
        """Every different pair with the best matches of its units; to be walked through inference_context."""
        encoder, config = ready.encoder, ready.config
        room = CHUNK_BYTES // (len(config.layer_tuple) * encoder.info.width * encoder.itemsize)
        with _progress_bar(len(predictions), progress) as advance:
            for chunk in chunks(predictions, sources, config, encoder.tokenizer, room):
                pairs = sum(len(summary.rows) for _, summaries in chunk for summary in summaries)
                yield from _match_chunk(chunk, ready, self.cache, partial(advance, pairs))


def _match_chunk(
    chunk: Chunk, ready: _Ready, cache: SourceCache | None, on_progress: Callable[[float], None]
) -> Iterator[tuple[SummaryText, SourceText, list[Matches]]]:
    """Encodes the sources and summaries of a chunk side by side and matches those of each pair."""
    encoder, config = ready.encoder, ready.config
    fresh = [
        source
        for source, summaries in chunk
        if source.embeddings is None and any(len(units) for summary in summaries for units in summary.encodings)
    ]
    keys = {} if cache is None else _look_up(fresh, cache, encoder, config)
    fresh = [source for source in fresh if source.embeddings is None]
    texts = [_masked(source.units, config) for source in fresh]
    texts += [_masked(units, config) for _, summaries in chunk for summary in summaries for units in summary.encodings]
    encoded = iter(encoder.encode(texts, config.layer_tuple, token_budget=config.token_budget, on_progress=on_progress))
    for source in fresh:
        source.embeddings = next(encoded)
        if cache is not None:
            cache.put(keys[source], source.embeddings)
    for source, summaries in chunk:
        for summary in summaries:
            yield summary, source, [_match(units, next(encoded), source, config) for units in summary.encodings]


def _look_up(
    sources: list[SourceText], cache: SourceCache, encoder: MaskedEncoder, config: EstimeConfig
) -> dict[SourceText, str]:
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


def _match(units: Units, embeddings: Tensor, source: SourceText, config: EstimeConfig) -> Matches:
    """The best matches of a summary's units, whose embeddings are of shape (l, s, d)."""
    of_source = source.embeddings
    if of_source is None:  # no unit of any summary in this chunk was encoded; a later chunk may still need it
        of_source = embeddings.new_empty(len(embeddings), 0, embeddings.shape[-1])
    ids = torch.from_numpy(units.ids).to(embeddings.device)
    source_ids = torch.from_numpy(source.units.ids[: of_source.shape[1]]).to(embeddings.device)
    return match(embeddings, of_source, ids, source_ids, normalize=config.normalize)


def _count(
    summary: SummaryText,
    source: SourceText,
    matched: list[Matches],
    ready: _Ready,
) -> dict[str, Tensor]:
    """The statistics of one pair, each of shape (l,)."""
    config = ready.config
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
    if "soft" in config.measures:
        look_up = ready.soft_encoder.input_embeddings
        counts["cosines"] = cosine_sum(look_up(summary.units.ids), look_up(source.units.ids), every.best_at)
    return counts


@contextmanager
def _progress_bar(pairs: int, shown: bool) -> Iterator[Callable[[int, float], None]]:
    """A bar on stderr that counts pairs; what it yields takes a chunk's pairs and the share of them done since."""
    done = 0.0
    with tqdm(total=pairs, unit="pair", disable=not shown, dynamic_ncols=True) as bar:

        def advance(chunk: int, share: float) -> None:
            nonlocal done
            done += chunk * share
            bar.update(round(done) - bar.n)

        yield advance

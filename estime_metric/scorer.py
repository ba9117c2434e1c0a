"""Pairs of texts -> scores and explanations: `EstimeScorer` runs the stages of the engine in one loop."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import torch
from tqdm import tqdm

from estime_metric import embedded
from estime_metric.checks import (
    are_mostly_shorter,
    check_choice,
    check_pairs,
    check_source,
    check_text,
    check_texts,
)
from estime_metric.config import EstimeConfig
from estime_metric.engine.cache import SourceCache
from estime_metric.engine.embedding import Embedder
from estime_metric.engine.encoder import store
from estime_metric.engine.encoder.forks import in_flight
from estime_metric.engine.encoder.loading import check_models
from estime_metric.engine.encoder.masked import MaskedEncoder
from estime_metric.engine.encoder.memory import return_memory
from estime_metric.engine.encoder.precision import inference_context
from estime_metric.engine.language import is_foreign
from estime_metric.engine.matching import MatchedPair, match_batch, matches_to_host
from estime_metric.engine.pairs import pair_batches
from estime_metric.engine.statistics import count_statistics
from estime_metric.explanation import Explanation, explain_pair
from estime_metric.measures import STATISTICS
from estime_metric.result import EstimeResult

if TYPE_CHECKING:
    from estime_metric.config import EstimeOptions
    from estime_metric.signature import Signature

#: Bytes of embeddings in a batch of pairs, not counting a source that has more summaries in the next batch.
EMBEDDED_BYTES = 256_000_000


class Loaded(NamedTuple):
    """What an `EstimeScorer` needs to score."""

    encoder: MaskedEncoder
    config: EstimeConfig  # fully resolved
    soft_encoder: MaskedEncoder  # provides the input embeddings for `soft`


class EstimeScorer:
    """Scores summaries with a fixed configuration. The encoder is loaded on first use and shared with
    other scorers that use the same one.

    Args:
        config: an `EstimeConfig`; the default uses the bundled encoder ``"embedded"``.
        cache: caches source embeddings between calls. Pass a memory limit in bytes or a
            `SourceCache`; ``None`` disables the cache. Caching changes scores only by rounding.
        options: options of `EstimeConfig`; they override those in ``config``.

    Raises:
        TypeError, ValueError: an option is invalid; the message names it.
        EncoderUnavailableError: there is certainly no such ``model``: the name is nearly a bundled
            encoder's, a path is not a folder, or ``HF_HUB_OFFLINE`` is set and the name is not in
            the Hub's cache. Nothing is loaded or downloaded to find out.

    Example:
        >>> scorer = EstimeScorer()
        >>> result = scorer.score(["A dog slept."], ["A cat slept in the sun while a dog barked."])
        >>> result.values("tokens").tolist()
        [4.0]
    """

    def __init__(
        self,
        config: EstimeConfig | None = None,
        *,
        cache: int | SourceCache | None = None,
        **options: Unpack[EstimeOptions],
    ) -> None:
        self.config = EstimeConfig.from_options(config, options)
        self.cache = SourceCache.of(cache)
        check_models(self.config)
        self._loaded: Loaded | None = None

    def load(self) -> Loaded:
        """Loads the encoder now instead of on first use."""
        if self._loaded is None:
            with in_flight():
                encoder, config = store.STORE.get(self.config)
                soft_encoder = encoder
                if config.soft_model is not None and "soft" in config.measures:
                    soft_encoder, soft_config = store.STORE.get(
                        replace(
                            config,
                            model=config.soft_model,
                            revision=config.soft_revision,
                            layers=0,
                            window=None,
                            margin=None,
                            measures=(),
                        )
                    )
                    soft_encoder.check_vocabulary(encoder)
                    config = replace(config, soft_revision=soft_config.revision)
                self._loaded = Loaded(encoder, config, soft_encoder)
        return self._loaded

    @property
    def encoder(self) -> MaskedEncoder:
        """The encoder, loaded on first use."""
        return self.load().encoder

    @property
    def signature(self) -> Signature:
        """The signature of the results. Loads the encoder, because its revision and default layer are
        part of the signature.
        """
        return self.load().config.signature()

    @property
    def resolved_config(self) -> EstimeConfig:
        """The fully resolved configuration, as stored in results. Loads the encoder."""
        return self.load().config

    @property
    def bytes_per_unit(self) -> int:
        """The memory of the embeddings of one unit, in bytes. Loads the encoder."""
        return (
            len(self.resolved_config.layer_tuple) * self.encoder.info.width * self.encoder.itemsize
        )

    def score(
        self,
        predictions: Sequence[str],
        sources: Sequence[str],
        *,
        progress: bool | Callable[[int], None] = False,
    ) -> EstimeResult:
        """Scores each summary against its source.

        Identical sources are encoded once, and identical pairs are scored once. The order of the
        pairs and the other pairs in the call change a score only by rounding; see
        `EstimeResult.ties`. For blank texts, see `EstimeResult.unchecked_indices`.

        Args:
            predictions: the summaries.
            sources: one source for each summary.
            progress: show a progress bar on stderr, or a function that is called after each forward
                pass with the number of pairs that it has completed, about.

        Raises:
            TypeError, ValueError: the arguments are not lists of strings of the same length, or a
                source has no letter and no digit; the message names the index.
            EncoderUnavailableError: the encoder cannot be loaded.
            RuntimeError: this process was forked while its parent was loading or scoring.
        """
        return self.score_checked(*check_pairs(predictions, sources), progress)

    @in_flight()
    def score_checked(
        self,
        predictions: list[str],
        sources: list[str],
        progress: bool | Callable[[int], None] = False,
    ) -> EstimeResult:
        """`score` for texts that `estime_metric.checks.check_pairs` returned, which are not checked
        again.
        """
        encoder, config, soft_encoder = self.load()
        shape = len(predictions), len(config.layer_tuple), len(STATISTICS)
        with torch.inference_mode(False):  # otherwise the scores could never be changed in place
            statistics = torch.zeros(shape, dtype=torch.float64, device="cpu")
        every_unit = config.needs_every_unit
        for matched in self._matches(
            predictions, sources, every_unit=every_unit, progress=progress
        ):
            with inference_context(encoder.device):
                counts = count_statistics(matched, config, soft_encoder.input_embeddings)
                for pair, pair_counts in zip(matched, counts, strict=True):
                    statistics[pair.prediction.rows] = pair_counts
        return EstimeResult(statistics, config, sources, predictions)

    def score_candidates(
        self, predictions: Sequence[str], source: str, *, progress: bool = False
    ) -> EstimeResult:
        """Scores several summaries of one source, which is encoded once. Otherwise as `score`."""
        checked = check_texts("predictions", predictions)
        texts = [check_source("source", source)] * len(checked)
        return self.score_checked(checked, texts, progress)

    def map_batch(
        self,
        batch: Mapping[str, Sequence[str]],
        *,
        source_column: str = "source",
        summary_column: str = "summary",
        signature_column: str | None = None,
        prefix: str = "",
    ) -> dict[str, Any]:
        """The measures of a batch of rows, as columns: for ``datasets.Dataset.map(...,
        batched=True)``. The fingerprint is stable, so ``map`` reuses its cache if the configuration
        is the same.

        Args:
            batch: columns by name.
            source_column, summary_column: the columns to score; pass them to ``map`` as ``fn_kwargs``.
            signature_column: a column for the signature, the same in every row; ``None`` for none.
            prefix: what the names of the returned columns begin with.

        Returns:
            A list for each measure, under its name, or under ``alarms_layer12`` and so on if several
            layers are read.

        Raises:
            ValueError: a column is missing, the batch already has a column that would be returned,
                or as for `score`.
        """
        for column in (source_column, summary_column):
            if column not in batch:
                raise ValueError(
                    f"Expected a column named {column!r}, but got the columns {', '.join(batch)}."
                )
        result = self.score(list(batch[summary_column]), list(batch[source_column]))
        columns: dict[str, Any] = {
            prefix + name: values for name, values in result.columns().items()
        }
        if signature_column is not None:
            columns[prefix + signature_column] = [self.signature] * len(result)
        for name in columns:
            if name in batch:
                raise ValueError(
                    f"The dataset has a column {name!r}, which is also the name of an output column. Rename the "
                    "output columns with `prefix`."
                )
        return columns

    def explain(self, prediction: str, source: str, *, layer: int | None = None) -> Explanation:
        """The per-unit verdicts behind the score of one pair, each with its evidence in the source.

        `estime_metric.show` draws explanations.

        Args:
            prediction: the summary.
            source: the text to judge it against.
            layer: one of the configured layers. Can be omitted if there is only one.

        Raises:
            TypeError, ValueError: an argument is not a string, the source has no letter and no
                digit, the layer was not read, or no layer is given although several were read.
            EncoderUnavailableError: the encoder cannot be loaded.
        """
        checked = [check_text("prediction", prediction)], [check_source("source", source)]
        return self._explain(*checked, layer, progress=False)[0]

    def explain_pairs(
        self,
        predictions: Sequence[str],
        sources: Sequence[str],
        *,
        layer: int | None = None,
        progress: bool = False,
    ) -> list[Explanation]:
        """`explain` for several pairs, encoded together. Arguments and errors as for `score` and
        `explain`.
        """
        return self._explain(*check_pairs(predictions, sources), layer, progress)

    def input_warnings(self, predictions: Sequence[str], sources: Sequence[str]) -> list[str]:
        """What `score` and `explain` warn about before they score: most of the sources are shorter than
        their summaries, or the summaries are not in the language of a bundled encoder. Loads the
        encoder.
        """
        texts = []
        if are_mostly_shorter(sources, predictions):
            texts.append(
                "Most of the sources are shorter than their summaries, so the two may have been swapped."
            )
        if self.config.model in embedded.PATHS and is_foreign(predictions, self.encoder.tokenizer):
            texts.append(
                f"The summaries do not seem to be in English, the language of the encoder {self.config.model!r}, so the "
                "scores are not reliable. Pass an encoder for their language as `model`."
            )
        return texts

    def unload(self) -> None:
        """Releases the encoder. Its memory is freed when no other scorer uses it. The encoder is loaded
        again on next use.
        """
        if self._loaded is not None:
            store.STORE.release(self._loaded.encoder, self._loaded.soft_encoder)
            self._loaded = None
            return_memory()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_loaded": None}

    def __repr__(self) -> str:
        return f"EstimeScorer({self.config.signature()})"

    def _matches(
        self,
        predictions: list[str],
        sources: list[str],
        *,
        every_unit: bool,
        progress: bool | Callable[[int], None],
    ) -> Iterator[list[MatchedPair]]:
        """The stages of the engine: texts -> batches of units -> embeddings -> matches, each
        different pair once.
        """
        encoder, config, _ = self.load()
        for text in self.input_warnings(predictions, sources):
            warnings.warn(text, RuntimeWarning, stacklevel=5)  # at the line that called `score`
        batches = pair_batches(
            predictions,
            sources,
            config,
            encoder.tokenizer,
            max_units=EMBEDDED_BYTES // self.bytes_per_unit,
            every_unit=every_unit,
        )
        embedder = Embedder(encoder, config, self.cache)
        with _progress_bar(len(predictions), progress) as advance:
            for batch, embeddings in embedder.embed(batches, advance):
                with inference_context(encoder.device):
                    matched = match_batch(batch, embeddings, normalize=config.normalize)
                del embeddings  # before the next batch is encoded
                yield matched

    @in_flight()
    def _explain(
        self, predictions: list[str], sources: list[str], layer: int | None, progress: bool
    ) -> list[Explanation]:
        encoder, config, _ = self.load()
        if layer is not None or len(config.layer_tuple) > 1:
            check_choice("layer", layer, config.layer_tuple)
        chosen = config.layer_tuple[0] if layer is None else layer
        explanations: dict[int, Explanation] = {}
        for matched in self._matches(predictions, sources, every_unit=True, progress=progress):
            with inference_context(encoder.device):
                on_host = matches_to_host(matched)
            for pair in on_host:
                row = pair.prediction.rows[0]
                explanation = explain_pair(predictions[row], sources[row], pair, chosen, config)
                explanations.update(dict.fromkeys(pair.prediction.rows, explanation))
        return [explanations[row] for row in range(len(predictions))]


@contextmanager
def _progress_bar(
    pairs: int, progress: bool | Callable[[int], None]
) -> Iterator[Callable[[float], None]]:
    """Shows a bar on stderr, or calls a function instead. Yields a function that adds progress, in
    pairs.
    """
    done, shown = 0.0, 0
    with tqdm(total=pairs, unit="pair", disable=progress is not True, dynamic_ncols=True) as bar:
        update = progress if callable(progress) else bar.update

        def advance(further: float) -> None:
            nonlocal done, shown
            done += further
            update(round(done) - shown)
            shown = round(done)

        yield advance
        update(pairs - shown)  # pairs that needed no encoder, such as blank ones

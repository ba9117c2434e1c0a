"""Pairs of texts -> scores and explanations: `EstimeScorer` runs the stages of the engine in one loop,
and `estime` is that in one call.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import torch
from torch import Tensor

from estime_metric._progress import Bar
from estime_metric.checks import (
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
from estime_metric.engine.encoder.device import inference_context
from estime_metric.engine.encoder.forks import in_flight
from estime_metric.engine.encoder.hub import check_models
from estime_metric.engine.encoder.masked import MaskedEncoder
from estime_metric.engine.encoder.memory import return_memory
from estime_metric.engine.matching import MatchedGroups, match_batch, matches_to_host
from estime_metric.engine.pairs import pair_batches
from estime_metric.engine.statistics import count_statistics
from estime_metric.explanation import Explanation, explain_pair
from estime_metric.measures import STATISTICS, reported_name
from estime_metric.passages import LIKE_LISTS, Source, looks_like_list, passages_of
from estime_metric.result import EstimeResult
from estime_metric.wording.language import is_foreign, is_foreign_pair

if TYPE_CHECKING:
    from estime_metric.config import EstimeOptions
    from estime_metric.signature import Signature

#: Bytes of embeddings in a batch of pairs, not counting a source that has more summaries in the next batch.
EMBEDDED_BYTES = 256_000_000


#: The warning of pairs with a source shorter than the summary.
SWAPPED = "Sources are shorter than their summaries, so the two may have been swapped."


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
                    if soft_encoder.tokenizer.get_vocab() != encoder.tokenizer.get_vocab():
                        raise ValueError(
                            f"Expected argument `soft_model` to have the vocabulary of {config.model!r}, but the "
                            f"vocabulary of {config.soft_model!r} differs."
                        )
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
        sources: Sequence[Source],
        *,
        progress: bool | Callable[[int], None] = False,
    ) -> EstimeResult:
        """Scores each summary against its source.

        Identical sources are encoded once, and identical pairs are scored once. The order of the
        pairs and the other pairs in the call change a score only by rounding; see
        `EstimeResult.ties`. For blank texts, see `EstimeResult.unchecked_indices`.

        Args:
            predictions: the summaries.
            sources: one source for each summary: a text, or a list of passages, which are texts or
                dictionaries with ``id`` and ``text`` and are joined by line breaks.
            progress: show a progress bar on stderr, or a function that is called after each forward
                pass with the number of pairs that it has completed, about.

        Raises:
            TypeError, ValueError: the arguments are not lists of strings of the same length, or a
                source has no letter and no digit; the message names the index.
            EncoderUnavailableError: the encoder cannot be loaded.
            RuntimeError: this process was forked while its parent was loading or scoring.
        """
        result = self.score_checked(*check_pairs(predictions, sources), progress)
        warn_of_input(result.input_warnings)
        return result

    @in_flight()
    def score_checked(
        self,
        predictions: list[str],
        sources: list[str],
        progress: bool | Callable[[int], None] = False,
    ) -> EstimeResult:
        """`score` for texts that `estime_metric.checks.check_pairs` returned, which are not checked
        again. It does not warn of the texts: see `EstimeResult.input_warnings`.
        """
        config = self.resolved_config
        shape = len(predictions), len(config.layer_tuple), len(STATISTICS)
        with torch.inference_mode(False):  # otherwise the scores could never be changed in place
            statistics = torch.zeros(shape, dtype=torch.float64, device="cpu")
        for matched, counts in self._matches(
            predictions, sources, every_unit=config.needs_every_unit, progress=progress
        ):
            pairs = [pair for group in matched for pair in group.pairs]
            for (_, prediction), of_pair in zip(pairs, counts.numpy(), strict=True):
                statistics.numpy()[prediction.rows] = of_pair
        return EstimeResult(
            statistics,
            config,
            sources,
            predictions,
            input_warnings=self._input_warnings(predictions, sources),
            explain=explain,
        )

    def score_candidates(
        self, predictions: Sequence[str], source: Source, *, progress: bool = False
    ) -> EstimeResult:
        """Scores several summaries of one source, which is encoded once. Otherwise as `score`."""
        checked = check_texts("predictions", predictions)
        texts = [check_source("source", source)] * len(checked)
        result = self.score_checked(checked, texts, progress)
        warn_of_input(result.input_warnings)
        return result

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
            batch: columns by name, in any format of `datasets`.
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
        names = getattr(batch, "column_names", None) or list(batch)
        for column in (source_column, summary_column):
            if column not in names:
                raise ValueError(
                    f"Expected a column named {column!r}, but got the columns {', '.join(names)}."
                )
        config = self.resolved_config
        columns = [
            reported_name(measure, layer, config.layer_tuple)
            for layer in config.layer_tuple
            for measure in config.reported_measures
        ]
        for name in [*columns, *([] if signature_column is None else [signature_column])]:
            if prefix + name in names:
                raise ValueError(
                    f"The dataset has a column {prefix + name!r}, which is also the name of an output column. Rename the "
                    "output columns with `prefix`."
                )
        texts = check_pairs(_strings(batch[summary_column]), _strings(batch[source_column]))
        result = self.score_checked(*texts)
        warn_of_input(result.input_warnings)
        scores: dict[str, Any] = {
            prefix + name: values for name, values in result.columns().items()
        }
        if signature_column is not None:
            scores[prefix + signature_column] = [result.signature] * len(result)
        return scores

    def explain(self, prediction: str, source: Source, *, layer: int | None = None) -> Explanation:
        """The per-unit verdicts behind the score of one pair, each with its evidence in the source.

        `estime_metric.show` draws explanations.

        Args:
            prediction: the summary.
            source: the text to judge it against, or a list of passages as for `score`. The words then
                name the passage of their evidence.
            layer: one of the configured layers. Can be omitted if there is only one.

        Raises:
            TypeError, ValueError: an argument is not as described, the source has no letter and no
                digit, the layer was not read, or no layer is given although several were read.
            EncoderUnavailableError: the encoder cannot be loaded.
        """
        (explanation,), hints = self.explain_checked(
            [check_text("prediction", prediction)], [check_source("source", source)], layer
        )
        warn_of_input(hints)
        return replace(explanation, passages=passages_of(source))

    def explain_pairs(
        self,
        predictions: Sequence[str],
        sources: Sequence[Source],
        *,
        layer: int | None = None,
        progress: bool = False,
    ) -> list[Explanation]:
        """`explain` for several pairs, encoded together. Arguments and errors as for `score` and
        `explain`.
        """
        explanations, hints = self.explain_checked(
            *check_pairs(predictions, sources), layer, progress
        )
        warn_of_input(hints)
        return [
            replace(explanation, passages=passages_of(source))
            for explanation, source in zip(explanations, sources, strict=True)
        ]

    @in_flight()
    def explain_checked(
        self,
        predictions: list[str],
        sources: list[str],
        layer: int | None = None,
        progress: bool = False,
    ) -> tuple[list[Explanation], dict[str, int]]:
        """`explain_pairs` for texts that `estime_metric.checks.check_pairs` returned, and what there is
        to warn of: see `EstimeResult.input_warnings`.
        """
        config = self.resolved_config
        if layer is not None or len(config.layer_tuple) > 1:
            check_choice("layer", layer, config.layer_tuple)
        chosen = config.layer_tuple[0] if layer is None else layer
        explanations: dict[int, Explanation] = {}
        for matched, counts in self._matches(
            predictions, sources, every_unit=True, progress=progress
        ):
            with inference_context(self.encoder.device):
                pairs = [pair for group in matches_to_host(matched) for pair in group.by_pair()]
            for pair, statistics in zip(
                pairs, counts[:, config.layer_tuple.index(chosen)], strict=True
            ):
                row = pair.prediction.rows[0]
                explanation = explain_pair(
                    predictions[row], sources[row], pair, statistics, chosen, config
                )
                explanations.update(dict.fromkeys(pair.prediction.rows, explanation))
        return (
            [explanations[row] for row in range(len(predictions))],
            self._input_warnings(predictions, sources),
        )

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
    ) -> Iterator[tuple[list[MatchedGroups], Tensor]]:
        """The stages of the engine: texts -> batches of units -> embeddings -> matches -> statistics, each
        different pair once.
        """
        encoder, config, soft_encoder = self.load()
        batches = pair_batches(
            predictions,
            sources,
            config,
            encoder.tokenizer,
            max_units=EMBEDDED_BYTES // self.bytes_per_unit,
            every_unit=every_unit,
            cache=self.cache,
        )
        embedder = Embedder(encoder, config, self.cache)
        with _progress_bar(len(predictions), progress) as advance:
            for batch, embeddings in embedder.embed(batches, advance):
                with inference_context(encoder.device):
                    matched = match_batch(batch, embeddings, normalize=config.normalize)
                    del embeddings  # before the next batch is encoded
                    counts = count_statistics(matched, config, soft_encoder.input_embeddings)
                yield matched, counts

    def _input_warnings(self, predictions: Sequence[str], sources: Sequence[str]) -> dict[str, int]:
        pairs = {}
        shorter = sum(
            len(source) < len(summary) for source, summary in zip(sources, predictions, strict=True)
        )
        if 2 * shorter > len(sources):
            pairs[SWAPPED] = shorter
        if lists := sum(map(looks_like_list, sources)):
            pairs[LIKE_LISTS] = lists
        foreign = _foreign_pairs(predictions, sources) if self.encoder.info.is_bundled else 0
        if foreign and 2 * foreign >= len(sources):
            text = (
                f"The texts do not seem to be in English, the language of the encoder {self.config.model!r}, so the "
                "scores are not reliable. Pass an encoder for their language as `model`."
            )
            pairs[text] = foreign
        return pairs


@contextmanager
def _progress_bar(
    pairs: int, progress: bool | Callable[[int], None]
) -> Iterator[Callable[[float], None]]:
    """Shows a bar on stderr, or calls a function instead. Yields a function that adds progress, in
    pairs.
    """
    done, shown = 0.0, 0
    with Bar(total=pairs, disable=progress is not True) as bar:
        update = progress if callable(progress) else bar.update

        def advance(further: float) -> None:
            nonlocal done, shown
            done += further
            update(round(done) - shown)
            shown = round(done)

        yield advance
        update(pairs - shown)  # pairs that needed no encoder, such as blank ones


def _foreign_pairs(predictions: Sequence[str], sources: Sequence[str]) -> int:
    """How many pairs have a text that is not in English."""
    foreign = {text for text in {*predictions, *sources} if is_foreign(text)}
    return sum(
        is_foreign_pair(prediction, source, foreign)
        for prediction, source in zip(predictions, sources, strict=True)
    )


def _strings(column: Any) -> list[Any]:
    """A column of a dataset as a list; Arrow's have cells that are not Python's."""
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def estime(
    predictions: Sequence[str], sources: Sequence[Source], **options: Unpack[EstimeOptions]
) -> EstimeResult:
    """Scores summaries against their sources.

    The encoder stays in memory for later calls until two other encoders have been used or you call
    `unload_encoders`.

    Args:
        predictions: the summaries.
        sources: the source of each summary, as for `EstimeScorer.score`.
        options: any option of `EstimeConfig`.

    Returns:
        The scores in input order. ``result.mean("inconsistency")`` is the number to compare by (0
        to 1; lower is better), ``result.mean("alarms")`` the paper's score (0 or more; lower is
        better).

    Raises:
        TypeError, ValueError, EncoderUnavailableError: as for `EstimeScorer` and its ``score``.

    Source: Vasilyev & Bohannon 2021, Eqs. 1 to 3.

    Example:
        >>> source = "The cat sat on the mat while the dog slept in the garden."
        >>> result = estime(["The cat slept in the garden."], [source])
        >>> 0 < result.mean("inconsistency") < 1, result["overlap"].tolist()
        (True, [7.0])
    """
    scorer = EstimeScorer(**options)
    result = scorer.score_checked(*check_pairs(predictions, sources))
    warn_of_input(result.input_warnings)
    return result


def warn_of_input(texts: Iterable[str], stacklevel: int = 2) -> None:
    """Warns of what `EstimeResult.input_warnings` says; ``stacklevel`` 2 is the caller of the function
    that calls this one.
    """
    for text in texts:
        warnings.warn(text, RuntimeWarning, stacklevel=stacklevel + 1)


def explain(config: EstimeConfig, prediction: str, source: str, layer: int | None) -> Explanation:
    """`EstimeScorer.explain` of a pair of a result, whose texts were warned of when it was made."""
    return EstimeScorer(config).explain_checked([prediction], [source], layer)[0][0]

"""The metric itself, as ``evaluate.load("estime")`` gives it."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple, Unpack

import datasets
import evaluate

from estime_metric.citation import bibtex
from estime_metric.config import OPTIONS, EstimeConfig, EstimeOptions
from estime_metric.engine.cache import DEFAULT_CACHE, SourceCache, unload_encoders
from estime_metric.measures import PAPER_MEASURE, RECOMMENDED, reported_name
from estime_metric.result import EstimeResult
from estime_metric.scorer import EstimeScorer
from estime_metric.validation import check_pairs, check_source, check_text

_DESCRIPTION = """\
ESTIME estimates how inconsistent a summary is with its source, without a reference summary. It masks the tokens of both
texts, embeds each masked position with a BERT-like encoder, and finds for every summary token that occurs in the source
the source position with the most similar embedding. If a different token is at that position, it raises an alarm.
"""

_INPUTS = """
Args:
    predictions: list of str, the summaries.
    sources: list of str, the source texts, one for each summary.
    references: list of str, used as the sources if `sources` is not given; otherwise ignored. Never pass reference
        summaries alone: a warning is issued if most of them are no longer than the summaries.
    **options: any option of `estime_metric.EstimeConfig`, for this call only: `model`, `layers`, `measures`, ...
Returns:
    inconsistency: float in [0, 1], lower is better: the mean of a weighted sum of the fraction of new words, the graded
        alarms per token, and the fraction of new trigrams; `estime_metric.measures.MEASURES` has its formula. Use it to
        select models and compare systems: a blank summary has the worst value, 1. Copying the source is not penalized,
        so also check `copied`, the summary length and ROUGE.
    new_words, new_trigrams: float in [0, 1], lower is better: the mean fractions that do not occur in the source.
    graded_alarms: float, 0 and up, lower is better: the mean sum of alarms, each weighted by its margin.
    alarms: float, 0 and up, lower is better: the mean number of alarms per summary.
    alarm_rate: float in [0, 1], lower is better: the mean fraction of the checked tokens that raise an alarm, over the
        summaries that have a token that occurs in the source.
    tokens: float, 0 and up: the mean number of tokens per summary.
    coverage: float in [0, 1]: the mean fraction of tokens that occur in the source and are therefore checked.
    estime: float, 0 and up, lower is better: the paper's score, which is the mean of `alarms`.
    blank: int, the number of blank summaries.
    inconsistency_scores, alarms_scores: lists of float, one value per summary, in input order.
    signature: str, how the scores were computed; it is the same in every other toolkit.
    Each name in `measures` adds its mean under its own name, and the list `<name>_scores` with a value for each summary
    in input order. `alarm_rate_scores` has NaN if no token occurs in the source. If several `layers` are read, every
    name except the signature includes its layer: `estime_layer12`, `alarms_layer12`, `alarms_layer12_scores`.
Examples:
    >>> metric = evaluate.load("estime")
    >>> source = "The cat sat on the mat while the dog slept in the garden."
    >>> scores = metric.compute(predictions=["The cat slept in the garden."], sources=[source])
    >>> list(scores)[:4]
    ['inconsistency', 'graded_alarms', 'new_words', 'new_trigrams']
"""

#: Arguments of `Estime` that are evaluate's own; every other is an option of the metric.
_EVALUATE_ARGUMENTS = frozenset(inspect.signature(evaluate.EvaluationModule).parameters) - {
    "kwargs"
}

#: The measures that also have a list of values, in addition to the requested ones.
_LISTED = (RECOMMENDED, PAPER_MEASURE)

#: The encoder's revision: ``evaluate.load`` uses ``revision`` for the module script.
MODEL_REVISION = "model_revision"

#: How alike the names of an option and of a keyword are (`difflib`) for the keyword to be a slip.
_ALIKE = 0.85

#: The default of an argument that may be given as ``None``.
_NOT_GIVEN: Any = object()


class EvaluateOptions(EstimeOptions, total=False):
    """The keyword arguments of `Estime`: those of `EstimeConfig` and of
    ``evaluate.EvaluationModule``.
    """

    cache: int | str | os.PathLike[str] | SourceCache | None
    model_revision: str | None
    keep_in_memory: bool
    cache_dir: str | None
    num_process: int
    process_id: int
    seed: int | None
    experiment_id: str | None
    hash: str | None
    max_concurrent_cache_files: int
    timeout: float


class Pair(NamedTuple):
    """A summary, its source, and whether the source was given as a reference."""

    prediction: str
    source: str
    from_reference: bool


class Estime(evaluate.Metric):  # type: ignore[misc]
    """ESTIME as an ``evaluate`` module. The first `compute` loads the encoder, which stays in
    memory until `unload`.

    Added pairs wait in memory. With ``num_process`` above 1, `compute` gathers them in process 0
    through evaluate's cache directory; that process alone loads the encoder and computes, the
    others return ``None``.

    Args:
        config_name: omit it, or pass ``"default"``. There is only one configuration.
        arguments: the arguments of every ``evaluate`` module (``cache_dir``, ``num_process``,
            ``experiment_id``, ...) and the options of `EstimeConfig`; ``model_revision`` is the
            ``revision`` of the encoder, because ``evaluate.load`` uses that name for the script.
            ``cache`` keeps the embeddings of sources for the next `compute`, as in `ESTIME`.

    Raises:
        TypeError, ValueError: an option is invalid; the message names it.

    Source: Vasilyev & Bohannon 2021, Eqs. 1 to 3.
    """

    def __init__(
        self, config_name: str | None = None, **arguments: Unpack[EvaluateOptions]
    ) -> None:
        if config_name not in (None, "default"):
            raise ValueError(
                f"Expected argument `config_name` to be omitted, but got {config_name!r}; "
                "options are set by name, as in model=... or layers=..."
            )
        options: dict[str, Any] = dict(arguments)
        of_module = {name: options.pop(name) for name in _EVALUATE_ARGUMENTS if name in options}
        self._cache = SourceCache.of(options.pop("cache", DEFAULT_CACHE))
        self._config = EstimeConfig.from_options(None, _renamed(options))
        self._added: list[Pair] = []
        super().__init__(config_name=config_name, **of_module)

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=bibtex(),
            inputs_description=_INPUTS,
            license="Apache-2.0",
            features=datasets.Features({"predictions": text, "sources": text}),
            reference_urls=[
                "https://aclanthology.org/2021.eval4nlp-1.10",
                "https://arxiv.org/abs/2104.05156",
            ],
        )

    def __len__(self) -> int:
        """How many pairs wait for `compute`."""
        return len(self._added)

    def add(self, *, prediction: Any = None, reference: Any = None, **named: Any) -> None:
        """Adds one summary (``prediction``) and its ``source``; without one, ``reference`` is read
        as the source.

        Raises:
            TypeError, ValueError: a text is missing or not a string; the message names the argument
                and the index.
        """
        texts = {"prediction": prediction, "reference": reference}
        for name, value in named.items():
            singular = name.removesuffix("s")
            if singular not in ("prediction", "reference", "source"):
                raise ValueError(
                    f"Expected `prediction` and `source` (or `reference`), but got `{name}`."
                )
            texts[singular] = value
        origin = "source" if "source" in texts else "reference"
        pair = Pair(
            prediction=check_text("prediction", texts["prediction"], len(self)),
            source=check_source(origin, texts[origin], len(self)),
            from_reference=origin == "reference",
        )
        self._added.append(pair)

    def add_batch(self, *, predictions: Any = None, references: Any = None, **named: Any) -> None:
        """Adds summaries (``predictions``) and their ``sources``; without them, ``references`` are
        read as sources.

        Raises:
            TypeError, ValueError: as `add`, or their lengths differ. Nothing is added then.
        """
        for name in named:
            if name != "sources":
                raise ValueError(
                    f"Expected `predictions` and `sources` (or `references`), but got `{name}`."
                )
        self._added += _pairs(predictions, references, named)

    def compute(
        self, *, predictions: Any = None, references: Any = _NOT_GIVEN, **named: Any
    ) -> dict[str, Any] | None:
        """Scores the texts that were added before and the texts passed to this call, and then
        clears them. Options passed here apply only to this call; all other calls use the options
        set when the metric was loaded. `evaluate.combine` passes every keyword to each metric, and
        always passes ``references``. So if ``references`` is given, be it ``None``, only keywords
        with the exact name of an option are used; the others are ignored, with a warning if one is
        nearly such a name. Otherwise a keyword that is not an option is an error.

        Raises:
            TypeError, ValueError: invalid texts or options; the message names the argument and the
                index.
            EncoderUnavailableError: the encoder cannot be loaded.

        After an error, what was added before is kept for another `compute`.
        """
        options = {name: value for name, value in named.items() if name != "sources"}
        inputs = {name: value for name, value in named.items() if name == "sources"}
        if references is _NOT_GIVEN:
            references = None
        else:
            options = _own_options(options)
        pairs = list(self._added)
        config = EstimeConfig.from_options(self._config, _renamed(options))
        scorer = EstimeScorer(config, cache=self._cache)
        if any(value is not None for value in (predictions, references, *inputs.values())):
            pairs += _pairs(predictions, references, inputs)
        elif not pairs and self.num_process == 1:
            raise ValueError(
                "Expected `predictions` and `sources` to be given or added first, but got none."
            )
        if self.num_process == 1:
            scorer.load()  # what is wrong with the options is said first
        _warn_of_references(pairs)
        texts = self._gathered(pairs)
        scores = texts and reported(scorer.score(texts["predictions"], texts["sources"]))
        self._added = []
        return scores

    def unload(self) -> None:
        """Releases the encoders of all ESTIME metrics in this process and the source embeddings that
        they share by default; the next `compute` loads its encoder again.
        """
        unload_encoders()

    def _gathered(self, pairs: list[Pair]) -> dict[str, list[str]] | None:
        """The texts of all processes in process 0, ``None`` in the others."""
        texts = {
            "predictions": [pair.prediction for pair in pairs],
            "sources": [pair.source for pair in pairs],
        }
        if self.num_process == 1:
            return texts
        super().add_batch(**texts)  # a process without pairs participates too
        gathered: dict[str, list[str]] | None = super().compute()
        return gathered

    def _compute(self, *, predictions: list[str], sources: list[str]) -> dict[str, list[str]]:
        """What evaluate calls in process 0 with the texts of all processes."""
        return {"predictions": predictions, "sources": sources}


def reported(result: EstimeResult) -> dict[str, Any]:
    """What `compute` returns, as its documentation lists it."""
    scores: dict[str, Any] = {}
    layers = result.layers
    for layer in layers:
        for measure in result.measures:
            scores[reported_name(measure, layer, layers)] = result.mean(measure, layer)
        scores[reported_name("estime", layer, layers)] = result.mean(PAPER_MEASURE, layer)
        scores[reported_name("blank", layer, layers)] = len(result.blank_indices)
        for measure in dict.fromkeys((*_LISTED, *result.config.measures)):
            values = result.values(measure, layer).tolist()
            scores[f"{reported_name(measure, layer, layers)}_scores"] = values
    scores["signature"] = result.signature
    return scores


def _pairs(predictions: Any, references: Any, named: Mapping[str, Any]) -> list[Pair]:
    """Pairs of texts, checked; ``sources`` in ``named`` goes before ``references``."""
    from_references = references is not None and "sources" not in named
    origin = "references" if from_references else "sources"
    sources = references if from_references else named.get("sources")
    summaries, texts = check_pairs(predictions, sources, origin=origin)
    return [
        Pair(summary, source, from_references)
        for summary, source in zip(summaries, texts, strict=True)
    ]


def _warn_of_references(pairs: list[Pair]) -> None:
    """Warns if references that are read as sources seem to be reference summaries."""
    read = [pair for pair in pairs if pair.from_reference]
    short = sum(len(pair.source) <= len(pair.prediction) for pair in read)
    if 2 * short > len(read):
        warnings.warn(
            f"`references` were used as the sources, but {short} of {len(read)} are not longer than the summary. If they "
            "are reference summaries, pass the source texts as `sources`.",
            stacklevel=3,
        )


def _own_options(named: dict[str, Any]) -> dict[str, Any]:
    """The options among keywords that may also belong to other metrics."""
    known = (*OPTIONS, MODEL_REVISION)
    for name in named:
        if name not in known and (meant := get_close_matches(name, known, n=1, cutoff=_ALIKE)):
            warnings.warn(
                f"ESTIME ignores `{name}`, which is not one of its options. Did you mean `{meant[0]}`?",
                stacklevel=3,
            )
    return {name: value for name, value in named.items() if name in known}


def _renamed(options: dict[str, Any]) -> dict[str, Any]:
    """``options`` with ``model_revision`` as ``revision``; TypeError if both are given."""
    if MODEL_REVISION not in options:
        return options
    if "revision" in options:
        raise TypeError(
            f"Expected one of the arguments `revision` and `{MODEL_REVISION}`, but got both."
        )
    return {
        "revision" if name == MODEL_REVISION else name: value for name, value in options.items()
    }

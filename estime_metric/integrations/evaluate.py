"""ESTIME as a module of Hugging Face ``evaluate`` (extra ``evaluate``), and the script with which
``evaluate.load("estime")`` finds it. Importing it loads no encoder.
"""

from __future__ import annotations

import hashlib
import inspect
from pathlib import Path
from typing import Any

from estime_metric._messages import needs_extra
from estime_metric.checks import check_pairs, check_source, check_text
from estime_metric.citation import bibtex
from estime_metric.config import EstimeConfig
from estime_metric.engine.cache import DEFAULT_CACHE, SourceCache
from estime_metric.engine.embedding import unload_encoders
from estime_metric.measures import PAPER_MEASURE, RECOMMENDED, reported_name
from estime_metric.result import EstimeResult
from estime_metric.scorer import EstimeScorer, warn_of_input
from estime_metric.table.output import write_text

with needs_extra("evaluate", "ESTIME in `evaluate` needs that package"):
    import datasets
    import evaluate
    from evaluate.loading import init_dynamic_modules

_DESCRIPTION = """\
ESTIME scores a summary against its source, without a reference and without a large language model. Pass the source texts
as `sources`; `references` are ignored. Use it to follow the checkpoints of one model and to find the wrong word in
summaries that mostly copy. For summaries that a language model writes freely, a count of new names, numbers and words is
as good, and a trained detector is better.
It masks the tokens of both texts, embeds each masked position with a BERT-like encoder, and finds for every summary token
that occurs in the source the source position with the most similar embedding. If a different token is at that position,
it raises an alarm.
"""

_INPUTS = """
Args:
    predictions: list of str, the summaries.
    sources: list of str, the source texts, one for each summary. To add a single pair, use
        `add(prediction=..., sources=...)`.
    **options: any option of `estime_metric.EstimeConfig`, for this call only: `model`, `layers`, `measures`, ...
Returns:
    inconsistency: float in [0, 1], lower is better: the mean of a weighted sum of the fraction of new words, the graded
        alarms per token, and the fraction of new trigrams, which new numbers and, with `min_tokens`, missing tokens
        raise; `estime_metric.measures.MEASURES` has its formula. Use it to select models: a blank summary has
        the worst value, 1. Copying the source is not penalized, so look at `copied_density`: if it rises while
        `inconsistency` falls, the model learns to copy.
    graded_alarms: float, 0 and up, lower is better: the mean sum of alarms, each weighted by its margin.
    new_words, new_trigrams: float in [0, 1], lower is better: the mean fractions that do not occur in the source.
    new_names, new_numbers: float, 0 and up, lower is better: the mean numbers of names and of numbers that the source has
        in no written form.
    repetition: float in [0, 1], lower is better: the mean fraction of the runs of four words that occurred before in the
        summary. `inconsistency` does not see loops, so look at it too.
    copied_density: float, 0 and up: the mean length, in words, of the run copied from the source that a word belongs to.
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

#: What `register` installs, word for word ``hub_space/estime.py``.
SCRIPT = '''\
"""ESTIME for `evaluate.load`; the metric itself is in the package estime-metric."""

from estime_metric.integrations.evaluate import Estime  # From: estime-metric[evaluate]

__all__ = ["Estime"]
'''

#: Arguments of `Estime` that are evaluate's own; every other is an option of the metric.
_EVALUATE_ARGUMENTS = frozenset(inspect.signature(evaluate.EvaluationModule).parameters) - {
    "kwargs"
}

#: The measures that also have a list of values, in addition to the requested ones.
_LISTED = (RECOMMENDED, PAPER_MEASURE)


class Estime(evaluate.Metric):  # type: ignore[misc]
    """ESTIME as an ``evaluate`` module. The first `compute` loads the encoder, which stays in
    memory until `unload`.

    It follows evaluate's template: pairs wait in evaluate's cache directory, or in memory with
    ``keep_in_memory=True``. With ``num_process`` above 1, process 0 alone loads the encoder and
    computes; the others return ``None``.

    Args:
        config_name: omit it, or pass ``"default"``. There is only one configuration.
        cache: keeps the embeddings of sources for the next `compute`, as in `ESTIME`.
        model_revision: the option ``revision`` of the encoder, because ``evaluate.load`` uses that
            name for the script.
        arguments: the arguments of every ``evaluate`` module (``cache_dir``, ``num_process``,
            ``experiment_id``, ...) and the options of `EstimeConfig`.

    Raises:
        TypeError, ValueError: an option is invalid; the message names it.

    Source: Vasilyev & Bohannon 2021, Eqs. 1 to 3.
    """

    def __init__(
        self,
        config_name: str | None = None,
        *,
        cache: int | SourceCache | None = DEFAULT_CACHE,
        model_revision: str | None = None,
        **arguments: Any,
    ) -> None:
        if config_name not in (None, "default"):
            raise ValueError(
                f"Expected argument `config_name` to be omitted, but got {config_name!r}; "
                "options are set by name, as in model=... or layers=..."
            )
        module_arguments = {
            name: arguments.pop(name) for name in _EVALUATE_ARGUMENTS & {*arguments}
        }
        if model_revision is not None:
            arguments["revision"] = model_revision
        self._scorer = EstimeScorer(EstimeConfig.from_options(None, arguments), cache=cache)
        #: Of the call that is scoring: its error, with all summaries and sources.
        self._failure: tuple[BaseException, list[str], list[str]] | None = None
        super().__init__(config_name=config_name, **module_arguments)

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=bibtex(),
            inputs_description=_INPUTS,
            license="Apache-2.0",
            homepage="https://aclanthology.org/2021.eval4nlp-1.10",
            codebase_urls=["https://github.com/PrimerAI/blanc"],  # the authors' code
            features=datasets.Features({"predictions": text, "sources": text}),
            reference_urls=["https://arxiv.org/abs/2104.05156"],
        )

    def add(
        self, *, prediction: Any = None, reference: Any = None, sources: Any = None, **named: Any
    ) -> None:
        """Adds one summary (``prediction``) and its source (``sources``).

        Raises:
            TypeError, ValueError: a text is missing or not a string, or the source has no words; the
                message names the argument and the index.
        """
        _check_named(sources, named)
        summary = named.pop("predictions", prediction)  # so named by `evaluate.combine`
        super().add(
            prediction=check_text("prediction", summary, len(self)),
            sources=check_source("sources", sources, len(self)),
            **named,
        )

    def add_batch(
        self, *, predictions: Any = None, references: Any = None, sources: Any = None, **named: Any
    ) -> None:
        """Adds summaries (``predictions``) and their ``sources``.

        Raises:
            TypeError, ValueError: as `add`, or their lengths differ. Nothing is added then.
        """
        _check_named(sources, named)
        summaries, texts = check_pairs(predictions, sources)
        super().add_batch(predictions=summaries, sources=texts, **named)

    def compute(
        self, *, predictions: Any = None, references: Any = None, **named: Any
    ) -> dict[str, Any] | None:
        """Scores the texts that were added before and the texts passed to this call, and then
        clears them. Options passed here apply only to this call.

        Raises:
            TypeError, ValueError: invalid texts or options; the message names the argument and the
                index.
            EncoderUnavailableError: the encoder cannot be loaded.

        After any error, what was added before is kept for another `compute`, unless ``num_process``
        is above 1.
        """
        if predictions is not None or "source" in named:
            _check_named(named.get("sources"), named)
        scorer = self._scorer_with({name: named[name] for name in named if name != "sources"})
        if self.num_process == 1:  # of several, the others wait for process 0, and not for long
            scorer.load()
        elif predictions is None and self.writer is None:
            self.add_batch(predictions=[], sources=[])  # a process without pairs takes part too
        added = len(self)
        scores: dict[str, Any] | None = super().compute(predictions=predictions, **named)
        if self._failure is None:
            return scores
        (error, summaries, texts), self._failure = self._failure, None
        if added and self.num_process == 1:
            self.add_batch(predictions=summaries[:added], sources=texts[:added])
        raise error

    def _compute(
        self, *, predictions: list[str], sources: list[str], **options: Any
    ) -> dict[str, Any]:
        """The scores of all processes' texts. An error waits until evaluate has closed its files."""
        try:
            result = self._scorer_with(options).score_checked(predictions, sources)
            warn_of_input(result.input_warnings, stacklevel=4)  # who called `compute`
            return reported(result)
        except BaseException as error:
            self._failure = error, predictions, sources
            return {}

    def unload(self) -> None:
        """Releases the encoders of all ESTIME metrics in this process and the source embeddings that
        they share by default; the next `compute` loads its encoder again.
        """
        self._scorer.unload()
        unload_encoders()

    def _scorer_with(self, options: dict[str, Any]) -> EstimeScorer:
        """The metric's scorer, or one with other options and the same cache."""
        if not options:
            return self._scorer
        config = EstimeConfig.from_options(self._scorer.config, options)
        return EstimeScorer(config, cache=self._scorer.cache)


def _check_named(sources: Any, named: dict[str, Any]) -> None:
    """Raises TypeError if the sources are missing, or have the likeliest wrong name."""
    if sources is None or "source" in named:
        raise TypeError(
            "Expected the texts that were summarized as `sources=`, but got "
            f"{'`source=`' if 'source' in named else 'none'}; `references` are ignored, because other metrics read "
            "reference summaries there."
        )


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


def register() -> Path:
    """Installs the module script in evaluate's cache of modules, so that
    ``evaluate.load("estime")`` finds it.

    The cache is in the user's home folder, or in the folder that ``HF_HOME`` or
    ``HF_MODULES_CACHE`` sets. Returns the path of the script.

    Raises:
        OSError: the cache cannot be written.
    """
    # The folder in which `evaluate` looks for one of its own modules that it cannot get from the Hub.
    home = Path(init_dynamic_modules(), "metrics", "evaluate-metric--estime")
    script = home / hashlib.sha256(SCRIPT.encode()).hexdigest() / "estime.py"
    script.parent.mkdir(parents=True, exist_ok=True)
    # In one step: a process that loads it at that moment sees all of it or nothing.
    write_text(script, SCRIPT)
    for folder in (home.parent, home, script.parent):
        (folder / "__init__.py").touch()
    return script

"""ESTIME as a module of Hugging Face ``evaluate`` (extra ``evaluate``). Importing it loads no
encoder.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import shutil
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

try:
    import datasets
    import evaluate
    from evaluate.loading import init_dynamic_modules
except ImportError as missing:
    raise ImportError(
        "ESTIME in `evaluate` needs that package: pip install 'estime-metric[evaluate]'."
    ) from missing

from estime_metric import files
from estime_metric.config import OPTIONS, EstimeConfig, EstimeOptions, similar_option
from estime_metric.engine.encoder.store import unload_encoders
from estime_metric.inputs import check_pairs, check_text
from estime_metric.result import EstimeResult
from estime_metric.scorer import EstimeScorer

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Estime", "combine", "register", "unregister"]

_DESCRIPTION = """\
ESTIME counts the inconsistencies of a summary with its source, without a reference summary. It masks the tokens of both
texts, embeds each masked position with a BERT-like encoder, and finds for every summary token that occurs in the source
the source position with the most similar embedding. Where a different token stands there, it raises an alarm.
"""

_INPUTS = """
Args:
    predictions: list of str, the summaries.
    sources: list of str, the texts that they are judged against, one for each summary.
    references: list of str, read as the sources where `sources` is not given; otherwise left alone. Never reference
        summaries: a warning follows where most of them are no longer than the summaries.
    **options: any option of `estime_metric.EstimeConfig`, for this call only: `model`, `layers`, `measures`, ...
Returns:
    estime: float, 0 and up, lower is better: the mean number of alarms in a summary.
    inconsistency: float in [0, 1], lower is better: the mean share of tokens that the source lacks and, with a lower
        weight, of those that raise an alarm. Take it to select models and to compare systems: a blank summary has 1,
        the worst value. Copying the source is not penalized, so watch length and ROUGE too, or `copied`.
    unsupported_rate: float in [0, 1], lower is better: the mean share of tokens that raise an alarm or that the source
        lacks.
    alarm_rate: float in [0, 1], lower is better: the mean of alarms / overlap, over the summaries that have an overlap.
    coverage: float in [0, 1]: the mean share of tokens that occur in the source, and so are checked.
    blank: int, the number of blank summaries.
    alarms: list of float, one for each summary in input order, 0 and up, lower is better.
    signature: str, how the numbers came about; it is that of every other way to compute ESTIME.
    Each name in `measures` adds its list, with a value for each summary in input order. The lists of `inconsistency`,
    `unsupported_rate`, `alarm_rate`, `coverage` and `blank` have names of their own: `inconsistencies`,
    `unsupported_rates`, `alarm_rates`, `coverages`, `blanks`. `alarm_rate` is NaN in its list where no token occurs in
    the source. Where several `layers` are read, every key but the signature ends in its layer, as in `estime@12`.
Examples:
    >>> metric = evaluate.load("estime", model="embedded")
    >>> source = "The cat sat on the mat while the dog slept in the garden."
    >>> scores = metric.compute(predictions=["The cat slept in the garden."], sources=[source])
    >>> sorted(scores)
    ['alarm_rate', 'alarms', 'blank', 'coverage', 'estime', 'inconsistency', 'signature', 'unsupported_rate']
"""

_CITATION = """\
@inproceedings{vasilyev-bohannon-2021-estime,
    title = "{ESTIME}: Estimation of Summary-to-Text Inconsistency by Mismatched Embeddings",
    author = "Vasilyev, Oleg and Bohannon, John",
    booktitle = "Proceedings of the 2nd Workshop on Evaluation and Comparison of NLP Systems",
    year = "2021",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2021.eval4nlp-1.10",
    pages = "94--103",
}
"""

#: Arguments of `Estime` that are evaluate's own; every other is an option of the measure.
_EVALUATE_ARGUMENTS = frozenset(inspect.signature(evaluate.EvaluationModule).parameters) - {
    "kwargs"
}

#: Means that are always there, beside that of the alarms, and what the lists of measures are
#: called.
_MEANS = ("inconsistency", "unsupported_rate", "alarm_rate", "coverage")
_LISTS = {
    "inconsistency": "inconsistencies",
    **{name: f"{name}s" for name in (*_MEANS[1:], "blank")},
}

#: ``evaluate.load`` takes ``revision`` for the module script's, so the encoder's has a name of its
#: own beside it.
_MODEL_REVISION = "model_revision"


class EvaluateOptions(EstimeOptions, total=False):
    """The keywords of `Estime`: those of `EstimeConfig`, and those of
    ``evaluate.EvaluationModule``.
    """

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


class Estime(evaluate.Metric):  # type: ignore[misc]
    """ESTIME as an ``evaluate`` module. The first `compute` loads the encoder, which stays in
    memory until `unload`.

    With ``num_process`` above 1 process 0 alone loads it and computes; the others return ``None``.

    Args:
        config_name: left out, or ``"default"``: there is one configuration.
        arguments: those of every ``evaluate`` module (``cache_dir``, ``num_process``,
            ``experiment_id``, ...) and the options of `EstimeConfig`; ``model_revision`` is its
            ``revision``, which ``evaluate.load`` takes for itself.

    Raises:
        TypeError, ValueError: a bad option; the message names it.

    Source: Vasilyev & Bohannon 2021, Eqs. 1 to 3.
    """

    def __init__(
        self, config_name: str | None = None, **arguments: Unpack[EvaluateOptions]
    ) -> None:
        if config_name not in (None, "default"):
            raise ValueError(
                f"Expected argument `config_name` to be left out, but got {config_name!r}; "
                "options are set by name, as in model=... or layers=..."
            )
        options: dict[str, Any] = dict(arguments)
        own = {name: options.pop(name) for name in _EVALUATE_ARGUMENTS if name in options}
        self._config = EstimeConfig.from_options(None, _renamed(options))
        self._references_read = False
        super().__init__(config_name=config_name, **own)

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            license="Apache-2.0",
            features=datasets.Features({"predictions": text, "sources": text}),
            reference_urls=[
                "https://aclanthology.org/2021.eval4nlp-1.10",
                "https://arxiv.org/abs/2104.05156",
            ],
        )

    def add(self, *, prediction: Any = None, reference: Any = None, **named: Any) -> None:
        """Adds one summary (``prediction``) and its ``source``; without one, ``reference`` is read
        as the source.

        Raises:
            TypeError, ValueError: a text is missing or no text; the message names the argument and
                the index.
        """
        given = {"prediction": prediction, "reference": reference}
        for name, value in named.items():
            singular = name.removesuffix("s")
            if singular not in ("prediction", "reference", "source"):
                raise ValueError(
                    f"Expected `prediction` and `source` (or `reference`), but got `{name}`."
                )
            given[singular] = value
        origin = "source" if "source" in given else "reference"
        summary = check_text("prediction", given["prediction"], len(self))
        super().add(predictions=summary, sources=check_text(origin, given[origin], len(self)))
        self._references_read |= origin == "reference"

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
        super().add_batch(**self._texts(predictions, references, named))
        self._references_read |= _reads_references(references, named)

    def compute(
        self, *, predictions: Any = None, references: Any = None, **named: Any
    ) -> dict[str, Any] | None:
        """Scores what was added and what is given here, and forgets it.

        Options that are set here count for this call; those set when loading count elsewhere. In a
        combined evaluation (`evaluate.combine`), which passes every keyword to each metric, the
        options of the others are left alone.

        Raises:
            TypeError, ValueError: bad texts or options; the message names the argument and the
                index.
            EncoderUnavailableError: the encoder cannot be loaded. What was added before is kept,
                here as above.
        """
        sources = {name: named.pop(name) for name in ("sources",) if name in named}
        if isinstance(sys._getframe(1).f_locals.get("self"), evaluate.CombinedEvaluations):
            known = (*OPTIONS, _MODEL_REVISION)
            named = {
                name: value
                for name, value in named.items()
                if name in known or similar_option(name)
            }
        scorer = EstimeScorer(self._config, **_renamed(named))
        inputs: dict[str, list[str]] = {}
        if any(value is not None for value in (predictions, references, *sources.values())):
            inputs = self._texts(predictions, references, sources)
        elif self.writer is None:
            if self.num_process == 1:
                raise ValueError(
                    "Expected `predictions` and `sources` to be given or added first, but got none."
                )
            inputs = {
                "predictions": [],
                "sources": [],
            }  # the other processes wait for this one to take part
        if self.num_process == 1:
            _ = scorer.signature  # loads the encoder before anything is read
        self._references_read |= _reads_references(references, sources)
        scores: dict[str, Any] | None = super().compute(**inputs, scorer=scorer)
        return scores

    def unload(self) -> None:
        """Releases the encoders of all ESTIME metrics in this process; the next `compute` loads its
        own again.
        """
        unload_encoders()

    def _compute(
        self, *, predictions: list[str], sources: list[str], scorer: EstimeScorer
    ) -> dict[str, Any]:
        if self._references_read and sources:
            self._references_read = False
            short = sum(
                len(source) <= len(summary)
                for summary, source in zip(predictions, sources, strict=True)
            )
            if 2 * short > len(sources):
                warnings.warn(
                    f"`references` were read as the sources, and {short} of {len(sources)} are no longer than the "
                    "summary: if they are reference summaries, give the texts that were summarized as `sources`.",
                    stacklevel=2,
                )
        return _scores(scorer.score(predictions, sources))

    def _texts(
        self, predictions: Any, references: Any, named: dict[str, Any]
    ) -> dict[str, list[str]]:
        """Summaries and sources, checked as `add_batch` says; ``sources`` in ``named`` goes before
        ``references``.
        """
        origin = "references" if _reads_references(references, named) else "sources"
        given = references if origin == "references" else named.get("sources")
        summaries, texts = check_pairs(predictions, given, origin=origin)
        return {"predictions": summaries, "sources": texts}


def _reads_references(references: Any, named: dict[str, Any]) -> bool:
    return references is not None and "sources" not in named


def _scores(result: EstimeResult) -> dict[str, Any]:
    """What ``_INPUTS`` lists."""
    scores: dict[str, Any] = {}
    for layer in result.layers:
        ending = f"@{layer}" if len(result.layers) > 1 else ""
        scores[f"estime{ending}"] = result.mean("alarms", layer)
        for measure in _MEANS:
            scores[f"{measure}{ending}"] = result.mean(measure, layer)
        scores[f"blank{ending}"] = len(result.blank)
        for measure in dict.fromkeys(("alarms", *result.config.measures)):
            scores[f"{_LISTS.get(measure, measure)}{ending}"] = result.values(
                measure, layer
            ).tolist()
    scores["signature"] = result.signature
    return scores


def _renamed(options: dict[str, Any]) -> dict[str, Any]:
    """``options`` with ``model_revision`` as ``revision``; TypeError where both are given."""
    if _MODEL_REVISION not in options:
        return options
    if "revision" in options:
        raise TypeError(
            f"Expected one of the arguments `revision` and `{_MODEL_REVISION}`, but got both."
        )
    return {
        "revision" if name == _MODEL_REVISION else name: value for name, value in options.items()
    }


class _Combined(evaluate.CombinedEvaluations):  # type: ignore[misc]
    def compute(
        self, predictions: Any = None, references: Any = None, **named: Any
    ) -> dict[str, Any]:
        """As `evaluate.CombinedEvaluations.compute`, but an input goes only to the modules that
        declare it.
        """
        given = {"predictions": predictions, "references": references, **named}
        inputs = {name for module in self.evaluation_modules for name in module._feature_names()}
        inputs -= {"predictions", "references"}
        results = []
        for module in self.evaluation_modules:
            others = inputs.difference(module._feature_names())
            results.append(
                module.compute(
                    **{name: value for name, value in given.items() if name not in others}
                )
            )
        merged: dict[str, Any] = self._merge_results(results)
        return merged


def combine(
    evaluations: list[Any] | dict[str, Any], force_prefix: bool = False
) -> evaluate.CombinedEvaluations:
    """`evaluate.combine`, whose ``compute`` hands inputs such as ``sources`` only to modules that
    declare them.

    Options still go to all.

    Args:
        evaluations: modules, or names that `evaluate.load` takes, as a list or as a dict from
            prefixes.
        force_prefix: put the prefix before every key of the result, not only before keys that two
            modules share.

    Example:
        >>> from estime_metric.integrations.evaluate import Estime, combine
        >>> both = combine({"shallow": Estime(model="embedded", layers=1), "deep": Estime(model="embedded")})
        >>> scores = both.compute(predictions=["A cat sat."], references=["A cat."], sources=["A cat sat down."])
        >>> [name for name in scores if name.endswith("alarms")]
        ['shallow_alarms', 'deep_alarms']
    """
    return _Combined(evaluations, force_prefix=force_prefix)


#: The module script: what `register` installs, word for word ``hub_space/estime.py``.
SCRIPT = '''\
"""ESTIME for `evaluate.load`; the metric itself is in the package estime-metric."""

from estime_metric.integrations.evaluate import Estime  # From: estime-metric[evaluate]

__all__ = ["Estime"]
'''


def register() -> Path:
    """Installs the module script in evaluate's cache of modules, so that
    ``evaluate.load("estime")`` finds it.

    The cache is the user's, or where ``HF_HOME`` or ``HF_MODULES_CACHE`` says. Returns the path of
    the script.

    Raises:
        OSError: the cache cannot be written.
    """
    home = _home()
    script = home / hashlib.sha256(SCRIPT.encode()).hexdigest() / "estime.py"
    script.parent.mkdir(parents=True, exist_ok=True)
    files.write_text(
        script, SCRIPT
    )  # in one step: a process that loads it at that moment sees all of it or nothing
    for folder in (home.parent, home, script.parent):
        (folder / "__init__.py").touch()
    return script


def unregister() -> list[Path]:
    """Removes the scripts that `register` installed, of any version of the package, and returns
    their paths.
    """
    home = _home()
    ours = re.compile(r"^from estime_metric\b", re.MULTILINE)
    scripts = [
        script
        for script in sorted(home.glob("*/estime.py"))
        if ours.search(script.read_text(encoding="utf-8"))
    ]
    for script in scripts:
        shutil.rmtree(script.parent)
    if not any(home.glob("*/*.py")):
        shutil.rmtree(home, ignore_errors=True)
    return scripts


def _home() -> Path:
    """Where `evaluate` looks for a module of its own that it cannot get from the Hub."""
    return Path(init_dynamic_modules(), "metrics", "evaluate-metric--estime")

"""The encoders that a visitor may choose from, loaded when they are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from estime_metric.checks import check_choice, check_text
from estime_metric.config import EMBEDDED_MODEL, EMBEDDED_SMALL_MODEL, PAPER_MODEL, UNITS
from estime_metric.demo.limits import Limits, RefusedError
from estime_metric.engine.cache import SourceCache
from estime_metric.engine.encoder.loading import EncoderInfo, EncoderUnavailableError
from estime_metric.engine.units import units_of
from estime_metric.examples import PATH as EXAMPLES
from estime_metric.explanation import Explanation
from estime_metric.measures import RECOMMENDED
from estime_metric.scorer import EstimeScorer
from estime_metric.table.rows import read_lines

#: The bundled encoders, the default first, and Hub names.
CHOICES = (EMBEDDED_MODEL, EMBEDDED_SMALL_MODEL, "bert-base-uncased", PAPER_MODEL, "roberta-large")

#: What follows a name on the page.
REMARKS = {
    EMBEDDED_SMALL_MODEL: "small, in the package",
    EMBEDDED_MODEL: "in the package",
    PAPER_MODEL: "the paper's",
}

#: Bytes of source embeddings kept in memory, so that the source is not encoded again for another layer or
#: summary.
CACHE_BYTES = 400_000_000

#: The bundled pairs: four sources, each with a faithful and an unfaithful summary.
EXAMPLE_PAIRS = [line.row for line in read_lines(EXAMPLES)]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a visitor has chosen: options of `EstimeConfig`."""

    model: str
    unit: str = UNITS[0]
    layer: int | None = None  # the encoder's default


@dataclass(frozen=True, slots=True)
class Explained:
    """Summaries of one source, explained.

    Attributes:
        explanations: one for each summary.
        warnings: why the numbers may not be reliable.
        examples: the verdict on each bundled pair and its inconsistency with the same setting.
    """

    explanations: list[Explanation]
    warnings: list[str]
    examples: list[tuple[str, float]]


class Encoders:
    """Explanations by any of the encoders on offer.

    All layers are read in one pass, and the source embeddings are cached under hashes. Another
    layer is therefore fast, and no text is kept.

    Args:
        names: the encoders on offer, as `EstimeConfig.model`.
        limits: what one request may ask for.
        any_name: whether other encoders are loaded too if a visitor names them.
    """

    def __init__(
        self, names: Sequence[str] = CHOICES, limits: Limits | None = None, any_name: bool = False
    ) -> None:
        self.names = tuple(dict.fromkeys(names))
        self.limits = limits or Limits()
        self.any_name = any_name
        self._cache = SourceCache(CACHE_BYTES)
        self._examples = lru_cache(maxsize=8)(self._score_examples)

    @property
    def labels(self) -> list[tuple[str, str]]:
        """Label and name of each encoder on offer; the label of a folder is its last part."""
        return [(_label(name), name) for name in self.names]

    def info(self, model: str) -> EncoderInfo:
        """Blocks, width and default layer of an encoder; loads it. Refuses one that is not on offer
        (RefusedError).
        """
        return self._scorer(Setting(model)).encoder.info

    def explain(self, summaries: Sequence[str], source: str, setting: Setting) -> Explained:
        """The explanations of one or several summaries of one source.

        Raises:
            RefusedError: a text is too long, or the encoder cannot be loaded.
            ValueError: there is no such unit or layer, or a text has a lone surrogate.
        """
        texts = [("source", source), *(("summary", summary) for summary in summaries)]
        for name, text in texts:  # before the encoder is loaded
            is_source = name == "source"
            most = self.limits.max_source_chars if is_source else self.limits.max_summary_chars
            self.limits.check(name, len(text), most, "characters")
            check_text(name, text)
        scorer = self._scorer(setting)
        info = scorer.encoder.info
        config = info.resolve(replace(scorer.config, layers=setting.layer))
        for name, text in texts:
            tokens = len(units_of([text], scorer.config, scorer.encoder.tokenizer)[0].tokens)
            most = self.limits.tokens_for(info.blocks, info.width)
            self.limits.check(name, tokens, most, f"tokens of {_label(info.name)}")
        sources = [source] * len(summaries)
        layer = config.layer_tuple[0]
        explanations, hints = scorer.explain_checked(list(summaries), sources, layer)
        # All layers were read in one pass; the signature names only the layer that is shown.
        return Explained(
            [replace(explanation, signature=config.signature()) for explanation in explanations],
            hints,
            self._examples(setting.model, setting.unit)[layer],
        )

    def _score_examples(self, model: str, unit: str) -> dict[int, list[tuple[str, float]]]:
        """For each layer, the verdict on each bundled pair and its inconsistency."""
        result = self._scorer(Setting(model, unit)).score(
            [pair["summary"] for pair in EXAMPLE_PAIRS], [pair["source"] for pair in EXAMPLE_PAIRS]
        )
        verdicts = [pair["verdict"] for pair in EXAMPLE_PAIRS]
        return {
            layer: list(zip(verdicts, result.values(RECOMMENDED, layer).tolist(), strict=True))
            for layer in result.config.layer_tuple
        }

    def _scorer(self, setting: Setting) -> EstimeScorer:
        """A scorer of all layers whose encoder is loaded; only those who ask for the same encoder wait
        for it. Refuses an encoder that is not on offer or cannot be loaded (RefusedError).
        """
        model = setting.model
        if not model.strip() or (model not in self.names and not self.any_name):
            raise RefusedError("This encoder is not available on this page.")
        check_choice("unit", setting.unit, UNITS)
        try:
            scorer = EstimeScorer(model=model, unit=setting.unit, layers="all", cache=self._cache)
            scorer.load()
        except EncoderUnavailableError as error:
            raise RefusedError(
                f"The encoder {_label(model)} cannot be loaded: it is not in the local cache and could not be "
                "downloaded from the Hugging Face Hub. Please choose another encoder."
            ) from error
        return scorer


def _label(name: str) -> str:
    shown = Path(name).name if Path(name).is_dir() else name
    return f"{shown} ({REMARKS[name]})" if name in REMARKS else shown

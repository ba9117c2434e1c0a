"""The encoders that a visitor may choose from, loaded when they are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from estime_metric.config import EMBEDDED_MODEL, EMBEDDED_SMALL_MODEL, PAPER_MODEL, UNITS
from estime_metric.demo.limits import Limits, RefusedError, refuse
from estime_metric.engine.cache import SourceCache
from estime_metric.engine.encoder.loading import EncoderInfo, EncoderUnavailableError
from estime_metric.engine.text.units import units_of
from estime_metric.explanation import Explanation
from estime_metric.scorer import EstimeScorer
from estime_metric.validation import check_choice, check_text

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


@dataclass(frozen=True, slots=True)
class Setting:
    """What a visitor has chosen: options of `EstimeConfig`."""

    model: str
    unit: str = UNITS[0]
    layer: int | None = None  # the encoder's default


class Encoders:
    """Explanations and scores by any of the encoders on offer.

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

    @property
    def labels(self) -> list[tuple[str, str]]:
        """Label and name of each encoder on offer; the label of a folder is its last part."""
        return [(_label(name), name) for name in self.names]

    def info(self, model: str) -> EncoderInfo:
        """Blocks, width and default layer of an encoder; loads it. Refuses one that is not on offer
        (RefusedError).
        """
        return self.scorer(Setting(model)).encoder.info

    def explain(self, summaries: Sequence[str], source: str, setting: Setting) -> list[Explanation]:
        """The explanations of one or several summaries of one source.

        Raises:
            RefusedError: a text is too long, or the encoder cannot be loaded.
            ValueError: there is no such unit or layer.
        """
        for summary in summaries:  # before the encoder is loaded
            self.limits.check_pair(source, summary)
        scorer = self.scorer(setting, every_layer=True)
        config = scorer.encoder.info.resolve(replace(scorer.config, layers=setting.layer))
        self.check(scorer, source, *summaries)
        explanations = scorer.explain_pairs(
            summaries, [source] * len(summaries), layer=config.layer_tuple[0]
        )
        # All layers were read in one pass; the signature names only the layer that is shown.
        return [replace(explanation, signature=config.signature()) for explanation in explanations]

    def check(self, scorer: EstimeScorer, source: str, *summaries: str) -> None:
        """Refuses a text of too many tokens for the encoder of ``scorer`` (RefusedError), or with a
        lone surrogate.
        """
        info = scorer.encoder.info
        most = self.limits.tokens_for(info.blocks, info.width)
        for name, text in (("source", source), *(("summary", summary) for summary in summaries)):
            check_text(name, text)
            tokens = len(units_of([text], scorer.config, scorer.encoder.tokenizer)[0].tokens)
            if tokens > most:
                reason = f"The {name} has {tokens:,} tokens; with {_label(info.name)} the limit of this page is {most:,}."
                refuse(reason, "explain")

    def scorer(self, setting: Setting, *, every_layer: bool = False) -> EstimeScorer:
        """A scorer whose encoder is loaded; only those who ask for the same encoder wait for it.

        Args:
            setting: what was chosen.
            every_layer: read all layers, so that another one can be shown at no cost. Reading only
                the layer of the setting is faster.

        Raises:
            RefusedError: the encoder is not on offer or cannot be loaded.
            ValueError: there is no such unit.
        """
        model = setting.model
        if not model.strip() or (model not in self.names and not self.any_name):
            raise RefusedError("This encoder is not available on this page.")
        check_choice("unit", setting.unit, UNITS)
        try:
            scorer = EstimeScorer(
                model=model,
                unit=setting.unit,
                layers="all" if every_layer else setting.layer,
                cache=self._cache,
            )
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

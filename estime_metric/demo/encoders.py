"""The encoders that a visitor may choose from, loaded when they are chosen."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from estime_metric.config import EMBEDDED_MODEL, PAPER_MODEL, UNITS, EstimeConfig
from estime_metric.demo.limits import ANY_LENGTH, Limits, RefusedError
from estime_metric.engine.cache import SourceCache
from estime_metric.engine.loading import EncoderInfo, EncoderUnavailableError
from estime_metric.engine.text import units_of
from estime_metric.explanation import Explanation
from estime_metric.inputs import check_choice, check_text
from estime_metric.scorer import EstimeScorer

#: Hub names, the encoder in the package first.
CHOICES = (EMBEDDED_MODEL, "bert-base-uncased", PAPER_MODEL, "roberta-large")

#: What stands beside a name on the page.
REMARKS = {EMBEDDED_MODEL: "small, in the package", PAPER_MODEL: "the paper's"}

#: Encoders held at once, the first of the choices not counted.
HELD = 1

#: Bytes of source embeddings held in memory, so that a change of layer or summary encodes the source no more.
CACHE_BYTES = 400_000_000


@dataclass(frozen=True, slots=True)
class Setting:
    """What a visitor has chosen: encoder, unit, layer."""

    model: str
    unit: str
    layer: int


class Encoders:
    """Explanations and scores by any of the encoders on offer.

    Every layer is read at once and the embeddings of sources are held for a while, so that turning to another layer
    takes little time. The embeddings are found by a hash; no text is held.

    Args:
        names: the encoders on offer, as `EstimeConfig.model`; the first is always held once it is loaded.
        limits: how long a text each of them takes.
    """

    def __init__(self, names: Sequence[str] = CHOICES, limits: Limits | None = None) -> None:
        self.names = tuple(dict.fromkeys(names))
        self.limits = limits or Limits()
        self._cache = SourceCache(CACHE_BYTES)
        self._held: OrderedDict[str, dict[str, EstimeScorer]] = OrderedDict()
        self._lock = threading.Lock()
        self._loading = {name: threading.Lock() for name in self.names}

    @property
    def labels(self) -> list[tuple[str, str]]:
        """For each encoder what is shown, and its name; a folder goes by its last part."""
        return [(_label(name), name) for name in self.names]

    def info(self, model: str) -> EncoderInfo:
        """Blocks, width and default layer of an encoder; loads it.

        Raises:
            RefusedError: it is not on offer, or cannot be had.
        """
        return self._scorer(model, UNITS[0]).encoder.info

    def explain(self, summaries: Sequence[str], source: str, setting: Setting) -> list[Explanation]:
        """The explanations of one or several summaries of one source.

        Raises:
            RefusedError: a text is too long, or the encoder cannot be had.
            ValueError: there is no such unit or layer.
        """
        for summary in summaries:
            self.limits.check_pair(source, summary)
        scorer = self._scorer(setting.model, setting.unit)
        config = self._resolved(setting)
        self.check_tokens("source", source, setting)
        for summary in summaries:
            self.check_tokens("summary", summary, setting)
        explanations = scorer.explain_pairs(summaries, [source] * len(summaries), layer=setting.layer)
        # All layers were read at once; the signature is that of the one shown.
        return [replace(explanation, signature=config.signature()) for explanation in explanations]

    def one_layer(self, setting: Setting) -> EstimeScorer:
        """A scorer that reads no other layer, for many pairs.

        Raises:
            RefusedError: the encoder is not on offer, or cannot be had.
            ValueError: there is no such unit or layer.
        """
        return EstimeScorer(self._resolved(setting), cache=self._cache)

    def check_tokens(self, name: str, text: str, setting: Setting) -> None:
        """Refuses a text of more tokens than the encoder takes here.

        Raises:
            RefusedError: it has more.
            ValueError: it holds half a character.
        """
        check_text(name, text)
        scorer = self._scorer(setting.model, setting.unit)
        most = self.limits.most_tokens(scorer.encoder.info.blocks, scorer.encoder.info.width)
        tokens = len(units_of([text], scorer.config, scorer.encoder.tokenizer)[0].tokens)
        if tokens > most:
            raise RefusedError(
                f"The {name} has {tokens:,} tokens; with {setting.model} the demo takes up to {most:,}. {ANY_LENGTH}"
            )

    def _resolved(self, setting: Setting) -> EstimeConfig:
        """The configuration of one layer, with nothing left open."""
        scorer = self._scorer(setting.model, setting.unit)
        return scorer.encoder.info.resolve(replace(scorer.config, layers=setting.layer))

    def _scorer(self, model: str, unit: str) -> EstimeScorer:
        """The scorer of all layers for an encoder and a unit; loads the encoder, while the others go on."""
        if model not in self.names:
            raise RefusedError("This encoder is not on offer here.")
        check_choice("unit", unit, UNITS)
        with self._loading[model]:
            return (self._look_up(model) or self._keep(model, self._load(model)))[unit]

    def _load(self, model: str) -> dict[str, EstimeScorer]:
        scorers = {unit: EstimeScorer(model=model, unit=unit, layers="all", cache=self._cache) for unit in UNITS}
        try:
            for scorer in scorers.values():
                scorer.signature  # noqa: B018  (loads the encoder, which they share)
        except (EncoderUnavailableError, ValueError) as error:
            raise RefusedError(
                f"The encoder {_label(model)} cannot be had here: there is no copy of it on this machine, and the "
                f"Hugging Face Hub gave none. Please choose another one."
            ) from error
        return scorers

    def _look_up(self, model: str) -> dict[str, EstimeScorer] | None:
        with self._lock:
            if model in self._held:
                self._held.move_to_end(model)
            return self._held.get(model)

    def _keep(self, model: str, scorers: dict[str, EstimeScorer]) -> dict[str, EstimeScorer]:
        """Holds an encoder, and lets go of those that waited longest."""
        with self._lock:
            self._held[model] = scorers
            others = [name for name in self._held if name != self.names[0]]
            for name in others[:-HELD]:
                del self._held[name]
        return scorers


def _label(name: str) -> str:
    shown = Path(name).name if Path(name).is_dir() else name
    return f"{shown} ({REMARKS[name]})" if name in REMARKS else shown

"""What is behind the score of a pair: the verdicts on its words, drawn."""

from __future__ import annotations

import math

from torch import Tensor

from estime_metric.config import EstimeConfig
from estime_metric.engine.matching import MatchedPair
from estime_metric.measures import STATISTICS
from estime_metric.show import captions, html
from estime_metric.verdicts import Verdicts, unit_verdicts
from estime_metric.wording.source import NOVELTY


class Explanation(Verdicts):
    """The verdicts on all units and words of one summary, with their evidence in the source.
    ``print(explanation)`` shows the counts and the surest words, and a notebook the colored texts. For the
    attributes, see `Verdicts`.
    """

    def to_html(self, *, title: str = html.TITLE) -> str:
        """A self-contained page: the colored summary above its source, with the evidence. For several
        explanations on one page, see `estime_metric.show.to_html`.
        """
        return html.to_html(self, title=title)

    def _repr_html_(self) -> str:
        """What a notebook shows: the colored summary above its source, with the evidence."""
        return html.notebook(self)

    def __repr__(self) -> str:
        return f"Explanation(alarms={self.alarms}, overlap={self.overlap}, tokens={self.tokens}, {self.signature})"

    def __str__(self) -> str:
        return captions.plain_text(self)


def explain_pair(
    prediction: str,
    source: str,
    pair: MatchedPair,
    statistics: Tensor,
    layer: int,
    config: EstimeConfig,
) -> Explanation:
    """Makes the explanation of one layer from the matches of all units and the ``statistics`` of the
    pair, of shape (len(STATISTICS),), both on the CPU. ``config`` is fully resolved.
    """
    return Explanation(
        prediction=prediction,
        source=source,
        units=unit_verdicts(prediction, source, pair, config.layer_tuple.index(layer)),
        unit=config.unit,
        layer=layer,
        signature=config.signature(),
        statistics={
            name: value
            for name, value in zip(STATISTICS, statistics.tolist(), strict=True)
            if name in NOVELTY or not math.isnan(value)
        },
        wording=pair.source.wording.read(prediction),
    )

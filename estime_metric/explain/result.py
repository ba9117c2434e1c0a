"""A result as HTML, as a notebook shows it: means with their intervals, and the worst summaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from estime_metric.explain.html import STYLE, templates
from estime_metric.measures import MEASURES, RECOMMENDED

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult

#: Measures whose means are shown, if the result has them.
SHOWN = (
    "inconsistency",
    "graded_alarms",
    "new_words",
    "new_trigrams",
    "alarms",
    "tokens",
    "coverage",
    "copied",
)

WORST = 5  # summaries that are listed
_CHARACTERS = 200  # of a summary that are shown


def render(result: EstimeResult, predictions: Sequence[str] | None) -> str:
    """A table of means for each layer, and the summaries with the largest `inconsistency`."""
    layers = [
        {
            "layer": layer,
            "rows": [
                (name, result.interval(name, layer), MEASURES[name].meaning.replace("`", ""))
                for name in SHOWN
                if name in result.measures
            ],
        }
        for layer in result.layers
    ]
    first = result.layers[0]
    values = result.values(RECOMMENDED, first).tolist()
    order = sorted(range(len(values)), key=lambda index: -values[index])[:WORST]
    worst = [
        (
            index,
            values[index],
            result.values("alarms", first)[index].item(),
            "" if predictions is None else " ".join(predictions[index].split())[:_CHARACTERS],
        )
        for index in order
    ]
    return (
        templates("estime_metric.explain")
        .get_template("result.html.jinja")
        .render(
            layers=layers,
            worst=worst,
            measure=RECOMMENDED,
            pairs=len(result),
            signature=result.signature,
            style=STYLE,
        )
    )

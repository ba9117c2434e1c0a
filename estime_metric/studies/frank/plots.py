"""Plots of the study: correlations with their intervals, and the ablation by type of error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from estime_metric.studies.frank.data import DATASETS
from estime_metric.studies.shared.scoring import OWN, REFERENCE_FREE, TRIVIAL
from estime_metric.studies.shared.study import Frames, plot_intervals

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Section of the metrics whose scores come with the data.
PUBLISHED = "Published metrics, scores from the data"
#: Sections of the tables, in order, each with its title.
SECTIONS = {REFERENCE_FREE: "Measured here", TRIVIAL: "Trivial, measured here", OWN: "From files", PUBLISHED: PUBLISHED}
#: Type of error -> its heading: the groups of the typology, then its types.
ERROR_NAMES = {
    **{"Semantic_Frame_Errors": "semantic frame", "Discourse_Errors": "discourse"},
    **{"Content_Verifiability_Errors": "verifiability", "RelE": "relation", "EntE": "entity"},
    **{"CircE": "circumstance", "OutE": "out of article", "GramE": "grammar", "CorefE": "coreference"},
    **{"LinkE": "link", "Other": "other"},
}

#: Measures in the picture of the ablation: so many of ours, and so many published ones.
SHOWN = {(REFERENCE_FREE, OWN): 3, (PUBLISHED,): 3}


def part_name(part: str) -> str:
    """A part as readers know it: ``all``, ``CNN/DailyMail``, ``XSum``."""
    return DATASETS.get(part, part)


def draw(_: Any, frames: Frames, *, seed: int = 0) -> Iterator[tuple[str, Figure]]:
    """``correlations``: partial Pearson correlations of all measures with their intervals, best first, for each part of
    the data. ``ablation``: over all summaries, of the best measures of ours and the best published ones.
    """
    found = frames["correlations.csv"]
    rows = found[(found["kind"] == "partial") & (found["method"] == "pearson")]
    rows = rows.sort_values("value", ascending=False, kind="stable", na_position="last")
    rows = rows.assign(grey=np.where(rows["section"] == PUBLISHED, "s", ""))
    known = rows[rows["part"] == "all"].dropna(subset="value")
    panels = {
        part_name(part): rows[rows["part"] == part].set_index("column").loc[known["column"]].set_index("measure")
        for part in ("all", *DATASETS)
    }
    caption = "partial r with factuality, 95% intervals; round: measured here or from a file, square: published"
    yield "correlations", plot_intervals(panels, 0, caption, wider=1.5)
    best = [known[known["section"].isin(names)]["column"].head(count) for names, count in SHOWN.items()]
    yield "ablation", _ablation(frames["ablation.csv"], list(pd.concat(best)))


def _ablation(ablated: pd.DataFrame, columns: list[str]) -> Figure:
    from estime_metric.meta.plots.style import COLOURS, GREY, LABEL, MARKERS, TICK, WIDTH, make_plain, new_figure

    rows = ablated[ablated["part"] == "all"]
    errors = list(dict.fromkeys(rows["error"]))
    figure = new_figure(WIDTH + 1.5, 4.2)
    axes = figure.subplots()
    for number, column in enumerate(columns):
        of_measure = rows[rows["column"] == column].set_index("error").loc[errors]
        positions = np.arange(len(errors)) + 0.12 * (number - (len(columns) - 1) / 2)  # side by side
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        axes.vlines(positions, of_measure["low"], of_measure["high"], color=colour, linewidth=1.0)
        label = of_measure["measure"].iloc[0]
        axes.plot(positions, of_measure["value"], marker, color=colour, markersize=4, label=label)
    axes.axhline(0, color=GREY, linewidth=0.6)
    axes.set_xticks(range(len(errors)), [ERROR_NAMES.get(error, error) for error in errors], rotation=35, ha="right")
    axes.set_ylabel("partial r less that with the type flipped", fontsize=LABEL)
    if columns:
        figure.legend(fontsize=TICK, ncols=3, frameon=False, loc="outside upper center")
    make_plain(axes)
    return figure

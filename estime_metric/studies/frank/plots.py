"""Pictures of the study: correlations with their intervals, and the ablation by type of error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from estime_metric.studies.frank.data import DATASETS
from estime_metric.studies.shared.scoring import OWN, REFERENCE_FREE, TRIVIAL
from estime_metric.studies.shared.study import Frames

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Section of the metrics whose scores come with the data.
PUBLISHED = "Published metrics, scores from the data"

#: Sections of the tables, in order, each with its title.
SECTIONS = {
    REFERENCE_FREE: "Measured here",
    TRIVIAL: "Trivial, measured here",
    OWN: "From files",
    PUBLISHED: PUBLISHED,
}

#: Type of error -> its heading: the groups of the typology, then its types.
ERROR_NAMES = {
    "Semantic_Frame_Errors": "semantic frame",
    "Discourse_Errors": "discourse",
    "Content_Verifiability_Errors": "verifiability",
    "RelE": "relation",
    "EntE": "entity",
    "CircE": "circumstance",
    "OutE": "out of article",
    "GramE": "grammar",
    "CorefE": "coreference",
    "LinkE": "link",
    "Other": "other",
}

#: Measures in the picture of the ablation: so many of ours, and so many published ones.
SHOWN = {(REFERENCE_FREE, OWN): 3, (PUBLISHED,): 3}


def part_name(part: str) -> str:
    """A part as readers know it: ``all``, ``CNN/DailyMail``, ``XSum``."""
    return DATASETS.get(part, part)


def draw(_: Any, frames: Frames, *, seed: int = 0) -> Iterator[tuple[str, Figure]]:
    """The pictures: ``correlations`` and ``ablation``.

    Raises:
        ImportError: matplotlib is not installed.
    """
    found = frames["correlations.csv"]
    rows = found[(found["kind"] == "partial") & (found["method"] == "pearson")]
    rows = rows.sort_values("value", ascending=False, kind="stable", na_position="last")
    known = rows[rows["part"] == "all"].dropna(subset="value")
    yield "correlations", _correlations(rows, known)
    best = [known[known["section"].isin(names)]["column"].head(count) for names, count in SHOWN.items()]
    yield "ablation", _ablation(frames["ablation.csv"], list(pd.concat(best)))


def _correlations(rows: pd.DataFrame, known: pd.DataFrame) -> Figure:
    """Partial Pearson correlations of all measures with their 95% intervals, best first, for each part of the data."""
    from estime_metric.meta.plots.style import COLOURS, GREY, LABEL, TICK, WIDTH, make_plain, new_figure, set_title

    parts = ["all", *DATASETS]
    order, labels = list(known["column"])[::-1], list(known["measure"])[::-1]
    figure = new_figure(WIDTH + 1.5, 1.0 + 0.17 * len(order))
    panels = figure.subplots(1, len(parts), sharex=True, sharey=True, squeeze=False)[0]
    for axes, part in zip(panels, parts, strict=True):
        of_part = rows[rows["part"] == part].set_index("column").loc[order]
        for index, row in enumerate(of_part.itertuples()):
            ours = row.section != PUBLISHED
            axes.plot([row.low, row.high], [index, index], color=COLOURS[0] if ours else GREY, linewidth=1.2)
            axes.plot(row.value, index, "o" if ours else "s", color=COLOURS[0] if ours else GREY, markersize=3.5)
        axes.axvline(0, color=GREY, linewidth=0.6)
        set_title(axes, part_name(part))
        make_plain(axes)
    panels[0].set_yticks(range(len(order)), labels, fontsize=TICK)
    caption = "partial r with factuality, 95% intervals; round: measured here or from a file, square: published"
    figure.supxlabel(caption, fontsize=LABEL)
    return figure


def _ablation(ablated: pd.DataFrame, columns: list[str]) -> Figure:
    """The ablation over all summaries with 95% intervals, of the best measures of ours and the best published ones."""
    from estime_metric.meta.plots.style import COLOURS, GREY, LABEL, MARKERS, TICK, WIDTH, make_plain, new_figure

    rows = ablated[ablated["part"] == "all"]
    errors = list(dict.fromkeys(rows["error"]))
    figure = new_figure(WIDTH + 1.5, 4.2)
    axes = figure.subplots()
    for number, column in enumerate(columns):
        of_measure = rows[rows["column"] == column].set_index("error").loc[errors]
        aside = 0.12 * (number - (len(columns) - 1) / 2)
        positions = [index + aside for index in range(len(errors))]
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

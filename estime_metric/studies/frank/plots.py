"""Pictures of the study: correlations with their intervals, and the ablation by type of error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from estime_metric.studies.frank.analysis import PARTS, Analysis, best_of
from estime_metric.studies.frank.report import ERROR_NAMES, PUBLISHED, SECTIONS, part_name
from estime_metric.studies.shared.scoring import OWN, REFERENCE_FREE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Measures in the picture of the ablation: so many of ours, and so many published ones.
SHOWN = {(REFERENCE_FREE, OWN): 3, (PUBLISHED,): 3}


def draw(found: Analysis) -> dict[str, Figure]:
    """The pictures by name: ``correlations`` and ``ablation``.

    Raises:
        ImportError: matplotlib is not installed.
    """
    return {"correlations": plot_correlations(found), "ablation": plot_ablation(found)}


def plot_correlations(found: Analysis) -> Figure:
    """Partial Pearson correlations of all measures with their 95% intervals, best first, for each part of the data."""
    from estime_metric.meta.plots.style import COLOURS, GREY, LABEL, TICK, WIDTH, make_plain, new_figure, set_title

    order = best_of(found.correlations, list(SECTIONS), len(found.correlations))[::-1]
    rows = found.correlations[(found.correlations["kind"] == "partial") & (found.correlations["method"] == "pearson")]
    figure = new_figure(WIDTH + 1.5, 1.0 + 0.17 * len(order))
    panels = figure.subplots(1, len(PARTS), sharex=True, sharey=True, squeeze=False)[0]
    for axes, part in zip(panels, PARTS, strict=True):
        of_part = rows[rows["part"] == part].set_index("column").loc[order]
        for index, row in enumerate(of_part.itertuples()):
            ours = row.section != PUBLISHED
            axes.plot([row.low, row.high], [index, index], color=COLOURS[0] if ours else GREY, linewidth=1.2)
            axes.plot(row.value, index, "o" if ours else "s", color=COLOURS[0] if ours else GREY, markersize=3.5)
        axes.axvline(0, color=GREY, linewidth=0.6)
        set_title(axes, part_name(part))
        make_plain(axes)
    labels = rows[rows["part"] == "all"].set_index("column")["measure"]
    panels[0].set_yticks(range(len(order)), [labels[column] for column in order], fontsize=TICK)
    caption = "partial r with factuality, 95% intervals; round: measured here or from a file, square: published"
    figure.supxlabel(caption, fontsize=LABEL)
    return figure


def plot_ablation(found: Analysis) -> Figure:
    """The ablation over all summaries with 95% intervals, of the best measures of ours and the best published ones."""
    from estime_metric.meta.plots.style import COLOURS, GREY, LABEL, MARKERS, TICK, WIDTH, make_plain, new_figure

    columns = [name for sections, count in SHOWN.items() for name in best_of(found.correlations, sections, count)]
    rows = found.ablation[found.ablation["part"] == "all"]
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

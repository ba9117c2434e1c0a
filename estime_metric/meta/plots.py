"""Pictures of a meta-evaluation, for paper and screen: each function takes data and returns a matplotlib ``Figure``.

Nothing global is touched: no pyplot, no style, no window. Colours can be told apart by colour-blind readers and carry
no meaning alone: markers, positions or labels say the same. Sizes fit a page of paper at full width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from estime_metric.meta.bias import BiasMatrix, check_systems
from estime_metric.meta.checks import Floats, finite, two_grids
from estime_metric.meta.labels import GREY, TICK, labels_at_the_right, labels_beside
from estime_metric.meta.shuffle import LengthCurve

#: Okabe and Ito's colours, without the yellow that is lost on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
PALE = "#BBBBBB"

#: Width of a figure in inches: the text of an A4 page.
WIDTH = 6.5
TITLE, LABEL = 10, 9  # points


def plot_bias(bias: BiasMatrix, measure: str, names: Mapping[str, str] | None = None) -> Figure:
    """A bias matrix: circles in the colour of tau and of an area in proportion to the number of pairs.

    Rows and columns run from the best system to the worst. Above the diagonal stand consistent pairs, below it the
    same pairs inverted, so that a system which the measure prefers whatever it writes has a blue row to the right of
    the diagonal and a red column below it. A small cross marks a cell without pairs.

    Args:
        bias: of at least one system.
        measure: name of the measure, for the title.
        names: system -> the name to print; those that are missing are printed as they are.

    Raises:
        ValueError: there is no system.
    """
    size = len(bias.systems)
    if not size:
        raise ValueError("Expected argument `bias` to hold at least one system, but got none.")
    labels = [(names or {}).get(system, system) for system in bias.systems]
    figure, axes, bar = _square(max(len(label) for label in labels))
    counts, matrix = bias.counts, bias.matrix
    rows, columns = np.nonzero(counts)
    largest = max(int(counts.max()), 1)
    circles = _circles(axes, columns, rows, counts[rows, columns] / largest, cmap="RdBu", linewidths=0.4)
    circles.set_array(matrix[rows, columns])
    circles.set_clim(-1.0, 1.0)
    empty = np.argwhere((counts == 0) & ~np.eye(size, dtype=bool))
    axes.scatter(empty[:, 1], empty[:, 0], marker="x", s=9, linewidths=0.6, color=GREY)
    axes.plot([-0.5, size - 0.5], [-0.5, size - 0.5], color=PALE, linewidth=0.8, zorder=0)
    axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5))
    axes.set_xticks(range(size), labels, rotation=90, fontsize=TICK)
    axes.set_yticks(range(size), labels, fontsize=TICK)
    axes.tick_params(length=0)
    compared = "of one document" if bias.compared == "same_document" else "of all documents"
    figure.text(0.015, 0.99, f"Bias matrix of {measure}", fontsize=TITLE, fontweight="bold", va="top")
    figure.text(
        0.015, 0.955, f"Pairs of summaries {compared}; systems from the best mean judgement to the worst.\n"
        "Above the diagonal (τ+) the better system, the row, wrote the better summary; below (τ−) the worse one did.",
        fontsize=TICK, va="top", linespacing=1.4,
    )  # fmt: skip
    figure.colorbar(circles, cax=bar, ticks=[-1.0, -0.5, 0.0, 0.5, 1.0])
    bar.set_yticklabels(["−1  all wrong", "−0.5", "0", "0.5", "1  all right"], fontsize=TICK)
    bar.set_title("τ", fontsize=LABEL)
    _key_of_sizes(axes, size, largest)
    return figure


def plot_intra_system(
    values: Mapping[str, ArrayLike],
    systems: Sequence[str],
    intervals: Mapping[str, ArrayLike] | None = None,
    statistic: str = "Kendall's τ-b",
    title: str = "Agreement with the judgements within each system",
) -> Figure:
    """Bars with intervals: one panel for each measure, one bar for each system, all on one scale.

    Args:
        values: measure -> (s,) values, NaN where a system has none.
        systems: names of the ``s`` systems, printed in this order.
        intervals: measure -> (s, 2) lower and upper ends, NaN where there is none; none at all where left out.
        statistic: what the values are, for the axis.
        title: of the figure.

    Raises:
        ValueError: there is no measure, or values or intervals do not fit the systems.
    """
    if not values:
        raise ValueError("Expected argument `values` to hold at least one measure, but got none.")
    names = check_systems(systems, len(systems))
    figure = _figure(WIDTH, 1.5 + 1.05 * len(values))
    panels = figure.subplots(len(values), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for panel, (measure, given) in zip(panels, values.items(), strict=True):
        heights = np.asarray(given, dtype=np.float64)
        if heights.shape != (len(names),):
            raise ValueError(
                f"Expected argument `values` to hold {len(names)} values of {measure!r}, but got shape {heights.shape}."
            )
        mean = float(np.nanmean(heights)) if not np.isnan(heights).all() else float("nan")
        panel.bar(range(len(names)), heights, width=0.72, color=COLOURS[0])
        if intervals is not None and measure in intervals:
            _whiskers(panel, heights, np.asarray(intervals[measure], dtype=np.float64), measure)
        panel.axhline(0.0, color="black", linewidth=0.8)
        panel.axhline(mean, color=COLOURS[1], linewidth=1.1, linestyle="--")
        panel.set_title(f"{measure}   (mean {mean:.2f})", fontsize=LABEL, loc="left", pad=3)
        _plain(panel)
        panel.grid(axis="y", color=PALE, linewidth=0.4)
        panel.set_axisbelow(True)
    panels[-1].set_xlim(-0.6, len(names) - 0.4)
    panels[-1].set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor", fontsize=TICK)
    figure.supylabel(statistic, fontsize=LABEL)
    figure.suptitle(title, fontsize=TITLE, fontweight="bold", x=0.02, ha="left")
    return figure


def plot_layers(
    curves: Mapping[str, ArrayLike],
    layers: Sequence[int],
    statistic: str,
    title: str = "Agreement with the judgements by layer",
    others: Mapping[str, ArrayLike] | None = None,
    kinds: tuple[str, str] = ("", ""),
) -> Figure:
    """Curves over the layers of an encoder (Vasilyev & Bohannon 2021, appendix A), the best layer of each ringed.

    Args:
        curves: what was judged -> (l,) values, thick lines; NaN leaves a gap.
        layers: the ``l`` layers, rising.
        statistic: what the values are, for the axis.
        title: of the figure.
        others: a second set to compare with, thin dashed lines in the same colours (appendices B to F).
        kinds: what the thick and the thin lines are.

    Raises:
        ValueError: there is no curve, or a curve has another number of values than there are layers.
    """
    if not curves:
        raise ValueError("Expected argument `curves` to hold at least one curve, but got none.")
    figure = _figure(WIDTH, 3.9)
    axes = figure.add_subplot()
    ends: list[tuple[float, str, str]] = []
    for place, (label, given) in enumerate(curves.items()):
        heights = _curve(given, label, layers)
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        axes.plot(layers, heights, color=colour, marker=marker, markersize=4, linewidth=2.0)
        if not np.isnan(heights).all():
            best = int(np.nanargmax(heights))
            axes.plot(layers[best], heights[best], "o", markersize=11, markerfacecolor="none", color=colour)
            last = int(np.flatnonzero(~np.isnan(heights))[-1])
            ends.append((float(heights[last]), f"{label} (best: {layers[best]})", colour))
        if others is not None and label in others:
            axes.plot(layers, _curve(others[label], label, layers), color=colour, linewidth=0.9, linestyle="--")
    labels_at_the_right(axes, ends)
    axes.set_xlabel("layer", fontsize=LABEL)
    axes.set_ylabel(statistic, fontsize=LABEL)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(color=PALE, linewidth=0.4)
    _plain(axes)
    if others is not None:
        handles = [
            axes.plot([], [], color=GREY, linewidth=width, linestyle=style, label=kind)[0]
            for kind, width, style in zip(kinds, (2.0, 0.9), ("-", "--"), strict=True)
            if kind
        ]
        if handles:
            axes.legend(handles=handles, fontsize=TICK, frameon=False, loc="lower center")
    _title(axes, title)
    return figure


def plot_scores(
    scores: ArrayLike,
    judgements: ArrayLike,
    systems: Sequence[str],
    measure: str,
    judgement: str,
    title: str | None = None,
) -> Figure:
    """Score against judgement, twice: every summary on the left, the systems' means with their names on the right.

    Args:
        scores: (d, s) scores of the measure, at least one document and one system.
        judgements: (d, s) judgements.
        systems: names to print.
        measure, judgement: what they are, for the axes.
        title: of the figure; made of the two where left out.

    Raises:
        TypeError, ValueError: they are no finite tables of one shape, empty, or the names do not fit.
    """
    x, y = two_grids(scores, judgements)
    names = check_systems(systems, x.shape[1])
    if not x.size:
        raise ValueError(f"Expected argument `scores` to hold at least one summary, but got shape {x.shape}.")
    figure = _figure(WIDTH, 4.2)
    every, by_system = figure.subplots(1, 2, width_ratios=(1.0, 1.9))
    means = np.column_stack([y.mean(axis=0), x.mean(axis=0)])
    every.scatter(y.ravel(), x.ravel(), s=4, color=GREY, linewidths=0, alpha=0.5, rasterized=True)
    every.scatter(means[:, 0], means[:, 1], s=9, color=COLOURS[1], linewidths=0)
    by_system.scatter(means[:, 0], means[:, 1], s=26, color=COLOURS[1], edgecolors="white", zorder=3)
    by_system.margins(0.16, 0.12)
    every.set_title("every summary", fontsize=LABEL, loc="left")
    by_system.set_title("means of the systems", fontsize=LABEL, loc="left")
    for axes in (every, by_system):
        axes.set_xlabel(f"{judgement}, judged", fontsize=LABEL)
        axes.grid(color=PALE, linewidth=0.4)
        axes.set_axisbelow(True)
        _plain(axes)
    every.set_ylabel(f"{measure}, score", fontsize=LABEL)
    figure.suptitle(
        title or f"{measure} against judged {judgement}", fontsize=TITLE, fontweight="bold", x=0.02, ha="left"
    )
    labels_beside(figure, by_system, means, names)
    return figure


def plot_length_curves(
    curves: Mapping[str, LengthCurve],
    title: str = "Accuracy on shuffled texts by difference in length",
    x_label: str = "original longer by (characters)",
    y_label: str = "accuracy",
    chance: float | None = 0.5,
) -> Figure:
    """Curves by a length (Steen & Markert 2022, Figure 4), with a dotted line at chance.

    Raises:
        ValueError: there is no curve.
    """
    if not curves:
        raise ValueError("Expected argument `curves` to hold at least one curve, but got none.")
    figure = _figure(WIDTH, 3.6)
    axes = figure.add_subplot()
    ends = []
    for place, (label, curve) in enumerate(curves.items()):
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        axes.plot(curve.lengths, curve.means, color=colour, marker=marker, markersize=4, linewidth=1.5)
        if len(curve.means):
            ends.append((float(curve.means[-1]), label, colour))
    if chance is not None:
        axes.axhline(chance, color=GREY, linewidth=0.8, linestyle=":")
    labels_at_the_right(axes, ends)
    axes.set_xlabel(x_label, fontsize=LABEL)
    axes.set_ylabel(y_label, fontsize=LABEL)
    axes.grid(color=PALE, linewidth=0.4)
    _plain(axes)
    _title(axes, title)
    return figure


def plot_lengths(lengths: ArrayLike, systems: Sequence[str], unit: str = "characters", columns: int = 4) -> Figure:
    """Histograms of the lengths of each system's summaries, on one scale, with their means (appendix C, Figure 6).

    Args:
        lengths: (d, s) lengths, at least one document and one system.
        systems: names to print.
        unit: of the lengths.
        columns: panels side by side.

    Raises:
        TypeError, ValueError: ``lengths`` is no finite table, empty, or the names do not fit.
    """
    table = finite("lengths", lengths, 2)
    names = check_systems(systems, table.shape[1])
    if not table.size:
        raise ValueError(f"Expected argument `lengths` to hold at least one summary, but got shape {table.shape}.")
    wide = min(columns, len(names))
    high = -(-len(names) // wide)
    figure = _figure(WIDTH, 0.8 + 1.1 * high)
    panels = figure.subplots(high, wide, sharex=True, sharey=True, squeeze=False).ravel()
    edges = np.histogram_bin_edges(table, bins=25)
    for panel, name, column in zip(panels, names, table.T, strict=False):
        panel.hist(column, bins=list(edges), color=COLOURS[5])
        panel.axvline(column.mean(), color=COLOURS[1], linewidth=1.2)
        panel.set_title(name, fontsize=TICK - 0.5, loc="left", pad=2)
        panel.text(
            0.99, 0.97, f"{column.mean():.0f}", transform=panel.transAxes, fontsize=TICK, color=COLOURS[1], ha="right",
            va="top", fontweight="bold",
        )  # fmt: skip
        _plain(panel)
    for panel in panels[len(names) :]:
        panel.set_visible(False)
    figure.supxlabel(f"length in {unit}; line and number: the mean", fontsize=LABEL)
    figure.supylabel("summaries", fontsize=LABEL)
    figure.suptitle("Lengths of the summaries by system", fontsize=TITLE, fontweight="bold", x=0.02, ha="left")
    return figure


def save(figure: Figure, path: str | Path) -> tuple[Path, Path]:
    """Writes a figure as PNG (200 dots per inch) and as SVG, the same bytes for the same figure.

    Args:
        figure: the figure.
        path: where; its ending, if it has one of the two, is replaced by each of the two.

    Returns:
        The paths of the PNG and of the SVG.

    Raises:
        OSError: it cannot be written.
    """
    path = Path(path)
    stem = path.with_suffix("") if path.suffix in (".png", ".svg") else path
    png, svg = (stem.with_name(stem.name + ending) for ending in (".png", ".svg"))
    with matplotlib.rc_context({"svg.hashsalt": "estime"}):
        figure.savefig(png, dpi=200, metadata={"Software": None})
        figure.savefig(svg, metadata={"Date": None, "Creator": None})
    return png, svg


def _figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, fontsize=TITLE, fontweight="bold", loc="left")


def _plain(axes: Axes) -> None:
    """Two spines, small numbers."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=TICK)


def _square(longest: int) -> tuple[Figure, Axes, Axes]:
    """A figure with a square for a matrix whose labels have up to ``longest`` signs, and the axes of a colour bar."""
    margin = 0.14 + 0.56 * TICK * longest / 72  # inches
    right, top = 1.3, 0.68
    side = max(WIDTH - margin - right, 2.4)
    width, height = margin + side + right, margin + side + top
    figure = Figure(figsize=(width, height), facecolor="white")
    axes = figure.add_axes((margin / width, margin / height, side / width, side / height))
    low, tall = margin + 0.04 * side, 0.5 * side
    bar = figure.add_axes(((margin + side + 0.22) / width, low / height, 0.14 / width, tall / height))
    return figure, axes, bar


def _circles(axes: Axes, x: Any, y: Any, shares: Any, **style: Any) -> EllipseCollection:
    """Circles at (x, y) whose areas are the shares of one that nearly fills its cell."""
    diameters = 0.95 * np.sqrt(np.asarray(shares, dtype=np.float64))
    made = EllipseCollection(
        diameters, diameters, np.zeros(len(diameters)), units="x", offsets=np.column_stack([x, y]),
        transOffset=axes.transData, edgecolors=GREY, **style,
    )  # fmt: skip
    axes.add_collection(made, autolim=False)
    return made


def _key_of_sizes(axes: Axes, size: int, largest: int) -> None:
    """Circles of the largest count and of a quarter of it, to the right of the matrix."""
    shown = list(dict.fromkeys((largest, max(largest // 4, 1))))
    cell = size / 16  # what a cell of SummEval's matrix measures here
    right = size - 0.5 + 1.0 * cell
    axes.text(right - 0.35 * cell, -0.5 + 0.5 * cell, "pairs", fontsize=LABEL, va="center", clip_on=False)
    for place, count in enumerate(shown):
        y = -0.5 + (1.7 + 1.15 * place) * cell
        _circles(axes, [right], [y], [count / largest], facecolors="white", linewidths=0.8, clip_on=False)
        axes.text(right + max(0.9 * cell, 0.6), y, f"{count:,}", fontsize=TICK, va="center", clip_on=False)


def _whiskers(axes: Axes, heights: Floats, ends: Floats, measure: str) -> None:
    if ends.shape != (len(heights), 2):
        raise ValueError(
            f"Expected argument `intervals` to hold {len(heights)} pairs of {measure!r}, but got shape {ends.shape}."
        )
    for place, (low, high) in enumerate(ends):
        if np.isfinite(low) and np.isfinite(high):
            axes.plot([place, place], [low, high], color="black", linewidth=1.0)
            for end in (low, high):
                axes.plot([place - 0.14, place + 0.14], [end, end], color="black", linewidth=1.0)


def _curve(values: ArrayLike, label: str, layers: Sequence[int]) -> Floats:
    heights = np.asarray(values, dtype=np.float64)
    if heights.shape != (len(layers),):
        raise ValueError(
            f"Expected argument `curves` to hold {len(layers)} values of {label!r}, one for each layer, "
            f"but got shape {heights.shape}."
        )
    return heights

"""Names beside points, placed where they cover nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from estime_metric.comparison.checks import Floats
from estime_metric.comparison.plots.style import COLORS, GRAY, TICK

Box = tuple[float, float, float, float]  # left, bottom, right, top


def named_points(figure: Figure, axes: Axes, points: Floats, names: Sequence[str]) -> None:
    """Points, and a name beside each, where it covers no other name, line or point; a fine line
    leads to a far one.
    """
    axes.scatter(points[:, 0], points[:, 1], s=26, color=COLORS[1], edgecolors="white", zorder=3)
    axes.margins(0.16, 0.12)
    figure.draw_without_rendering()  # fixes the layout, so that points have pixel coordinates
    scale = figure.dpi / 72
    pixels = axes.transData.transform(points) / scale  # in points of 1/72 inch
    left, bottom, right, top = np.asarray(axes.get_window_extent().extents) / scale
    taken: list[Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y in pixels]
    crowded = [sum(np.hypot(*(pixels - pixel).T) < 40) for pixel in pixels]
    for index in sorted(range(len(names)), key=lambda index: (crowded[index], -pixels[index, 1])):
        x, y = pixels[index]
        others = taken[:index] + taken[index + 1 :]
        choices = _positions_around(float(x), float(y), 0.64 * TICK * len(names[index]))
        costs = [
            away
            + 5 * _overlap([box, *line], others)
            + 1e6 * (box[0] < left or box[1] < bottom or box[2] > right or box[3] > top)
            for away, box, line in choices
        ]
        _, box, line = choices[int(np.argmin(costs))]
        taken += [box, *line]
        style = {"arrowstyle": "-", "color": GRAY, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3}
        axes.annotate(
            names[index],
            tuple(points[index]),
            xytext=(box[0] - x, (box[1] + box[3]) / 2 - y),
            textcoords="offset points",
            fontsize=TICK,
            va="center",
            zorder=4,
            arrowprops={**style, "relpos": (0.0 if box[0] > x else 1.0 if box[2] < x else 0.5, 0.5)}
            if line
            else None,
        )


def _positions_around(x: float, y: float, width: float) -> list[tuple[float, Box, list[Box]]]:
    """Where a name of this width fits around a point: its distance, its box, and small boxes along
    its line.
    """
    height = 1.15 * TICK
    positions = []
    for away in (7.0, 14.0, 22.0, 32.0, 44.0, 58.0, 75.0, 95.0):
        for angle in np.arange(0, 360, 15):
            dx, dy = away * np.cos(np.radians(angle)), away * np.sin(np.radians(angle))
            left = x + dx - (width if dx < -1 else width / 2 if abs(dx) <= 1 else 0.0)
            box = (left, y + dy - height / 2, left + width, y + dy + height / 2)
            steps = np.arange(7.0, away - 1, 3.0) / away  # none where the name is close by
            line = [
                (x + dx * s - 1.5, y + dy * s - 1.5, x + dx * s + 1.5, y + dy * s + 1.5)
                for s in steps
            ]
            positions.append((away + 0.02 * abs(dy), box, line))
    return positions


def _overlap(ones: Sequence[Box], others: Sequence[Box]) -> float:
    """Area in which boxes overlap with others, summed over all pairs."""
    one, other = np.array(ones)[:, None, :], np.array(others).reshape(1, -1, 4)
    sides = np.minimum(one[..., 2:], other[..., 2:]) - np.maximum(one[..., :2], other[..., :2])
    return float(sides.clip(0.0).prod(axis=-1).sum())

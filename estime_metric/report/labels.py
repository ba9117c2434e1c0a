"""Names next to points, placed so that they cover nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from estime_metric.report.style import COLORS, GRAY, TICK
from estime_metric.stats.checks import Floats


class Box(NamedTuple):
    """A rectangle, in points of 1/72 inch."""

    left: float
    bottom: float
    right: float
    top: float

    def inside(self, other: Box) -> bool:
        """Whether no part of it is outside of another."""
        return (
            self.left >= other.left
            and self.bottom >= other.bottom
            and self.right <= other.right
            and self.top <= other.top
        )


class _Position(NamedTuple):
    """Where a name may be: its distance from the point, its box, and small boxes along the line that
    leads to it, none if it is close by.
    """

    distance: float
    box: Box
    line: list[Box]


def named_points(figure: Figure, axes: Axes, points: Floats, names: Sequence[str]) -> None:
    """Points, and a name next to each, placed so that it does not cover another name, line or
    point; a fine line leads to a distant one.
    """
    axes.scatter(points[:, 0], points[:, 1], s=26, color=COLORS[1], edgecolors="white", zorder=3)
    axes.margins(0.16, 0.12)
    figure.draw_without_rendering()  # fixes the layout, so that points have pixel coordinates
    scale = figure.dpi / 72
    places = axes.transData.transform(points) / scale  # in points of 1/72 inch
    frame = Box(*(np.asarray(axes.get_window_extent().extents) / scale))
    taken = [Box(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    crowded = [sum(np.hypot(*(places - place).T) < 40) for place in places]
    for index in sorted(range(len(names)), key=lambda index: (crowded[index], -places[index, 1])):
        x, y = map(float, places[index])
        others = taken[:index] + taken[index + 1 :]
        position = min(
            _positions_around(x, y, 0.64 * TICK * len(names[index])),
            key=lambda position: _cost(position, others, frame),
        )
        taken += [position.box, *position.line]
        _annotate(axes, names[index], points[index], x, y, position)


def _cost(position: _Position, others: Sequence[Box], frame: Box) -> float:
    """How bad a position is: far away, over others, or out of the frame."""
    covered = _overlap([position.box, *position.line], others)
    return position.distance + 5 * covered + 1e6 * (not position.box.inside(frame))


def _annotate(
    axes: Axes, name: str, point: Floats, x: float, y: float, position: _Position
) -> None:
    """Writes a name, and draws the line to it; ``x`` and ``y`` are the place of the point."""
    box = position.box
    side = 0.0 if box.left > x else 1.0 if box.right < x else 0.5
    arrow = {
        "arrowstyle": "-",
        "color": GRAY,
        "linewidth": 0.5,
        "shrinkA": 0,
        "shrinkB": 3,
        "relpos": (side, 0.5),
    }
    axes.annotate(
        name,
        tuple(point),
        xytext=(box.left - x, (box.bottom + box.top) / 2 - y),
        textcoords="offset points",
        fontsize=TICK,
        va="center",
        zorder=4,
        arrowprops=arrow if position.line else None,
    )


def _positions_around(x: float, y: float, width: float) -> list[_Position]:
    """Where a name of this width fits around a point, the nearest first."""
    height = 1.15 * TICK
    positions = []
    for away in (7.0, 14.0, 22.0, 32.0, 44.0, 58.0, 75.0, 95.0):
        for angle in np.arange(0, 360, 15):
            dx, dy = away * np.cos(np.radians(angle)), away * np.sin(np.radians(angle))
            left = x + dx - (width if dx < -1 else width / 2 if abs(dx) <= 1 else 0.0)
            box = Box(left, y + dy - height / 2, left + width, y + dy + height / 2)
            steps = np.arange(7.0, away - 1, 3.0) / away  # none if the name is close by
            line = [
                Box(x + dx * s - 1.5, y + dy * s - 1.5, x + dx * s + 1.5, y + dy * s + 1.5)
                for s in steps
            ]
            positions.append(_Position(away + 0.02 * abs(dy), box, line))
    return positions


def _overlap(ones: Sequence[Box], others: Sequence[Box]) -> float:
    """Area in which boxes overlap with others, summed over all pairs."""
    one, other = np.array(ones)[:, None, :], np.array(others).reshape(1, -1, 4)
    sides = np.minimum(one[..., 2:], other[..., 2:]) - np.maximum(one[..., :2], other[..., :2])
    return float(sides.clip(0.0).prod(axis=-1).sum())

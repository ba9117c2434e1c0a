"""What all pictures share: sizes, colors, an empty figure, titles and axes, and how it is written
to disk.
"""

from __future__ import annotations

from pathlib import Path

from estime_metric._messages import needs_extra
from estime_metric.table.output import is_standard, replaced

with needs_extra("plot", "Plots need matplotlib"):
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GRAY, PALE, ORANGE = "#666666", "#BBBBBB", "#D55E00"

#: The formats that figures are written in, and what would otherwise differ from run to run.
_METADATA: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}

WIDTH = 6.5  # width of a figure in inches: the text of an A4 page

#: Sizes of letters in points.
TITLE, LABEL, TICK = 10, 9, 8


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches."""
    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def make_grid(axes: Axes, x_label: str = "", y_label: str = "", title: str = "") -> None:
    """Two spines with small numbers, labels and perhaps a bold title, and a pale grid behind the data."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=TICK)
    axes.set_xlabel(x_label, fontsize=LABEL)
    axes.set_ylabel(y_label, fontsize=LABEL, parse_math=False)
    axes.grid(color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)
    if title:
        axes.set_title(title, fontsize=TITLE, fontweight="bold", loc="left", parse_math=False)


def save(figure: Figure, path: str | Path) -> tuple[Path, ...]:
    """Writes a figure in the format that the ending of ``path`` names, .png (200 dots per inch),
    .svg or .pdf, or as .png and as .svg if it names none; returns what was written. The same figure
    gives the same bytes. ValueError: ``path`` means standard output. OSError: it cannot be written.
    """
    path = Path(path)
    if is_standard(path):
        raise ValueError(
            f"Expected argument `path` to be a file for the figure, but got {str(path)!r}, which "
            "means standard output."
        )
    if path.suffix.lower() in _METADATA:
        paths: tuple[Path, ...] = (path,)
    else:
        paths = tuple(path.with_name(path.name + ending) for ending in (".png", ".svg"))
    with matplotlib.rc_context({"svg.hashsalt": "estime"}):
        for file in paths:
            ending = file.suffix.lower()
            with replaced(file) as unfinished:
                figure.savefig(unfinished, dpi=200, format=ending[1:], metadata=_METADATA[ending])
    return paths

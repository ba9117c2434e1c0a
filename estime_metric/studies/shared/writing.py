"""The files of a study: tidy tables, tables for readers, pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from estime_metric import files
from estime_metric.tables import Table, write_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Folder of the pictures.
PLOTS = "plots"


def write_study(
    folder: Path,
    frames: Mapping[str, pd.DataFrame],
    tables: Iterable[Table],
    draw: Callable[[], Iterable[tuple[str, Figure]]],
) -> dict[str, str]:
    """Writes what a study found into a folder.

    Args:
        folder: an existing folder.
        frames: tidy tables by the name of their CSV file.
        tables: see `write_table`.
        draw: makes the pictures, each with the name of its files; they are written to `PLOTS` as PNG and SVG.

    Returns:
        ``plots`` and why there are none, where matplotlib is not installed; else nothing.
    """
    for name, frame in frames.items():
        files.write_text(folder / name, frame.to_csv(index=False, lineterminator="\n"))
    for table in tables:
        write_table(table, folder)
    try:
        write_figures(folder / PLOTS, draw())
    except ImportError as error:
        return {"plots": str(error)}
    return {}


def write_figures(folder: Path, figures: Iterable[tuple[str, Figure]]) -> list[Path]:
    """Writes pictures as PNG and SVG into a folder, which is made where it is missing; returns the paths.

    Raises:
        ImportError: matplotlib is not installed.
    """
    from estime_metric.meta.plots import save

    folder.mkdir(parents=True, exist_ok=True)
    return [path for name, figure in figures for path in save(figure, folder / name)]

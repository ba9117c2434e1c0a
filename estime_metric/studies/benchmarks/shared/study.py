"""One runner for every study: data and measures in; scores, tidy tables, tables for readers, plots
and files out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from estime_metric import files
from estime_metric.comparison.checks import Floats
from estime_metric.comparison.resampling import draw
from estime_metric.comparison.tables import Cell, Column, Section, Table, interval, write_table
from estime_metric.studies.benchmarks.shared.scoring import (
    Block,
    Data,
    Measure,
    Scores,
    Summaries,
    measure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLOTS = "plots"
#: Tidy tables by the name of their CSV file.
Frames = dict[str, pd.DataFrame]
#: What identifies a measure's rows in a tidy table.
IDS = ["column", "measure", "section"]
#: What `lookup` gives; and a part of a table: its title, rows, and the columns of the measures with
#: their labels.
Rows = Mapping[tuple[Any, ...], Any]
Part = tuple[str, Rows, Sequence[tuple[str, str]]]


class Study(Protocol):
    """What is a study's own. A module with these three functions is one; its data and blocks are
    arguments of `run`.
    """

    def analyze(self, scores: Scores[Any], *, resamples: int, seed: int) -> Frames:
        """What the scores say, in tidy tables."""

    def tables(self, scores: Scores[Any], frames: Frames) -> list[Table]:
        """The same for readers."""

    def draw(
        self, scores: Scores[Any], frames: Frames, *, seed: int
    ) -> Iterable[tuple[str, Figure]]:
        """Plots, each with the name of its files; ImportError where matplotlib is not installed."""


@dataclass(frozen=True, eq=False)
class Found(Generic[Data]):
    """What a study found: scores of every summary, tidy tables by file name, tables for readers by
    name.
    """

    scores: Scores[Data]
    frames: Frames
    tables: dict[str, Table]


def run(
    study: Study,
    data: Data,
    blocks: Sequence[Block],
    *,
    folder: Path | None = None,
    resume: bool = False,
    resamples: int = 1000,
    seed: int = 0,
    progress: bool = False,
) -> Found[Data]:
    """Measures, analyzes, makes tables and plots; raises OSError, ValueError as `measure`.

    Args:
        study: for example the module `estime_metric.studies.benchmarks.frank.study`.
        data, blocks: what is scored, in the form that the study reads, and the measures.
        folder: scores, tables and plots are written there; without matplotlib no plots, which
            ``Scores.problems`` says.
        resume, progress: as in `measure`.
        resamples, seed: bootstrap samples of the intervals, and the seed of the random numbers.
    """
    scores = measure(data, blocks, folder=folder, resume=resume, progress=progress)
    frames = study.analyze(scores, resamples=resamples, seed=seed)
    found = Found(scores, frames, {table.name: table for table in study.tables(scores, frames)})
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, frame in frames.items():
            files.write_text(folder / name, frame.to_csv(index=False, lineterminator="\n"))
        for table in found.tables.values():
            write_table(table, folder)
        try:
            from estime_metric.studies.meta.plots import save

            (folder / PLOTS).mkdir(exist_ok=True)
            for name, figure in study.draw(scores, frames, seed=seed):
                save(figure, folder / PLOTS / name)
        except ImportError as error:
            scores.problems["plots"] = str(error)
    return found


def each(
    scores: Scores[Any], frame: Callable[[Measure], pd.DataFrame], columns: Sequence[str]
) -> pd.DataFrame:
    """A tidy table of every measure with these columns, one below the other, with `IDS` in front."""
    frames = []
    for one in scores.analyzed():
        if len(found := frame(one)):
            frames.append(found.assign(column=one.column, measure=one.label, section=one.section))
    order = [*IDS, *columns]
    return pd.concat(frames, ignore_index=True)[order] if frames else pd.DataFrame(columns=order)


def drawn_weights(items: int, resamples: int, seed: int) -> Floats:
    """How often the sample itself, then each resample takes each item; float64 of shape (1 +
    resamples, items).
    """
    drawn = draw((items, 1), "documents", resamples, seed)[0] if items else np.zeros((resamples, 0))
    assert drawn is not None
    return np.concatenate([np.ones((1, items)), drawn])


def document_weights(
    data: Summaries, resamples: int, seed: int
) -> Callable[[npt.NDArray[np.int64]], Floats]:
    """Indices of k summaries -> how often the sample and each resample of the documents takes each
    of these; float64 of shape (1 + resamples, k)."""
    weights = drawn_weights(len(data.documents), resamples, seed)
    document_of_each = pd.Index(data.documents).get_indexer([document for document, _ in data.keys])
    return lambda rows: weights[:, document_of_each[rows]]


def lookup(frame: pd.DataFrame, *names: str) -> Rows:
    """The rows of a tidy table by some of its columns."""
    return {tuple(getattr(row, name) for name in names): row for row in frame.itertuples()}


class Shown(NamedTuple):
    """A column of a table: a value, or the ``"interval"``, of the row of a `lookup` by a measure
    and this key.
    """

    column: Column
    key: tuple[Any, ...]
    value: str = "value"

    def cell(self, rows: Rows, measure: str) -> Cell:
        """The cell of a measure, nothing where it has no such row."""
        row = rows.get((measure, *self.key))
        if row is not None and self.value == "interval":
            return interval(row.low, row.high)
        cell: Cell = getattr(row, self.value, None)
        return cell


def with_interval(name: str, group: str, *key: Any) -> list[Shown]:
    """A value, and beside it its interval."""
    return [
        Shown(Column(name, group), key),
        Shown(Column("95% interval", group, text=True), key, "interval"),
    ]


def by_section(scores: Scores[Any], titles: Mapping[str, str], rows: Rows) -> Iterator[Part]:
    """The parts of a table of all measures, also of those that failed, by their section."""
    for section, title in titles.items():
        yield (
            title,
            rows,
            [(one.column, one.label) for one in scores.measures if one.section == section],
        )


def measure_table(
    name: str,
    title: str,
    shown: Sequence[Shown],
    parts: Iterable[Part],
    notes: Sequence[str],
    first: str = "measure",
) -> Table:
    """A table with these columns behind the labels of its rows, under ``first``; parts without rows
    are left out.
    """
    sections = [
        Section(
            part, [(label, *(one.cell(rows, column) for one in shown)) for column, label in labels]
        )
        for part, rows, labels in parts
    ]
    columns = [Column(first, text=True), *(one.column for one in shown)]
    return Table(name, title, columns, [one for one in sections if one.rows], notes)


def plot_intervals(
    panels: Mapping[str, pd.DataFrame], middle: float, caption: str, *, wider: float
) -> Figure:
    """Values with their intervals, a panel for each table, the first row of it on top. ``panels``:
    title -> ``value``, ``low``, ``high`` and ``grey`` (the marker of a row drawn in grey, else
    empty) by label, the same labels in all. A line stands at ``middle``; the figure is so many
    inches ``wider`` than a page."""
    from estime_metric.comparison.plots.style import (
        COLOURS,
        GREY,
        LABEL,
        TICK,
        WIDTH,
        make_plain,
        new_figure,
        set_title,
    )

    labels = list(next(iter(panels.values())).index)[::-1]
    figure = new_figure(WIDTH + wider, 1.2 + 0.17 * len(labels))
    all_axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (title, rows) in zip(all_axes, panels.items(), strict=True):
        for height, row in enumerate(rows[::-1].itertuples()):
            if np.isnan(row.value):
                continue
            colour = GREY if row.grey else COLOURS[0]
            axes.plot([row.low, row.high], [height, height], color=colour, linewidth=1.2)
            axes.plot(row.value, height, row.grey or "o", color=colour, markersize=3.5)
        axes.axvline(middle, color=GREY, linewidth=0.6)
        set_title(axes, title)
        make_plain(axes)
    all_axes[0].set_yticks(range(len(labels)), labels, fontsize=TICK)
    figure.supxlabel(caption, fontsize=LABEL)
    return figure

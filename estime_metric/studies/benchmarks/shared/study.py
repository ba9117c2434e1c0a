"""One runner for every study: data and blocks in; scores, tidy tables, tables for readers, plots
and files out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol

from estime_metric import files
from estime_metric.report.tables import Table, write_table
from estime_metric.studies.benchmarks.shared.blocks import Block
from estime_metric.studies.benchmarks.shared.data import Data
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores, compute_scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLOTS = "plots"


class Study(Protocol):
    """What a benchmark does with its data: the stages from blocks of measures to plots. Each
    benchmark's ``study.py`` has a class with these methods.
    """

    def blocks(self, data: Any) -> list[Block]:
        """The measures that the benchmark computes, those that come with the data included."""

    def analyze(self, scores: Scores[Any], *, resamples: int, seed: int) -> Frames:
        """What the scores say, in tidy tables."""

    def tables(self, scores: Scores[Any], frames: Frames) -> list[Table]:
        """The same for readers."""

    def draw(
        self, scores: Scores[Any], frames: Frames, *, seed: int
    ) -> Iterable[tuple[str, Figure]]:
        """Plots, each with the name of its files; ImportError if matplotlib is not installed."""


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
    """Computes the scores, analyzes them, and makes tables and plots; raises OSError, ValueError as
    `compute_scores`.

    Args:
        study: for example `estime_metric.studies.benchmarks.frank.study.FrankStudy`.
        data: what is scored, in the form that the study reads.
        blocks: the measures, usually ``study.blocks(data)`` and perhaps more.
        folder: the folder for scores, tables and plots. Without matplotlib there are no plots, and
            ``Scores.problems`` says so.
        resume, progress: as in `compute_scores`.
        resamples, seed: bootstrap samples of the intervals, and the seed of the random numbers.
    """
    scores = compute_scores(data, blocks, folder=folder, resume=resume, progress=progress)
    frames = study.analyze(scores, resamples=resamples, seed=seed)
    found = Found(scores, frames, {table.name: table for table in study.tables(scores, frames)})
    if folder is not None:
        _write(study, found, folder, seed)
    return found


def _write(study: Study, found: Found[Any], folder: Path, seed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in found.frames.items():
        files.write_text(folder / name, frame.to_csv(index=False, lineterminator="\n"))
    for table in found.tables.values():
        write_table(table, folder)
    try:
        from estime_metric.studies.meta.plots import save

        (folder / PLOTS).mkdir(exist_ok=True)
        for name, figure in study.draw(found.scores, found.frames, seed=seed):
            save(figure, folder / PLOTS / name)
    except ImportError as error:
        found.scores.problems["plots"] = str(error)

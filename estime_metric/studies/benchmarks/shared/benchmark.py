"""The one way from data to tables: data -> scores -> frames -> tables -> plots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from estime_metric.studies.benchmarks.shared.blocks import Block
from estime_metric.studies.benchmarks.shared.data import Data
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores, compute_scores
from estime_metric.studies.tables import Table, write_table
from estime_metric.table.output import write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLOTS = "plots"


@dataclass(frozen=True)
class Benchmark:
    """How a benchmark reads its data, and what it makes of their scores.

    Attributes:
        read: ``read(folder, ...)`` gives the `Summaries`.
        analyze: ``analyze(scores, resamples=..., seed=...)`` gives tidy tables by file name.
        tables: ``tables(scores, frames)`` gives the same for readers.
        draw: ``draw(scores, frames, seed=...)`` gives plots, each with the name of its files, for
            benchmarks whose paper has some; ImportError if matplotlib is not installed.
        shown: the tables on the screen; the others are for files. All if none is named.
    """

    read: Callable[..., Any]
    analyze: Callable[..., Frames]
    tables: Callable[[Scores[Any], Frames], list[Table]]
    draw: Callable[..., Iterable[tuple[str, Figure]]] | None = None
    shown: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Results(Generic[Data]):
    """What a benchmark gives: scores of every summary, tidy tables by file name, tables for readers
    by name.
    """

    scores: Scores[Data]
    frames: Frames
    tables: dict[str, Table]


def run(
    benchmark: Benchmark,
    data: Data,
    blocks: Sequence[Block],
    *,
    folder: Path | None = None,
    resume: bool = False,
    resamples: int = 1000,
    seed: int = 0,
    progress: bool = False,
) -> Results[Data]:
    """Computes the scores, analyzes them, and makes tables and plots; raises OSError, ValueError as
    `compute_scores`.

    Args:
        benchmark: for example `summeval.BENCHMARK`.
        data: what is scored, in the form that the benchmark reads.
        blocks: the measures, usually those of `estime_block` and perhaps more.
        folder: the folder for scores, tables and plots. Without matplotlib there are no plots, and
            ``Scores.problems`` says so.
        resume, progress: as in `compute_scores`.
        resamples, seed: bootstrap samples of the intervals, and the seed of the random numbers.
    """
    scores = compute_scores(data, blocks, folder=folder, resume=resume, progress=progress)
    frames = benchmark.analyze(scores, resamples=resamples, seed=seed)
    tables = {table.name: table for table in benchmark.tables(scores, frames)}
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, frame in frames.items():
            write_text(folder / name, frame.to_csv(index=False, lineterminator="\n"))
        for table in tables.values():
            write_table(table, folder)
        if benchmark.draw is not None:
            try:
                from estime_metric.studies.meta.plots import save

                for name, figure in benchmark.draw(scores, frames, seed=seed):
                    (folder / PLOTS).mkdir(exist_ok=True)
                    save(figure, folder / PLOTS / name)
            except ImportError as error:
                scores.problems["plots"] = str(error)
    return Results(scores, frames, tables)

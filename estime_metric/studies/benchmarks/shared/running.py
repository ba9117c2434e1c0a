"""The one way from data to tables: data -> scores -> tidy tables -> tables for readers, plots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

import pandas as pd

from estime_metric.studies.benchmarks.shared.blocks import Block
from estime_metric.studies.benchmarks.shared.data import Data
from estime_metric.studies.benchmarks.shared.scored import Scored, score
from estime_metric.studies.printed import Table, to_markdown
from estime_metric.table.output import write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: File name -> tidy table.
Frames = dict[str, pd.DataFrame]
PLOTS = "plots"


@dataclass(frozen=True)
class Benchmark:
    """What a benchmark makes of the scores of its data.

    Attributes:
        analyze: ``analyze(scored, resamples=..., seed=...)`` gives tidy tables by file name.
        tables: ``tables(scored, frames)`` gives the same for readers.
        draw: ``draw(scored, frames)`` gives plots, each with the name of its files, for
            benchmarks whose paper has some; ImportError if matplotlib is not installed.
        shown: the tables on the screen; the others are for files. All if none is named.
    """

    analyze: Callable[..., Frames]
    tables: Callable[[Scored[Any], Frames], list[Table]]
    draw: Callable[..., Iterable[tuple[str, Figure]]] | None = None
    shown: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Results(Generic[Data]):
    """What a benchmark gives: scores of every summary, tidy tables by file name, tables for readers
    by name.
    """

    scored: Scored[Data]
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
    `scored.score`.

    Args:
        benchmark: for example `summeval.BENCHMARK`.
        data: what is scored.
        blocks: the measures, usually those of `estime_block` and perhaps more.
        folder: the folder for scores, tidy tables (CSV), tables (Markdown) and plots. Without
            matplotlib there are no plots, and ``Scored.problems`` says so.
        resume, progress: as in `scored.score`.
        resamples, seed: bootstrap samples of the intervals, and the seed of the random numbers.
    """
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    scored = score(data, blocks, folder=folder, resume=resume, progress=progress)
    frames = benchmark.analyze(scored, resamples=resamples, seed=seed)
    if folder is not None:
        for name, frame in frames.items():
            write_text(folder / name, frame.to_csv(index=False, lineterminator="\n"))
    tables = {table.name: table for table in benchmark.tables(scored, frames)}
    if folder is not None:
        for table in tables.values():
            write_text(folder / f"{table.name}.md", to_markdown(table))
        if benchmark.draw is not None:
            try:
                from estime_metric.show.plot import save

                for name, figure in benchmark.draw(scored, frames):
                    (folder / PLOTS).mkdir(exist_ok=True)
                    save(figure, folder / PLOTS / name)
            except ImportError as error:
                scored.problems["plots"] = str(error)
    return Results(scored, frames, tables)

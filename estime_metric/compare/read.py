"""Files -> the scores of each system."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from estime_metric.compare.examples import text_problems
from estime_metric.compare.join import check_column, check_filled, name_of
from estime_metric.compare.request import Request
from estime_metric.measures import MEASURES, measure_of
from estime_metric.table.formats import encodable
from estime_metric.table.output import record_path
from estime_metric.table.pairs import ColumnError
from estime_metric.table.rows import TABLES, Layout, header_hint
from estime_metric.table.scores import Scores
from estime_metric.table.table import SOURCE_ID

if TYPE_CHECKING:
    from pandas import DataFrame

_ANOTHER_COLUMN = (
    "Name another one with `id_column` or `system_column`, or pass one file per system."
)


def read_scores(
    path: str | Path,
    layout: Layout = TABLES,
    *,
    own_columns: Collection[str] = (),
    skipped: list[str] | None = None,
) -> DataFrame:
    """The data frame of what `Scores.read` reads: its arguments and its errors. The record is
    ``attrs["record"]``, and ``attrs["skipped"]`` the number of lines that cannot be read.
    """
    return Scores.read(path, layout, own_columns=own_columns, skipped=skipped).to_frame()


def name_files(paths: Sequence[Path]) -> dict[str, Path]:
    """Each file by its name without the ending if these names differ; otherwise by its path."""
    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        names = list(map(str, paths))
    return dict(zip(map(encodable, names), paths, strict=True))


def baseline_of(files: Mapping[str, Path], baseline: str | None) -> str | None:
    """The name of the baseline, which can be the name of its file if only one file has it."""
    named = [name for name, path in files.items() if baseline in (path.name, str(path))]
    return named[0] if len(named) == 1 else baseline


def read_systems(
    files: Mapping[str, Path], request: Request, skipped: list[str]
) -> dict[str, Scores]:
    """The scores of each system. If an encoder is needed, the rows of a table without scores are pairs.

    Args:
        files: the file of each system, or one file of all systems.
        request: the measures and columns.
        skipped: is extended by a sentence for each row that cannot be read or, if it has to be, scored.

    Raises:
        ValueError: a table has no rows or lacks a column.
        OSError, ImportError: as `Scores.read`.
    """
    if len(files) == 1:
        request = replace(request, system_column=request.system_column or "system")
    elif request.system_column is not None:
        raise ValueError(
            f"Expected `system_column` with one file of all systems, but got {len(files)} files."
        )
    read = {name: _read(path, request, skipped) for name, path in files.items()}
    if request.system_column is None:
        return read
    (path,), (scores,) = files.values(), read.values()
    names = scores.frame[request.system_column].map(name_of)
    check_filled(names, path.name)
    return {
        str(name): replace(scores, frame=rows)
        for name, rows in scores.frame.groupby(names, sort=False)
    }


def _read(path: Path, request: Request, skipped: list[str]) -> Scores:
    """The rows of a file; if they have to be scored, those with two texts."""
    problems: list[str] = []  # of this file alone: its first problem explains an empty table
    scores = Scores.read(path, request.layout, own_columns=request.named_columns, skipped=problems)
    table = scores.frame
    if table.empty:
        reason = f" ({problems[0]})" if problems else header_hint(path)
        raise ValueError(
            f"Expected {path.name} to have scores or pairs, but it has no rows{reason}."
        )
    for column in request.named_columns:
        check_column(table, column, path.name, _ANOTHER_COLUMN)
    if request.needs_encoder and not scores.is_scored:
        _check_text_columns(path, table, request.layout)
        problem_of = text_problems(table, request.layout.text_columns)
        wrong = problem_of[problem_of != ""]
        problems += [f"{path.name} line {line}: {problem}" for line, problem in wrong.items()]
        if len(wrong) == len(table):
            raise ValueError(f"Expected pairs in {path.name}, but got none ({problems[0]}).")
        scores = replace(scores, frame=table.drop(index=wrong.index), skipped=len(problems))
    skipped += problems
    return scores


def _check_text_columns(path: Path, table: DataFrame, layout: Layout) -> None:
    """Refuses a table without the columns of the texts; if it seems to be an output of ``estime score``
    without its record, the message says so.
    """
    for argument in ("source_column", "summary_column"):
        column = getattr(layout, argument)
        if column in table:
            continue
        if SOURCE_ID in table and any(measure_of(str(name)) in MEASURES for name in table):
            raise ValueError(
                f"Expected {record_path(path).name} next to {path.name}, which seems to be an output of "
                "'estime score', but there is none. Copy it, too."
            )
        raise ColumnError(path, argument, column, list(table.columns))

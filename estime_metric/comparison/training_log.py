"""The log of a training run -> how ``inconsistency`` and ``copied`` developed, and their plot.

``inconsistency`` falls when a model copies more of the source, so neither is read without the
other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from estime_metric import files
from estime_metric.comparison.keys import name_of
from estime_metric.comparison.reading import MISSING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SELECTED, WATCHED = "inconsistency", "copied"  # what is plotted; lower is better of the first
STEPS = ("step", "epoch")  # columns that say when a row was logged
_JOINTS = ("/", "_", ".", "-", "@")  # what loggers put between a prefix and a name
_LOGGED_PER_EPOCH = "_epoch"  # what Lightning appends if a value is logged by step and by epoch


@dataclass(frozen=True)
class LoggedPoint:
    """What was logged at one step; ``epoch`` is ``None`` if the log has no such column."""

    step: float
    epoch: float | None
    inconsistency: float
    copied: float


@dataclass(frozen=True)
class TrainingCurve:
    """How a training run developed.

    Attributes:
        points: in the order of the steps, at least one.
        by: what ``step`` counts, one of `STEPS`.
        columns: the names of the columns for ``inconsistency`` and ``copied``.
        problems: a sentence for each line that cannot be read, or that has something other than a
            number in one of these columns or in ``by``; the line, or the value, is skipped.
    """

    points: tuple[LoggedPoint, ...]
    by: str
    columns: Mapping[str, str]
    problems: tuple[str, ...] = ()

    @property
    def best(self) -> LoggedPoint:
        """The first point with the lowest ``inconsistency``."""
        return min(self.points, key=lambda point: point.inconsistency)


def read_training_log(path: str | Path, columns: Mapping[str, str] | None = None) -> TrainingCurve:
    """Reads ``metrics.csv`` of Lightning's ``CSVLogger``, or a table in another format of
    ``estime score`` with a column ``step`` or ``epoch``.

    Cells may be empty or NaN: the values of one step are collected from all its rows. Other
    cells that are not numbers are named in `TrainingCurve.problems`.

    Args:
        path: the table.
        columns: ``inconsistency`` and ``copied`` -> the column of each. Without it, the columns are
            found that end in these names, such as ``val/inconsistency``.

    Raises:
        ValueError: a column is missing, or several could be meant; no step has both values.
        OSError: the file cannot be read.
    """
    path = Path(path)
    lines = list(files.read_rows(path))
    rows = [line.row for line in lines]
    names = list(dict.fromkeys(name for row in rows for name in row))
    by = next((name for name in STEPS if name in names), None)
    if by is None:
        raise ValueError(
            f"Expected a column 'step' or 'epoch' in {path.name}, but its columns are "
            f"{', '.join(names) or 'none'}."
        )
    found = {
        measure: _column(measure, (columns or {}).get(measure), names, path)
        for measure in (SELECTED, WATCHED)
    }
    points = tuple(_points(rows, by, found))
    if not points:
        raise ValueError(
            f"Expected a {by} in {path.name} with a value of {found[SELECTED]!r} and of "
            f"{found[WATCHED]!r}, but no {by} has both."
        )
    problems = tuple(_problems(lines, (by, *found.values())))
    return TrainingCurve(points=points, by=by, columns=found, problems=problems)


def plot_training(curve: TrainingCurve) -> Figure:
    """``inconsistency`` and ``copied`` of a training run, one above the other, with a line at the
    lowest ``inconsistency``. Needs the extra ``meta``.
    """
    from estime_metric.comparison.plots.training import draw_training

    return draw_training(curve)


def _column(measure: str, given: str | None, names: list[str], path: Path) -> str:
    if given is not None:
        if given not in names:
            raise ValueError(
                f"Expected argument `{measure}` to be a column of {path.name} "
                f"({', '.join(names)}), but got {given!r}."
            )
        return given
    meant = [name for name in names if _names(name.removesuffix(_LOGGED_PER_EPOCH), measure)]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise ValueError(
            f"Expected one column of {measure!r} in {path.name}, but {' and '.join(meant)} end in "
            f"this name. Choose one with `{measure}`."
        )
    advice = ' ESTIME(measures="copied", return_dict=True) computes it.' * (measure == WATCHED)
    raise ValueError(
        f"Expected a column that ends in {measure!r} in {path.name}, but its columns are "
        f"{', '.join(names)}. Name one with `{measure}`.{advice}"
    )


def _names(column: str, measure: str) -> bool:
    """Whether a column is the measure, perhaps with a prefix such as ``val/``."""
    return column == measure or column.endswith(tuple(f"{joint}{measure}" for joint in _JOINTS))


def _points(
    rows: Iterable[Mapping[str, Any]], by: str, columns: Mapping[str, str]
) -> Iterable[LoggedPoint]:
    logged: dict[float, dict[str, float]] = {}
    for row in rows:
        step = _number(row.get(by))
        if step is None:
            continue
        for name in (columns[SELECTED], columns[WATCHED], "epoch"):
            value = _number(row.get(name))
            if value is not None:
                logged.setdefault(step, {})[name] = value
    for step, values in sorted(logged.items()):
        if columns[SELECTED] in values and columns[WATCHED] in values:
            yield LoggedPoint(
                step=step,
                epoch=values.get("epoch"),
                inconsistency=values[columns[SELECTED]],
                copied=values[columns[WATCHED]],
            )


def _problems(lines: Iterable[files.Line], columns: Sequence[str]) -> Iterable[str]:
    """A sentence for each line that is skipped, or of which a cell is."""
    for line in lines:
        wrong = next((name for name in columns if _is_strange(line.row.get(name))), None)
        if line.problem:
            yield f"line {line.number}: {line.problem}"
        elif wrong is not None:
            yield (
                f"line {line.number}: column {wrong!r} should be a number, but is "
                f"{line.row[wrong]!r}"
            )


def _is_strange(cell: Any) -> bool:
    """Whether a cell is neither a number nor a missing one."""
    return name_of(cell) not in MISSING and _number(cell) is None


def _number(cell: Any) -> float | None:
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if isfinite(number) else None

"""Numbers as they are read, and tables on the screen."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from estime_metric._messages import printable
from estime_metric.measures import HIGHER_IS_BETTER, MEASURES, measure_of, reported_name

if TYPE_CHECKING:
    from estime_metric.table.intervals import Interval

#: A value in a table: text, a number, or ``None`` if there is no value.
Cell = str | int | float | None

#: Printed if there is no value (``None`` or NaN).
EMPTY = "–"

#: Direction of a measure -> which values are better.
BETTER = {True: "higher", False: "lower", None: ""}

_SMALL, _LARGE = 1e-4, 1e6  # numbers of others outside these have an exponent
_LOG = 120  # columns of an output that is not a terminal
_LEAST = 6  # columns of the screen that a text has at least if it is cut


def screen() -> Console:
    """Standard output: as wide as the terminal or as COLUMNS says, otherwise, as in a log, `_LOG`."""
    console = Console()
    is_limited = console.is_terminal or "COLUMNS" in os.environ
    return console if is_limited else Console(width=_LOG)


def fixed(number: float, decimals: int) -> str:
    """A number with this many digits after the point; ``–`` for NaN."""
    if math.isnan(number):
        return EMPTY
    return f"{round(number, decimals) + 0.0:.{decimals}f}"  # no minus zero


def significant(number: float) -> str:
    """A number with three significant digits; ``–`` for NaN.

    Example:
        >>> [significant(number) for number in (0.3714, 21.5, 15234.0, 2e-7, 0.0)]
        ['0.371', '21.5', '15234', '2.00e-07', '0.00']
    """
    if math.isnan(number):
        return EMPTY
    if number and not _SMALL <= abs(number) < _LARGE:
        return f"{number:.2e}"
    return fixed(number, max(0, 2 - math.floor(math.log10(abs(number) or 1.0))))


def interval_cell(low: float, high: float, decimals: int = 2) -> str:
    """An interval as one cell: ``[0.35, 0.43]``; ``–`` if an end is NaN."""
    if math.isnan(low) or math.isnan(high):
        return EMPTY
    return f"[{fixed(low, decimals)}, {fixed(high, decimals)}]"


def mean_cells(measure: str, mean: Interval) -> tuple[str, str]:
    """A mean of a measure and its interval as two cells, as all commands print them: two decimals for a
    count, four for another measure, and `significant` digits for a column of others. The name can end in
    a layer.
    """
    definition = MEASURES.get(measure_of(measure))
    value, low, high = (
        significant(number) if definition is None else fixed(number, definition.decimals)
        for number in (mean.mean, mean.low, mean.high)
    )
    return value, EMPTY if EMPTY in (low, high) else f"[{low}, {high}]"


def means_table(
    means: Mapping[str, Interval], measures: Sequence[str], layers: Sequence[int]
) -> dict[str, list[str]]:
    """The columns of a table with a row for each of some measures at each layer.

    ``means`` are by `reported_name`, as in `Summary`.
    """
    names = [reported_name(measure, layer, layers) for layer in layers for measure in measures]
    cells = [mean_cells(name, means[name]) for name in names]
    return {
        "measure": names,
        "mean": [mean for mean, _ in cells],
        "95% interval": [interval for _, interval in cells],
        "better is": [BETTER[HIGHER_IS_BETTER.get(measure_of(name))] for name in names],
    }


def with_direction(name: str, is_higher_better: bool | None) -> str:
    """The name of a measure and which values are better; the name alone if nothing says so.

    Example:
        >>> with_direction("alarms", False), with_direction("tokens", None)
        ('alarms (lower is better)', 'tokens')
    """
    return name if is_higher_better is None else f"{name} ({BETTER[is_higher_better]} is better)"


def p_value(value: float) -> str:
    """A p-value as a cell of four decimals: ``<0.0001`` below them."""
    return "<0.0001" if value < 1e-4 else fixed(value, 4)


def print_columns(
    columns: Mapping[str, Sequence[Cell]],
    *,
    texts: Collection[str] = (),
    title: str = "",
    console: Console | None = None,
) -> None:
    """Prints a table and an empty line.

    If the screen is too narrow, texts are cut with an ellipsis; numbers never are, so on a very
    narrow one the terminal wraps the lines.

    Args:
        columns: the heading of each column, and its cells; floats get three decimals.
        texts: the columns of texts, which are aligned to the left; numbers go to the right.
        title: a line above the table.
        console: where to print. (default: `screen`)
    """
    console = console or screen()
    cells_of = {name: [_text_of(cell) for cell in cells] for name, cells in columns.items()}
    widths = {
        name: max(map(cell_len, [*printable(name).split(), *cells]), default=0)
        for name, cells in cells_of.items()
    }
    least = sum(min(width, _LEAST) if name in texts else width for name, width in widths.items())
    gap = 2 if least + 2 * len(widths) <= console.width else 1
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap - 1, 0, 0))
    for name, width in widths.items():
        is_text = name in texts
        table.add_column(
            Text(printable(name), style="bold"),
            justify="left" if is_text else "right",
            vertical="bottom",
            width=None if is_text else width,
        )
    for cells in zip(*cells_of.values(), strict=True):
        table.add_row(*(Text(cell, no_wrap=True, overflow="ellipsis") for cell in cells))
    if title:
        console.print(Text(printable(title), style="bold"))
    width = max(console.width, least + gap * (len(widths) - 1))
    Console(file=console.file, width=width).print(table)
    console.print()


def _text_of(cell: Cell) -> str:
    """A cell in one line."""
    if cell is None:
        return EMPTY
    return fixed(cell, 3) if isinstance(cell, float) else printable(" ".join(str(cell).split()))

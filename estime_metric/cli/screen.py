"""Tables on the screen."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from estime_metric.cli.console import printable, table_console

if TYPE_CHECKING:
    from estime_metric.report.tables import Cell, Column, Table

LEAST = 8  # cells that a column of names has at least, if they are longer
FAINT = "paper"  # rows with this cell, which a paper printed, are shown faintly
_GAP = 2  # cells between columns


def print_table(table: Table, console: Console | None = None) -> None:
    """Prints a table without its notes.

    If the screen is too narrow, headings and the longest names at the left are broken into lines;
    then the columns that do not fit follow below, next to the names again. No number is broken.
    Without a console the table goes to standard output, see `table_console`.
    """
    console = console or table_console()
    if table.title:
        console.print(Text(printable(table.title), style="bold"))
    headings = [printable(column.heading) for column in table.columns]
    rows = [row for section in table.sections for row in section.rows]
    cells = [
        [_shown(row[index], column) for row in rows] for index, column in enumerate(table.columns)
    ]
    if sum(_widths(headings, cells)) > console.width:
        headings = [
            textwrap.fill(heading, max(map(cell_len, (*texts, *heading.split())), default=1))
            for heading, texts in zip(headings, cells, strict=True)
        ]
    widths = _widths(headings, cells)
    keys = [*takewhile(lambda index: table.columns[index].text, range(len(widths)))]
    longest = max(keys, key=widths.__getitem__, default=0)
    excess = max(sum(widths) - console.width, 0)
    if widths[longest] - excess >= LEAST + _GAP:
        widths[longest] -= excess
    for block in _blocks(widths, len(keys) or 1, console.width):
        _print_block(table, block, headings, cells, widths, console)


def _blocks(widths: list[int], keys: int, limit: int) -> Iterator[list[int]]:
    """The indices of columns that fit next to one another, each time with the first ``keys``."""
    block = list(range(keys))
    for index in range(keys, len(widths)):
        if len(block) > keys and sum(widths[column] for column in (*block, index)) > limit:
            yield block
            block = list(range(keys))
        block.append(index)
    yield block


def _print_block(
    table: Table,
    block: list[int],
    headings: list[str],
    cells: list[list[str]],
    widths: list[int],
    console: Console,
) -> None:
    def new_grid(*, has_header: bool) -> Grid:
        grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, show_header=has_header)
        grid.padding = (0, _GAP - 1, 0, 0)
        for index in block:
            grid.add_column(
                Text(headings[index], style="bold"),
                justify="left" if table.columns[index].text else "right",
                vertical="bottom",
                overflow="fold",
                width=widths[index] - _GAP,
            )
        return grid

    width = sum(widths[index] for index in block)
    wide = Console(file=console.file, width=max(console.width, width))
    wide.print(new_grid(has_header=True))
    lines = zip(*(cells[index] for index in block), strict=True)
    for number, section in enumerate(table.sections):
        if section.title:
            console.print(Text("\n" * bool(number) + printable(section.title), style="italic"))
        grid = new_grid(has_header=False)
        for row in section.rows:
            grid.add_row(*map(Text, next(lines)), style="dim" if FAINT in row else "")
        wide.print(grid)
    console.print()


def print_columns(
    columns: Mapping[str, Sequence[Cell]],
    texts: Collection[str] = (),
    title: str = "",
    console: Console | None = None,
) -> None:
    """Prints cells by column as `print_table` does; those of ``texts`` are aligned to the left."""
    from estime_metric.report.tables import Column, Section, Table

    headings = [Column(name, text=name in texts) for name in columns]
    rows = list(zip(*columns.values(), strict=True))
    print_table(Table("columns", title, headings, (Section("", rows),)), console)


def _widths(headings: list[str], cells: list[list[str]]) -> list[int]:
    """Cells of the terminal that each column takes, with those between it and the next."""
    return [
        _GAP + max(cell_len(line) for text in (heading, *texts) for line in text.split("\n"))
        for heading, texts in zip(headings, cells, strict=True)
    ]


def _shown(cell: Cell, column: Column) -> str:
    """A cell in one line."""
    from estime_metric.report.tables import show

    return printable(" ".join(show(cell, column).split()))

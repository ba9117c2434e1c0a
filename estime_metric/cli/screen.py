"""Tables on the screen."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
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

    If the screen is too narrow, headings and the longest names are wrapped. No number is broken: a
    line that is still too long is left to the terminal. Without a console the table goes to standard
    output, see `table_console`.
    """
    console = console or table_console()
    if table.title:
        console.print(Text(printable(table.title), style="bold"))
    headings = [printable(column.heading) for column in table.columns]
    rows = [row for section in table.sections for row in section.rows]
    cells = [
        [_shown(row[index], column) for row in rows] for index, column in enumerate(table.columns)
    ]
    widths = _widths(table, headings, cells, console.width)

    def new_grid(*, has_header: bool) -> Grid:
        grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, show_header=has_header)
        grid.padding = (0, _GAP - 1, 0, 0)
        for column, heading, width in zip(table.columns, headings, widths, strict=True):
            grid.add_column(
                Text(heading, style="bold"),
                justify="left" if column.text else "right",
                vertical="bottom",
                overflow="fold",
                width=width,
            )
        return grid

    wide = Console(file=console.file, width=max(console.width, sum(widths) + _GAP * len(widths)))
    wide.print(new_grid(has_header=True))
    lines = zip(*cells, strict=True)
    for number, section in enumerate(table.sections):
        if section.title:
            console.print(Text("\n" * bool(number) + printable(section.title), style="italic"))
        grid = new_grid(has_header=False)
        for row in section.rows:
            grid.add_row(*map(Text, next(lines)), style="dim" if FAINT in row else "")
        wide.print(grid)
    console.print()


def _widths(table: Table, headings: list[str], cells: list[list[str]], limit: int) -> list[int]:
    """Cells of the terminal that each column has: all of its heading if the table then fits,
    otherwise the longest word of the heading, and the longest column of names gives up the excess.
    """
    gaps = _GAP * len(headings)
    widths = [
        max(map(cell_len, (heading, *texts)))
        for heading, texts in zip(headings, cells, strict=True)
    ]
    if sum(widths) + gaps <= limit:
        return widths
    widths = [
        max(map(cell_len, (*heading.split(), *texts)), default=1)
        for heading, texts in zip(headings, cells, strict=True)
    ]
    names = [index for index, column in enumerate(table.columns) if column.text]
    longest = max(names, key=widths.__getitem__, default=0)
    excess = max(sum(widths) + gaps - limit, 0)
    if widths[longest] - excess >= LEAST and names:
        widths[longest] -= excess
    return widths


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


def print_sections(table: Table, before: str = "") -> None:
    """Prints each section as a separate table with the section's title, with ``before`` in front."""
    for section in table.sections:
        print_table(
            replace(table, title=f"{before}{section.title}", sections=(replace(section, title=""),))
        )


def _shown(cell: Cell, column: Column) -> str:
    """A cell in one line."""
    from estime_metric.report.tables import show

    return printable(" ".join(show(cell, column).split()))

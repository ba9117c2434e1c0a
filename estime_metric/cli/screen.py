"""Tables on the screen."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from estime_metric.cli.console import printable, table_console

if TYPE_CHECKING:
    from estime_metric.show.tables import Cell, Column, Table

LEAST = 8  # cells that a column of names has at least, if they are longer
FAINT = "paper"  # rows with this cell, which a paper printed, are shown faintly
_GAP = 2  # cells between columns


def print_table(table: Table, console: Console | None = None) -> None:
    """Prints a table without its notes.

    If the screen is too narrow, the longest names are broken into lines, or else the terminal wraps
    the lines; no number is broken. Without a console the table goes to standard output, see
    `table_console`.
    """
    console = console or table_console()
    if table.title:
        console.print(Text(printable(table.title), style="bold"))
    rows = [
        list(map(_shown, row, table.columns)) for section in table.sections for row in section.rows
    ]
    headings = [printable(column.heading) for column in table.columns]
    widths = [max(map(cell_len, texts)) for texts in zip(headings, *rows, strict=True)]
    names = [index for index, column in enumerate(table.columns) if column.text]
    longest = max(names, key=widths.__getitem__, default=0)
    excess = max(sum(widths) + _GAP * len(widths) - console.width, 0)
    if widths[longest] - excess >= LEAST:
        widths[longest] -= excess
    wide = Console(file=console.file, width=max(console.width, sum(widths) + _GAP * len(widths)))

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

    wide.print(new_grid(has_header=True))
    lines = iter(rows)
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
    from estime_metric.show.tables import Column, Section, Table

    headings = [Column(name, text=name in texts) for name in columns]
    rows = list(zip(*columns.values(), strict=True))
    print_table(Table("columns", title, headings, (Section("", rows),)), console)


def _shown(cell: Cell, column: Column) -> str:
    """A cell in one line."""
    from estime_metric.show.tables import show

    return printable(" ".join(show(cell, column).split()))

"""Tables of studies on the screen."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

if TYPE_CHECKING:
    from estime_metric.studies.rendering import Cell, Column, Table


def print_table(
    table: Table, console: Console | None = None, *, dim: Callable[[tuple[Cell, ...]], bool] | None = None
) -> None:
    """Prints a table without its notes; columns of one group share a cell: ``.393 .193``.

    Args:
        table: the table.
        console: where it goes; standard output where left out.
        dim: whether a row is shown faintly.
    """
    from estime_metric.studies.rendering import EMPTY, show

    console = console or Console()
    grid = Grid(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1), title_justify="left")
    place = 0
    places: list[range] = []
    for group, width in table.groups:
        merged = table.columns[place : place + width]
        names = " ".join(column.name for column in merged)
        left = all(column.text for column in merged)
        grid.add_column(
            f"{group}\n{names}".strip(), justify="left" if left else "right", vertical="bottom", overflow="fold"
        )
        places.append(range(place, place + width))
        place += width
    for number, section in enumerate(table.sections):
        if section.title:
            grid.add_row(Text(section.title, style="italic"), end_section=False)
        for row in section.rows:
            shown = [_short(show(cell, column), column) for cell, column in zip(row, table.columns, strict=True)]
            cells = [" ".join(shown[place] for place in merged) for merged in places]
            cells = [EMPTY if set(cell) <= {EMPTY, " "} else cell for cell in cells]
            style = "dim" if dim is not None and dim(row) else ""
            grid.add_row(*(Text(cell, style=style) for cell in cells))
        if number < len(table.sections) - 1:
            grid.add_section()
    console.print(Text(table.title, style="bold"))
    console.print(grid)


def _short(text: str, column: Column) -> str:
    """``.393`` for ``0.393``: room on a narrow screen."""
    return text if column.text else re.sub(r"^(-?)0\.", r"\1.", text)

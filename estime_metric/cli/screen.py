"""Tables on the screen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from estime_metric.cli.console import printable

if TYPE_CHECKING:
    from estime_metric.tables import Cell, Column, Table


@dataclass(frozen=True)
class _Block:
    """Columns of one group as one column of the screen: ``.393 .193``.

    Attributes:
        heading: the group's name over those of its columns.
        cells: one for each row.
        text: the column is aligned to the left.
    """

    heading: str
    cells: tuple[str, ...]
    text: bool


def print_table(
    table: Table, console: Console | None = None, *, dim: Callable[[tuple[Cell, ...]], bool] | None = None
) -> None:
    """Prints a table without its notes, as several below each other where the screen is too narrow for one.

    The columns of a group share one; the columns of text on the left stand in every part. No text is taken as markup,
    and control characters are escaped.

    Args:
        table: the table.
        console: where it goes; standard output where left out.
        dim: whether a row is shown faintly.
    """
    console = console or Console()
    blocks = _blocks(table)
    keys = next((index for index, block in enumerate(blocks) if not block.text), len(blocks))
    if table.title:
        console.print(Text(printable(table.title), style="bold"))
    for part in _parts(table, blocks[:keys], blocks[keys:], console):
        console.print(_grid(table, part, dim))


def _parts(
    table: Table, keys: Sequence[_Block], others: Sequence[_Block], console: Console
) -> Iterator[Sequence[_Block]]:
    """As many blocks together as the screen is wide enough for, the keys in each part; at least one of the others."""
    part: list[_Block] = []
    boundless = console.options.update(max_width=10_000)
    for block in others:
        wider = [*keys, *part, block]
        if part and console.measure(_grid(table, wider, None), options=boundless).maximum > console.width:
            yield [*keys, *part]
            part = []
        part.append(block)
    yield [*keys, *part]


def _grid(table: Table, blocks: Sequence[_Block], dim: Callable[[tuple[Cell, ...]], bool] | None) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for block in blocks:
        grid.add_column(
            Text(block.heading), justify="left" if block.text else "right", vertical="bottom", overflow="fold"
        )
    index = 0
    for number, section in enumerate(table.sections):
        if section.title:
            grid.add_row(Text(printable(section.title), style="italic"), end_section=False)
        for row in section.rows:
            style = "dim" if dim is not None and dim(row) else ""
            grid.add_row(*(Text(block.cells[index], style=style) for block in blocks))
            index += 1
        if number < len(table.sections) - 1:
            grid.add_section()
    return grid


def _blocks(table: Table) -> list[_Block]:
    """The groups of a table, left to right; the columns within a group are aligned to the right."""
    from estime_metric.tables import EMPTY

    rows = [row for section in table.sections for row in section.rows]
    blocks, start = [], 0
    for group, size in table.groups:
        columns = table.columns[start : start + size]
        shown = [
            [printable(column.name), *(_shown(row[start + offset], column) for row in rows)]
            for offset, column in enumerate(columns)
        ]
        widths = [max(map(len, texts)) if size > 1 else 0 for texts in shown]
        lines = [
            " ".join(text.rjust(width) for text, width in zip(texts, widths, strict=True))
            for texts in zip(*shown, strict=True)
        ]
        heading = f"{printable(group)}\n{lines[0]}".strip("\n")
        cells = tuple(EMPTY if set(line) <= {EMPTY, " "} else line for line in lines[1:])
        blocks.append(_Block(heading, cells, all(column.text for column in columns)))
        start += size
    return blocks


def _shown(cell: Cell, column: Column) -> str:
    """A cell in one line, numbers without a leading zero: ``.393`` for ``0.393``."""
    from estime_metric.tables import show

    if isinstance(cell, str):
        return printable(" ".join(cell.split()))
    return re.sub(r"^(-?)0\.", r"\1.", show(cell, column))

"""Tables on the screen."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from estime_metric.cli.console import printable, table_console

if TYPE_CHECKING:
    from estime_metric.report.tables import Cell, Column, Table

LEAST = 8  # cells that a column of text has at least, if its text is longer
FAINT = "paper"  # rows with this cell, which a paper printed, are shown faintly


class _Block(NamedTuple):
    """Columns of one group as one column of the screen: ``.393 .193``; the group's name above the
    names of its columns.
    """

    heading: str
    cells: list[str]
    text: bool
    width: int  # its width in cells of the terminal


def print_table(table: Table, console: Console | None = None) -> None:
    """Prints a table without its notes, as several below each other if the screen is too narrow for
    one.

    The columns of text on the left are repeated in every part; only they may be broken into lines.
    Without a console the table goes to standard output, see `table_console`.
    """
    console = console or table_console()
    blocks = _blocks(table)
    if any(console.width < 2 * len(line) for block in blocks for line in block.heading.split("\n")):
        blocks = _blocks(table, wrap=True)
    number = next((index for index, block in enumerate(blocks) if not block.text), len(blocks))
    keys, others = _narrowed(blocks[:number], console.width // 2), blocks[number:]
    if table.title:
        console.print(Text(printable(table.title), style="bold"))
    for part in _parts(keys, others, console.width):
        _print_part(table, keys, part, console)


def print_sections(table: Table, before: str = "") -> None:
    """Prints each section as a separate table with the section's title, with ``before`` in front."""
    for section in table.sections:
        print_table(
            replace(table, title=f"{before}{section.title}", sections=(replace(section, title=""),))
        )


def _narrowed(keys: list[_Block], width: int) -> list[_Block]:
    """Columns of text, the widest of them made narrower until all fit into ``width`` cells, if
    possible; none becomes narrower than `LEAST`.
    """
    widths = [key.width for key in keys]
    while sum(widths) > width and max(widths) > LEAST:
        widths[widths.index(max(widths))] -= 1
    return [key._replace(width=own) for key, own in zip(keys, widths, strict=True)]


def _parts(keys: list[_Block], others: list[_Block], width: int) -> Iterator[list[_Block]]:
    """As many of the other blocks together as the screen is wide enough for next to the keys; at
    least one in each part.
    """
    part: list[_Block] = []
    for block in others:
        if part and _width([*keys, *part, block]) > width:
            yield part
            part = []
        part.append(block)
    yield part


def _width(blocks: Sequence[_Block]) -> int:
    """Cells of a line, with two between the columns."""
    return sum(block.width + 2 for block in blocks)


def _print_part(
    table: Table, keys: Sequence[_Block], others: Sequence[_Block], console: Console
) -> None:
    blocks = [*keys, *others]
    grid_console = console
    if _width(blocks) > console.width:  # a longer line, rather than a number in two lines
        grid_console = Console(file=console.file, width=_width(blocks))

    def print_rows(rows: Iterable[tuple[Sequence[str], str]], headed: bool = False) -> None:
        grid = Grid(
            box=box.SIMPLE_HEAD,
            show_edge=False,
            pad_edge=False,
            padding=(0, 1, 0, 0),
            show_header=headed,
        )
        for index, block in enumerate(blocks):
            grid.add_column(
                Text(block.heading, style="bold"),
                justify="left" if block.text else "right",
                vertical="bottom",
                overflow="fold",
                no_wrap=index >= len(keys),
                width=block.width,
            )
        for cells, style in rows:
            grid.add_row(*map(Text, cells), style=style)
        grid_console.print(grid)

    print_rows([], headed=True)
    lines = zip(*(block.cells for block in blocks), strict=True)
    for number, section in enumerate(table.sections):
        if section.title:
            console.print(Text("\n" * bool(number) + printable(section.title), style="italic"))
        print_rows((next(lines), "dim" if FAINT in row else "") for row in section.rows)
    console.print()


def _blocks(table: Table, wrap: bool = False) -> list[_Block]:
    """The groups of a table; with ``wrap``, a column name that is too wide is broken between words."""
    from estime_metric.report.tables import EMPTY

    rows = [row for section in table.sections for row in section.rows]
    blocks, start = [], 0
    for group, size in table.groups:
        columns = list(enumerate(table.columns))[start : start + size]
        cells = [[_shown(row[index], column) for row in rows] for index, column in columns]
        names = [[printable(column.name)] for _, column in columns]
        if wrap:
            names = [
                textwrap.wrap(name, max(map(len, [*texts, *name.split()]), default=1)) or [""]
                for (name,), texts in zip(names, cells, strict=True)
            ]
        height = max(map(len, names))
        shown = [
            [""] * (height - len(name)) + name + texts
            for name, texts in zip(names, cells, strict=True)
        ]
        widths = [max(map(len, texts)) if size > 1 else 0 for texts in shown]
        lines = [
            " ".join(text.rjust(width) for text, width in zip(texts, widths, strict=True))
            for texts in zip(*shown, strict=True)
        ]
        heading = "\n".join([printable(group), *lines[:height]]).strip("\n")
        joined = [EMPTY if set(line) <= {EMPTY, " "} else line for line in lines[height:]]
        width = max(cell_len(line) for text in (heading, *joined) for line in text.split("\n"))
        blocks.append(_Block(heading, joined, all(column.text for _, column in columns), width))
        start += size
    return blocks


def _shown(cell: Cell, column: Column) -> str:
    """A cell in one line, numbers without a leading zero: ``.393`` for ``0.393``."""
    from estime_metric.report.tables import show

    if isinstance(cell, str):
        return printable(" ".join(cell.split()))
    return re.sub(r"^(-?)0\.", r"\1.", show(cell, column))

"""Tables for readers: data frames with a title and notes, in Markdown and on the screen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from estime_metric.cli.console import say
from estime_metric.show.cells import EMPTY, fixed, interval_cell, p_value, print_columns


@dataclass(frozen=True, eq=False)
class Table:
    """A table for readers.

    Attributes:
        name: of its file.
        title: a sentence above it.
        sections: the title of each part -> its rows, with the same columns in every part; the columns
            are headings, the first one names the row.
        notes: sentences below it.
        decimals: digits after the point of a float.
        texts: headings of further columns of texts.
    """

    name: str
    title: str
    sections: Mapping[str, pd.DataFrame]
    notes: Sequence[str] = ()
    decimals: int = 3
    texts: Sequence[str] = ()

    def cells(self, rows: pd.DataFrame) -> dict[str, list[str]]:
        """The rows of a section as they are read, by heading; ``–`` for what is missing."""
        return {name: [self._text_of(cell) for cell in rows[name]] for name in rows}

    def _text_of(self, cell: Any) -> str:
        if pd.isna(cell):
            return EMPTY
        return fixed(cell, self.decimals) if isinstance(cell, float) else str(cell)


def intervals(rows: pd.DataFrame, name: str = "", decimals: int = 2) -> list[str]:
    """The intervals of the columns ``NAME_low`` and ``NAME_high``, or ``low`` and ``high``, as cells."""
    low, high = (f"{name}_{end}" if name else end for end in ("low", "high"))
    ends = zip(rows[low], rows[high], strict=True)
    return [interval_cell(*pair, decimals) for pair in ends]


def p_values(values: Iterable[float]) -> list[str]:
    """P-values as cells."""
    return [p_value(value) for value in values]


def print_table(table: Table) -> None:
    """Prints a table without its notes, a part below the other."""
    titles = [table.title, *[""] * (len(table.sections) - 1)]
    for title, (section, rows) in zip(titles, table.sections.items(), strict=True):
        print_columns(
            table.cells(rows),
            texts=[*rows.columns[:1], *table.texts],
            title="\n".join(filter(None, (title, section))),
        )


def print_tables(tables: Iterable[Table]) -> None:
    """Prints tables, then the notes of all of them, each once."""
    notes = dict[str, None]()
    for table in tables:
        print_table(table)
        notes |= dict.fromkeys(table.notes)
    for note in notes:
        say(note)


def to_markdown(table: Table) -> str:
    """The table in Markdown: title above, notes below, a line break at the end."""
    lines = [f"**{_escaped(table.title)}**", ""]
    for number, (section, rows) in enumerate(table.sections.items()):
        cells = table.cells(rows)
        if not number:
            left = {*rows.columns[:1], *table.texts}
            lines.append(_line(cells))
            lines.append(f"|{'|'.join(':--' if name in left else '--:' for name in cells)}|")
        if section:
            lines.append(f"| *{_escaped(section)}* {'| ' * (len(cells) - 1)}|")
        lines += map(_line, zip(*cells.values(), strict=True))
    return "\n".join([*lines, *(f"\n{_escaped(note)}" for note in table.notes)]) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(text: str) -> str:
    return re.sub(r"([\\|*_`<])", r"\\\1", " ".join(text.split()))

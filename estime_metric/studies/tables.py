"""Tables for readers: one `Table` of numbers, which Markdown, CSV, LaTeX and the screen round,
align and escape.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from estime_metric.show.tables import EMPTY, Cell, fixed, print_columns
from estime_metric.table.output import write_text

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "[": "{[}",
    "]": "{]}",
}


@dataclass(frozen=True)
class Column:
    """A column.

    Args:
        group: what several columns have in common; the heading begins with it.
        decimals: digits after the point of a float; integers and text are printed as they are.
        text: aligned to the left; numbers go to the right.
    """

    name: str
    group: str = ""
    decimals: int = 3
    text: bool = False

    @property
    def heading(self) -> str:
        """Group and name in one line."""
        return f"{self.group} {self.name}".strip()


@dataclass(frozen=True)
class Section:
    """Rows that belong together, with a title above them unless it is empty."""

    title: str
    rows: Sequence[tuple[Cell, ...]]


@dataclass(frozen=True)
class Table:
    """A table, with its rows in sections.

    Args:
        name: short name for files and labels: letters, digits, ``-`` and ``_``.
        title: the caption; can be empty.
        notes: sentences below the table.

    Raises:
        ValueError: another name, or a row whose length is not the number of columns.

    Example:
        >>> columns = (Column("measure", text=True), Column("ρ", group="fluency", decimals=2))
        >>> table = Table("demo", "A demonstration.", columns, (Section("Ours", (("50% | x", 0.125), ("y", None))),))
        >>> print(to_markdown(table))
        **A demonstration.**
        <BLANKLINE>
        | measure | fluency ρ |
        |:--|--:|
        | *Ours* | |
        | 50% \\| x | 0.12 |
        | y | – |
        <BLANKLINE>
    """

    name: str
    title: str
    columns: Sequence[Column]
    sections: Sequence[Section] = ()
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[\w-]+", self.name, re.ASCII):
            raise ValueError(
                f"Expected argument `name` to be letters, digits, '-' and '_', but got {self.name!r}."
            )
        for section in self.sections:
            for index, row in enumerate(section.rows):
                if len(row) != len(self.columns):
                    raise ValueError(
                        f"Expected argument `sections` to contain rows of {len(self.columns)} cells, but row {index} of "
                        f"section {section.title!r} has {len(row)}."
                    )


def show(cell: Cell, column: Column) -> str:
    """A cell as it is read: floats rounded, nothing as ``–``."""
    if cell is None:
        return EMPTY
    return fixed(cell, column.decimals) if isinstance(cell, float) else str(cell)


def p_value(value: float) -> Cell:
    """A p-value as a cell of four decimals: ``<0.0001`` below them."""
    return "<0.0001" if value < 1e-4 else value


def print_table(table: Table, console: Console | None = None) -> None:
    """Prints a table without its notes, section by section."""
    headings = [column.heading for column in table.columns]
    texts = [column.heading for column in table.columns if column.text]
    for number, section in enumerate(table.sections or [Section("", ())]):
        rows = [_shown(row, table.columns) for row in section.rows]
        cells = zip(*rows, strict=True) if rows else [()] * len(headings)
        titles = [section.title] if number else [table.title, section.title]
        print_columns(
            dict(zip(headings, cells, strict=True)),
            texts=texts,
            title="\n".join(filter(None, titles)),
            console=console,
        )


def to_markdown(table: Table) -> str:
    """The table in Markdown: title above, notes below, a line break at the end."""

    def line(cells: list[str]) -> str:
        return f"| {' | '.join(cells)} |"

    escape = _escape_markdown
    lines = [f"**{escape(table.title)}**", ""] if table.title else []
    lines.append(line([escape(column.heading) for column in table.columns]))
    lines.append(f"|{'|'.join(':--' if column.text else '--:' for column in table.columns)}|")
    for section in table.sections:
        if section.title:
            lines.append(f"| *{escape(section.title)}* {'| ' * (len(table.columns) - 1)}|")
        lines += [
            line([escape(text) for text in _shown(row, table.columns)]) for row in section.rows
        ]
    lines += [f"\n{escape(note)}" for note in table.notes]
    return "\n".join(lines) + "\n"


def to_csv(table: Table) -> str:
    """The table as CSV, with a first column ``section``; numbers unrounded, no value as nothing."""
    from pandas import DataFrame  # slow

    columns = ["section", *(column.heading for column in table.columns)]
    rows = [(section.title, *row) for section in table.sections for row in section.rows]
    frame = DataFrame(rows, columns=columns, dtype=object)
    return str(frame.to_csv(index=False, lineterminator="\n"))


def to_latex(table: Table) -> str:
    """The table as a LaTeX ``table`` (package ``booktabs``), label ``tab:NAME``; all text is
    escaped.
    """
    escape, width = escape_latex, len(table.columns)
    lines = [r"\begin{table}", r"\centering"]
    if table.title:
        lines.append(rf"\caption{{{escape(table.title)}}}")
    lines.append(rf"\label{{tab:{table.name}}}")
    lines += [
        rf"\begin{{tabular}}{{{''.join('l' if column.text else 'r' for column in table.columns)}}}",
        r"\toprule",
    ]
    lines.append(" & ".join(escape(column.heading) for column in table.columns) + r" \\")
    for section in table.sections:
        lines.append(r"\midrule")
        if section.title:
            lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{escape(section.title)}}}}} \\")
        lines += [
            " & ".join(escape(text) for text in _shown(row, table.columns)) + r" \\"
            for row in section.rows
        ]
    notes = (rf"\par\smallskip\footnotesize {escape(note)}" for note in table.notes)
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *notes, r"\end{table}"]) + "\n"


FORMATS = {".md": to_markdown, ".csv": to_csv, ".tex": to_latex}


def write_table(table: Table, folder: Path) -> list[Path]:
    """Writes ``NAME.md``, ``NAME.csv`` and ``NAME.tex`` into a folder, which is made if missing;
    gives the paths.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = {folder / f"{table.name}{ending}": write(table) for ending, write in FORMATS.items()}
    for path, text in texts.items():
        write_text(path, text)
    return list(texts)


def escape_latex(text: str) -> str:
    r"""Text with the characters that LaTeX reads as commands escaped, and Greek letters in math
    mode.

    Example:
        >>> print(escape_latex("50% of a_b & ρ"))
        50\% of a\_b \& $\rho$
    """
    return "".join(_LATEX.get(char, char) for char in " ".join(text.split()))


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\|*_`<])", r"\\\1", " ".join(text.split()))


def _shown(row: tuple[Cell, ...], columns: Sequence[Column]) -> list[str]:
    return [show(cell, column) for cell, column in zip(row, columns, strict=True)]

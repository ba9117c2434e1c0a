"""The tables of figures on the first pages equal the tables of the sections that they link to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pages import ROOT, anchor, name

#: Pages with a table of `HEAD`.
OVERVIEWS = (ROOT / "README.md", ROOT / "docs" / "why.md")
HEAD = "| test | figure | `inconsistency` | best trivial baseline |"

#: Baselines that need no encoder, as the tables call them.
TRIVIAL = {
    "new_words",
    "new_bigrams",
    "new_trigrams",
    "copied_density",
    "mean of new n-grams",
    "new facts, then words",
}

_FIGURE = r"[+−-]?\d*\.\d+"
_NAMED = re.compile(rf"({_FIGURE}) \(([^)]+)\)")


@pytest.mark.parametrize("page", OVERVIEWS, ids=name)
def test_figures_are_those_of_the_linked_tables(page: Path) -> None:
    """Each row has its figures in one column there, and its baseline is the best of that column."""
    _, *rows = _rows(HEAD + page.read_text(encoding="utf-8").split(HEAD)[1])
    for test, _, own, baseline, published in rows:
        link = re.search(r"\]\((\S+)#(\S+)\)", test)
        assert link, test
        section = _section(page.parent / link[1], link[2])
        figures = {"inconsistency": own, **_named(baseline), **_named(published)}
        (trivial,) = _named(baseline)
        columns = set.intersection(*(_columns(section, *item) for item in figures.items()))
        assert columns, f"{test}: no column has {figures}"
        rivals = [
            (float(figure.replace("−", "-")), label)
            for label, column, figure in _cells(section)
            if label in TRIVIAL and column in columns
        ]
        assert max(rivals)[1] == trivial, test


def _named(cell: str) -> dict[str, str]:
    """Name -> figure, of each "FIGURE (NAME)" in a cell."""
    return {label.strip("`"): figure for figure, label in _NAMED.findall(cell)}


def _section(page: Path, place: str) -> str:
    """The section of a page with this anchor."""
    sections = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (section,) = (text for text in sections if anchor(text.split("\n")[0]) == place)
    return section


def _columns(section: str, label: str, figure: str) -> set[str]:
    """The columns of the section's tables in which a row has a figure."""
    return {column for row, column, cell in _cells(section) if (row, cell) == (label, figure)}


def _cells(section: str) -> Iterator[tuple[str, str, str]]:
    """Row, column and figure of each cell of the tables that has one."""
    for table in re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE):
        head, *rows = _rows(table)
        for label, *cells in rows:
            for column, cell in zip(head[1:], cells, strict=True):
                if figure := re.match(rf"\**({_FIGURE})", cell):
                    yield label.strip("*`"), column, figure[1]


def _rows(table: str) -> list[list[str]]:
    """The cells of a table's lines, without the line below its head."""
    lines = re.match(r"(?:\|.*\n)+", table)[0].splitlines()  # type: ignore[index]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines if "--" not in line]

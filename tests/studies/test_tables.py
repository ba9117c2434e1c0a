"""Tables for readers: the same numbers in every format, and nothing in them that breaks it."""

from __future__ import annotations

import csv
import io
import re
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.studies import tables
from estime_metric.studies.tables import Column, Section, Table

OF = {"group": "consistency"}
COLUMNS = (
    Column("measure", text=True),
    Column("ρ", **OF),
    Column("τ", **OF),
    Column("n", decimals=1),
)
ROWS = ("(-)ESTIME_5", 0.39349, -0.2, 1600), ("x | y", None, float("nan"), 0.25)
SECTIONS = Section("Reference-free", ROWS), Section("", (("#1", 1.0, 0.0005, 3),))
TABLE = Table(
    "demo-1", "Ours & the paper's: 95% of a_b", COLUMNS, SECTIONS, ("A note with $ and \\.",)
)


def test_markdown_has_a_line_a_row_and_the_same_number_of_cells_in_each(tmp_path: Path) -> None:
    paths = tables.write_table(TABLE, tmp_path / "new" / "folder")
    assert [path.name for path in paths] == ["demo-1.md", "demo-1.csv", "demo-1.tex"]
    assert paths[0].read_text(encoding="utf-8") == tables.to_markdown(TABLE)
    lines = [line for line in tables.to_markdown(TABLE).splitlines() if line.startswith("|")]
    assert len(lines) == 2 + 1 + 3
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {5}
    assert lines[0] == "| measure | consistency ρ | consistency τ | n |"
    assert lines[1] == "|:--|--:|--:|--:|"
    assert lines[3] == r"| (-)ESTIME\_5 | 0.393 | -0.200 | 1600 |"
    assert lines[4] == r"| x \| y | – | – | 0.2 |"


def test_csv_keeps_every_digit_and_text_as_it_is() -> None:
    rows = list(csv.DictReader(io.StringIO(tables.to_csv(TABLE))))
    assert [row["section"] for row in rows] == ["Reference-free", "Reference-free", ""]
    assert [row["measure"] for row in rows] == ["(-)ESTIME_5", "x | y", "#1"]
    assert [row["consistency ρ"] for row in rows] == ["0.39349", "", "1.0"]


def test_latex_is_balanced_and_has_the_same_number_of_cells_in_each_row() -> None:
    text = tables.to_latex(TABLE)
    for name in ("table", "tabular"):
        assert text.count(f"\\begin{{{name}}}") == text.count(f"\\end{{{name}}}") == 1
    body = text[text.index(r"\toprule") : text.index(r"\bottomrule")].splitlines()[1:]
    rows = [line for line in body if line.endswith(r"\\")]
    cells = [len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows]
    assert cells == [4, 1, 4, 4, 4]  # the heading, the title of the first section, and the rows
    assert r"\begin{tabular}{lrrr}" in text
    assert r"measure & consistency $\rho$ & consistency $\tau$ & n \\" in text
    assert r"(-)ESTIME\_5 & 0.393 & -0.200 & 1600 \\" in text
    assert r"\caption{Ours \& the paper's: 95\% of a\_b}" in text


@settings(deadline=None)
@given(st.text(alphabet="ab\\{}&%$#_~^<>|[]ρ \n", max_size=30))
def test_no_text_escapes_from_latex(text: str) -> None:
    escaped = tables.escape_latex(text)
    braces = re.sub(r"\\[{}]", "", escaped)
    depths = list(accumulate((char == "{") - (char == "}") for char in braces)) or [0]
    assert (min(depths) >= 0, depths[-1]) == (True, 0)
    without = re.sub(r"\\(text[a-z]+\{\}|rho|[{}&%$#_])", "", escaped)
    assert not set(without) & set("\\&%#_~^<>|")
    assert without.count("$") % 2 == 0


def test_a_table_without_a_title_has_no_empty_one() -> None:
    untitled = Table("demo", "", COLUMNS, SECTIONS)
    assert tables.to_markdown(untitled).splitlines()[0].startswith("| measure |")
    assert "**" not in tables.to_markdown(untitled)
    assert r"\caption" not in tables.to_latex(untitled)
    titled = Table("demo", "Title", COLUMNS, SECTIONS)
    assert tables.to_markdown(titled) == "**Title**\n\n" + tables.to_markdown(untitled)


def test_a_table_without_rows_is_still_a_table() -> None:
    empty = Table("empty", "Nothing.", COLUMNS)
    assert tables.to_csv(empty) == "section,measure,consistency ρ,consistency τ,n\n"
    assert tables.to_markdown(empty).count("\n|") == 2
    assert r"\toprule" in tables.to_latex(empty)
    # A row of the wrong length and a name that is not a file name are refused.
    with pytest.raises(ValueError, match="row 1 of section 'a' has 2"):
        Table("x", "t", (Column("a"),), (Section("a", ((1,), (1, 2))),))
    with pytest.raises(ValueError, match="`name` to be letters"):
        Table("../x", "t", COLUMNS)


def test_a_cell_is_shown_rounded() -> None:
    cells = (0.0006, -0.9996, -0.0001, 12, "x", None, float("nan"))
    assert [tables.show(cell, COLUMNS[1]) for cell in cells] == [
        "0.001",
        "-1.000",
        "0.000",
        "12",
        "x",
        "–",
        "–",
    ]

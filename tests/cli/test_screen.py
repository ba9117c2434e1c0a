"""Tables on the screen: every number is there, in one piece."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from estime_metric.cli.screen import print_table
from estime_metric.show.tables import Column, Section, Table

TABLE = Table(
    "t",
    "What it shows.",
    (
        Column("measure", text=True),
        Column("ρ", group="fluency"),
        Column("τ", group="fluency"),
        Column("n"),
    ),
    (
        Section("First", (("[bold]a", 0.1234, -0.5, 3), ("b", None, None, 4))),
        Section("Second", (("c", 1.0, -1.0, 1234),)),
    ),
)


def shown(width: int, table: Table = TABLE) -> str:
    stream = io.StringIO()
    print_table(table, Console(file=stream, width=width))
    return stream.getvalue()


def test_every_cell_is_there() -> None:
    lines = [line.split() for line in shown(100).splitlines()]
    for line in (
        ["What", "it", "shows."],
        ["measure", "fluency", "ρ", "fluency", "τ", "n"],
        ["First"],
        ["[bold]a", "0.123", "-0.500", "3"],
        ["b", "–", "–", "4"],
        ["c", "1.000", "-1.000", "1234"],
    ):
        assert line in lines
    assert "Nothing." in shown(80, Table("t", "Nothing.", TABLE.columns))


def test_the_title_of_a_section_widens_no_column() -> None:
    columns = (
        Column("flagged", text=True),
        *(Column(name) for name in ("precision", "recall", "lift")),
    )
    title = "CNN/DailyMail, only summaries with an error: 1195 words, 8.1% marked"
    table = Table("t", "", columns, (Section(title, (("alarms", 0.125, 0.392, 2.015),)),))
    assert shown(80, table).splitlines()[2:4] == [title, "alarms       0.125   0.392  2.015"]


def test_text_cannot_steer_the_terminal_and_is_no_markup() -> None:
    column = Column("[red]m\x1b[31m", text=True)
    section = Section("[/b]\x1b[1m", (("a\x1b[2J\n[/i]", 1),))
    table = Table("t", "Title [/red]\x1b]0;x\x07", (column, Column("n")), (section,))
    text = shown(100, table)
    assert not {"\x1b", "\x07"} & set(text)
    for part in ("[red]m", "Title [/red]", "[/b]", "[/i]"):
        assert part in text


@pytest.mark.parametrize("width", [30, 80, 10_000])
def test_no_number_is_broken_and_every_row_is_one_line(width: int) -> None:
    """A narrow terminal wraps the lines."""
    columns = (
        Column("system", text=True),
        Column("mean", decimals=4),
        Column("95% interval"),
        *(Column(str(number), "p (Holm) against", 4) for number in range(1, 4)),
    )
    row = ("a_system", 0.165, "[0.3876, 0.5727]", 0.0156, 1.0, 0.25)
    lines = shown(width, Table("t", "", columns, (Section("", (row,)),))).splitlines()
    assert [line.split() for line in lines if "a_system" in line] == [
        ["a_system", "0.1650", "[0.3876,", "0.5727]", "0.0156", "1.0000", "0.2500"]
    ]
    assert sum("p (Holm) against 3" in line for line in lines) == 1


def test_a_long_name_is_broken_into_lines() -> None:
    section = Section("", (("a_system_with_a_long_name", 1), ("b", 2)))
    table = Table("t", "", (Column("system", text=True), Column("mean")), (section,))
    assert len(shown(80, table).splitlines()) == 5
    lines = shown(20, table).splitlines()
    assert max(map(len, lines)) <= 20
    names = "".join(line.split()[0] for line in lines if line.strip())
    assert "a_system_with_a_long_nameb" in names

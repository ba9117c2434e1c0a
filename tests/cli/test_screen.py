"""Tables on the screen: every number is there, at the width of a usual terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from estime_metric.cli.screen import print_table
from estime_metric.report.tables import Column, Section, Table

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


def test_every_cell_is_there_and_groups_share_one() -> None:
    lines = [line.split() for line in shown(100).splitlines()]
    assert ["What", "it", "shows."] in lines
    assert ["measure", "ρ", "τ", "n"] in lines
    assert ["First"] in lines
    assert ["[bold]a", ".123", "-.500", "3"] in lines
    assert ["b", "–", "4"] in lines
    assert ["c", "1.000", "-1.000", "1234"] in lines
    assert "Nothing." in shown(80, Table("t", "Nothing.", TABLE.columns))


@pytest.mark.parametrize("width", [30, 100])
def test_no_digit_is_lost_where_the_screen_is_narrow(width: int) -> None:
    text = shown(width)
    assert "…" not in text
    assert all(len(line) <= width for line in text.splitlines())
    for cell in (".123", "-.500", "1.000", "-1.000", "1234"):
        assert cell in text


def test_a_wide_table_is_cut_between_its_groups() -> None:
    groups = ("fluency", "coherence", "relevance")
    columns = tuple(Column(name, group=group) for group in groups for name in ("ρ", "τ"))
    rows = (("first", *(0.125,) * 6), ("second", *(-0.5,) * 6))
    table = Table("t", "Wide.", (Column("measure", text=True), *columns), (Section("", rows),))
    lines = shown(40, table).splitlines()
    assert all(len(line) <= 40 for line in lines)
    heads = [line.split() for line in lines if any(group in line for group in groups)]
    assert heads == [["fluency", "coherence"], ["relevance"]]
    assert [line.split() for line in lines if "first" in line] == [
        ["first", *[".125"] * 4],
        ["first", *[".125"] * 2],
    ]


def test_long_names_of_a_wide_group_wrap_so_that_a_row_stays_on_one_line() -> None:
    columns = tuple(
        Column(f"FRANK transformers ({n})", group="CNN/DailyMail") for n in (150, 175, 525, 999)
    )
    table = Table(
        "t",
        "",
        (Column("measure", text=True), *columns),
        (Section("", (("first", 0.1, 0.2, 0.3, 0.4),)),),
    )
    lines = [line.split() for line in shown(80, table).splitlines()]
    assert ["first", ".100", ".200", ".300", ".400"] in lines
    assert ["measure", "(150)", "(175)", "(525)", "(999)"] in lines


def test_the_title_of_a_section_widens_no_column() -> None:
    columns = (
        Column("flagged", text=True),
        *(Column(name) for name in ("precision", "recall", "lift")),
    )
    title = "CNN/DailyMail, only summaries with an error: 1195 words, 8.1% marked"
    table = Table("t", "", columns, (Section(title, (("alarms", 0.125, 0.392, 2.015),)),))
    assert shown(80, table).splitlines()[2:4] == [title, "alarms        .125    .392  2.015"]


def test_text_cannot_steer_the_terminal_and_is_no_markup() -> None:
    column = Column("[red]m\x1b[31m", text=True)
    section = Section("[/b]\x1b[1m", (("a\x1b[2J\n[/i]", 1),))
    table = Table("t", "Title [/red]\x1b]0;x\x07", (column, Column("n")), (section,))
    text = shown(100, table)
    assert not {"\x1b", "\x07"} & set(text)
    for part in ("[red]m", "Title [/red]", "[/b]", "[/i]"):
        assert part in text


@pytest.mark.parametrize("width", [12, 20, 50, 80, 10_000])
def test_no_number_is_broken_into_lines_at_any_width(width: int) -> None:
    columns = (
        Column("", text=True),
        Column("system", text=True),
        Column("mean", decimals=4),
        Column("95% interval", text=True),
        *(Column(name, group="examples") for name in ("won", "tied", "lost")),
        *(Column(str(number), "p (Holm) against", 4) for number in range(1, 4)),
    )
    row = (0.165, "[0.3876, 0.5727]", 44, 0, 36, 0.0156, 1.0, 0.25)
    rows = tuple((str(place), "a_system_with_a_long_name", *row) for place in range(1, 4))
    table = Table("t", "", columns, (Section("", rows),))
    lines = shown(width, table).splitlines()
    for cell in (".1650", "[0.3876, 0.5727]", "44    0   36", ".0156 1.0000 .2500"):
        assert sum(cell in line for line in lines) == 3
    if width == 10_000:
        assert len(lines) == 7

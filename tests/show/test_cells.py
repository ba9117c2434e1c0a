"""Tables on the screen: every number is there, in one piece."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

from estime_metric.show import cells
from estime_metric.show.cells import Cell, print_columns
from estime_metric.table.intervals import Interval

COLUMNS: dict[str, list[Cell]] = {
    "system": ["[bold]a_system_with_a_long_name", "b"],
    "mean": [0.165, float("nan")],
    "95% interval": ["[0.3876, 0.5727]", None],
    "p (Holm) against 1": ["0.0156", "<0.0001"],
    "pairs": [1234, 5],
}


def shown(width: int, columns: dict[str, list[Cell]], title: str = "") -> list[str]:
    stream = io.StringIO()
    print_columns(columns, texts=["system"], title=title, console=Console(file=stream, width=width))
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("width", [20, 60, 200])
def test_a_name_is_cut_and_no_number(width: int) -> None:
    lines = shown(width, COLUMNS)
    first, second = (line.split() for line in lines[-3:-1])
    assert first[1:] == ["0.165", "[0.3876,", "0.5727]", "0.0156", "1234"]
    assert second == ["b", "–", "–", "<0.0001", "5"]
    assert first[0] == COLUMNS["system"][0] if width > 60 else first[0].endswith("…")
    assert max(map(len, lines)) <= max(width, 50)


def test_text_cannot_steer_the_terminal_and_is_no_markup() -> None:
    text = "\n".join(shown(100, {"[red]m\x1b[31m": ["a\x1b[2J\n[/i]"]}, "Title [/red]\x1b]0;x\x07"))
    assert not {"\x1b", "\x07"} & set(text)
    for part in ("[red]m", "Title [/red]", "[/i]"):
        assert part in text


def test_a_number_is_shown_rounded() -> None:
    rounded = [cells.fixed(number, 3) for number in (0.0006, -0.0001, float("nan"))]
    assert rounded == ["0.001", "0.000", "–"]
    assert cells.interval_cell(-0.001, 0.999) == "[0.00, 1.00]"
    assert cells.interval_cell(float("nan"), 1.0) == "–"
    mean = Interval(0.25, 0.2, math.nan, 9)
    means = [cells.mean_cells(name, mean) for name in ("alarms_layer3", "soft", "mine")]
    assert means == [("0.25", "–"), ("0.2500", "–"), ("0.250", "–")]
    assert [cells.p_value(value) for value in (0.00009, 0.0123)] == ["<0.0001", "0.0123"]

"""What reaches the two streams, whatever the encoding of the screen is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from estime_metric._wording import counted
from estime_metric.cli import console
from tests.command import run_command, write_jsonl

PAIRS = [{"source": "猫は寝た。The cat sat on the mat.", "summary": "猫 the cat sat"}] * 2
OPTIONS = ["-m", "embedded-small", "--layers", "1", "--distance", "2"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "zh.jsonl", PAIRS)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-16"])
@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("score", ["--keep-texts", "-q", *OPTIONS]),
        ("explain", OPTIONS),
        ("corrupt", ["-m", "embedded-small", "-q"]),
    ],
)
def test_data_on_standard_output_are_utf_8_in_every_encoding(
    table: Path, command: str, options: list[str], encoding: str
) -> None:
    ran = run_command(command, table, "-o", "-", *options, encoding=encoding, status=None)
    assert ran.exit_code in (0, 1)
    rows = [json.loads(line) for line in ran.data.decode("utf-8").splitlines()]
    assert len(rows) >= 2
    assert "猫" in ran.data.decode("utf-8")
    assert b"\r" not in ran.data


def test_the_screen_replaces_what_it_cannot_show(table: Path) -> None:
    shown = run_command("score", table, "-q", *OPTIONS, encoding="cp1252")
    assert "? the cat sat" in shown.stdout
    assert "2 pairs scored" in shown.stdout
    explained = run_command("explain", table, "--row", 1, *OPTIONS, encoding="cp1252")
    assert "? the" in explained.stdout
    write_jsonl(table, [{**PAIRS[0], "system": "猫"}, {**PAIRS[1], "system": "犬"}])
    refused = run_command(
        "compare", table, "--baseline", "鳥", "-q", *OPTIONS, encoding="cp1252", status=2
    )
    assert "but got '?'" in refused.stderr


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line_without_a_place_in_the_code_and_printed_once(
    tmp_path: Path, table: Path
) -> None:
    text = "חתול אפור ישב על שטיח ירוק ואכל דג גדול ליד הנהר הרחב " * 9
    hebrew = write_jsonl(tmp_path / "he.jsonl", [{"source": text, "summary": text}] * 2)
    (line,) = run_command("score", hebrew, "-q", *OPTIONS).stderr.splitlines()
    assert line.startswith("warning: The encoder 'embedded-small' does not seem to")
    assert "--model" in line
    assert ".py" not in line


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "row", "0 rows"),
        (1, "row", "1 row"),
        (2, "summary", "2 summaries"),
        (1, "blank summary", "1 blank summary"),
        (3, "day", "3 days"),
    ],
)
def test_numbers_of_things(number: int, noun: str, text: str) -> None:
    assert counted(number, noun) == text


def test_messages_of_the_library_name_the_options_of_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from cyclopts import App

    def act(*, id_column: str = "", model: str = "", count: int = 0) -> None:
        raise ValueError(
            "Expected argument `id_column` to be x, not `other`. Use `model` (--model, --layers), "
            'model="embedded", other="x" or count=3.'
        )

    app = console.make_app("app", "")
    assert isinstance(app, App)
    app.command(act)
    assert console.run(app, ["act"]) == 2
    assert capsys.readouterr().err == (
        "error: Expected --id-column to be x, not `other`. Use --model, --layers, "
        '--model embedded, other="x" or count=3.\n'
    )


def test_a_hyphen_is_a_value_a_path_or_standard_input(table: Path, tmp_path: Path) -> None:
    options = ["-q", *OPTIONS]
    typed = table.read_text(encoding="utf-8")
    for stdin in (["-"], ["--prefix=-", "-"]):
        shown = run_command("score", *stdin, "-o", "-", *options, stdin=typed).stdout
        row = json.loads(shown.splitlines()[0])
        assert ("-line" in row) == (len(stdin) > 1)
        assert not any(name.startswith("./") for name in row)

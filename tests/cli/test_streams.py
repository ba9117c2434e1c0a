"""What reaches the two streams, whatever the encoding of the screen is."""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import pytest

from tests.command import run_command, run_forked, write_jsonl

PAIRS = [
    {"source": "猫 The cat sat on the mat while the dog slept.", "summary": "猫 the cat sat"}
] * 2
OPTIONS = ["-m", "embedded-small", "--layers", "1", "--distance", "2"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "zh.jsonl", PAIRS)


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("score", ["--keep-texts", "-q", *OPTIONS]),
        ("explain", OPTIONS),
        ("corrupt", ["-m", "embedded-small", "-q"]),
    ],
)
def test_data_on_standard_output_are_utf_8_in_every_encoding(
    table: Path, command: str, options: list[str]
) -> None:
    ran = run_command(command, table, "-o", "-", *options, encoding="utf-16", status=None)
    assert ran.exit_code in (0, 1)
    rows = [json.loads(line) for line in ran.data.decode("utf-8").splitlines()]
    assert len(rows) >= 2
    assert "猫" in ran.data.decode("utf-8")
    assert b"\r" not in ran.data


def test_the_screen_replaces_what_it_cannot_show(table: Path) -> None:
    shown = run_command("score", table, "-q", *OPTIONS, encoding="cp1252")
    assert "? the cat sat" in shown.stdout
    refused = run_command("explain", table, "-o", "猫", encoding="cp1252", status=2)
    assert "but got '?'" in refused.stderr


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line_without_a_place_in_the_code_and_printed_once(
    tmp_path: Path, table: Path
) -> None:
    text = "חתול אפור ישב על שטיח ירוק ואכל דג גדול ליד הנהר הרחב " * 9
    hebrew = write_jsonl(tmp_path / "he.jsonl", [{"source": text, "summary": text}] * 5)
    with mock.patch("estime_metric.jobs.journal.LINES", 1):
        (line,) = run_command("score", hebrew, "-q", *OPTIONS).stderr.splitlines()
    assert line.startswith("warning: The texts do not seem to be in English")
    assert line.endswith(" This concerns 5 of 5 pairs.")
    assert ".py" not in line


def test_a_hyphen_is_standard_input_or_output(table: Path) -> None:
    typed = table.read_text(encoding="utf-8")
    for options in (["-", "-o", "-", "--prefix=-"], ["-o=-", "--prefix=-", "-"]):
        shown = run_command("score", *options, "-q", *OPTIONS, stdin=typed).stdout
        assert "-line" in json.loads(shown.splitlines()[0])
    assert run_command("-", status=2).stderr.startswith("error: Unknown command")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("closed", "data", "status"),
    [(0, [], 0), (0, ["-"], 2), (1, [], 0), (1, ["-o", "-"], 2), (2, [], 0), (2, ["-"], 0)],
)
def test_a_closed_stream_is_no_traceback(
    table: Path, tmp_path: Path, closed: int, data: list[str], status: int
) -> None:
    said = tmp_path / "said"
    streams: list[str | None] = ["/dev/null", str(tmp_path / "out"), str(said)]
    streams[closed] = None
    assert run_forked(["score", str(table), "-q", *OPTIONS, *data], *streams) == status
    assert closed == 2 or "Traceback" not in said.read_text()

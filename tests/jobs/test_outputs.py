"""The output of a job alone: what becomes of one that exists, what a commit leaves behind."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from estime_metric import files
from estime_metric.config import EstimeConfig
from estime_metric.jobs import Job, Totals
from estime_metric.jobs.output import Output, OutputFiles, opened_output
from estime_metric.jobs.record import Record, read_record
from tests.command import csv_rows, json_rows, table_rows, write_jsonl

ROWS: list[files.Row] = [{"line": number, "alarms": number % 3} for number in range(1, 7)]
CONFIG = EstimeConfig(model="embedded-small", layers=5, revision="abc")


@pytest.fixture
def job(tmp_path: Path) -> Callable[[str], Job]:
    table = write_jsonl(tmp_path / "pairs.jsonl", [{"source": "a", "summary": "b"}] * 6)
    return lambda name: Job(inputs=(table,), output=tmp_path / name)


def start(job: Job) -> Record:
    record = Record.start(job, CONFIG)
    record.columns = ["line", "alarms"]
    return record


def commit(output: Output, first: int, last: int) -> None:
    output.commit(ROWS[first:last], f"digest of {last}", Totals(pairs=last))


def written(path: Path) -> list[files.Row]:
    return [{name: int(value) for name, value in row.items()} for _, row in table_rows(path)]


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_what_was_committed_stays_when_a_run_ends_and_the_rest_is_cut_off(
    job: Callable[[str], Job], ending: str
) -> None:
    given = job(f"out{ending}")
    assert given.output is not None
    paths = OutputFiles.of(given.output)
    with opened_output(given, start(given), "refuse") as output:
        commit(output, 0, 2)
        commit(output, 2, 4)
    with paths.rows.open("ab") as stream:
        stream.write(b"half a row")
    assert read_record(paths.progress, paths.final).totals == Totals(pairs=4)
    with opened_output(given, start(given), "resume") as output:
        assert (output.record.digest, output.record.totals.pairs) == ("digest of 4", 4)
        commit(output, 4, 6)
        output.finish()
    assert written(given.output) == ROWS
    assert not paths.progress.exists()
    assert paths.rows.exists() == (paths.rows == paths.final)
    assert files.read_meta(given.output)["finished"]
    with opened_output(given, start(given), "resume") as output:  # there is nothing left to do
        assert output.record.finished


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_an_output_that_exists_is_refused_replaced_or_resumed(
    job: Callable[[str], Job], ending: str
) -> None:
    given = job(f"out{ending}")
    assert given.output is not None
    with opened_output(given, start(given), "resume") as output:  # there is none yet
        commit(output, 0, 6)
        output.finish()
    whole = given.output.read_bytes()

    def refused(existing: str, error: type[Exception], said: str) -> None:
        with pytest.raises(error, match=said), opened_output(given, start(given), existing):
            pass
        assert given.output is not None
        assert given.output.read_bytes() == whole

    refused("refuse", FileExistsError, "already exists. Use `overwrite`")
    given = replace(given, keep_texts=True)
    refused("resume", ValueError, "Expected the same keep_texts as in the earlier run")
    with opened_output(given, start(given), "overwrite") as output:
        commit(output, 0, 2)
    with (
        pytest.raises(FileExistsError, match=r"is unfinished\. Use `resume`"),
        opened_output(given, start(given), "refuse"),
    ):
        pass
    with opened_output(given, start(given), "overwrite") as output:
        commit(output, 2, 3)
        output.finish()
    assert written(given.output or Path()) == ROWS[2:3]


def test_one_run_at_a_time(job: Callable[[str], Job]) -> None:
    given = job("out.jsonl")
    with (
        opened_output(given, start(given), "refuse"),
        pytest.raises(BlockingIOError, match="Another run is writing to"),
        opened_output(given, start(given), "overwrite"),
    ):
        pass
    assert not Path(f"{given.output}.lock").exists()


def test_rows_go_to_standard_output_or_nowhere(
    job: Callable[[str], Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In UTF-8 and with line feeds, whatever the screen does."""
    screen = io.TextIOWrapper(io.BytesIO(), "cp1252", newline="\r\n")
    monkeypatch.setattr("sys.stdout", screen)
    given = replace(job("out.jsonl"), output=Path("-"))
    with opened_output(given, start(given), "refuse") as output:
        output.commit([{"text": "猫"}, {"text": "ü"}], "", Totals(pairs=2))
        output.finish()
    data = screen.buffer.getvalue()  # type: ignore[attr-defined]
    assert data == '{"text": "猫"}\n{"text": "ü"}\n'.encode()
    given = replace(given, output=None)
    with opened_output(given, start(given), "refuse") as output:
        output.commit([], "", Totals(pairs=2))
        output.finish()
        assert output.record.totals.pairs == 2
    assert screen.buffer.getvalue() == data  # type: ignore[attr-defined]
    text = io.StringIO()  # a notebook's standard output takes text alone
    monkeypatch.setattr("sys.stdout", text)
    files.write_standard_output("ü\n".encode())
    assert text.getvalue() == "ü\n"


def test_csv_has_one_header_and_only_the_columns_that_were_announced(
    job: Callable[[str], Job],
) -> None:
    given = job("out.csv")
    assert given.output is not None
    with opened_output(given, start(given), "refuse") as output:
        commit(output, 0, 0)
        commit(output, 0, 1)
        with pytest.raises(ValueError, match="but a row has 'further' too"):
            output.commit([{"line": 2, "further": 1}], "", Totals())
        output.finish()
    assert given.output.read_text() == "line,alarms\n1,1\n"
    assert csv_rows(given.output) == [{"line": "1", "alarms": "1"}]


def test_the_record_of_a_run_is_read_as_it_was_written(job: Callable[[str], Job]) -> None:
    given = replace(job("out.jsonl"), threshold=0.25)
    record = start(given)
    assert Record.from_json(json.loads(json.dumps(record.to_json())), Path("out")) == record
    assert record.threshold == {"inconsistency": 0.25}
    assert list(record.inputs) == [str(given.inputs[0])]
    for damaged in ({}, [], None, {**record.to_json(), "totals": [1]}):
        with pytest.raises(ValueError, match="is damaged or was written by another version"):
            Record.from_json(damaged, Path("out"))


def test_the_rows_of_a_killed_run_are_json_lines_again(job: Callable[[str], Job]) -> None:
    given = job("out.parquet")
    assert given.output is not None
    paths = OutputFiles.of(given.output)
    with opened_output(given, start(given), "refuse") as output:
        commit(output, 0, 3)
    assert json_rows(paths.rows) == ROWS[:3]

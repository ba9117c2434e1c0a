"""The rows of a job alone: what becomes of an output that exists, what a killed run leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from estime_metric import files
from estime_metric.config import EstimeConfig
from estime_metric.jobs import Job
from estime_metric.jobs.job_record import Record, start_record
from estime_metric.jobs.rows_file import Chunk, RowsFile, opened_rows, rows_path
from tests.command import write_jsonl

ROWS: list[files.Row] = [{"line": number, "alarms": number % 3} for number in range(1, 7)]
CONFIG = EstimeConfig(model="embedded-small", layers=5, revision="abc")


@pytest.fixture
def job(tmp_path: Path) -> Callable[[str], Job]:
    table = write_jsonl(tmp_path / "pairs.jsonl", [{"source": "a", "summary": "b"}] * 6)
    return lambda name: Job(inputs=(table,), output=tmp_path / name)


def start(job: Job) -> Record:
    return start_record(job, CONFIG)


def append(rows: RowsFile | None, first: int, last: int) -> None:
    assert isinstance(rows, RowsFile)
    rows.append(Chunk(ROWS[first:last], skipped=0, digest=f"digest of {last}"))


def kept(rows: RowsFile | None) -> list[files.Row]:
    assert isinstance(rows, RowsFile)
    return [row for chunk in rows.chunks() for row in chunk.rows]


def test_what_was_appended_stays_and_half_a_chunk_is_cut_off(job: Callable[[str], Job]) -> None:
    given = job("out.csv")
    assert given.output is not None
    path = rows_path(given.output)
    with opened_rows(given, start(given), "refuse") as rows:
        append(rows, 0, 2)
        append(rows, 2, 4)
    whole = path.read_bytes()
    for half in (b"", b'{"rows": [{"li', b'{"rows": [], "skipped": 1, "digest": "d"}'):
        path.write_bytes(whole + half)
        with opened_rows(given, start(given), "resume") as rows:
            assert isinstance(rows, RowsFile)
            assert (rows.pairs, rows.digest, kept(rows)) == (4, "digest of 4", ROWS[:4])
        assert path.read_bytes() == whole
    path.write_bytes(whole[:20])  # killed before there was anything to keep
    with opened_rows(given, start(given), "resume") as rows:
        append(rows, 0, 6)
        assert kept(rows) == ROWS


def test_one_run_at_a_time(job: Callable[[str], Job]) -> None:
    given = job("out.jsonl")
    with (
        opened_rows(given, start(given), "refuse"),
        pytest.raises(BlockingIOError, match="Another run is writing to"),
        opened_rows(given, start(given), "overwrite"),
    ):
        pass
    assert not Path(f"{given.output}.lock").exists()


def test_what_a_killed_conversion_has_left_is_removed(job: Callable[[str], Job]) -> None:
    given = job("out[1].csv")
    assert given.output is not None
    folder = given.output.parent
    parts = [folder / ".out[1].abcd.part.csv", folder / ".out[1].csv.meta.abcd.part.json"]
    others = [folder / ".out[1]1.abcd.part.csv", folder / ".out1.abcd.part.csv"]
    for path in (*parts, *others):
        path.touch()
    with opened_rows(given, start(given), "refuse"):
        pass
    assert [path.exists() for path in (*parts, *others)] == [False, False, True, True]


def test_damaged_rows_are_not_resumed(job: Callable[[str], Job]) -> None:
    given = job("out.jsonl")
    assert given.output is not None
    with opened_rows(given, start(given), "refuse") as rows:
        append(rows, 0, 2)
    header, chunk = rows_path(given.output).read_text().splitlines(keepends=True)
    for damaged in (
        "{}\n" + chunk,
        "[]\n" + chunk,
        "{\n" + chunk,
        header + "{\n" + chunk,
        header + "{}\n" + chunk,
        header + "[]\n",
    ):
        rows_path(given.output).write_text(damaged)
        with pytest.raises(ValueError, match="damaged"), opened_rows(given, start(given), "resume"):
            pass

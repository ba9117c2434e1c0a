"""A disk that is full, an input that goes away: one clear line, and a run that can be resumed."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from unittest import mock

import pytest

from estime_metric import EstimeScorer
from estime_metric.jobs import Job, score_files
from estime_metric.jobs.journal import Chunk, Journal
from estime_metric.table.output import lock_path, record_path
from estime_metric.table.table import write
from tests.command import (
    SHORT,
    full_disk,
    json_rows,
    run_command,
    run_forked,
    run_python,
    table_rows,
    write_jsonl,
)
from tests.jobs.conftest import QUICK, rows


@pytest.mark.parametrize(("ending", "size"), [("jsonl", 8_000), ("parquet", 8_000), ("jsonl", 10)])
def test_a_full_disk_ends_in_one_line_and_the_run_is_resumed(
    table: Path, bert_folder: str, tmp_path: Path, ending: str, size: int
) -> None:
    whole, out = tmp_path / f"whole.{ending}", tmp_path / f"out.{ending}"
    options = ["-m", bert_folder, "-q", "--keep-texts", *SHORT]
    run_command("score", table, "-o", whole, *options)
    with full_disk(size):
        shown = run_command("score", table, "-o", out, *options, status=2)
    assert "Traceback" not in shown.stderr
    assert f"error: File too large: '{out}" in shown.stderr
    said = f"What was scored for {out} is kept. Run it again with --resume"
    assert (said in shown.stderr) == (size > 1_000)
    shown = run_command("score", table, "-o", out, *options, "--resume")
    assert (" already scored" in shown.stderr) == (size > 1_000)
    assert table_rows(out) == table_rows(whole)
    record = {record_path(out)} if ending != "parquet" else set()
    assert set(tmp_path.glob("out*")) == {out, lock_path(out)} | record


def test_an_input_that_goes_away_is_named_and_the_run_can_be_resumed(
    scorer: EstimeScorer, out: Path, tmp_path: Path
) -> None:
    """One that is being read may go: it is not opened again."""
    first, second = (write_jsonl(tmp_path / f"{name}.jsonl", rows(20)) for name in "ab")
    job = Job(inputs=(first, second), output=out)
    append = Journal.append

    def removing(journal: Journal, chunk: Chunk) -> None:
        append(journal, chunk)
        first.unlink(missing_ok=True)
        second.unlink(missing_ok=True)

    with (
        mock.patch.object(Journal, "append", removing),
        pytest.raises(FileNotFoundError, match=r"b\.jsonl") as raised,
    ):
        score_files(job, scorer)
    assert "is kept. Run it again with `resume`" in raised.value.__notes__[0]
    for path in (first, second):
        write_jsonl(path, rows(20))
    report = score_files(job, scorer, existing="resume")
    assert 0 < report.resumed < report.summary.pairs == 40
    with (
        mock.patch.object(Journal, "append", removing),
        pytest.raises(FileNotFoundError) as raised,
    ):
        score_files(replace(job, output=None), scorer)
    assert raised.value.__notes__ == [
        "Nothing is kept. To be able to resume, name a file with `output`."
    ]


@pytest.mark.parametrize(("end", "status"), [(None, 0), (-20, 1)])
def test_a_pipe_is_read_once_and_whole(
    table: Path, bert_folder: str, tmp_path: Path, end: int | None, status: int
) -> None:
    """Half a line, where what writes into it ends early, is an invalid row."""
    pipe, out = tmp_path / "pipe.jsonl", tmp_path / "out.jsonl"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=(table.read_bytes()[:end],)).start()
    shown = run_command("score", pipe, "-o", out, "-m", bert_folder, "-q", *SHORT, status=status)
    assert [row["line"] for row in json_rows(out)] == list(range(1, 41 - status))
    assert ("skipped line 40: is not JSON" in shown.stderr) == bool(status)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_standard_output_that_takes_nothing_more_is_one_line(table: Path, tmp_path: Path) -> None:
    said = tmp_path / "said"
    command = ["score", str(table), "-o", "-", *QUICK]
    assert run_forked(command, "/dev/null", "/dev/full", str(said)) == 2
    assert said.read_text() == "error: No space left on device\n"


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    """That of the process, whatever the rows are and whatever is written."""
    script = """
        import resource, sys
        from pathlib import Path
        from estime_metric import EstimeScorer
        from estime_metric.jobs import Job, score_files
        scorer = EstimeScorer(model="embedded-small", layers=1, distance=2)
        output, *inputs = map(Path, sys.argv[1:])
        for path in inputs:
            score_files(Job(inputs=(path,), output=output, keep_texts=True), scorer, existing="overwrite")
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000)
    """
    pair = {"source": "a b", "summary": "a", "own": "x"}
    wide = {**pair, "own": "x " * 400_000}
    tables = {
        "small.jsonl": [pair],
        "small.parquet": [pair],
        "invalid.jsonl": [pair, *[{"source": "x"}] * 100_000],
        "wide.jsonl": [pair, *[wide] * 150],
        "wide.parquet": [pair, *[wide] * 150],
    }
    for name, table in tables.items():
        write(tmp_path / name, table)
    paths = [tmp_path / name for name in ("out.parquet", *tables)]
    peaks = [int(line) for line in run_python(script, *paths).stdout.splitlines()[-len(tables) :]]
    grown = [after - before for before, after in pairwise(peaks[1:])]  # megabytes
    assert grown[0] < 30
    assert max(grown) < 130

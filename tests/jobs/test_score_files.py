"""Jobs: streamed, resumable, and never at the cost of what is there."""

from __future__ import annotations

import datetime
import itertools
import math
import os
import pkgutil
import random
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow
import pyarrow.parquet
import pytest
import torch

from estime_metric import EstimeScorer
from estime_metric.jobs import Job, expand
from estime_metric.jobs.rows_file import rows_path
from estime_metric.table.intervals import source_id
from estime_metric.table.output import WRITABLE, lock_path, record_path
from estime_metric.table.rows import Row, read_rows
from estime_metric.table.table import record_of
from tests.command import FORKS, json_rows, run_command, run_in_process, write_jsonl
from tests.jobs.conftest import QUICK, Watched, result_of, rows, score, score_chunks

#: How often the standing test kills a run; set to 20 to accept a change of the job.
KILLS = int(os.environ.get("ESTIME_KILLS", "4"))


def test_chunks_divide_no_source_and_change_no_score(
    table: Path, tmp_path: Path, scorer: EstimeScorer
) -> None:
    out = tmp_path / "scores.jsonl"
    watched = Watched()
    score(Job(inputs=(table,), output=out, look_ahead=8), scorer, progress=watched)
    assert len(watched.chunks) > 3
    ends = list(itertools.accumulate(watched.chunks))
    texts = [row["source"] for row in rows(40)]
    assert all(texts[end - 1] != texts[end] for end in ends[:-1])
    alarms = result_of(scorer, rows(40)).values("alarms").tolist()
    assert [(row["line"], row["alarms"]) for row in json_rows(out)] == [*enumerate(alarms, start=1)]


def test_a_stopped_run_is_resumed_and_the_file_is_equal(
    table: Path, tmp_path: Path, scorer: EstimeScorer
) -> None:
    """For every format where a run is killed, below."""
    whole, parts = tmp_path / "whole.csv", tmp_path / "parts.csv"
    job = Job(inputs=(table,), output=parts, look_ahead=8)
    score(replace(job, output=whole), scorer)
    kept = score_chunks(job, scorer, 2)
    assert 0 < kept < 40
    resumed = score(job, scorer, "resume")
    written = parts.read_bytes()
    again = score(job, scorer, "resume")  # once more changes nothing
    for report, before in ((resumed, kept), (again, 40)):
        assert (report.resumed, report.pairs) == (before, 40)
    assert parts.read_bytes() == written
    assert written == whole.read_bytes()
    assert record_of(parts)["signature"] == scorer.signature
    with pytest.raises(ValueError, match="the same signature as in the earlier run"):
        score(job, EstimeScorer(scorer.config, distance=4), "resume")


@pytest.fixture
def stopped(table: Path, tmp_path: Path, scorer: EstimeScorer) -> Job:
    """A job that has kept two chunks."""
    job = Job(inputs=(table,), output=tmp_path / "out.jsonl", look_ahead=8)
    score_chunks(job, scorer, 2)
    return job


@pytest.mark.parametrize(
    "left",
    [
        lambda kept: kept + b'{"rows": [{"li',
        lambda kept: kept + b'{"rows": [], "skipped": 1, "digest": "d"}',
        lambda kept: kept[:20],  # killed before there was anything to keep
    ],
    ids=["half a row", "a line without its end", "half the record"],
)
def test_half_a_line_that_a_killed_run_has_left_is_cut_off(
    stopped: Job, tmp_path: Path, scorer: EstimeScorer, left: Callable[[bytes], bytes]
) -> None:
    out, whole = tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    rows_path(out).write_bytes(left(rows_path(out).read_bytes()))
    score(stopped, scorer, "resume")
    score(replace(stopped, output=whole), scorer)
    assert out.read_bytes() == whole.read_bytes()


def test_damaged_rows_are_not_resumed(stopped: Job, scorer: EstimeScorer, tmp_path: Path) -> None:
    kept = rows_path(tmp_path / "out.jsonl")
    header, chunk, _ = kept.read_text().splitlines(keepends=True)
    for damaged in (
        *(f"{line}\n{chunk}" for line in ("{}", "[]", "{")),
        *(f"{header}{line}\n{chunk}" for line in ("{", "{}", "[]")),
    ):
        kept.write_text(damaged)
        with pytest.raises(ValueError, match="damaged"):
            score(stopped, scorer, "resume")


def test_what_a_killed_conversion_has_left_is_removed(
    table: Path, tmp_path: Path, scorer: EstimeScorer
) -> None:
    parts = [
        tmp_path / ".out[1].0a1b2c3d.part.csv",
        tmp_path / ".out[1].csv.meta.0a1b2c3d.part.json",
    ]
    others = [tmp_path / ".out[1]1.0a1b2c3d.part.csv", tmp_path / ".out1.0a1b2c3d.part.csv"]
    for path in (*parts, *others):
        path.touch()
    score(Job(inputs=(table,), output=tmp_path / "out[1].csv"), scorer)
    assert [path.exists() for path in (*parts, *others)] == [False, False, True, True]


def test_columns_of_the_rows_and_what_is_written_next_to_them(
    table: Path, tmp_path: Path, scorer: EstimeScorer
) -> None:
    for ending in ("jsonl", "csv", "parquet"):
        job = Job(inputs=(table,), output=tmp_path / f"out.{ending}")
        report = score(job, scorer)
        assert job.output is not None
        meta = record_of(job.output)
        assert meta["signature"] == report.signature
        assert meta.items() >= report.to_dict().items()
        assert meta["config"]["window"] == 60
        assert meta["options"]["summary_column"] == "summary"
        assert meta["versions"]["torch"] == torch.__version__
        assert meta["date"].startswith("20")
        plain = next(read_rows(job.output)).row
        assert plain["source_id"] == source_id(rows(1)[0]["source"])
        score(replace(job, prefix="estime_", keep_texts=True), scorer, "overwrite")
        row = next(read_rows(job.output)).row
        assert list(row)[:5] == ["estime_line", "id", "source", "summary", "note"]
        assert row["note"] == rows(1)[0]["note"]
        assert "estime_alarms" in row
        assert row["estime_source_id"] == plain["source_id"]
    assert record_of(table) == {}


def test_columns_of_parquet_keep_the_types_that_json_has(
    tmp_path: Path, scorer: EstimeScorer
) -> None:
    """As docs/command-line.md says."""
    columns = {
        "source": (pyarrow.string(), "The cat sat.", "string", "The cat sat."),
        "summary": (pyarrow.string(), "The cat.", "string", "The cat."),
        "date": (pyarrow.date32(), datetime.date(2020, 1, 2), "string", "2020-01-02"),
        "binary": (pyarrow.binary(), b"\xff", "string", "/w=="),
        "unsigned": (pyarrow.uint64(), 2**63, "string", str(2**63)),
        "nan": (pyarrow.float64(), math.nan, "null", None),
        "list": (pyarrow.list_(pyarrow.int64()), [1], "list<element: int64>", [1]),
    }
    arrays = {name: pyarrow.array([value], kind) for name, (kind, value, *_) in columns.items()}
    path, out = tmp_path / "pairs.parquet", tmp_path / "out.parquet"
    pyarrow.parquet.write_table(pyarrow.table(arrays), path)
    score(Job(inputs=(path,), output=out, keep_texts=True), scorer)
    written = pyarrow.parquet.read_table(out)
    for name, (_, _, kind, value) in columns.items():
        assert (name, str(written.schema.field(name).type)) == (name, kind)
        assert (name, written[name].to_pylist()) == (name, [value])


def test_a_report_has_single_pairs_also_of_earlier_runs(
    tmp_path: Path, scorer: EstimeScorer
) -> None:
    table = write_jsonl(tmp_path / "pairs.jsonl", rows(30))
    job = Job(inputs=(table,), output=tmp_path / "out.csv", look_ahead=8, prefix="e_")
    straight = score(job, scorer, worst=3)
    texts = [(row["source"], row["summary"]) for row in rows(30)]
    values = result_of(scorer, rows(30)).values("inconsistency").tolist()
    shown = score(replace(job, output=None), scorer)
    assert [pair.texts for pair in shown.first] == texts
    assert [pair.line for pair in shown.first] == list(range(1, 31))
    worst = sorted(range(30), key=lambda index: -values[index])[:3]
    assert [pair.line for pair in straight.worst] == [index + 1 for index in worst]
    assert straight.worst[0].texts == texts[worst[0]]
    score_chunks(job, scorer, 2, "overwrite")
    for _ in range(2):  # the second time it is finished
        resumed = score(job, scorer, "resume", worst=3)
        assert resumed.to_dict() == straight.to_dict()  # to the last digit
        assert resumed.worst == straight.worst


def test_a_finished_output_is_compared_by_its_record_alone(
    table: Path, tmp_path: Path, scorer: EstimeScorer
) -> None:
    """Neither its rows nor its input are read again."""
    job = Job(inputs=(table,), output=tmp_path / "out.jsonl")
    finished = score(job, scorer)
    table.unlink()
    (tmp_path / "out.jsonl").write_text("anything\n")
    again = score(job, scorer, "resume")
    assert again.to_dict() == finished.to_dict()
    assert (again.resumed, again.interval("alarms")) == (40, finished.interval("alarms"))


@pytest.mark.parametrize("content", ["{", "[]", '{"finished": true}'])
def test_a_damaged_record_is_not_resumed_but_overwritten(
    table: Path, tmp_path: Path, scorer: EstimeScorer, content: str
) -> None:
    out = tmp_path / "out.jsonl"
    score(Job(inputs=(table,), output=out), scorer)
    record_path(out).write_text(content)
    inputs = expand([tmp_path / "*"], out)
    assert inputs == (table,)
    job = Job(inputs=inputs, output=out)
    with pytest.raises(ValueError, match="Use `overwrite` to"):
        score(job, scorer, "resume")
    assert score(job, scorer, "overwrite").pairs == 40


def test_another_setting_or_input_is_not_mixed(
    table: Path, stopped: Job, tmp_path: Path, scorer: EstimeScorer
) -> None:
    job, out = stopped, tmp_path / "out.jsonl"
    before = rows_path(out).read_bytes()
    with pytest.raises(
        ValueError, match=r"(?s)same signature as in the earlier run.*distance:8.*distance:4"
    ):
        score(job, EstimeScorer(scorer.config, distance=4), "resume")
    for changed, named in (
        (replace(job, keep_texts=True), "keep_texts"),
        (replace(job, threshold=0.5), "threshold"),
    ):
        with pytest.raises(ValueError, match=f"the same {named} as in the earlier run"):
            score(changed, scorer, "resume")
    with pytest.raises(ValueError, match="the same measures as in the earlier run"):
        score(job, EstimeScorer(scorer.config, measures="soft"), "resume")
    for package in ("torch", "transformers", "tokenizers", "regex"):
        with (
            mock.patch(
                "estime_metric.jobs.job_record.version",
                lambda name, changed=package: "1.0" if name == changed else version(name),
            ),
            pytest.raises(ValueError, match=rf"(?s)same versions as .*now: .*'{package}': '1\.0'"),
        ):
            score(job, scorer, "resume")
    with pytest.raises(FileExistsError, match="Use `resume` to continue it"):
        score(job, scorer)
    write_jsonl(table, [*rows(1), *rows(39)])
    with pytest.raises(ValueError, match="rows scored by the earlier run to be unchanged"):
        score(job, scorer, "resume")
    other = write_jsonl(tmp_path / "other.jsonl", rows(40))
    with pytest.raises(ValueError, match="the same inputs as in the earlier run"):
        score(replace(job, inputs=(other,)), scorer, "resume")
    assert rows_path(out).read_bytes() == before
    write_jsonl(table, rows(41))  # lines that are not scored yet may change until they are
    assert score(job, scorer, "resume").pairs == 41
    with mock.patch("estime_metric.jobs.job_record._PACKAGES", ()):  # nothing is computed any more
        assert score(job, scorer, "resume").pairs == 41


def test_an_output_that_exists_is_not_touched_unasked(
    table: Path, tmp_path: Path, scorer: EstimeScorer
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("precious\n")
    job = Job(inputs=(table,), output=out)
    with pytest.raises(FileExistsError, match="`overwrite`"):
        score(job, scorer)
    with pytest.raises(ValueError, match="to have the record of a run, but it has none"):
        score(job, scorer, "resume")
    assert out.read_text() == "precious\n"
    score(job, scorer, "overwrite")
    assert len(out.read_text().splitlines()) == 40
    for own in (rows_path(out), record_path(out), lock_path(out)):
        with pytest.raises(ValueError, match="other files than those that belong to"):
            Job(inputs=expand([own], out), output=out)
    (tmp_path / "link.jsonl").symlink_to(table)
    with pytest.raises(ValueError, match="the output to differ from the input"):
        Job(inputs=(table,), output=tmp_path / "link.jsonl")


def test_our_names_in_the_input_are_refused_before_scoring(
    tmp_path: Path, scorer: EstimeScorer
) -> None:
    path = write_jsonl(tmp_path / "pairs.jsonl", [{**row, "alarms": 1} for row in rows(3)])
    out = tmp_path / "out.jsonl"
    with pytest.raises(
        ValueError,
        match=r"line 1 has a column 'alarms', which is also .*an output column; .* with `prefix`",
    ):
        score(Job(inputs=(path,), output=out), scorer)
    assert not out.exists()
    score(Job(inputs=(path,), output=out, prefix="estime_"), scorer)
    assert json_rows(out)[0]["alarms"] == 1


@pytest.mark.parametrize("finishing", ["--resume", "--overwrite"])
def test_a_job_repeated_with_a_pattern_that_the_shell_expands_does_not_read_its_own_files(
    finishing: str, tmp_path: Path
) -> None:
    for name in "ab":
        write_jsonl(tmp_path / f"{name}.jsonl", rows(9))
    out = tmp_path / "scores.jsonl"

    def expanded(*options: str, status: int = 0) -> str:
        names = sorted(tmp_path.iterdir())
        return run_command("score", *names, "-o", out, *QUICK, *options, status=status).output

    with mock.patch("estime_metric.jobs.run.write", side_effect=OSError("full")):
        assert "full" in expanded(status=2)
    assert rows_path(out).exists()
    (tmp_path / "scores.jsonl.lock").touch()  # as a killed run leaves it
    assert "18 pairs scored" in expanded(finishing)
    whole = out.read_bytes()
    assert "18 pairs scored" in expanded(finishing)
    assert out.read_bytes() == whole


def test_an_input_next_to_others_that_no_job_has_written_is_not_dropped(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    names = ["a.jsonl", "scores.jsonl.gz", "scores.jsonl.old.jsonl", "folder/scores.jsonl"]
    paths = tuple(write_jsonl(tmp_path / name, rows(1)) for name in names)
    out = tmp_path / "scores.jsonl"
    assert expand(paths, out) == paths
    assert expand([tmp_path / "**" / "*.*"], out) == tuple(sorted(paths))
    write_jsonl(out, rows(1))
    with pytest.raises(ValueError, match="the output to differ from the input"):
        Job(inputs=expand([*paths, out], out), output=out)
    record_path(out).write_text('{"finished": true}')
    assert expand([*paths, out], out) == paths
    with pytest.raises(ValueError, match="the output to differ from the input"):
        Job(inputs=expand([out], out), output=out)


def command(table: Path, out: Path, *options: str) -> list[str]:
    return list(map(str, ["score", table, "-o", out, *QUICK, *options]))


def run_in_chunks(arguments: list[str], streams: str, moment: str) -> None:
    """Runs the command in small chunks; kills the process at a moment, if one is named."""
    mock.patch("estime_metric.jobs.job.PAIRS", 8).start()
    if moment:
        name, call = moment.split()
        calls = itertools.count(1)
        owner_name, _, function = name.rpartition(".")
        owner = pkgutil.resolve_name(owner_name)
        real = getattr(owner, function)

        def killed(*arguments: Any, **options: Any) -> Any:
            if next(calls) < int(call):
                return real(*arguments, **options)
            if function == "_output_rows":
                return killed_after_some(real(*arguments, **options))
            return os.kill(os.getpid(), signal.SIGKILL)

        mock.patch.object(owner, function, killed).start()
    run_in_process(arguments, streams, {})


def killed_after_some(rows: Iterator[Row]) -> Iterator[Row]:
    yield from itertools.islice(rows, 20)
    os.kill(os.getpid(), signal.SIGKILL)


def started(arguments: list[str], streams: Path, moment: str = "") -> BaseProcess:
    process = FORKS.Process(target=run_in_chunks, args=(arguments, str(streams), moment))
    process.start()
    return process


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What a run that nothing stops makes of the long table, by format."""
    folder = tmp_path_factory.mktemp("whole")
    table = write_jsonl(folder / "pairs.jsonl", rows(300))
    outputs = {ending: folder / f"whole{ending}" for ending in WRITABLE}
    with mock.patch("estime_metric.jobs.job.PAIRS", 8):
        for output in outputs.values():
            run_command(*command(table, output))
    return outputs


@pytest.fixture
def long_table(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "pairs.jsonl", rows(300))


def wait_for(condition: Callable[[], bool], process: BaseProcess) -> None:
    while not condition() and process.is_alive():
        time.sleep(0.002)


def check_whole(long_table: Path, out: Path, whole: Path) -> None:
    """A run that is resumed makes the file of a run that nothing has stopped."""
    run_command(*command(long_table, out, "--resume"))
    if out.suffix == ".parquet":  # has the date in its metadata
        resumed, uninterrupted = (pyarrow.parquet.read_table(path) for path in (out, whole))
        assert resumed.equals(uninterrupted)
        assert resumed.schema.equals(uninterrupted.schema)
    else:
        assert out.read_bytes() == whole.read_bytes()
    expected = {out.name, f"{out.name}.lock"}
    expected |= {f"{out.name}.meta.json"} if out.suffix != ".parquet" else set()
    assert {path.name for path in out.parent.glob("*out*")} == expected


@pytest.mark.slow
@pytest.mark.parametrize("ending", WRITABLE)
def test_kill_9_at_random_moments_loses_and_doubles_nothing(
    long_table: Path, wholes: dict[str, Path], tmp_path: Path, ending: str
) -> None:
    out = tmp_path / f"out{ending}"
    kept = rows_path(out)
    rng = random.Random(ending)
    killed = 0
    for number in range(KILLS):
        process = started(command(long_table, out, "--resume"), long_table.with_name("streams.txt"))
        before = kept.stat().st_size if kept.exists() else 0
        if number == 0:  # before the first chunk: what is left of the lock stops nobody
            wait_for(kept.exists, process)
        elif rng.random() < 0.8:  # otherwise at any moment of the start
            wait_for(lambda before=before: kept.exists() and kept.stat().st_size > before, process)
            time.sleep(rng.random() * 0.2)
        else:
            time.sleep(rng.random() * 0.5)
        process.kill()
        process.join()
        killed += process.exitcode == -signal.SIGKILL
    assert killed > KILLS // 2
    check_whole(long_table, out, wholes[ending])


SUMMARY, CONVERSION = (
    "estime_metric.jobs.report.Report.add",
    "estime_metric.jobs.run._output_rows",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "moment"),
    [
        *((ending, f"{SUMMARY} 5") for ending in WRITABLE),
        *((ending, f"{CONVERSION} 1") for ending in WRITABLE),
        *((ending, f"{CONVERSION} 2") for ending in (".csv", ".parquet")),
        *((ending, "estime_metric.files.writing.write_meta 1") for ending in (".csv", ".jsonl")),
        *((ending, "estime_metric.jobs.run.rows_path 1") for ending in WRITABLE),
    ],
)
def test_kill_9_in_the_last_pass_in_the_conversion_and_once_everything_is_written(
    long_table: Path, wholes: dict[str, Path], tmp_path: Path, ending: str, moment: str
) -> None:
    out = tmp_path / f"out{ending}"
    process = started(command(long_table, out), long_table.with_name("streams.txt"), moment)
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    check_whole(long_table, out, wholes[ending])


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_at_once_and_says_how_to_resume(
    long_table: Path, wholes: dict[str, Path], tmp_path: Path, number: signal.Signals
) -> None:
    """Stopped meanwhile, it keeps every other run from its output."""
    out = tmp_path / "out.jsonl"
    kept = rows_path(out)
    process = started(command(long_table, out), long_table.with_name("streams.txt"))
    wait_for(lambda: kept.exists() and kept.read_bytes().count(b"\n") > 1, process)
    os.kill(process.pid, signal.SIGSTOP)
    for option in ("--resume", "--overwrite"):
        second = run_command(*command(long_table, out, option), status=2)
        assert (second.stdout, second.stderr) == (
            "",
            f"error: Another run is writing to {out}. Wait until it has finished.\n",
        )
    os.kill(process.pid, number)
    os.kill(process.pid, signal.SIGCONT)
    process.join(60)
    printed = long_table.with_name("streams.txt").read_text(encoding="utf-8")
    assert process.exitcode == 128 + number
    written = [row for chunk in json_rows(kept)[1:] for row in chunk["rows"]]
    assert written == json_rows(wholes[".jsonl"])[: len(written)]
    assert len(written) < 300
    assert f"What was scored for {out} is kept. Run the command again with --resume" in printed
    assert "Traceback" not in printed
    check_whole(long_table, out, wholes[".jsonl"])


def test_a_chunk_is_bounded_by_its_work(
    tmp_path: Path, scorer: EstimeScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless `look_ahead` says how many pairs: the more an encoder has to do for a byte, the fewer
    bytes.
    """
    monkeypatch.setattr("estime_metric.jobs.job.PAIRS", 256)
    monkeypatch.setattr("estime_metric.jobs.job.WORK", 1e9)
    table = write_jsonl(tmp_path / "pairs.jsonl", rows(300))

    def sizes(job: Job, scorer: EstimeScorer) -> list[int]:
        watched = Watched()
        score(job, scorer, progress=watched)
        return watched.chunks

    heavy = sizes(Job(inputs=(table,)), scorer)
    light = sizes(Job(inputs=(table,)), EstimeScorer(scorer.config, distance=2))
    assert 2 < max(light) // max(heavy) < 6
    assert sum(heavy) == sum(light) == 300
    assert max(sizes(Job(inputs=(table,), look_ahead=256), scorer)) >= 256
    table = write_jsonl(
        table, [{"source": "the cat sat. " * 400, "summary": "the cat. " * 10}] * 90
    )
    assert (
        30 < sizes(Job(inputs=(table,)), scorer)[0] < 90
    )  # a source is not encoded again for each of its summaries

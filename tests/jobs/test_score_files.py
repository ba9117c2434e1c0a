"""Jobs: streamed, resumable, and never at the cost of what is there."""

from __future__ import annotations

import datetime
import gzip
import itertools
import json
import math
import os
import random
import signal
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
import torch

from estime_metric import EstimeResult, EstimeScorer, files
from estime_metric.jobs import Job, Report, Totals, Values, expand, score_files
from estime_metric.jobs.inputs import WHOLE
from tests.command import json_rows, run_command, start_command, table_rows, write_jsonl
from tests.jobs.conftest import QUICK, rows

#: How often the standing test kills a run; set to 20 to accept a change of the job.
KILLS = int(os.environ.get("ESTIME_KILLS", "4"))


@pytest.fixture(scope="module")
def scorer(bert_folder: str) -> EstimeScorer:
    return EstimeScorer(model=bert_folder, window=60, margin=10)


def score(
    job: Job, scorer: EstimeScorer, existing: str = "refuse", stop_after: int | None = None
) -> Report:
    chunks = 0

    def count(pairs: files.Pairs, result: EstimeResult) -> None:
        nonlocal chunks
        chunks += 1

    return score_files(
        job, scorer, existing=existing, on_chunk=count, stop=lambda: chunks == stop_after
    )


def test_chunks_divide_no_source_and_change_no_score(
    table: Path, tmp_path: Path, scorer: EstimeScorer
) -> None:
    out = tmp_path / "scores.jsonl"
    chunks: list[set[str]] = []
    job = Job(inputs=(table,), output=out, look_ahead=8)
    report = score_files(job, scorer, on_chunk=lambda pairs, _: chunks.append(set(pairs.sources)))
    assert len(chunks) > 3
    assert all(not one & other for one, other in itertools.pairwise(chunks))
    expected = scorer.score(
        [row["summary"] for row in rows(40)], [row["source"] for row in rows(40)]
    )
    written = json_rows(out)
    assert [row["winners"] for row in written] == expected.values("winners").tolist()
    assert [row["line"] for row in written] == list(range(1, 41))
    assert report.interval("alarms").mean == pytest.approx(expected.mean("alarms"))


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_stopped_run_is_resumed_and_the_file_is_equal(
    table: Path, tmp_path: Path, scorer: EstimeScorer, ending: str
) -> None:
    whole, parts = tmp_path / f"whole.{ending}", tmp_path / f"parts.{ending}"
    straight = score(Job(inputs=(table,), output=whole, look_ahead=8), scorer)
    job = Job(inputs=(table,), output=parts, look_ahead=8)
    first = score(job, scorer, stop_after=2)
    assert not first.done
    assert 0 < first.totals.pairs < 40
    journal = parts.with_name("parts.parquet.rows.jsonl") if ending == "parquet" else parts
    with journal.open("ab") as stream:
        stream.write(b'{"half a li')
    second = score(job, scorer, "resume")
    assert second.done
    assert second.resumed == first.totals.pairs
    assert second.totals == straight.totals
    assert first.means == {}
    assert second.means == straight.means  # to the last digit
    assert table_rows(parts) == table_rows(whole)
    sidecars = (
        []
        if ending == "parquet"
        else ["whole." + ending + ".meta.json", "parts." + ending + ".meta.json"]
    )
    names = ["pairs.jsonl", whole.name, parts.name, *sidecars]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    before = parts.read_bytes()
    if ending != "parquet":
        assert before == whole.read_bytes()
    again = score(job, scorer, "resume")  # once more changes nothing
    assert (again.done, again.resumed, again.totals) == (True, 40, straight.totals)
    assert again.means == straight.means
    assert parts.read_bytes() == before
    assert files.read_signature(parts) == scorer.signature
    with pytest.raises(ValueError, match="the same signature as in the earlier run"):
        score(job, EstimeScorer(scorer.config, distance=4), "resume")


def test_columns_of_the_rows_and_what_is_written_next_to_them(
    table: Path, tmp_path: Path, scorer: EstimeScorer
) -> None:
    for ending in ("jsonl", "csv", "parquet"):
        job = Job(inputs=(table,), output=tmp_path / f"out.{ending}")
        report = score(job, scorer)
        assert job.output is not None
        said = files.read_meta(job.output)
        assert said["signature"] == report.signature
        assert Totals.from_json(said["totals"]) == report.totals
        assert said["config"]["window"] == 60
        assert said["options"]["summary_column"] == "summary"
        assert said["versions"]["torch"] == torch.__version__
        assert said["date"].startswith("20")
        plain, whole = (next(read(job.output)).row for read in (files.read_rows, files.read_scored))
        assert whole == {**plain, "signature": report.signature} != plain
        score(replace(job, with_signature=True), scorer, "overwrite")
        assert list(files.read_rows(job.output)) == list(files.read_scored(job.output))
        score(replace(job, prefix="estime_", keep_texts=True), scorer, "overwrite")
        row = next(files.read_rows(job.output)).row
        assert list(row)[:5] == ["estime_line", "id", "source", "summary", "note"]
        assert row["note"] == rows(1)[0]["note"]
        assert "estime_alarms" in row
    score(replace(job, output=tmp_path / "out.csv", with_signature=True), scorer, "overwrite")
    (tmp_path / "out.csv.meta.json").unlink()
    assert files.read_signature(tmp_path / "out.csv") == report.signature
    assert files.read_signature(table) is None
    score(Job(inputs=(table,), output=tmp_path / "out.csv"), scorer, "overwrite", stop_after=1)
    assert files.read_signature(tmp_path / "out.csv") is None


def test_columns_of_parquet_keep_the_types_that_json_has(
    tmp_path: Path, scorer: EstimeScorer
) -> None:
    """As docs/large-jobs.md says."""
    columns = {
        "source": (pyarrow.string(), "The cat sat.", "string", "The cat sat."),
        "summary": (pyarrow.string(), "The cat.", "string", "The cat."),
        "date": (pyarrow.date32(), datetime.date(2020, 1, 2), "string", "2020-01-02"),
        "time": (pyarrow.time64("us"), datetime.time(1, 2), "string", "01:02:00"),
        "duration": (pyarrow.duration("us"), datetime.timedelta(1), "string", "1 day, 0:00:00"),
        "decimal": (pyarrow.decimal128(3, 2), Decimal("1.50"), "string", "1.50"),
        "binary": (pyarrow.binary(), b"\xff", "string", "/w=="),
        "map": (
            pyarrow.map_(pyarrow.string(), pyarrow.int64()),
            [("a", 1)],
            "string",
            '[["a", 1]]',
        ),
        "unsigned": (pyarrow.uint64(), 2**63, "string", str(2**63)),
        "short": (pyarrow.int32(), 3, "int64", 3),
        "single": (pyarrow.float32(), 0.5, "double", 0.5),
        "nan": (pyarrow.float64(), math.nan, "null", None),
        "truth": (pyarrow.bool_(), True, "bool", True),
        "list": (pyarrow.list_(pyarrow.int64()), [1], "list<element: int64>", [1]),
    }
    arrays = {name: pyarrow.array([value], kind) for name, (kind, value, *_) in columns.items()}
    path, out = tmp_path / "pairs.parquet", tmp_path / "out.parquet"
    pyarrow.parquet.write_table(pyarrow.table(arrays), path)
    score(Job(inputs=(path,), output=out, keep_texts=True), scorer)
    found = pyarrow.parquet.read_table(out)
    for name, (_, _, kind, value) in columns.items():
        assert (name, str(found.schema.field(name).type)) == (name, kind)
        assert (name, found[name].to_pylist()) == (name, [value])


def test_means_have_intervals_by_source_in_the_report_and_in_the_record(
    table: Path, tmp_path: Path, scorer: EstimeScorer
) -> None:
    out = tmp_path / "out.jsonl"
    report = score(Job(inputs=(table,), output=out, look_ahead=8), scorer)
    expected = scorer.score(
        [row["summary"] for row in rows(40)], [row["source"] for row in rows(40)]
    )
    for measure in ("inconsistency", "alarms", "alarm_rate"):
        found, wanted = report.interval(measure), expected.interval(measure)
        assert (found.count, found.mean) == (wanted.count, pytest.approx(wanted.mean, abs=1e-6))
        assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-6)
        said = files.read_meta(out)["measures"][measure]
        assert said == {
            "mean": found.mean,
            "low": found.low,
            "high": found.high,
            "count": found.count,
        }
    assert report.interval("alarms").mean == statistics.fmean(expected.values("alarms").tolist())
    assert report.few_sources == len({row["source"] for row in rows(40)})
    whole = report.to_dict()
    assert whole["measures"] == files.read_meta(out)["measures"]
    assert (whole["pairs"], whole["skipped"]) == (40, 0)
    assert whole["short_signature"] == expected.signature.short
    assert whole["seconds"] > 0
    with pytest.raises(ValueError, match="Expected argument `measure` to be one of inconsistency"):
        report.interval("copied")


def test_all_pairs_are_seen_those_of_earlier_runs_too(
    table: Path, tmp_path: Path, scorer: EstimeScorer
) -> None:
    straight: list[tuple[int, float]] = []
    resumed: list[tuple[int, float]] = []

    def see(seen: list[tuple[int, float]], pairs: files.Pairs, values: Values) -> None:
        assert len(pairs.summaries) == len(values["alarm_rate"])
        seen += zip(pairs.lines, map(float, values["inconsistency"]), strict=True)

    job = Job(inputs=(table,), output=tmp_path / "out.csv", look_ahead=8, prefix="e_")
    score_files(job, scorer, on_scored=partial(see, straight))
    score(job, scorer, "overwrite", stop_after=2)
    score_files(job, scorer, existing="resume", on_scored=partial(see, resumed))
    assert [line for line, _ in straight] == list(range(1, 41))
    assert resumed == straight
    resumed.clear()
    score_files(job, scorer, existing="resume", on_scored=partial(see, resumed))  # it is finished
    assert resumed == straight


def test_rows_that_were_changed_between_two_runs_are_not_added_up(
    table: Path, tmp_path: Path, scorer: EstimeScorer
) -> None:
    out = tmp_path / "out.jsonl"
    job = Job(inputs=(table,), output=out, look_ahead=8)
    score(job, scorer, stop_after=2)
    lines = out.read_text().splitlines(keepends=True)
    out.write_text("".join([lines[1], lines[0], *lines[2:]]))
    with pytest.raises(
        ValueError, match=r"but the row of .*pairs\.jsonl line 1 is missing or moved"
    ):
        score(job, scorer, "resume")


def test_another_setting_or_input_is_not_mixed(
    table: Path, tmp_path: Path, scorer: EstimeScorer
) -> None:
    out = tmp_path / "out.jsonl"
    job = Job(inputs=(table,), output=out, look_ahead=8)
    score(job, scorer, stop_after=2)
    before = out.read_bytes()
    with pytest.raises(
        ValueError, match=r"(?s)same signature as in the earlier run.*distance:8.*distance:4"
    ):
        score(job, EstimeScorer(scorer.config, distance=4), "resume")
    with pytest.raises(ValueError, match="the same keep_texts as in the earlier run"):
        score(replace(job, keep_texts=True), scorer, "resume")
    with pytest.raises(FileExistsError, match="Use `resume` to continue it"):
        score(job, scorer)
    content = table.read_text()
    write_jsonl(table, rows(41))
    with pytest.raises(ValueError, match="the same inputs as in the earlier run"):
        score(job, scorer, "resume")
    table.write_text(
        content[:-30] + content[-30:].replace("b", "c", 1)
    )  # of the same size, behind what is scored
    with pytest.raises(ValueError, match=r"same inputs as in the earlier run(?s:.*)digest"):
        score(job, scorer, "resume")
    assert out.read_bytes() == before
    table.write_text(content)
    progress = tmp_path / "out.jsonl.progress"
    record = progress.read_bytes()
    for damaged in (b"{", b"{}", b"[]"):
        progress.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"record of .*out\.jsonl is damaged"):
            score(job, scorer, "resume")
    progress.write_bytes(record)
    assert score(job, scorer, "resume").done


def test_a_large_input_that_was_changed_between_what_is_looked_at(
    tmp_path: Path, scorer: EstimeScorer
) -> None:
    table = write_jsonl(
        tmp_path / "pairs.jsonl", [{**row, "note": "n" * 100_000} for row in rows(60)]
    )
    job = Job(inputs=(table,), output=tmp_path / "out.jsonl", look_ahead=8)
    score(job, scorer, stop_after=2)
    content = table.read_bytes()
    assert len(content) > WHOLE

    def changed(block: int) -> bytes:
        position = (
            len(content) - 65_536
        ) * block // 63 + 80_000  # behind a block that is looked at, before the next
        assert content[position - 1 : position + 2] == b"nnn"
        return content[:position] + b"m" + content[position + 1 :]

    table.write_bytes(changed(0))
    with (
        pytest.raises(ValueError, match="they have changed"),
        pytest.warns(RuntimeWarning, match="was modified"),
    ):
        score(job, scorer, "resume")
    table.write_bytes(changed(50))
    with pytest.warns(RuntimeWarning, match="was modified after the unfinished run started"):
        assert score(job, scorer, "resume").done


def test_an_output_that_exists_is_not_touched_unasked(
    table: Path, tmp_path: Path, scorer: EstimeScorer
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("precious\n")
    job = Job(inputs=(table,), output=out)
    with pytest.raises(FileExistsError, match="`overwrite`"):
        score(job, scorer)
    with pytest.raises(ValueError, match="to be an unfinished run, but it cannot be resumed"):
        score(job, scorer, "resume")
    assert out.read_text() == "precious\n"
    score(job, scorer, "overwrite")
    assert len(out.read_text().splitlines()) == 40
    (tmp_path / "link.jsonl").symlink_to(table)
    with pytest.raises(ValueError, match="the output to differ from the input"):
        Job(inputs=(table,), output=tmp_path / "link.jsonl")


def test_our_names_in_the_input_are_refused_before_scoring_and_several_files_named_in_the_output(
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
    for name in "ab":
        write_jsonl(tmp_path / f"{name}.jsonl", rows(3))
    inputs = expand([str(tmp_path / "?.jsonl")])
    score(Job(inputs=inputs, output=out, look_ahead=2), scorer, "overwrite")
    named = [(Path(row["file"]).name, row["line"]) for row in json_rows(out)]
    assert named == [(f"{name}.jsonl", line) for name in "ab" for line in (1, 2, 3)]
    with pytest.raises(ValueError, match="matches none"):
        expand([str(tmp_path / "c*.jsonl")])


def test_what_was_scored_is_on_disk_when_the_input_breaks(
    tmp_path: Path, scorer: EstimeScorer
) -> None:
    broken, out = tmp_path / "p.jsonl.gz", tmp_path / "out.jsonl"
    data = gzip.compress(write_jsonl(tmp_path / "q.jsonl", rows(400)).read_bytes())
    broken.write_bytes(data[: len(data) * 9 // 10])
    with pytest.raises(ValueError, match="compressed data end early"):
        score(Job(inputs=(broken,), output=out, look_ahead=8), scorer)
    assert len(out.read_text(encoding="utf-8").splitlines()) > 100


def command(table: Path, out: Path, *options: str) -> list[object]:
    return ["score", table, "-o", out, *QUICK, *options]


def started(table: Path, out: Path, *options: str) -> BaseProcess:
    return start_command(*command(table, out, *options), said=table.with_name("said.txt"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run that nothing stops makes of the long table."""
    folder = tmp_path_factory.mktemp("whole")
    run_command(*command(write_jsonl(folder / "pairs.jsonl", rows(300)), folder / "whole.jsonl"))
    return folder / "whole.jsonl"


@pytest.fixture
def long_table(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "pairs.jsonl", rows(300))


def wait_for(condition: Callable[[], bool], process: BaseProcess) -> None:
    while not condition() and process.is_alive():
        time.sleep(0.002)


@pytest.mark.slow
def test_kill_9_at_random_moments_loses_and_doubles_nothing(
    long_table: Path, whole: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    rng = random.Random(0)
    killed = 0
    for number in range(KILLS):
        process = started(long_table, out, "--resume")
        before = out.stat().st_size if out.exists() else 0
        if number == 0:  # before the first commit: what is left of the lock stops nobody
            wait_for(Path(f"{out}.progress").exists, process)
        elif rng.random() < 0.8:  # else at any moment of the start
            wait_for(lambda before=before: out.exists() and out.stat().st_size > before, process)
            time.sleep(rng.random() * 0.2)
        else:
            time.sleep(rng.random() * 0.5)
        process.kill()
        process.join()
        killed += process.exitcode == -signal.SIGKILL
    assert killed > KILLS // 2
    run_command(*command(long_table, out, "--resume"))
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.glob("out*")) == [
        "out.jsonl",
        "out.jsonl.meta.json",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_finishes_the_chunk_and_says_how_to_resume(
    long_table: Path, whole: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """Stopped meanwhile, it keeps every other run from its output."""
    out = tmp_path / "out.jsonl"
    process = started(long_table, out)
    wait_for(lambda: out.exists() and out.stat().st_size > 0, process)
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
    said = long_table.with_name("said.txt").read_text(encoding="utf-8")
    assert process.exitcode == 128 + number
    written = out.read_text(encoding="utf-8").splitlines()
    assert json.loads(written[-1])["line"] == len(written) < 300
    assert whole.read_text(encoding="utf-8").splitlines()[: len(written)] == written
    assert (
        f"{len(written)} pairs already scored in {out}. Run the command again with --resume" in said
    )
    assert not Path(f"{out}.lock").exists()
    assert "Traceback" not in said


def test_a_chunk_is_bounded_by_its_work(
    tmp_path: Path, scorer: EstimeScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless `look_ahead` says how many pairs: the more an encoder has to do for a byte, the fewer
    bytes.
    """
    monkeypatch.setattr("estime_metric.jobs.job.WORK", 1e9)
    table = write_jsonl(tmp_path / "pairs.jsonl", rows(300))

    def sizes(job: Job, scorer: EstimeScorer) -> list[int]:
        found: list[int] = []
        score_files(job, scorer, on_chunk=lambda pairs, _: found.append(len(pairs)))
        return found

    found = sizes(Job(inputs=(table,)), scorer)
    light = sizes(Job(inputs=(table,)), EstimeScorer(scorer.config, distance=2))
    assert 2 < max(light) // max(found) < 6
    assert sum(found) == sum(light) == 300
    assert max(sizes(Job(inputs=(table,), look_ahead=256), scorer)) >= 256
    table = write_jsonl(
        table, [{"source": "the cat sat. " * 400, "summary": "the cat. " * 10}] * 90
    )
    assert (
        30 < sizes(Job(inputs=(table,)), scorer)[0] < 90
    )  # a source is not encoded again for each of its summaries

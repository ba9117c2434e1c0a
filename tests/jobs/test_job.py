"""Jobs: streamed, resumable, and never at the cost of what is there."""

from __future__ import annotations

import datetime
import math
import os
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

from estime_metric import EstimeScorer
from estime_metric.compare import read_scores
from estime_metric.jobs import Job, NotResumableError, Report, score_files
from estime_metric.table.formats import WRITABLE
from estime_metric.table.intervals import source_id
from estime_metric.table.output import journal_path, lock_path, record_path
from estime_metric.table.rows import Layout, read_rows
from estime_metric.table.table import record_of, write
from tests.command import json_rows, table_rows, write_jsonl
from tests.jobs.conftest import result_of, rows, score_chunks


@pytest.mark.parametrize("ending", WRITABLE)
def test_a_stopped_run_is_resumed_and_the_file_is_equal(
    table: Path, tmp_path: Path, scorer: EstimeScorer, ending: str
) -> None:
    whole, parts = tmp_path / f"whole{ending}", tmp_path / f"parts{ending}"
    job = Job(inputs=(table,), output=parts, prefix="e_", threshold=0.3)
    straight = score_files(replace(job, output=whole), scorer, worst=3)
    kept = score_chunks(job, scorer, 2)
    assert 0 < kept < 40
    resumed = score_files(job, scorer, existing="resume", worst=3)
    assert (resumed.resumed, resumed.was_complete) == (kept, False)
    written = parts.read_bytes()
    again = score_files(job, scorer, existing="resume", worst=3)  # once more changes nothing
    assert (again.resumed, again.was_complete, again.texts) == (40, True, {})
    assert parts.read_bytes() == written
    assert table_rows(parts) == table_rows(whole)
    for report in (resumed, again):
        assert report.to_dict() == straight.to_dict()  # to the last digit
        assert report.worst == straight.worst
        assert report.scores.frame.equals(straight.scores.frame)
    assert resumed.texts == straight.texts
    alarms = result_of(scorer, rows(40)).values("alarms").tolist()
    assert straight.scores.frame["alarms"].tolist() == alarms


def test_a_run_that_only_had_to_write_the_output_was_not_complete(
    job: Job, table: Path, out: Path, scorer: EstimeScorer
) -> None:
    """Rows that are appended meanwhile are scored."""
    with (
        mock.patch("estime_metric.jobs.job.write", side_effect=OSError("full")),
        pytest.raises(OSError, match="full") as raised,
    ):
        score_files(job, scorer)
    assert "Run it again with `resume`" in raised.value.__notes__[0]
    write_jsonl(table, rows(43))
    report = score_files(job, scorer, existing="resume")
    assert (report.resumed, report.summary.pairs, report.was_complete) == (40, 43, False)
    assert [row["line"] for row in json_rows(out)] == list(range(1, 44))
    with mock.patch("estime_metric.jobs.journal._PACKAGES", ()):  # nothing is computed any more
        assert score_files(job, scorer, existing="resume").summary.pairs == 43


@pytest.mark.parametrize("ending", WRITABLE)
def test_columns_of_the_rows_and_what_is_written_next_to_them(
    table: Path, tmp_path: Path, scorer: EstimeScorer, ending: str
) -> None:
    out = tmp_path / f"out{ending}"
    job = Job(inputs=(table,), output=out)
    report = score_files(job, scorer)
    record = record_of(out)
    assert record["signature"] == report.config.signature()
    assert record.items() >= report.to_dict().items()
    assert record["config"]["window"] == 60
    assert record["options"]["summary_column"] == "summary"
    assert record["versions"]["torch"] == version("torch")
    plain = next(read_rows(out)).row
    assert not {"source", "summary"} & plain.keys()
    assert plain["source_id"] == source_id(rows(1)[0]["source"])
    with_texts = replace(job, prefix="estime_", keep_texts=True)
    score_files(with_texts, scorer, existing="overwrite")
    row = next(read_rows(out)).row
    assert list(row)[:5] == ["estime_line", "id", "source", "summary", "note"]
    assert row["note"] == rows(1)[0]["note"]
    assert row["estime_source_id"] == plain["source_id"]


def test_columns_of_parquet_keep_the_types_that_json_has(
    tmp_path: Path, scorer: EstimeScorer
) -> None:
    """As docs/command-line.md says."""
    row = {
        "source": "The cat sat.",
        "summary": "The cat.",
        "date": datetime.date(2020, 1, 2),
        "binary": b"\xff",
        "nan": math.nan,
        "list": [1],
    }
    path, out = tmp_path / "pairs.parquet", tmp_path / "out.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    score_files(Job(inputs=(path,), output=out, keep_texts=True), scorer)
    ((_, written),) = table_rows(out)
    expected = {**row, "date": "2020-01-02", "binary": "/w==", "nan": None}
    assert {name: written[name] for name in row} == expected


def test_a_row_that_is_nested_deeply_is_one_skipped_row_in_every_format(
    tmp_path: Path, scorer: EstimeScorer
) -> None:
    table = tmp_path / "pairs.jsonl"
    deep = [f'{{"source": "a b", "summary": "a", "x": {"[" * n}NaN{"]" * n}}}' for n in (44, 950)]
    table.write_text("\n".join(deep))
    for ending in WRITABLE:
        problems: list[str] = []
        job = Job(inputs=(table,), output=tmp_path / f"out{ending}")
        report = score_files(job, scorer, on_problem=problems.append)
        assert (report.summary.pairs, problems) == (1, ["line 2: is nested too deeply"])


def test_the_worst_and_all_of_few_pairs_have_their_texts(
    tmp_path: Path, scorer: EstimeScorer
) -> None:
    few, many = (write_jsonl(tmp_path / f"{n}.jsonl", rows(n)) for n in (30, 31))
    report = score_files(Job(inputs=(few,)), scorer, worst=3)
    texts = [(row["source"], row["summary"]) for row in rows(30)]
    assert report.texts == dict(enumerate(texts))
    values = result_of(scorer, rows(30)).values("inconsistency").tolist()
    assert report.worst == sorted(range(30), key=lambda index: -values[index])[:3]
    report = score_files(Job(inputs=(many,)), scorer, worst=2)
    assert set(report.texts) == set(report.worst)


def test_inputs_are_opened_once_and_further_ones_are_looked_at_first(
    tmp_path: Path, out: Path, scorer: EstimeScorer
) -> None:
    inputs = [write_jsonl(tmp_path / f"{name}.jsonl", rows(20)) for name in "xy"]
    job = Job(inputs=tuple(inputs), output=out)
    for existing in ("refuse", "resume"):
        with mock.patch.object(Path, "open", autospec=True, side_effect=Path.open) as opened:
            score_files(job, scorer, existing=existing, worst=2)
        paths = [call.args[0] for call in opened.call_args_list]
        assert [paths.count(path) for path in inputs] == [1, 2]


@pytest.mark.parametrize("ending", WRITABLE)
def test_a_finished_output_is_believed_if_its_inputs_are_what_they_were(
    table: Path, tmp_path: Path, scorer: EstimeScorer, ending: str
) -> None:
    out = tmp_path / f"out{ending}"
    made: list[Any] = [*rows(12), {"source": "x"}]  # the last one is invalid
    job = Job(inputs=(write_jsonl(table, made),), output=out)
    score_files(job, scorer)
    written = out.read_bytes()

    def resumed() -> Report:
        return score_files(job, scorer, existing="resume")

    assert resumed().was_complete
    for changed in (
        [*rows(1), *made],
        made[:-1],
        [{**made[0], "note": "changed"}, *made[1:]],
    ):
        write_jsonl(table, changed)
        with pytest.raises(NotResumableError, match="rows scored by the earlier run to be unchang"):
            resumed()
    table.unlink()
    with pytest.raises(FileNotFoundError, match=table.name):
        resumed()
    write_jsonl(table, made)
    assert out.read_bytes() == written
    write(out, [line.row for line in read_rows(out)][:-1], record_of(out))
    with pytest.raises(NotResumableError, match="to have the rows that its record is of"):
        resumed()


@pytest.mark.parametrize("ending", WRITABLE)
def test_what_is_written_is_on_disk_before_the_journal_goes(
    table: Path, tmp_path: Path, scorer: EstimeScorer, ending: str
) -> None:
    """The file before it is renamed, and the folder after that."""
    steps = ""

    def recorded(step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal steps
            steps += step
            return function(*arguments, **options)

        return call

    with (
        mock.patch("os.fsync", recorded("s", os.fsync)),
        mock.patch.object(Path, "replace", recorded("r", Path.replace)),
        mock.patch.object(Path, "unlink", recorded("u", Path.unlink)),
    ):
        score_files(Job(inputs=(table,), output=tmp_path / f"out{ending}"), scorer)
    each = "srsu"  # `u`: an unfinished file, of which nothing is left; the last one is the journal
    assert steps.endswith(f"{each if ending == '.parquet' else each + each}u")


def test_another_setting_or_input_is_not_mixed(
    job: Job, table: Path, out: Path, tmp_path: Path, scorer: EstimeScorer
) -> None:
    score_chunks(job, scorer, 2)
    before = journal_path(out).read_bytes()

    def refused(match: str, job: Job = job, **options: Any) -> None:
        with pytest.raises(ValueError, match=match):
            score_files(job, EstimeScorer(scorer.config, **options), existing="resume")

    refused(r"(?s)same signature as in the earlier run.*distance:8.*distance:4", distance=4)
    refused("the same keep_texts as in the earlier run", replace(job, keep_texts=True))
    refused("the same threshold as in the earlier run", replace(job, threshold=0.5))
    refused("the same measures", measures="soft")
    for package in ("torch", "transformers", "tokenizers", "regex"):
        with mock.patch(
            "estime_metric.jobs.journal.version",
            lambda name, changed=package: "1.0" if name == changed else version(name),
        ):
            refused(rf"(?s)same versions as .*now: .*'{package}': '1\.0'")
    with pytest.raises(FileExistsError, match="Use `resume` to continue it"):
        score_files(job, scorer)
    for changed in ([*rows(1), *rows(39)], rows(3), [*rows(12), *rows(1)]):
        write_jsonl(table, changed)
        refused("rows scored by the earlier run to be unchanged")
    other = write_jsonl(tmp_path / "other.jsonl", rows(40))
    refused("the same inputs as in the earlier run", replace(job, inputs=(other,)))
    assert journal_path(out).read_bytes() == before


def test_what_no_run_has_finished_is_touched_only_if_asked(
    job: Job, out: Path, scorer: EstimeScorer
) -> None:
    out.write_text("precious\n")
    for record in ("", "{", "[]", '{"finished": true}'):
        if record:
            record_path(out).write_text(record)
        with pytest.raises(FileExistsError, match="Use `overwrite` to"):
            score_files(job, scorer)
        with pytest.raises(NotResumableError, match="Use `overwrite` to"):
            score_files(job, scorer, existing="resume")
    assert out.read_text() == "precious\n"
    score_files(job, scorer, existing="overwrite")
    assert len(json_rows(out)) == 40
    out.write_text('{"line": 1}\n')
    with pytest.raises(ValueError, match=r"rows .* are damaged\. Use `overwrite` to"):
        score_files(job, scorer, existing="resume")


def test_names_of_the_output_in_the_input(tmp_path: Path, scorer: EstimeScorer) -> None:
    """If the first row has one, the job is refused, because all will have it; a later row is skipped."""
    made = rows(20)
    made[12]["tokens"] = 5
    table = write_jsonl(tmp_path / "pairs.jsonl", made)
    problems: list[str] = []
    job = Job(inputs=(table,), output=tmp_path / "out.jsonl")
    report = score_files(job, scorer, on_problem=problems.append)
    assert (report.summary.pairs, report.scores.skipped) == (19, 1)
    assert problems[0].startswith("line 13: has a column 'tokens', which is also the name of an")
    assert (
        score_files(replace(job, output=None), scorer).summary.pairs == 20
    )  # which has no columns
    write_jsonl(table, made[12:])
    with pytest.raises(ValueError, match=r"line 1 has a column 'tokens', .* with `prefix`"):
        score_files(job, scorer, existing="overwrite")
    score_files(replace(job, prefix="estime_"), scorer, existing="overwrite")
    assert json_rows(tmp_path / "out.jsonl")[0]["tokens"] == 5


def test_an_output_among_the_inputs_is_refused_with_what_belongs_to_it(job: Job, out: Path) -> None:
    """Other files with similar names are inputs as any other."""
    others = tuple(out.with_name(f"out.{name}") for name in ("v2.jsonl.gz", "jsonl.old.jsonl"))
    assert replace(job, inputs=others).inputs == others
    for own in (out, record_path(out), journal_path(out), lock_path(out)):
        own.touch()
        with pytest.raises(ValueError, match=r"differ from the inputs .* name the inputs\."):
            replace(job, inputs=(*job.inputs, own))


def test_a_file_is_scored_once_whatever_its_names_are(table: Path, tmp_path: Path) -> None:
    link, hard = tmp_path / "link.jsonl", tmp_path / "hard.jsonl"
    link.symlink_to(table)
    hard.hardlink_to(table)
    (tmp_path / "x").mkdir()
    again = tmp_path / "x" / ".." / table.name
    for first, second in (
        *((table, other) for other in (table, link, hard, again)),
        (Path("-"), Path("/dev/stdin")),
    ):
        with pytest.raises(ValueError, match="which are the same file"):
            Job(inputs=(first, tmp_path / "b.jsonl", second))


def test_a_pair_is_looked_for_before_the_encoder_is_loaded(
    tmp_path: Path, scorer: EstimeScorer, out: Path
) -> None:
    invalid: list[dict[str, object]] = [{"source": "x", "summary": None}] * 5
    table = write_jsonl(tmp_path / "a.jsonl", [*invalid, *rows(1)])
    job = Job(inputs=(table,), output=out)
    report = score_files(replace(job, output=None), scorer)
    assert (report.summary.pairs, report.scores.skipped) == (1, 5)
    write_jsonl(table, invalid)
    with pytest.raises(ValueError, match=r"got none \(line 1: .* is missing"):
        score_files(job, EstimeScorer(model=str(tmp_path)))  # without an encoder
    assert not journal_path(out).exists()


def test_warnings_count_the_pairs_of_earlier_runs(tmp_path: Path) -> None:
    text = "Die Katze schlief den ganzen Tag in der warmen Sonne vor dem alten Haus. " * 2
    table = write_jsonl(tmp_path / "de.jsonl", [{"source": text, "summary": text}] * 20)
    job = Job(inputs=(table,), output=tmp_path / "out.jsonl")
    scorer = EstimeScorer(model="embedded-small", layers=1, distance=2, device="cpu")
    score_chunks(job, scorer, 1)
    with pytest.warns(RuntimeWarning, match="This concerns 20 of 20 pairs") as caught:
        assert score_files(job, scorer, existing="resume").resumed
    assert [warning.filename for warning in caught] == [__file__]


def test_what_would_fail_at_the_end_fails_first(table: Path, tmp_path: Path) -> None:
    long = tmp_path / f"{'x' * 235}.jsonl"
    with pytest.raises(OSError, match="File name too long"):
        Job(inputs=(table,), output=long)
    assert [path.name for path in tmp_path.iterdir()] == [table.name]


@pytest.mark.parametrize("ending", WRITABLE)
def test_names_that_have_no_utf_8_are_read_and_written(
    table: Path, tmp_path: Path, scorer: EstimeScorer, ending: str
) -> None:
    other, out = table.rename(tmp_path / "caf\udce9.jsonl"), tmp_path / f"out\udce9{ending}"
    b = write_jsonl(tmp_path / "b.jsonl", rows(2))
    report = score_files(Job(inputs=(other, b), output=out), scorer)
    assert [Path(name).name for name in report.files] == ["caf\\udce9.jsonl", "b.jsonl"]
    assert not report.without_pairs
    assert len(table_rows(out)) == 42


@pytest.mark.parametrize("ending", WRITABLE)
def test_lines_appended_to_the_input_of_a_finished_output_are_scored(
    tmp_path: Path, scorer: EstimeScorer, ending: str
) -> None:
    table, out, whole = tmp_path / "pairs.jsonl", tmp_path / f"o{ending}", tmp_path / f"w{ending}"
    first: list[Any] = [*rows(20), {"source": "x"}]
    job = Job(inputs=(write_jsonl(table, first),), output=out)
    score_files(job, scorer)
    write_jsonl(table, [*first, *rows(40)[20:], {"source": "y"}])
    written = out.read_bytes()
    with (
        mock.patch("estime_metric.jobs.journal._PACKAGES", ()),
        pytest.raises(NotResumableError, match="the same versions"),
    ):
        score_files(job, scorer, existing="resume")
    assert out.read_bytes() == written
    kept = 20 + score_chunks(job, scorer, 1, existing="resume")
    assert kept < 40
    report = score_files(job, scorer, existing="resume", worst=30)
    assert (report.resumed, report.summary.pairs, report.scores.skipped) == (kept, 40, 2)
    straight = score_files(replace(job, output=whole), scorer, worst=30)
    scores, expected = read_scores(out), read_scores(whole)
    pd.testing.assert_frame_equal(scores, expected, atol=1e-4)  # chunks are cut elsewhere
    assert report.texts.items() <= straight.texts.items()
    write_jsonl(table, [*first, *rows(40)[20:], {"source": "y"}, *rows(1)])
    report = score_files(job, scorer, existing="resume")
    assert (report.resumed, report.appended, report.was_complete) == (40, 1, False)


@pytest.mark.parametrize("ending", WRITABLE)
def test_a_record_is_of_the_rows_that_it_was_written_with(
    table: Path, tmp_path: Path, scorer: EstimeScorer, ending: str
) -> None:
    """Rows can be left out, in another order and have further columns; no score is another one."""
    out, changed = tmp_path / f"o{ending}", tmp_path / f"c{ending}"
    job = Job(inputs=(table,), output=out, threshold=0.3)
    score_files(job, scorer)
    record, made = record_of(out), [row for _, row in table_rows(out)]
    write(changed, [{**row, "mine": 1} for row in reversed(made[1:])], record)
    assert len(read_scores(changed)) == 39
    write(changed, [{**made[0], "note": 1, "tokens": f"{made[0]['tokens']}.0"}, *made[1:]], record)
    assert len(read_scores(changed)) == 40
    others = ({"alarms": 99}, {"line": 3}, {"source_id": "0" * 16}, {"flag": 2})
    for wrong in (made[0], *({**made[1], **other} for other in others)):
        write(changed, [made[0], wrong], record)
        with pytest.raises(ValueError, match="is of, but line 2 has others"):
            read_scores(changed)
    for column in ("alarms", "line", "source_id", "flag"):
        write(changed, [{k: v for k, v in row.items() if k != column} for row in made], record)
        with pytest.raises(ValueError, match=f"column '{column}' is missing.*keep all columns of"):
            read_scores(changed)
    write(out, [*made[1:], made[0]], record)
    with pytest.raises(NotResumableError, match="in their order, but they have changed"):
        score_files(job, scorer, existing="resume")
    del record["row_digests"]  # as version 0.6.0 wrote it
    write(changed, [{**made[0], "alarms": 99}], record)
    assert read_scores(changed)["alarms"].tolist() == [99]


def test_further_inputs_are_looked_at_before_the_first_is_scored(
    table: Path, tmp_path: Path
) -> None:
    scorer = EstimeScorer(model=str(tmp_path))  # a folder without an encoder: none is loaded
    (tmp_path / "folder.csv").mkdir()
    contents = {"a.txt": "", "b.csv": "a;b", "c.csv": "source,source", "d.jsonl": '{"quelle": 1}'}
    texts = {"s": "a dog\na cat\n", "t": "a dog\na cat\n", "u": "a dog\n"}
    for name, content in {**contents, **texts}.items():
        (tmp_path / name).write_text(content)
    for name in ("folder.csv", *contents, "gone.jsonl"):
        with pytest.raises((ValueError, OSError), match=name):
            score_files(Job(inputs=(table, tmp_path / name)), scorer)
    layout = Layout(source_file=tmp_path / "s")
    with pytest.raises(ValueError, match="s and u to have the same number of lines"):
        score_files(Job(inputs=(tmp_path / "t", tmp_path / "u"), layout=layout), scorer)


@pytest.mark.parametrize("ending", WRITABLE)
def test_sources_that_are_lists_survive_every_format(
    tmp_path: Path, scorer: EstimeScorer, ending: str
) -> None:
    made = [
        {"source": ["A dog sat.", "A cat ran."], "summary": "A dog."},
        {"source": [{"id": 7, "text": "A dog sat."}], "summary": "A dog."},
        {"source": "A dog sat.", "summary": "A dog."},
    ]
    out, again = tmp_path / f"out{ending}", tmp_path / "again.jsonl"
    table = write_jsonl(tmp_path / "pairs.jsonl", made)
    scored = score_files(Job(inputs=(table,), output=out, keep_texts=True, prefix="e_"), scorer)
    assert read_scores(out)["source"].tolist() == [
        "A dog sat.\nA cat ran.",
        "A dog sat.",
        "A dog sat.",
    ]
    (_, row), *_ = table_rows(out)
    assert row["source"] == (made[0]["source"] if ending == ".jsonl" else "A dog sat.\nA cat ran.")
    copied = score_files(Job(inputs=(out,), output=again), scorer)
    assert copied.scores.frame["source_id"].tolist() == scored.scores.frame["source_id"].tolist()


def test_a_list_that_is_text_is_warned_of(tmp_path: Path, scorer: EstimeScorer) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text('source,summary\n"[""A dog sat.""]",A dog.\n[1] A dog.,A dog.\n')
    with pytest.warns(RuntimeWarning, match=r"look like lists .* concerns 1 of 2 pairs"):
        score_files(Job(inputs=(table,)), scorer)

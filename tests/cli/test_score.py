"""``estime score`` as its user meets it: the screen, the files, the exit status."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

from estime_metric import EstimeScorer
from estime_metric.measures import MEASURES
from estime_metric.table.table import record_of, write
from tests.command import SHORT, Ran, csv_rows, json_rows, run_command, write_jsonl
from tests.pages import ROOT

SOURCE = "The cat sat on the mat."
PAIR = {"source": SOURCE, "summary": "The cat sat."}

#: Runs ``estime score`` with a small encoder.
Score = Callable[..., Ran]


@pytest.fixture
def score(encoder: list[str]) -> Score:
    return partial(run_command, "score", *encoder)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two pairs, one of which is blank, between invalid rows."""
    path = tmp_path / "pairs.jsonl"
    rows = [
        {**PAIR, "id": "a"},
        {"id": "b", "source": None, "summary": "x"},
        {"id": "c", "source": SOURCE, "summary": "   "},
    ]
    path.write_text("\n".join(["{bad", *map(json.dumps, rows)]))
    return path


def tables(folder: Path, **summaries: list[str]) -> list[Path]:
    """Files ``NAME.jsonl`` of pairs of the one source."""
    return [
        write_jsonl(folder / f"{name}.jsonl", [{**PAIR, "summary": text} for text in texts])
        for name, texts in summaries.items()
    ]


@pytest.mark.slow
def test_the_examples_are_scored_offline_and_the_faithful_ones_raise_fewer_alarms(
    tmp_path: Path,
) -> None:
    out = tmp_path / "scores.jsonl"
    run_command("score", "--example", "-q", "-o", out)
    rows = json_rows(out)
    assert [row["verdict"] for row in rows] == ["faithful", "unfaithful"] * 4
    for good, bad in zip(rows[::2], rows[1::2], strict=True):
        assert good["alarm_rate"] < bad["alarm_rate"]
    assert record_of(out)["signature"].startswith("ESTIME|model:embedded@sha256-")


def test_bad_rows_are_named_and_the_rest_is_scored(table: Path, score: Score) -> None:
    shown = score(table, status=1)
    assert shown.stderr.splitlines() == [
        "skipped line 1: is not JSON (Expecting property name enclosed in double quotes at column 2)",
        "skipped line 3: column 'source' should contain text, but is missing",
    ]
    assert "2 pairs scored, 2 rows skipped, 1 blank summary" in shown.stdout
    assert "1 blank summary (inconsistency 1): line 4" in shown.stdout
    assert "nothing was checked" not in shown.stdout
    assert "All pairs have the same source, so there are no intervals." in shown.stdout


def test_many_bad_rows_are_counted(score: Score, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps(PAIR) + "\nbad" * 50)
    said = score(path, status=1).stderr
    assert said.count("is not JSON") == 20
    assert "skipped 30 more rows" in said


def test_a_file_has_the_scores_and_other_columns(table: Path, score: Score, tmp_path: Path) -> None:
    out = tmp_path / "scores.csv"
    arguments = [table, "-l", "2,1", "-o", out]
    shown = score(*arguments, status=1).stdout
    assert f"wrote 2 rows to {out}" in shown
    assert "The cat sat." not in shown  # pairs are listed if they are not written
    shown = score(*arguments, "--resume", status=1).stdout
    assert shown.endswith(f"{out} was already complete: 2 rows\n")
    rows = csv_rows(out)
    assert [(row["line"], row["id"]) for row in rows] == [("2", "a"), ("4", "c")]
    assert {"alarms_layer2", "alarms_layer1"} < rows[0].keys()


@pytest.mark.slow
def test_columns_and_measures_go_by_name(score: Score, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(f"article,highlights\n{SOURCE},The cat sat.\n")
    columns = ["--source-column", "article", "--summary-column", "highlights"]
    shown = score(path, *columns, "--unit", "word", "--measures", "soft,coherence").stdout
    header = "line +inconsistency +alarms +tokens +soft +coherence +summary"
    for line in (header, r"(?m)^soft +-?0\.\d{4} "):
        assert re.search(line, shown)
    _, _, means = shown.partition("better is")
    directions = dict(re.findall(r"(?m)^([a-z_]+) .*?(lower|higher|) *$", means))
    assert directions == {
        "inconsistency": "lower",
        "new_names": "lower",
        "repetition": "lower",
        "new_numbers": "lower",
        "alarms": "lower",
        "copied_density": "",
        "tokens": "",
        "blank": "",
        "soft": "higher",
        "coherence": "higher",
    }
    assert all(name in run_command("score", "--help", columns=999).stdout for name in MEASURES)


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_a_source_that_is_a_list_of_texts_is_one_source(
    score: Score, encoder: list[str], tmp_path: Path, ending: str
) -> None:
    """It is joined by line breaks for all commands, and kept as it came."""
    texts = [["The cat sat on the mat.", "It slept."], ["The dog ran."]]
    made = [{**PAIR, "source": source, "label": label} for label, source in enumerate(texts)]
    whole = [{**row, "source": "\n".join(row["source"])} for row in made]
    lists, out = tmp_path / f"lists{ending}", tmp_path / "out.jsonl"
    write(lists, made)
    joined = write_jsonl(tmp_path / "joined.jsonl", whole)
    score(lists, "-o", out, "--keep-texts")
    scores = json_rows(out)
    assert [row["source"] for row in scores] == texts
    score(joined, "-o", out, "--keep-texts", "--overwrite")
    assert json_rows(out) == [
        {**row, "source": pair["source"]} for row, pair in zip(scores, whole, strict=True)
    ]
    shown = score(lists, "--worst", 1).stdout
    assert shown == score(joined, "--worst", 1).stdout
    assert "\nthe worst summary:\nline 2 " in shown
    run_command("explain", lists, *encoder, "-o", out, "--overwrite")
    assert {word["passage"] for word in json_rows(out)[0]["words"]} == {0, 1}
    by_label = ["--measures", "label", "--lower", "label"]
    assert "0/2/0" in run_command("compare", lists, joined, *by_label).stdout  # by their sources


def test_standard_input_is_json_lines_and_standard_output_has_only_rows(
    table: Path, score: Score
) -> None:
    typed = table.read_bytes()
    for name in ("-", "/dev/stdin"):
        shown = score(name, "-o", "-", status=1, stdin=typed)
        rows = [json.loads(line) for line in shown.stdout.splitlines()]
        assert shown.stderr.splitlines()[-1].startswith("ESTIME|m:")
        assert [row["id"] for row in rows] == ["a", "c"]
    csv = score("-", status=2, stdin="source,summary\na,b\n").stderr
    assert "line 1: is not JSON" in csv
    assert csv.endswith("standard input is read as JSON Lines.\n")
    assert "Use - to read JSON Lines from standard input." in score(status=2, stdin=typed).stderr
    assert "name the one to resume." in score("-", "-o", "-", "--resume", status=2).stderr
    assert "Expected pairs in standard input" in score("-", status=2, stdin="\n").stderr


def test_text_files_are_scored_line_by_line(score: Score, tmp_path: Path) -> None:
    texts = {"s": f"{SOURCE}\nThe dog ran.\n", "a": "A cat.\nThe dog.\n", "b": "A\n\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    sources, first, second = (tmp_path / f"{name}.txt" for name in texts)
    shown = score("-s", sources, "-i", first, second, columns=500).stdout
    listed = re.findall(r"(?m)^ *(\d) +\d\.\d{3} +\d+ +\d+ .*/(.)\.txt", shown)
    assert listed == [(line, name) for name in "ab" for line in "12"]
    alone, both = (
        json.loads(score("-s", sources, "-i", *summaries, "--json").stdout)
        for summaries in ([second], [first, second])
    )
    assert both["files"][str(second)] == alone["measures"]


def test_json_is_one_object_with_everything(table: Path, score: Score, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    shown = score(table, "--json", "-o", out, status=1)
    content, record = json.loads(shown.stdout), record_of(out)
    assert f"wrote 2 rows to {out}" in shown.stderr
    assert content["seconds"] > 0
    for name in ("pairs", "skipped", "blank", "unchecked", "measures", "signature"):
        assert content[name] == record[name]


def test_a_log_has_about_ten_lines_of_the_bar(tmp_path: Path, bert_folder: str) -> None:
    (path,) = tables(tmp_path, p=[f"The cat sat {number} times." for number in range(200)])
    with mock.patch("estime_metric.jobs.journal.LINES", 4):
        shown = run_command("score", path, "-m", bert_folder, *SHORT)
    drawn = shown.stderr.splitlines()
    assert 5 < len(drawn) < 16
    assert "200/200" in drawn[-1]
    assert "\r" not in shown.stderr


@pytest.mark.slow
@pytest.mark.parametrize("shown", [["score", "-q", "-o", "-"], ["score", "-q"], ["explain"]])
def test_a_reader_that_stops_reading_ends_python_m_as_other_programs(shown: list[str]) -> None:
    """Rows, tables and explanations; Rich, which prints the latter two, would end with 1."""
    options = ["--example", "-m", "embedded-small", "--layers", "1", "--distance", "2"]
    command = [sys.executable, "-m", "estime_metric", *shown, *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate()
    assert (process.returncode, said) == (141, "")


def test_few_sources_are_said_and_the_short_signature_is_the_last_line(
    score: Score, bert_folder: str, tmp_path: Path
) -> None:
    texts = [SOURCE, "The dog ran.", "A dog sat."]
    path = write_jsonl(tmp_path / "several.jsonl", [{**PAIR, "source": text} for text in texts])
    shown = score(path).stdout
    assert "There are only 3 different sources, so the intervals are too narrow." in shown
    scorer = EstimeScorer(model=bert_folder, window=60, margin=10)
    assert shown.splitlines()[-1] == scorer.signature.short
    interval = scorer.score(["The cat sat."] * 3, texts).interval("alarms")
    assert re.search(rf"(?m)^alarms +{interval.mean:.2f} +\[{interval.low:.2f}, ", shown)


def test_flagged_summaries_are_named_worst_first_with_their_words(
    score: Score, tmp_path: Path
) -> None:
    a, b = paths = tables(
        tmp_path,
        a=["The cat sat.", "A zebra sat on a zebra."],
        b=["", "The dog sat on the mat."],
    )
    out = tmp_path / "out.csv"
    shown = score(*paths, "--threshold", 0.25, "-o", out).stdout
    values = [float(row["inconsistency"]) for row in csv_rows(out)]
    assert [row["flag"] for row in csv_rows(out)] == [f"{value >= 0.25:d}" for value in values]
    flagged = sorted((value for value in values if value >= 0.25), reverse=True)
    named = re.findall(r"(?m) line \d  inconsistency ([\d.]+)$", shown)
    assert named == [f"{value:.3f}" for value in flagged]
    assert f"{len(flagged)} summaries flagged (inconsistency >= 0.25):" in shown
    assert "b.jsonl line 1  inconsistency 1.000\n  blank summary\n" in shown
    assert "\n  new words: zebra\n" in shown.partition("a.jsonl line 2  ")[2]
    worst = json.loads(score(*paths, "--worst", 2, "--json").stdout)["worst"]
    assert [(pair["file"], pair["line"]) for pair in worst] == [(str(b), 1), (str(a), 2)]
    assert worst[1]["words"]["new word"] == ["zebra"]


def test_ten_flagged_summaries_are_listed_unless_a_number_is_given(
    score: Score, tmp_path: Path
) -> None:
    (path,) = tables(tmp_path, p=["zebra"] * 11)
    shown = score(path, "--threshold", 0.9).stdout
    assert "11 summaries flagged (inconsistency >= 0.9); the worst 10:" in shown
    assert shown.count(" flag ") == 12  # rows of the table and its header
    assert "; the worst 1:" in score(path, "--threshold", 0.9, "--worst", 1).stdout
    (path,) = tables(tmp_path, p=["The cat sat on the mat."])
    assert "0 summaries flagged (inconsistency >= 1)\n" in score(path, "--threshold", 1).stdout


def test_own_columns_flag_and_file_are_columns_like_others(score: Score, tmp_path: Path) -> None:
    """Only a job with a threshold writes the one, and one of several files the other."""
    row = {**PAIR, "flag": True, "file": "doc.txt"}
    paths = [write_jsonl(tmp_path / f"{name}.jsonl", [row]) for name in "ab"]
    out = tmp_path / "out.jsonl"
    score(paths[0], "-o", out)
    assert [(row["flag"], row["file"]) for row in json_rows(out)] == [(True, "doc.txt")]
    assert "doc.txt" not in score(*paths, columns=500).stdout


def test_summaries_without_anything_to_check_are_named_with_their_file(
    score: Score, tmp_path: Path
) -> None:
    """A blank one once, as blank."""
    a, b, empty = paths = tables(
        tmp_path, a=["The cat sat.", " ", "zebra"], b=[" ", "The cat sat."], empty=[]
    )
    out = tmp_path / "out.jsonl"
    for resumed in ([], ["--resume"]):  # the second run has nothing left to do
        shown = score(*paths, "-o", out, *resumed, columns=300)
        lines = shown.stdout.splitlines()
        assert (
            f"1 summary shares no token with its source, so nothing was checked: {a} line 3"
            in lines
        )
        assert f"2 blank summaries (inconsistency 1): {a} line 2; {b} line 1" in lines
        assert shown.stderr == f"{empty} has no pair\n"


def test_the_report_says_in_how_many_summaries_names_could_not_be_counted(
    score: Score, tmp_path: Path
) -> None:
    (path,) = tables(tmp_path, p=["A CAT SAT ON MATTRESSES.", "The cat sat on mattresses."])
    said = "Names could not be counted in 1 summary, because capitals say nothing there."
    assert said in score(path).stdout.splitlines()
    assert json.loads(score(path, "--json").stdout)["uncounted_names"] == 1
    (path,) = tables(tmp_path, p=["The cat sat on mattresses.", ""])
    assert "Names" not in score(path).stdout


def test_several_processes_of_torchrun_are_refused_with_the_section_to_read(
    table: Path, score: Score, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("WORLD_SIZE", "2")
    refused = score(table, status=2).stderr
    assert refused.startswith("error: Expected a single process, but torchrun has started several")
    section, page = re.findall(r"'(.+?)'", refused)
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {page}\n")
    assert f"## {section}\n" in text
    monkeypatch.delenv("TORCHELASTIC_RUN_ID")  # schedulers set the size too, for other programs
    score(table, status=1)

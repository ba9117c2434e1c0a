"""``estime explain`` as its user meets it: the screen, the files, the exit status."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest

from estime_metric import EstimeScorer
from estime_metric.examples import PATH as EXAMPLES
from tests.command import SHORT, json_rows, run_command, write_jsonl

SOURCE = "The cat sat on the mat while the dog slept."
run = partial(run_command, "explain", columns=100)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Three pairs and an invalid row."""
    path = tmp_path / "pairs.jsonl"
    rows = [
        {"source": SOURCE, "summary": summary} for summary in ("The cat sat.", "The dog sat.", "")
    ]
    path.write_text("\n".join(["{bad", *map(json.dumps, rows)]))
    return path


@pytest.mark.slow
def test_an_example_is_explained_offline_on_the_screen() -> None:
    pair = json_rows(EXAMPLES)[1]
    shown = EstimeScorer().explain(pair["summary"], pair["source"])
    text = " ".join(run("--example").stdout.split())
    assert f"{shown.alarms} alarms tokens whose best match" in text
    assert "rust in twelve[8] of its four[9] main beams" in text
    assert "rust in [four] of its" in text
    assert "February[4]" not in run("--example", "--row", 1).stdout


def test_a_pair_is_given_on_the_command_line(bert_folder: str) -> None:
    options = ["-m", bert_folder, "--unit", "word", "-l", 2, *SHORT]
    text = run("--summary", "The [bold]dog sat.", "--source", SOURCE, *options).stdout
    assert "[bold" in text
    assert "|layers:2|unit:word|window:60|margin:10|" in re.sub(r"\s", "", text)


def test_all_pairs_of_a_file_or_those_of_some_rows(table: Path, bert_folder: str) -> None:
    every = run(table, "-m", bert_folder, *SHORT, status=1)
    assert re.findall(r"^line \d$", every.stdout, re.MULTILINE) == ["line 2", "line 3", "line 4"]
    assert "skipped line 1: is not JSON" in every.stderr
    assert "The summary is empty" in every.stdout
    some = run(table, "-m", bert_folder, "--row", 3, "--row", 2, *SHORT)
    assert re.findall(r"^line \d$", some.stdout, re.MULTILINE) == ["line 3", "line 2"]
    assert "line" not in run(table, "-m", bert_folder, "-r", 3, *SHORT).stdout.splitlines()[0]


def test_a_page_holds_all_pairs(table: Path, bert_folder: str, tmp_path: Path) -> None:
    out = tmp_path / "pairs.html"
    out.write_text("old")
    shown = run(table, "-m", bert_folder, "-o", out, "--overwrite", *SHORT, status=1)
    assert shown.stdout == f"wrote 3 pairs to {out}\n"
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    headings = re.findall("<h2>(.*?)</h2>", page)
    assert sorted(headings) == ["line 2", "line 3", "line 4"]
    assert headings[0] == "line 4"  # the blank summary is the worst


def test_data_go_to_a_file_or_the_screen(table: Path, bert_folder: str, tmp_path: Path) -> None:
    out = tmp_path / "explained.jsonl"
    run(table, "-m", bert_folder, "-r", 2, "-r", 4, "-o", out, *SHORT)
    rows = json_rows(out)
    assert [(row["line"], row["prediction"]) for row in rows] == [(2, "The cat sat."), (4, "")]
    expected = EstimeScorer(model=bert_folder, window=60, margin=10).score(
        ["The cat sat."], [SOURCE]
    )
    assert rows[0]["alarms"] == expected.values("alarms")[0]
    assert [row["signature"] for row in rows] == [expected.signature] * 2
    assert len(rows[0]["units"]) == expected.values("tokens")[0]
    screen = run(table, "-m", bert_folder, "-r", 2, "-r", 4, "-o", "-", *SHORT).stdout
    assert [json.loads(line) for line in screen.splitlines()] == rows


def test_a_screen_is_not_flooded(tmp_path: Path, bert_folder: str) -> None:
    path = write_jsonl(tmp_path / "many.jsonl", [{"source": SOURCE, "summary": "A dog."}] * 11)
    assert (
        "at most 10 pairs for the screen, but got 11"
        in run(path, "-m", bert_folder, *SHORT, status=2).stderr
    )
    run(path, "-m", bert_folder, "-o", tmp_path / "many.html", *SHORT)


def test_text_files(tmp_path: Path) -> None:
    """The verdicts are those that `estime score` counts with the same options."""
    (tmp_path / "s.txt").write_text("The cat sat on the mat.\nThe dog ran to the old house.\n")
    (tmp_path / "a.txt").write_text("The cat sat.\nThe old dog ran to the mat.\n")
    texts = ["-s", tmp_path / "s.txt", "-i", tmp_path / "a.txt", "-m", "embedded-small"]
    run_command("score", *texts, "-q", "-o", tmp_path / "scores.jsonl")
    shown = run_command("explain", *texts, "-o", tmp_path / "out.jsonl")
    assert f"wrote 2 pairs to {tmp_path / 'out.jsonl'}" in shown.stdout
    found, scores = (json_rows(tmp_path / name) for name in ("out.jsonl", "scores.jsonl"))
    assert [row["line"] for row in found] == [1, 2]
    assert "|distance:2|" in found[0]["signature"]
    assert [row["alarms"] for row in found] == [row["alarms"] for row in scores]
    one = run_command("explain", *texts, "--row", 2, "-o", "-").stdout
    assert one.splitlines()[0] == (tmp_path / "out.jsonl").read_text().splitlines()[1]
    refused = run_command("explain", *texts, "--row", 3, status=2).stderr
    assert "got 3 of 2 pairs, the last on line 2" in refused

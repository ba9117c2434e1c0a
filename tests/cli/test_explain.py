"""``estime explain`` as its user meets it: the screen, the files, the exit status."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from estime_metric import EstimeScorer
from estime_metric.compare import read_scores
from estime_metric.examples import PATH as EXAMPLES
from estime_metric.table.table import record_of, write
from tests.command import SHORT, Ran, json_rows, run_command, table_rows, write_jsonl

SOURCE = "The cat sat on the mat while the dog slept."
run = partial(run_command, "explain", columns=100)


@pytest.fixture
def explain(bert_folder: str) -> Callable[..., Ran]:
    """Runs ``estime explain`` with a small encoder."""
    return partial(run, "-m", bert_folder, *SHORT)


def pairs(*summaries: str) -> list[dict[str, str]]:
    return [{"source": SOURCE, "summary": summary} for summary in summaries]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Three pairs and an invalid row."""
    path = tmp_path / "pairs.jsonl"
    path.write_text(
        "\n".join(["{bad", *map(json.dumps, pairs("The cat sat.", "The dog sat.", ""))])
    )
    return path


@pytest.mark.slow
def test_an_example_is_explained_offline_on_the_screen() -> None:
    pair = json_rows(EXAMPLES)[1]
    shown = EstimeScorer().explain(pair["summary"], pair["source"])
    text = " ".join(run("--example").stdout.split())
    assert re.search(r"rust in twelve\[\d\] of its four\[\d\] main beams", text)
    assert "rust in [four] of its" in text
    assert "twelve[" not in run("--example", "--row", 1).stdout
    every = len(shown.surest_words(function_words=True))
    assert f"[{every}]" in run("--example", "--function-words").stdout


def test_a_pair_of_the_command_line(explain: Callable[..., Ran]) -> None:
    texts = ["--summary", "The [bold]dog sat.", "--source", SOURCE]
    shown = explain(*texts, "--unit", "word", "-l", 2).stdout
    assert "[bold" in shown
    assert "|layers:2|unit:word|window:60|margin:10|" in re.sub(r"\s", "", shown)


def test_all_pairs_of_a_file_or_those_of_some_rows(
    table: Path, explain: Callable[..., Ran]
) -> None:
    every = explain(table, status=1)
    assert re.findall(r"^line \d$", every.stdout, re.MULTILINE) == ["line 2", "line 3", "line 4"]
    assert "skipped line 1: is not JSON" in every.stderr
    assert "The summary is empty" in every.stdout
    some = explain(table, "--row", 3, "--row", 2)
    assert re.findall(r"^line \d$", some.stdout, re.MULTILINE) == ["line 3", "line 2"]
    assert "line" not in explain(table, "-r", 3).stdout.splitlines()[0]


def test_a_page_has_all_pairs(table: Path, explain: Callable[..., Ran], tmp_path: Path) -> None:
    out = tmp_path / "pairs.html"
    shown = explain(table, "-o", out, status=1)
    assert shown.stdout == f"wrote 3 pairs to {out}\n"
    headings = re.findall("<h2>(.*?)</h2>", out.read_text(encoding="utf-8"))
    assert headings[0] == "line 4"  # the blank summary is the worst
    assert sorted(headings) == ["line 2", "line 3", "line 4"]


def test_data_go_to_a_file_or_the_screen(
    table: Path, explain: Callable[..., Ran], bert_folder: str, tmp_path: Path
) -> None:
    out = tmp_path / "explained.jsonl"
    explain(table, "-r", 2, "-r", 4, "-o", out)
    rows = json_rows(out)
    assert [(row["line"], row["summary"]) for row in rows] == [(2, "The cat sat."), (4, "")]
    scorer = EstimeScorer(model=bert_folder, window=60, margin=10)
    expected = scorer.explain("The cat sat.", SOURCE)
    assert (rows[0]["alarms"], len(rows[0]["units"])) == (expected.alarms, expected.tokens)
    assert [row["signature"] for row in rows] == [scorer.signature] * 2
    assert explain(table, "-r", 2, "-r", 4, "-o", "-").stdout == out.read_text()


def test_a_screen_is_not_flooded(tmp_path: Path, explain: Callable[..., Ran]) -> None:
    path = write_jsonl(tmp_path / "many.jsonl", pairs("A dog.") * 11)
    refused = explain(path, status=2).stderr
    assert "at most 10 pairs for the screen, but got 11" in refused
    explain(path, "-o", tmp_path / "many.html")


def test_the_worst_pairs_are_explained_in_the_order_of_their_scores(
    table: Path, explain: Callable[..., Ran], bert_folder: str, tmp_path: Path
) -> None:
    """Those of a file with scores are not computed again, so another encoder does not change them."""

    def lines(shown: str) -> list[int]:
        return list(map(int, re.findall(r"^(?:<h2>)?line (\d)", shown, re.MULTILINE)))

    scored = tmp_path / "scored.csv"
    options = ["--keep-texts", "--prefix", "e_", "-m", bert_folder, *SHORT]
    run_command("score", table, "-o", scored, *options, status=1)
    scores = read_scores(scored)["inconsistency"]
    expected = scores.sort_values(ascending=False, kind="stable").index.tolist()
    made = [row for _, row in table_rows(scored)]
    for row, score in zip(made, (0.2, 0.1, 0.9), strict=True):
        row["e_inconsistency"] = score
    record = record_of(scored)
    del record["row_digests"]
    write(scored, made, record)
    page = tmp_path / "page.html"
    assert lines(explain(scored, "--worst", 2).stdout) == [3, 1]
    explain(scored, "--worst", 3, "-o", page)
    assert re.findall("<h2>line (.)</h2>", page.read_text(encoding="utf-8")) == ["3", "1", "2"]
    own = explain(table, "--worst", 2, status=1)
    assert lines(own.stdout) == [index + 1 for index in expected[:2]]
    assert "skipped line 1" in own.stderr

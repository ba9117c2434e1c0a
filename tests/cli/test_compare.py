"""``estime compare`` as its user meets it: scored files, pairs scored now, and rows without a
partner.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from estime_metric import EstimeScorer
from estime_metric.comparison import DEFAULT_MEASURES, compare_rows, to_table
from estime_metric.studies.meta import approximate_randomization, paired_bootstrap
from tests.command import SHORT, json_rows, run_command, write_jsonl
from tests.comparison.test_verdicts import SOURCES, A, B

run = partial(run_command, "compare")


def scored(path: Path, alarms: list[int], **further: list) -> Path:
    rows = [
        {
            "line": index + 1,
            "id": f"e{index}",
            "alarms": value,
            "alarm_rate": value / 20,
            "tokens": 20,
        }
        | {name: values[index] for name, values in further.items()}
        | {"signature": "ESTIME|model:x|layers:5|version:0"}
        for index, value in enumerate(alarms)
    ]
    return write_jsonl(path, rows)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return scored(tmp_path / "a.jsonl", A), scored(tmp_path / "b.jsonl", B)


def test_the_numbers_are_those_of_the_library(files: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    shown = run(*files, "-n", 500, "--seed", 4, "--confidence", 0.9, "-o", out).stdout
    sides = [json_rows(path) for path in files]
    expected = compare_rows(
        *sides, names=["a.jsonl", "b.jsonl"], n=500, seed=4, confidence=0.9
    ).to_rows()
    assert json_rows(out) == json.loads(json.dumps(expected))
    assert [row["measure"] for row in expected] == ["alarms", "alarm_rate"]
    p_value = approximate_randomization(A, B, n=500, seed=4).p_value
    for line in (
        f"alarms: B is better (approximate randomization, p = {p_value:.4f})",
        f"wrote 2 rows to {out}",
        "90% interval",
        "8 summaries, 0 blank, 20.0 tokens per summary",
    ):
        assert line in shown
    assert "…" not in shown
    lines = shown.splitlines()
    for name, values in (("A", A), ("B", B)):  # the mean of each system has an interval too
        own = paired_bootstrap(values, [0.0] * len(values), n=500, seed=4, confidence=0.9)
        (place,) = (index for index, line in enumerate(lines) if f"mean of {name} " in line)
        assert lines[place].split()[3] == f"{own.difference:.4f}"
        cells = lines[place + 1].split()
        assert cells[:4] == ["90%", "interval", f"[{own.low:.4f},", f"{own.high:.4f}]"]


@pytest.mark.parametrize("ending", [".md", ".tex"])
@pytest.mark.parametrize("count", [2, 3])
def test_a_written_table_says_everything_that_the_screen_says(
    files: tuple[Path, Path], tmp_path: Path, ending: str, count: int
) -> None:
    paths = [*files, scored(tmp_path / "c.jsonl", A[::-1])][:count]
    out = tmp_path / f"table{ending}"
    shown = run(*paths, "-n", 500, "-o", out, columns=200).stdout
    text = out.read_text().replace("\\", "").replace("textbar{}", "|")
    sides = [json_rows(path) for path in paths]
    names = ["a.jsonl", "b.jsonl"] if count == 2 else ["a", "b", "c"]
    found = compare_rows(*sides, names=names, n=500)
    notes = to_table(found).notes
    assert notes[-1] == found.signature
    said = ["8 examples", "matched by column 'id'", *found.notes]
    if count == 2:
        assert "**a.jsonl (A) and b.jsonl (B) compared**" in text or ending == ".tex"
        assert "A (a.jsonl): 8 summaries, 0 blank, 20.0 tokens per summary." in notes
        said += [f"{measure}: {found.verdict(measure)}" for measure in found.pairs]
    for sentence in (*said, *notes):
        assert sentence in shown
        assert sentence in text
    assert "****" not in text
    assert "caption{}" not in text


def test_rows_and_numbers_name_the_files(files: tuple[Path, Path], tmp_path: Path) -> None:
    run(*files, "-n", 100, "-o", tmp_path / "out.json")
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["systems"] == {"A": "a.jsonl", "B": "b.jsonl"}
    assert {(row["system_a"], row["name_a"], row["name_b"]) for row in found["pairs"]} == {
        ("A", "a.jsonl", "b.jsonl")
    }


def test_broken_rows_and_those_without_a_partner_are_named(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    files[0].write_text(files[0].read_text() + "{bad\n" + json.dumps({"id": "e9"}))
    rows = json_rows(files[1])
    write_jsonl(files[1], [*rows[:0:-1], {**rows[0], "id": "stranger"}])
    said = run(*files, "-o", tmp_path / "out.jsonl", status=1).stderr
    assert "a.jsonl line 9: is not JSON" in said
    assert "a.jsonl line 10: has no signature" in said
    assert "a.jsonl: 'e0' has no matching row in b.jsonl" in said
    assert "b.jsonl: 'stranger' has no matching row in a.jsonl" in said
    row = json_rows(tmp_path / "out.jsonl")[0]
    assert (row["examples"], row["difference"]) == (
        7,
        pytest.approx(sum(A[1:]) / 7 - sum(B[1:]) / 7),
    )


def test_files_that_hold_neither(tmp_path: Path, files: tuple[Path, Path]) -> None:
    bare = write_jsonl(tmp_path / "bare.jsonl", [{"text": "x"}])
    said = run(bare, files[0], status=2).stderr
    assert re.search(
        "Expected a column 'source' in bare.jsonl, but its columns are text.*--source-column", said
    )
    said = run(files[0], write_jsonl(tmp_path / "empty.csv", []), status=2).stderr
    assert "empty.csv to have scores or pairs, but it has neither: it is empty" in said


def test_without_the_extra_it_says_so_at_once(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [
        name
        for name in sys.modules
        if name.startswith(("estime_metric.studies.meta", "estime_metric.comparison"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pandas", None)
    write_jsonl(files[0], [{"source": "A cat.", "summary": "A cat."}])
    shown = run(files[0], files[1], "-m", "nobody/nothing", status=2)
    assert "pip install 'estime-metric[meta]'" in shown.stderr


@pytest.fixture
def pairs(tmp_path: Path) -> tuple[Path, Path]:
    """Summaries of the same sources by two systems; the second has one source more."""
    one = [
        {"source": source, "summary": source[:22], "id": index}
        for index, source in enumerate(SOURCES)
    ]
    two = [
        {"source": source, "summary": "The sun fell on the dog and the river slept.", "id": 9}
        for source in SOURCES
    ]
    two.insert(0, {"source": "Nobody.", "summary": "Nobody."})
    return write_jsonl(tmp_path / "one.jsonl", one), write_jsonl(tmp_path / "two.jsonl", two)


def test_pairs_are_scored_and_matched_by_source(
    pairs: tuple[Path, Path], bert_folder: str, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    shown = run(
        *pairs, "-m", bert_folder, "-q", *SHORT, "--measures", "alarms,soft", "-o", out, status=1
    )
    assert "two.jsonl: 'Nobody.' has no matching row in one.jsonl" in shown.stderr
    scorer = EstimeScorer(model=bert_folder, window=60, margin=10, measures=("soft", "copied"))
    for row in json_rows(out):
        for side, path in (("mean_a", pairs[0]), ("mean_b", pairs[1])):
            known = [each for each in json_rows(path) if each["source"] in SOURCES]
            result = scorer.score(
                [each["summary"] for each in known], [each["source"] for each in known]
            )
            assert row[side] == pytest.approx(result.mean(row["measure"]), abs=1e-5)
            assert row[side.replace("mean", "copied")] == pytest.approx(
                result.mean("copied"), abs=1e-5
            )
        assert row["signature"] == scorer.signature


def test_one_column_can_hold_both_texts(bert_folder: str, tmp_path: Path) -> None:
    rows = [{"text": source} for source in SOURCES]
    paths = [write_jsonl(tmp_path / f"{name}.jsonl", rows) for name in ("one", "two")]
    columns = ["--source-column", "text", "--summary-column", "text"]
    assert "2 summaries, 0 blank" in run(*paths, *columns, "-m", bert_folder, "-q", *SHORT).stdout


def test_a_scored_file_and_pairs_with_its_settings(
    pairs: tuple[Path, Path], bert_folder: str, tmp_path: Path
) -> None:
    rows = [
        {"source": source, "summary": "The sun fell.", "id": index}
        for index, source in enumerate(SOURCES)
    ]
    with_ids = write_jsonl(tmp_path / "two.jsonl", rows)
    options = ["-m", bert_folder, "-q", *SHORT]
    run_command("score", with_ids, "-o", tmp_path / "scores.csv", *options)
    found = []
    for second in (tmp_path / "scores.csv", with_ids):
        run(pairs[0], second, *options, "-o", tmp_path / "out.jsonl", "--overwrite")
        found.append([row["mean_b"] for row in json_rows(tmp_path / "out.jsonl")])
    assert found[0] == found[1]
    refused = run(pairs[0], tmp_path / "scores.csv", *options, "--distance", "4", status=2)
    assert "Expected all systems to have the same signature" in refused.stderr


def test_two_columns_of_one_table_are_compared_without_further_options(
    bert_folder: str, tmp_path: Path
) -> None:
    """Neither file of scores contains the source; the lines of the table show which rows belong
    together.
    """
    rows = [
        {"source": source, "short": source[:22], "mixed": "The sun fell on the dog."}
        for source in SOURCES
    ]
    table = write_jsonl(tmp_path / "table.jsonl", rows)
    for name in ("short", "mixed"):
        out = tmp_path / f"{name}.csv"
        run_command(
            "score", table, "--summary-column", name, "-o", out, "-m", bert_folder, "-q", *SHORT
        )
    shown = run(tmp_path / "short.csv", tmp_path / "mixed.csv").stdout
    for said in (
        "matched by column 'line'",
        "correct only if all files list the same sources in the same order",
        "2 summaries",
        "alarms: no significant difference",
        "inconsistency: no significant difference",
        "There are only 2 examples.",
    ):
        assert said in shown


def test_everything_fits_on_a_usual_screen_and_nothing_is_markup(tmp_path: Path) -> None:
    rates = {
        name: [0.1234] * 8
        for name in ("alarms_adjusted", "winners", "unsupported", "unsupported_rate", "soft")
    }
    a, b = (
        scored(tmp_path / "[bold]a.jsonl", A, **rates),
        scored(tmp_path / "b\x1b[2J.jsonl", B, **rates),
    )
    shown = run(a, b, "--measures", ",".join(["alarms", "alarm_rate", *rates]))
    assert "\n –" not in shown.stdout
    table = shown.stdout[shown.stdout.index("better is") :]
    assert all(len(line) <= 80 for line in table.split("alarms: ")[0].splitlines())
    for name in rates:
        assert name in shown.stdout
    assert "[bold]a.jsonl" in shown.stdout
    assert "\x1b" not in shown.stdout


def test_the_default_measures_are_those_of_the_help() -> None:
    assert f"(default: {', '.join(DEFAULT_MEASURES)})" in " ".join(
        run("--help", columns=300).stdout.split()
    )


def test_text_files_are_systems(bert_folder: str, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("".join(f"{source}\n" for source in SOURCES))
    for name, length in (("a", 22), ("b", 9), ("c", 30)):
        (tmp_path / f"{name}.txt").write_text("".join(f"{text[:length]}\n" for text in SOURCES))
    options = ["-m", bert_folder, "-q", *SHORT]
    texts = ["-s", tmp_path / "s.txt", "-i", *(tmp_path / f"{name}.txt" for name in "abc")]
    out = tmp_path / "out.jsonl"
    shown = run(*texts, *options, "-o", out, columns=200).stdout
    for name in "abc":
        assert re.search(rf"^\d  {name} ", shown, re.MULTILINE)
    assert "matched by column 'source'" in " ".join(shown.split())
    assert f"wrote {len(json_rows(out))} rows to {out}" in shown
    refused = run("-s", tmp_path / "s.txt", "-i", tmp_path / "a.txt", status=2).stderr
    assert "a text file of summaries for each system, but got only one" in refused


def test_a_wrong_column_of_systems_is_said_with_all_columns_and_the_line(
    bert_folder: str, tmp_path: Path
) -> None:
    rows = [{"source": source, "summary": "x", "id": 1} for source in SOURCES]
    table = write_jsonl(tmp_path / "all.jsonl", rows)
    refused = run(table, "-m", bert_folder, "-q", status=2).stderr
    assert (
        "Expected a column 'system' in all.jsonl, but its columns are source, summary, id. Name the "
        "column of systems with --system-column, or pass one file per system."
    ) in refused
    write_jsonl(table, [{**rows[0], "system": "a"}, {**rows[1], "system": None}])
    refused = run(table, "-m", bert_folder, "-q", status=2).stderr
    assert "Expected a value in column 'system' in each row of all.jsonl, but line 2 has" in refused


def test_three_systems_have_their_numbers_in_one_line_piped_and_at_80_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["a_rather_long_name_of_a_system", "another_system_with_a_long_name", "third"]
    paths = [
        scored(tmp_path / f"{name}.jsonl", values)
        for name, values in zip(names, (A, B, A[::-1]), strict=True)
    ]
    for columns in (80, 60):
        shown = run(*paths, "-n", 200, columns=columns).stdout
        table = shown[: shown.index("matched by")]
        assert len(re.findall(r"\[\d+\.\d{4}, \d+\.\d{4}\]", table)) == 6
        assert (
            len(re.findall(r" \d*\.\d{4} +\[", table) or re.findall(r"\.\d{4} *$", table, re.M))
            >= 3
        )
    command = [sys.executable, "-m", "estime_metric", "compare", *map(str, paths), "-n", "200"]
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    piped = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    row = next(line for line in piped.stdout.splitlines() if names[0] in line)
    assert len(row.split()) > 8
    assert len(row) > 80

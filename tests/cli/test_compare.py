"""``estime compare`` as its user meets it: what it prints and writes, what it refuses, its statuses."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeScorer
from estime_metric.compare import compare_scores, notes, read_scores, to_dict, to_rows
from tests.command import json_rows, run_command, write_jsonl

run = partial(run_command, "compare")

A, B = [5, 3, 4, 6, 2, 7, 5, 4], [1, 3, 2, 4, 3, 2, 1, 0]
SOURCES = [
    "The cat slept near the river. The bridge was opened in May.",
    "A dog watched the tall tower. Nobody bought the old house.",
    "Anna sold her red boat. Peter repaired the engine in June.",
]
SUMMARIES = {
    "a": ["The cat slept near the river.", "A dog watched the tower.", "Anna sold her red boat."],
    "b": ["The dog slept.", "A cat watched the house.", "Peter sold the engine."],
}


def scored(path: Path, alarms: list[int], **further: Any) -> Path:
    """Scores; a further value that is not a list is that of each row."""
    columns = {"tokens": 20, "copied_density": 5.0, "blank": 0, "coverage": 0.9, **further}
    rows = [
        {
            "line": index + 1,
            "id": f"e{index}",
            "alarms": value,
            "inconsistency": value / 10,
            "source_id": f"{index:016x}",
            "signature": "ESTIME|model:x|layers:5|version:0",
        }
        | {
            name: cells[index] if isinstance(cells, list) else cells
            for name, cells in columns.items()
        }
        for index, value in enumerate(alarms)
    ]
    return write_jsonl(path, rows)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return scored(tmp_path / "a.jsonl", A), scored(tmp_path / "b.jsonl", B)


def pairs(path: Path, of: str, **further: object) -> Path:
    """The pairs of a system, with further columns."""
    rows = [
        {"source": source, "summary": summary, **further}
        for source, summary in zip(SOURCES, SUMMARIES[of], strict=True)
    ]
    return write_jsonl(path, rows)


def test_the_numbers_are_those_of_the_library(files: tuple[Path, Path], tmp_path: Path) -> None:
    comparison = compare_scores({path.stem: read_scores(path) for path in files})
    rows, everything, plot = (tmp_path / name for name in ("out.jsonl", "out.json", "plot.pdf"))
    shown = run(*files, "-o", rows, "--plot", plot).stdout
    assert json_rows(rows) == to_rows(comparison)
    assert plot.read_bytes().startswith(b"%PDF")
    for line in (*notes(comparison), f"wrote the comparison to {rows}"):
        assert shown.count(line) == 1
    run(*files, "-o", everything)
    for text in (run(*files, "--json").stdout, everything.read_text()):
        assert json.loads(text) == json.loads(json.dumps(to_dict(comparison)))
    baseline = run(*files, "--baseline", files[1], "--json").stdout  # by its file
    assert json.loads(baseline)["pairs"][0]["system_a"] == "b"


def test_broken_rows_and_those_without_a_partner_are_named(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    files[0].write_text(files[0].read_text() + "{bad\n")
    rows = json_rows(files[1])
    write_jsonl(files[1], [*rows[:0:-1], {**rows[0], "id": "stranger"}])
    out = tmp_path / "out.jsonl"
    warnings = run(*files, "--id-column", "id", "-o", out, status=1).stderr
    for line in (
        "skipped a.jsonl line 9: is not JSON",
        "a: 'e0' has no matching row in b",
        "b: 'stranger' has no matching row in a",
    ):
        assert line in warnings
    assert json_rows(out)[0]["examples"] == 7


def test_what_is_refused_names_the_options_as_they_are_typed(
    tmp_path: Path, files: tuple[Path, Path]
) -> None:
    """What cannot be written is refused before anything is read."""
    link = tmp_path / "link.jsonl"
    link.symlink_to(files[0])
    table = pairs(tmp_path / "pairs.jsonl", "a")
    for arguments, message in [
        ([], "a file for each system, or one file of all systems, but got none"),
        (["-s", link, "-i", tmp_path / "a"], "is a table by its name"),
        (["-s", tmp_path / "s", "-i", tmp_path / "a"], "for each system, but got only one"),
        ([files[0], link], "every input file only once, but .*link.jsonl', which are the same"),
        ([table, tmp_path / "gone", "--plot", tmp_path / "plot.txt"], "to end in .png"),
        ([*files, "--json", "-o", "-"], "--json or the rows on standard output, but got both"),
        (
            [*files, "--tolerance", 1],
            "--tolerance, --allow-shorter, --allow-copying, --range only with --fail-if-worse",
        ),
        ([*files, "--system-column", "x"], "--system-column with one file of .*, but got 2 files"),
        ([*files, "--higher", "hhem"], "alarms, but got 'hhem'. Add it to --measures"),
        ([table, files[0]], "Score a again: estime score a -o FILE"),
    ]:
        assert re.search(message, run(*arguments, status=2).stderr), message


def test_nothing_is_written_if_a_plot_is_impossible(tmp_path: Path) -> None:
    paths = [scored(tmp_path / f"{name}.jsonl", A, copied_density=None) for name in "ab"]
    out, plot = tmp_path / "out.json", tmp_path / "plot.png"
    refused = run(*paths, "-o", out, "--plot", plot, status=2).stderr
    assert "a has none. Score it again.\n" in refused
    assert not out.exists()
    assert not plot.exists()


def test_texts_are_scored_first_as_the_record_of_a_scored_file_says(
    tmp_path: Path, encoder: list[str], bert_folder: str
) -> None:
    """Also if one output with a prefix has several systems; otherwise with the defaults."""
    for name, lines in {"s": SOURCES, **SUMMARIES}.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    texts = ["-s", tmp_path / "s.txt", "-i", tmp_path / "a.txt", tmp_path / "b.txt"]
    scores, table = tmp_path / "all.csv", pairs(tmp_path / "b.jsonl", "b", tokens="many")
    run_command("score", *texts, *encoder, "--prefix", "my_", "-o", scores)
    run_command("score", pairs(tmp_path / "a.jsonl", "a"), *encoder, "-o", tmp_path / "a.csv")
    bert = EstimeScorer(model=bert_folder, window=60, margin=10)
    for arguments, scorer in (
        (texts, EstimeScorer()),
        ([scores, "--system-column", "my_file"], bert),
        ([tmp_path / "a.csv", table], bert),
    ):
        rows = json.loads(run(*arguments, "-q", "--json").stdout)["pairs"]
        results = [scorer.score(SUMMARIES[name], SOURCES) for name in "ab"]
        for row in rows:
            means = [result.mean(row["measure"]) for result in results]
            assert [row["mean_a"], row["mean_b"]] == pytest.approx(means, abs=2e-6)


@pytest.mark.parametrize(
    ("new", "status", "verdict"),
    [
        ({"alarms": [3] * 12}, 0, "passed"),
        ({"alarms": [3] * 11}, 1, "incomplete"),
        ({"alarms": [5] * 9}, 2, ""),
        ({"alarms": [5] * 12}, 3, "worse"),
        ({"alarms": [1] * 12, "copied_density": 9.0}, 4, "copies"),
        ({"alarms": [1] * 12, "tokens": 6}, 5, "undecided"),
    ],
)
def test_a_gate_says_by_its_status_whether_the_new_system_is_worse(
    new: dict[str, Any], status: int, verdict: str, tmp_path: Path
) -> None:
    paths = [scored(tmp_path / "a.jsonl", [3] * 12), scored(tmp_path / "b.jsonl", **new)]
    gate = ["--measures", "alarms", "--fail-if-worse"]
    last = run(*paths, *gate, status=status).stderr.splitlines()[-1]
    if status == 2:
        assert "at least 10 sources with values of alarms" in last
        return
    content = json.loads(run(*paths, *gate, "--json", status=status).stdout)
    assert (content["status"], content["verdict"]) == (status, verdict)
    assert last == f"exit status {status}: {content['reasons'][0]}"


def test_a_gate_permits_what_its_options_say(tmp_path: Path) -> None:
    base, new = scored(tmp_path / "a.jsonl", [3] * 12), scored(tmp_path / "b.jsonl", [5] * 12)
    gate = ["--measures", "alarms", "--fail-if-worse"]
    run(base, new, *gate, "--tolerance", 2.5)
    run(base, scored(new, [3] * 12, tokens=9), *gate, "--allow-shorter")

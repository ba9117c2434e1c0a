"""``estime compare`` as its user meets it: scored files, pairs that are scored first, and rows without
a partner.
"""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeScorer, examples
from estime_metric.compare import (
    compare_results,
    compare_scores,
    notes,
    read_scores,
    to_dict,
    to_rows,
)
from estime_metric.table.table import record_of
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


def scored(path: Path, alarms: list[int], **further: list) -> Path:
    rows = [
        {
            "line": index + 1,
            "id": f"e{index}",
            "alarms": value,
            "inconsistency": value / 10,
            "tokens": 20,
            "copied_density": 5.0,
            "source_id": f"{index:016x}",
            "signature": "ESTIME|model:x|layers:5|version:0",
        }
        | {name: values[index] for name, values in further.items()}
        for index, value in enumerate(alarms)
    ]
    return write_jsonl(path, rows)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return scored(tmp_path / "a.jsonl", A), scored(tmp_path / "b.jsonl", B)


@pytest.fixture
def scorer(bert_folder: str) -> EstimeScorer:
    return EstimeScorer(model=bert_folder, window=60, margin=10)


def pairs(path: Path, /, of: str, **further: object) -> Path:
    """The pairs of a system, with further columns; a list has one cell for each pair."""
    rows = [
        {"source": source, "summary": summary, "id": index}
        | {name: cell[index] if isinstance(cell, list) else cell for name, cell in further.items()}
        for index, (source, summary) in enumerate(zip(SOURCES, SUMMARIES[of], strict=True))
    ]
    return write_jsonl(path, rows)


def means(out: Path) -> dict[str, tuple[float, float]]:
    return {row["measure"]: (row["mean_a"], row["mean_b"]) for row in json_rows(out)}


def expected(scorer: EstimeScorer) -> dict[str, Any]:
    """The means of both systems, computed by the library."""
    results = [scorer.score(summaries, SOURCES) for summaries in SUMMARIES.values()]
    return {
        row["measure"]: pytest.approx((row["mean_a"], row["mean_b"]), abs=2e-6)
        for row in to_rows(compare_results(*results))
    }


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
    refused = run(*files, "--json", "-o", "-", status=2).stderr
    assert "Expected --json or the rows on standard output" in refused


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


def test_what_cannot_be_compared_is_refused_before_anything_is_scored(
    tmp_path: Path, files: tuple[Path, Path]
) -> None:
    table = pairs(tmp_path / "pairs.jsonl", "a", system=["x", "y", None])
    blank = write_jsonl(tmp_path / "blank.jsonl", [{"source": "The cat slept.", "summary": None}])
    broken = tmp_path / "broken.jsonl"
    broken.write_text("no object\n", encoding="utf-8")
    without = write_jsonl(tmp_path / "without.jsonl", [{"text": "x"}])
    link = tmp_path / "link.jsonl"
    link.symlink_to(table)
    stranger = write_jsonl(tmp_path / "stranger.jsonl", [{"source": "Nobody.", "summary": "x"}])
    for arguments, message in [
        ([table, without], r"a column 'source' in without\.jsonl, but its columns are text"),
        ([table, blank], r"pairs in blank\.jsonl, but got none \(blank\.jsonl line 1: "),
        ([table, broken], r"broken\.jsonl to have .* no rows \(broken\.jsonl line 1: "),
        ([without], r"a column 'system' in without\.jsonl, but its columns are text\. Name"),
        (
            [table, link],
            "Expected every input file only once, but .*link.jsonl', which are the same",
        ),
        ([table, "--system-column", "tokens"], "--system-column to be other columns than measures"),
        ([table], "in column 'system' in each row of pairs.jsonl, but line 3 has none"),
        ([table, stranger], "common, but by column 'source' they have none: pairs: 'A dog"),
        ([table, files[1], "--plot", tmp_path / "plot.txt"], "to end in .png"),
        (["-s", link, "-i", tmp_path / "a"], "is a table by its name"),
        ([], "a file for each system, or one file of all systems, but got none"),
    ]:
        assert re.search(message, run(*arguments, "-m", "nobody/nothing", status=2).stderr)


def test_nothing_is_written_if_a_plot_is_impossible(tmp_path: Path) -> None:
    none = [None] * len(A)
    paths = [scored(tmp_path / f"{name}.jsonl", A, copied_density=none) for name in "ab"]
    out, plot = tmp_path / "out.json", tmp_path / "plot.png"
    refused = run(*paths, "-o", out, "--plot", plot, status=2).stderr
    assert "a has none. Score it again.\n" in refused
    assert not out.exists()
    assert not plot.exists()


@pytest.mark.parametrize("kind", ["pairs", "texts", "one output"])
def test_systems_are_scored_first_from_files_of_every_kind(
    kind: str, tmp_path: Path, encoder: list[str], scorer: EstimeScorer
) -> None:
    """Their columns may have the names of outputs."""
    strange = {"line": 7, "tokens": "many", "signature": "J. Doe", "alarms_layer3": 5, "blank": 1}
    for name, lines in {"s": SOURCES, **SUMMARIES}.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    texts = ["-s", tmp_path / "s.txt", "-i", tmp_path / "a.txt", tmp_path / "b.txt"]
    if kind == "one output":
        run_command("score", *texts, *encoder, "-o", tmp_path / "all.csv")
    arguments: dict[str, list[Any]] = {
        "pairs": [pairs(tmp_path / f"{name}.jsonl", name, **strange) for name in "ab"],
        "texts": texts,
        "one output": [tmp_path / "all.csv", "--system-column", "file"],
    }
    out = tmp_path / "out.jsonl"
    run(*arguments[kind], *encoder, "-o", out)
    assert means(out) == expected(scorer)


def test_a_further_measure_of_pairs_is_computed(tmp_path: Path, encoder: list[str]) -> None:
    paths = [pairs(tmp_path / f"{name}.jsonl", name) for name in "ab"]
    shown = json.loads(run(*paths, *encoder, "--measures", "soft", "--json").stdout)
    assert [row["measure"] for row in shown["pairs"]] == ["soft"]


def test_a_scored_file_and_pairs_with_its_settings(
    tmp_path: Path, encoder: list[str], scorer: EstimeScorer
) -> None:
    first, second = (pairs(tmp_path / f"{name}.jsonl", name) for name in "ab")
    scores, out = tmp_path / "scores.csv", tmp_path / "out.jsonl"
    run_command("score", second, "-o", scores, *encoder, "--prefix", "my_")
    run(first, scores, *encoder, "-o", out)
    assert means(out) == expected(scorer)
    refused = run(first, scores, *encoder, "--distance", "4", status=2).stderr
    assert "Expected all rows to have the same signature" in refused


def test_a_baseline_is_named_by_its_file_or_its_system(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    for name in ("b", "b.jsonl", files[1]):
        shown = run(*files, "--baseline", name, "--json").stdout
        assert json.loads(shown)["pairs"][0]["system_a"] == "b"
    (tmp_path / "new").mkdir()
    other = scored(tmp_path / "new" / "b.jsonl", A)  # two files are called so
    refused = run(files[1], other, "--baseline", "b.jsonl", status=2).stderr
    assert "--baseline to be one of " in refused


GATE = [*["--measures", "alarms", "--fail-if-worse"]]


def system(path: Path, alarms: float, examples: int = 12, **further: Any) -> Path:
    """Scores of a system for the gate; a value that is not a list is that of each example."""
    columns = {"blank": 0, "coverage": 0.9, **further}
    lists = {
        name: cell if isinstance(cell, list) else [cell] * examples
        for name, cell in columns.items()
    }
    return scored(path, [alarms] * examples, **lists)


@pytest.mark.parametrize(
    ("further", "status"),
    [
        ({"alarms": 3}, 0),
        ({"alarms": 5}, 3),
        ({"alarms": 1, "copied_density": 5.6}, 4),
        ({"alarms": 1, "copied_density": 5.4}, 0),  # by less than a tenth
        ({"alarms": 1, "copied_density": [50.0] + [5.0] * 11}, 0),  # not significantly
        ({"alarms": 5, "copied_density": 9.0}, 3),  # 3 before 4
        ({"alarms": 1, "tokens": [0] * 6 + [20] * 6, "blank": [1] * 6 + [0] * 6}, 3),
        ({"alarms": 1, "coverage": 0.1}, 2),  # cannot be compared
        ({"alarms": 5, "examples": 9}, 2),  # 2 before 3
        ({"alarms": 3, "examples": 11}, 1),
        ({"alarms": 5, "copied_density": None}, 2),
        ({"alarms": 1, "signature": "ESTIME|model:x|layers:5|version:1"}, 2),
    ],
)
def test_a_gate_says_by_its_status_whether_the_new_system_is_worse(
    further: dict[str, Any], status: int, tmp_path: Path
) -> None:
    base, new = system(tmp_path / "base.jsonl", 3), system(tmp_path / "new.jsonl", **further)
    run(base, new, *GATE, status=status)
    run(new, base, *GATE, "--baseline", "base", status=status)  # the order does not matter


def test_a_gate_by_a_column_of_others_needs_no_encoder(tmp_path: Path) -> None:
    """The copying is computed from the texts."""
    gate = ["--measures", "rouge", "--higher", "rouge", "--fail-if-worse", "-m", "nobody/nothing"]
    sources = [f"Town {number} closed its bridge." for number in range(12)]
    row = {"summary": "It is shut.", "rouge": 0.6}

    def system(name: str, **changed: Any) -> Path:
        rows = [{"source": source, **row, **changed} for source in sources]
        return write_jsonl(tmp_path / f"{name}.jsonl", rows)

    base = system("base", rouge=0.5)
    for changed, status in (({}, 0), ({"rouge": 0.4}, 3), ({"summary": " "}, 3)):
        run(base, system("new", **changed), *gate, status=status)
    copies = [{"source": source, "summary": source, "rouge": 0.6} for source in sources]
    run(base, write_jsonl(tmp_path / "new.jsonl", copies), *gate, status=4)
    without_texts = [{"source": source, "rouge": 0.6} for source in sources]
    run(base, write_jsonl(tmp_path / "new.jsonl", without_texts), *gate, status=2)


def test_a_gate_needs_two_systems_and_ten_sources(tmp_path: Path) -> None:
    paths = [system(tmp_path / f"{name}.jsonl", 3) for name in "abc"]
    assert "Expected two systems with --fail-if-worse" in run(*paths, *GATE, status=2).stderr
    rows = json_rows(Path(examples.__file__).with_name("pairs.jsonl"))
    halves = [
        write_jsonl(tmp_path / f"{name}.jsonl", rows[start::2])
        for start, name in enumerate(("old", "new"))
    ]
    refused = run(*halves, "--fail-if-worse", "-m", "nobody/nothing", status=2)  # nothing is scored
    assert "Expected at least 10 sources" in refused.stderr


def test_a_base_of_another_signature_is_scored_again_with_the_settings_of_the_new_system(
    tmp_path: Path, encoder: list[str]
) -> None:
    rows = [
        {"source": f"Town {number} closed its bridge.", "summary": "The bridge closed."}
        for number in range(12)
    ]
    texts = write_jsonl(tmp_path / "texts.jsonl", rows)
    base, new = (tmp_path / f"{name}.jsonl" for name in ("base", "new"))
    run_command("score", texts, *encoder, "--keep-texts", "-o", base)
    run_command("score", texts, *encoder, "--distance", 4, "-o", new)
    gate = ["--measures", "inconsistency", "--fail-if-worse", "--json"]
    for path, options in ((new, []), (texts, [*encoder, "--distance", 4])):
        shown = json.loads(run(base, path, *gate, *options).stdout)
        assert shown["signature"] == record_of(new)["signature"]
    run_command("score", texts, *encoder, "-o", base, "--overwrite")
    refused = run(base, new, *gate, status=2).stderr
    assert "texts that can be scored again" in refused
    assert "column 'source' should contain text, but is missing" in refused

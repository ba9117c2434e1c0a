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
    tables = {
        name: scorer.score(summaries, SOURCES).table() for name, summaries in SUMMARIES.items()
    }
    return {
        row["measure"]: pytest.approx((row["mean_a"], row["mean_b"]), abs=2e-6)
        for row in to_rows(compare_scores(tables))
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
    tmp_path: Path, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EstimeScorer, "load", lambda _: pytest.fail("An encoder was loaded."))
    yours = {"hhem": 0.5, "coherence": 4, "source_id": ["x", "y", "z"]}
    table = pairs(tmp_path / "pairs.jsonl", "a", system=["x", "y", None], **yours)
    rated = pairs(tmp_path / "rated.jsonl", "b", hhem=0.4, source_id=["x", "y", "z"])
    percent = pairs(tmp_path / "percent.jsonl", "b", hhem=[0.1, "93%", 0.3])
    twice = pairs(tmp_path / "twice.jsonl", "b", id=[0, 0, 1])
    blank = write_jsonl(tmp_path / "blank.jsonl", [{"source": "The cat slept.", "summary": None}])
    broken = tmp_path / "broken.jsonl"
    broken.write_text("no object\n", encoding="utf-8")
    without = write_jsonl(tmp_path / "without.jsonl", [{"text": "x"}])
    link = tmp_path / "link.jsonl"
    link.symlink_to(table)
    stranger = write_jsonl(tmp_path / "stranger.jsonl", [{"source": "Nobody.", "summary": "x"}])
    scores = scored(tmp_path / "scores.jsonl", A)  # of another version
    copied = scored(tmp_path / "copied.jsonl", A, signature=[None] * len(A))  # without its record
    for arguments, message in [
        ([table, without], r"a column 'source' in without\.jsonl, but its columns are text"),
        ([table, blank], r"pairs in blank\.jsonl, but got none \(blank\.jsonl line 1: "),
        ([table, broken], r"broken\.jsonl to have .* no rows \(broken\.jsonl line 1: "),
        ([without], r"a column 'system' in without\.jsonl, but its columns are text\. Name"),
        (
            [table, link],
            "Expected every input file only once, but .*link.jsonl', which are the same",
        ),
        ([*files, "--system-column", "x"], "--system-column with one file of .*, but got 2 files"),
        ([table, copied], r"copied\.jsonl\.meta\.json next to copied\.jsonl, which seems to be"),
        ([table, scores], r"version 0, and this is .* Score scores again: estime score scores -o"),
        ([*files, "--measures", "sofft"], "columns are .* Did you mean 'soft'?"),
        ([table, rated, "--measures", "alarms,sofft"], "columns are .* Did you mean 'soft'?"),
        ([table, percent, "--measures", "alarms,hhem"], "finite numbers, but line 2 has '93%'"),
        ([table, rated, "--measures", "tokens", "--fail-if-worse"], "tokens has none. Choose"),
        (
            [table, rated, *HHEM, "--fail-if-worse"],
            "hhem has none. Name it with --higher or --lower",
        ),
        ([table, rated, "--higher", "hhem"], "alarms, but got 'hhem'. Add it to --measures"),
        ([table, rated, *HHEM, "--lower", "hhem", "--fail-if-worse"], "10 sources .* but got 3"),
        ([table, rated, "--id-column", "source_id"], "'source_id' to be computed for pairs, but"),
        (
            [table, rated, "--measures", "coherence"],
            "'coherence' to be computed for pairs, but pairs",
        ),
        ([rated, twice, "--id-column", "id"], "the rows of twice, but the value '0' occurs twice"),
        ([table], "in column 'system' in each row of pairs.jsonl, but line 3 has none"),
        ([table, stranger], "common, but by column 'source' they have none: pairs: 'A dog"),
        ([table, files[1], "--plot", tmp_path / "plot.txt"], "to end in .png"),
        (["-s", link, "-i", tmp_path / "a"], "is a table by its name"),
        ([], "a file for each system, or one file of all systems, but got none"),
    ]:
        assert re.search(message, run(*arguments, status=2).stderr), message


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
    run(*arguments[kind], "-q", "-o", out)
    assert means(out) == expected(scorer if kind == "one output" else EstimeScorer())


def test_texts_are_scored_with_the_settings_of_the_scored_file(
    tmp_path: Path, encoder: list[str], scorer: EstimeScorer
) -> None:
    """Their own columns stay, and a further measure is added."""
    first, second = (pairs(tmp_path / f"{name}.jsonl", name, hhem=0.5) for name in "ab")
    scores, out = tmp_path / "scores.csv", tmp_path / "out.jsonl"
    run_command("score", second, "-o", scores, *encoder, "--prefix", "my_")
    run(first, scores, "-q", "-o", out)
    assert means(out) == expected(scorer)
    own = ["-q", "--measures", "inconsistency,hhem", "--id-column", "id"]
    shown = json.loads(run(first, scores, *own, "--json").stdout)
    assert [row["measure"] for row in shown["pairs"]] == ["inconsistency", "hhem"]
    refused = run(first, scores, "--measures", "soft", status=2).stderr
    assert "'soft' in scores" in refused
    assert "Score it again with soft among its --measures." in refused
    shown = json.loads(run(first, second, "-q", "--measures", "soft", "--json").stdout)
    assert [row["measure"] for row in shown["pairs"]] == ["soft"]
    record = Path(f"{scores}.meta.json")
    settings = json.loads(record.read_text())
    settings["config"]["model"] = str(tmp_path / "gone")
    record.write_text(json.dumps(settings))
    refused = run(first, scores, status=2).stderr
    assert "there is no such folder" in refused
    assert f"Score scores again: estime score {second} -o FILE" in refused
    table = read_scores(scores)  # a signature without a record has to agree with the defaults
    table.to_json(tmp_path / "alone.jsonl", orient="records", lines=True)
    assert (
        "their signature would be ESTIME|" in run(first, tmp_path / "alone.jsonl", status=2).stderr
    )


def test_output_columns_are_named_with_their_prefix_or_without(
    tmp_path: Path, encoder: list[str]
) -> None:
    paths = [pairs(tmp_path / f"{name}.jsonl", name) for name in "ab"]
    scores = tmp_path / "scores.jsonl"
    run_command("score", *paths, *encoder, "--prefix", "e_", "-o", scores)
    shown = [
        run(scores, "--system-column", f"{prefix}file", "--id-column", f"{prefix}line", "--json")
        for prefix in ("", "e_")
    ]
    (first, second) = (json.loads(ran.stdout)["means"] for ran in shown)
    assert first == second
    assert {row["system"] for row in first} == {str(path) for path in paths}


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


GATE = ["--measures", "alarms", "--fail-if-worse"]


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
        ({"alarms": 1, "tokens": [0] * 5 + [20] * 7, "blank": [1] * 5 + [0] * 7}, 5),
        ({"alarms": 1, "coverage": 0.1}, 5),  # cannot be compared
        ({"alarms": 1, "tokens": [9] * 12}, 5),  # less than half as long
        ({"alarms": 1, "tokens": [11] * 12}, 0),
        ({"alarms": 1, "blank": [0] * 6 + [None] * 6}, 1),
        ({"alarms": 5, "examples": 9}, 2),
        ({"alarms": 3, "examples": 11}, 1),
        ({"alarms": 5, "examples": 11}, 3),  # 3 before 1
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


HHEM = ["--measures", "hhem"]
TOWNS = [f"Town {number} closed its old bridge because of rust." for number in range(14)]
SHUT = ["It is shut."] * 14
GOOD = [0.9, 0.95] * 7


def detected(path: Path, hhem: Any = GOOD, summary: Any = SHUT, **further: Any) -> Path:
    """Texts with a detector's column, in which higher is better; ``None`` for the summaries or for a
    score drops the column or the row.
    """
    columns = {"source": TOWNS, "summary": summary, "hhem": hhem, **further}
    rows = [
        {name: cells[index] for name, cells in columns.items() if cells is not None}
        for index in range(len(hhem))
    ]
    return write_jsonl(path, rows)


def replaced(values: list[Any], number: int, by: Any) -> list[Any]:
    """The last values replaced."""
    return [*values[: len(values) - number], *([by] * number)]


@pytest.mark.parametrize(
    ("changed", "status", "reason"),
    [
        ({}, 0, "new and base are equal in all 14 examples in hhem \\(higher is better\\)."),
        (
            {"hhem": replaced(GOOD, 1, 0.8)},
            0,
            r"base minus new is 0\.0107 \[0\.00, 0\.03.*\], 1 of 14 sources",
        ),
        ({"hhem": [0.99] * 14}, 0, r"base minus new is -0\.0650 \[.*\], 14 of 14 sources differ\."),
        (
            {"hhem": [0.5] * 14},
            3,
            r"new is significantly worse than base in hhem \(higher is better\): base minus new is 0\.425 \[",
        ),
        ({"summary": replaced(SHUT, 6, " ")}, 3, "significantly more blank summaries than base"),
        (
            {"summary": TOWNS},
            4,
            "new copies significantly more than base: copied_density 9.0 and 0.0",
        ),
        ({"hhem": [0.5] * 14, "summary": TOWNS}, 3, "new copies significantly"),  # all are said
        (
            {"hhem": replaced(GOOD, 5, 0.0)},
            5,
            r"apparently worse .* 5 of 14 .* \(significance needs 6\)",
        ),
        ({"summary": replaced(SHUT, 5, "")}, 5, "apparently more blank summaries"),
        ({"summary": [*SHUT[:9], *TOWNS[9:]]}, 5, "copies apparently more than base"),
        (
            {"hhem": [None] * 7 + GOOD[:7]},
            2,
            "at least 10 sources with values of hhem .* but got 7",
        ),
        ({"hhem": [*[0.9] * 8, *[None] * 6]}, 2, "sources with values"),
        ({"hhem": replaced(GOOD, 2, None)}, 1, "Values of hhem are missing: base 0, new 2."),
        ({"hhem": replaced(GOOD, 2, "")}, 1, "Values of hhem are missing: base 0, new 2."),
        ({"hhem": GOOD[:12]}, 1, "Rows were skipped or have no counterpart: base 2, new 0."),
        ({"summary": replaced(SHUT, 2, None)}, 1, "Copying is judged on 12 of 14 examples"),
        ({"summary": None}, 2, "Expected the texts of new, or its copied_density"),
        ({"summary": None, "copied_density": [3.0] * 14, "blank": [0] * 14}, 2, "the texts of new"),
        ({"copied_density": [0.0] * 14, "blank": [0] * 14, "summary": TOWNS}, 4, "copies signif"),
        ({"hhem": replaced(GOOD, 1, "93%")}, 2, "finite numbers, but line 14 has '93%'"),
        ({"source": [f"{text} Twice." for text in TOWNS]}, 2, "to have examples in common"),
    ],
)
def test_a_gate_by_a_column_of_others(
    changed: dict[str, Any],
    status: int,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It needs no encoder; the copying is computed from the texts."""
    monkeypatch.setattr(EstimeScorer, "load", lambda _: pytest.fail("An encoder was loaded."))
    base, new = detected(tmp_path / "base.jsonl"), detected(tmp_path / "new.jsonl", **changed)
    arguments = [*HHEM, "--higher", "hhem", "--fail-if-worse"]
    ran = run(base, new, *arguments, status=status)
    assert re.search(reason, ran.stderr)
    if ran.stdout:
        content = json.loads(run(base, new, *arguments, "--json", status=status).stdout)
        assert content["status"] == status
        assert re.search(reason, "\n".join(content["reasons"]))
        verdicts = {0: "passed", 1: "incomplete", 3: "worse", 4: "copies", 5: "undecided"}
        assert content["verdict"] == verdicts[status]


LONG = ["Nobody may cross the river there until next spring arrives again."] * 7 + [
    "Cars must take another road into this place for many months."
] * 7


@pytest.mark.parametrize(
    ("changed", "options", "status", "reason"),
    [
        # Each summary cut to its first three words.
        (
            {"summary": ["Nobody may cross"] * 7 + ["Cars must take"] * 7},
            [],
            5,
            "new has 3.0 words",
        ),
        (
            {"summary": ["Nobody may cross"] * 7 + ["Cars must take"] * 7},
            ["--allow-shorter"],
            0,
            "",
        ),
        ({"summary": [text[: len(text) // 2 + 3] for text in LONG]}, [], 0, "equal in all"),
        # Shorter ones that are worse are worse.
        ({"summary": ["It is shut."] * 14, "hhem": [0.5] * 14}, [], 3, "significantly worse"),
        (
            {"summary": ["I cannot say with certainty what the text says."] * 8 + LONG[6:12]},
            [],
            5,
            "Most summaries of new are one text: 'I cannot say",
        ),
        ({"summary": [" ".join([text] * 5) for text in LONG]}, [], 0, "of one text several times"),
        # A tolerance is for the measure that decides.
        ({"hhem": [score - 0.03 for score in GOOD]}, [], 3, "significantly worse"),
        ({"hhem": [score - 0.03 for score in GOOD]}, ["--tolerance", "0.04"], 0, "is 0.0300 ["),
        (
            {"hhem": [score - 0.03 for score in GOOD]},
            ["--tolerance", "0.02"],
            3,
            "by more than 0.02",
        ),
        ({"hhem": [0.86] * 5 + GOOD[5:]}, ["--tolerance", "0.5"], 0, "not significantly worse"),
        ({"summary": TOWNS}, ["--tolerance", "1"], 4, "copies significantly more"),
        # A difference of a millionth is shown as one.
        ({"hhem": [score - 2e-6 for score in GOOD]}, [], 3, "is 2.00e-06 [2.00e-06, 2.00e-06]"),
        # Other scales.
        (
            {"hhem": [90.0, 95.0] * 7},
            [],
            5,
            "another scale: 95.0 is far outside the values of base",
        ),
        ({"hhem": [0.99, 1.02] * 7}, [], 5, "hhem of new is 1.02 in 7 rows"),
        ({"hhem": [1.04] * 14}, [], 5, "hhem of new is 1.04 in 14 rows"),
    ],
)
def test_what_a_score_cannot_show_is_not_passed(
    changed: dict[str, Any], options: list[str], status: int, reason: str, tmp_path: Path
) -> None:
    base = detected(tmp_path / "base.jsonl", summary=LONG)
    new = detected(tmp_path / "new.jsonl", **{"summary": LONG, **changed})
    ran = run(base, new, *HHEM, "--higher", "hhem", "--fail-if-worse", *options, status=status)
    assert reason in ran.stderr
    assert ran.stderr.splitlines()[-1].startswith(f"exit status {status}: ")


@pytest.mark.parametrize(("measure", "status"), [("inconsistency", 1), ("alarm_rate", 0)])
def test_a_value_is_missing_if_it_cannot_be_undefined(
    measure: str, status: int, tmp_path: Path
) -> None:
    known = {"alarm_rate": 0.1, "inconsistency": [0.1] * 30}
    base = system(tmp_path / "base.jsonl", 3, 30, **known)
    new = system(tmp_path / "new.jsonl", 3, 30, **known | {measure: replaced([0.1] * 30, 5, None)})
    ran = run(base, new, "--measures", measure, "--fail-if-worse", status=status)
    assert ("Values of inconsistency are missing: base 0, new 5." in ran.stderr) == bool(status)
    assert "does not see whether one text is repeated" in ran.stderr  # there are no texts


def test_significantly_more_summaries_without_a_value_are_not_passed(tmp_path: Path) -> None:
    """Eighteen of forty, which as zeros would be significantly worse."""
    sources = [f"Town {number} closed its old bridge because of rust." for number in range(40)]
    texts = {"source": sources, "summary": ["It is shut."] * 40}
    base = detected(tmp_path / "base.jsonl", [0.9] * 40, **texts)
    for bad, status in ((0.0, 3), (None, 5), ("", 5)):
        new = detected(tmp_path / "new.jsonl", replaced([0.9] * 40, 18, bad), **texts)
        run(base, new, *HHEM, "--higher", "hhem", "--fail-if-worse", status=status)


def test_a_row_that_cannot_be_scored_is_counted_for_its_system(tmp_path: Path) -> None:
    texts = [{"source": source, "summary": "The bridge closed."} for source in TOWNS]
    base = write_jsonl(tmp_path / "base.jsonl", texts)
    new = write_jsonl(tmp_path / "new.jsonl", [*texts[1:], {**texts[0], "summary": None}])
    ran = run(base, new, "--fail-if-worse", "-q", status=1)
    assert "skipped new.jsonl line 14: column 'summary' should contain text" in ran.stderr
    assert "Rows were skipped or have no counterpart: base 1, new 1." in ran.stderr


def test_a_gate_needs_two_systems_and_ten_sources(tmp_path: Path) -> None:
    paths = [system(tmp_path / f"{name}.jsonl", 3) for name in "abc"]
    assert (
        "Expected two systems to decide whether one is worse" in run(*paths, *GATE, status=2).stderr
    )
    rows = json_rows(Path(examples.__file__).with_name("pairs.jsonl"))
    halves = [
        write_jsonl(tmp_path / f"{name}.jsonl", rows[start::2])
        for start, name in enumerate(("old", "new"))
    ]
    refused = run(*halves, "--fail-if-worse", status=2)
    assert "Expected at least 10 sources" in refused.stderr


def test_a_base_of_another_signature_is_scored_again_with_the_settings_of_the_new_system(
    tmp_path: Path, encoder: list[str]
) -> None:
    rows = [{"source": source, "summary": "The bridge closed."} for source in TOWNS]
    texts = write_jsonl(tmp_path / "texts.jsonl", rows)
    base, new = (tmp_path / f"{name}.jsonl" for name in ("base", "new"))
    run_command("score", texts, *encoder, "--keep-texts", "-o", base)
    run_command("score", texts, *encoder, "--distance", 4, "-o", new)
    gate = ["--measures", "inconsistency", "--fail-if-worse", "--json", "-q"]
    for first, second, leader in ((base, new, new), (texts, new, new), (base, texts, base)):
        shown = json.loads(run(first, second, *gate).stdout)
        assert shown["signature"] == record_of(leader)["signature"]
    # A base of another version is scored again with its settings if the new system has no scores.
    record = Path(f"{base}.meta.json")
    before = record.read_text()
    record.write_text(before.replace("|version:", "|version:0."))
    assert (
        json.loads(run(base, texts, *gate).stdout)["signature"] == json.loads(before)["signature"]
    )
    run_command("score", texts, *encoder, "-o", base, "--overwrite")
    refused = run(base, new, *gate, status=2).stderr
    assert "texts that can be scored again" in refused
    assert "column 'source' should contain text, but is missing" in refused

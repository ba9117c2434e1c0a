"""Which files ``estime compare`` accepts: pairs with any columns, every output of ``estime score``,
standard input, and identifiers that pandas has stored as floats.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from estime_metric import EstimeScorer
from estime_metric.comparison import read_systems
from tests.command import SHORT, json_rows, run_command, write_jsonl

run = partial(run_command, "compare")

SOURCES = [
    "The cat slept near the river. The bridge was opened in May.",
    "A dog watched the tall tower. Nobody bought the old house.",
    "Anna sold her red boat. Peter repaired the engine in June.",
]
SUMMARIES = {
    "a": ["The cat slept near the river.", "A dog watched the tower.", "Anna sold her red boat."],
    "b": ["The dog slept.", "A cat watched the house.", "Peter sold the engine."],
}


@pytest.fixture
def options(bert_folder: str) -> list[str]:
    return ["-m", bert_folder, "-q", *SHORT]


@pytest.fixture
def scorer(bert_folder: str) -> EstimeScorer:
    return EstimeScorer(model=bert_folder, window=60, margin=10, measures=("copied",))


def pairs(of: str, /, **further: object) -> list[dict[str, Any]]:
    """The pairs of a system, with further columns; a list has one cell for each pair."""
    return [
        {"source": source, "summary": summary, "id": index}
        | {name: cell[index] if isinstance(cell, list) else cell for name, cell in further.items()}
        for index, (source, summary) in enumerate(zip(SOURCES, SUMMARIES[of], strict=True))
    ]


def means(out: Path) -> dict[str, tuple[float, float]]:
    return {row["measure"]: (row["mean_a"], row["mean_b"]) for row in json_rows(out)}


def expected(scorer: EstimeScorer) -> dict[str, Any]:
    """The means of both systems, computed by the library."""
    results = [scorer.score(summaries, SOURCES) for summaries in SUMMARIES.values()]
    return {
        measure: pytest.approx(tuple(result.mean(measure) for result in results), abs=1e-6)
        for measure in ("inconsistency", "alarms", "alarm_rate")
    }


def test_pairs_may_have_columns_named_like_an_output(
    tmp_path: Path, options: list[str], scorer: EstimeScorer
) -> None:
    strange = {"line": 7, "tokens": "many", "signature": "J. Doe", "alarms_layer3": 5, "blank": 1}
    files = [write_jsonl(tmp_path / f"{name}.jsonl", pairs(name, **strange)) for name in "ab"]
    run(*files, *options, "-o", tmp_path / "out.jsonl")
    assert means(tmp_path / "out.jsonl") == expected(scorer)
    both = [row for name in "ab" for row in pairs(name, system=name, **strange)]
    together = write_jsonl(tmp_path / "both.jsonl", both)
    run(together, *options, "-o", tmp_path / "both-out.jsonl")
    assert means(tmp_path / "both-out.jsonl") == expected(scorer)


def test_a_column_of_the_user_identifies_pairs_also_if_it_is_called_line(
    tmp_path: Path, options: list[str], scorer: EstimeScorer
) -> None:
    files = [
        write_jsonl(tmp_path / "a.jsonl", pairs("a", line=[5, 6, 7])),
        write_jsonl(tmp_path / "b.jsonl", pairs("b", line=[5, 6, 7])[::-1]),
    ]
    run(*files, *options, "--id-column", "line", "-o", tmp_path / "out.jsonl")
    assert means(tmp_path / "out.jsonl") == expected(scorer)
    refused = run(*files, *options, "--id-column", "tokens", status=2).stderr
    assert "Expected --id-column to be a column with another name than a measure" in refused


def test_a_prefix_of_the_output_columns_is_known(
    tmp_path: Path, options: list[str], scorer: EstimeScorer
) -> None:
    """Also if the user's own columns have the plain names, which is what a prefix is for."""
    for ending in ("jsonl", "csv", "parquet"):
        scored = []
        for name in "ab":
            own = {"line": [30, 20, 10], "tokens": "many", "signature": "J. Doe"}
            table = write_jsonl(tmp_path / f"{name}.jsonl", pairs(name, **own))
            scored.append(tmp_path / f"{name}-scores.{ending}")
            further = ["--prefix", "estime_", "--threshold", "0.5"]
            run_command("score", table, *options, *further, "-o", scored[-1])
        out = tmp_path / f"out-{ending}.jsonl"
        shown = run(*scored, "-o", out).stdout
        assert means(out) == expected(scorer)
        assert "matched by column 'id'" in " ".join(shown.split())
        for column in ("line", "estime_line"):
            shown = run(*scored, "--id-column", column).stdout
            assert f"matched by column {column!r}" in " ".join(shown.split())
        layer = run(*scored, "--measures", "estime_alarms", status=2).stderr
        assert "Expected --measures to name some of inconsistency" in layer


def test_one_output_of_several_text_files_is_compared(
    tmp_path: Path, options: list[str], scorer: EstimeScorer
) -> None:
    """The example of docs/command-line.md: the line in its file shows which rows belong together."""
    texts = {"s": SOURCES, **SUMMARIES}
    for name, lines in texts.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    given = ["-s", tmp_path / "s.txt", "-i", tmp_path / "a.txt", tmp_path / "b.txt"]
    for prefix in ("", "my_"):
        scored = tmp_path / f"{prefix}scores.jsonl"
        run_command("score", *given, *options, "--prefix", prefix, "-o", scored)
        for further in ([], ["--id-column", "line"]):
            out = tmp_path / "out.jsonl"
            shown = run(
                scored, "--system-column", "file", *further, "-o", out, "--overwrite"
            ).stdout
            assert means(out) == expected(scorer)
            assert "matched by column 'line'" in " ".join(shown.split())


def test_lines_of_one_table_do_not_show_which_rows_belong_together(
    tmp_path: Path, options: list[str]
) -> None:
    both = [{**row, "system": name} for name in "ab" for row in pairs(name)]
    for row in both:
        del row["id"]
    table = write_jsonl(tmp_path / "both.jsonl", both)
    run_command("score", table, *options, "-o", tmp_path / "scores.csv")
    refused = run(tmp_path / "scores.csv", status=2).stderr
    assert (
        "that identifies the example, or each system to have a separate file with a column "
        "'line'. Name another column with --id-column."
    ) in refused


def test_standard_input_is_read_once(
    tmp_path: Path, options: list[str], scorer: EstimeScorer
) -> None:
    typed = "".join(json.dumps(row) + "\n" for row in [*pairs("a"), {"source": "No summary."}])
    second = write_jsonl(tmp_path / "b.jsonl", pairs("b"))
    out = tmp_path / "out.jsonl"
    shown = run("-", second, *options, "-o", out, stdin=typed, status=1)
    assert means(out) == expected(scorer)
    assert "- line 4: column 'summary' is missing" in shown.stderr
    refused = run("-", second, *options, stdin='{"text": 1}\n', status=2).stderr
    assert "Expected a column 'source' in -, but its columns are text." in refused
    assert "it has neither: it is empty" in run("-", second, *options, status=2).stderr


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_integers_that_pandas_has_stored_as_floats_are_the_same(
    tmp_path: Path, ending: str, scorer: EstimeScorer
) -> None:
    tables = []
    for summaries in SUMMARIES.values():
        result = scorer.score(summaries, SOURCES)
        columns = {name: result.values(name).tolist() for name in ("alarms", "inconsistency")}
        tables.append(pd.DataFrame({"id": range(3), **columns, "signature": result.signature}))
    first = write_jsonl(tmp_path / "a.jsonl", tables[0].to_dict("records"))
    second = tmp_path / f"b.{ending}"
    floats = tables[1].astype({"id": float})
    if ending == "jsonl":
        write_jsonl(second, floats.to_dict("records"))
    elif ending == "csv":
        floats.to_csv(second, index=False)
    else:
        floats.to_parquet(second)
    found = read_systems([first, second])
    assert {type(rows[0]["id"]) for rows in found.rows} == {int, str if ending == "csv" else float}
    out = tmp_path / "out.jsonl"
    run(first, second, "-o", out)
    assert means(out)["alarms"] == expected(scorer)["alarms"]
    assert json_rows(out)[0]["examples"] == 3


def test_a_row_without_an_identifier_is_named_by_its_number(tmp_path: Path) -> None:
    rows = [{"id": index, "alarms": 1, "signature": "ESTIME|"} for index in range(3)]
    gaps = pd.DataFrame(rows).assign(id=[0, 1, None])
    gaps.to_parquet(tmp_path / "b.parquet")
    refused = run(write_jsonl(tmp_path / "a.jsonl", rows), tmp_path / "b.parquet", status=2).stderr
    assert (
        "Expected a value in column 'id' in each row of b.parquet, but row 3 has none." in refused
    )
    systems = pd.DataFrame([*rows, *rows]).assign(system=[1, 1, 1, 2, 2, None])
    systems.to_parquet(tmp_path / "all.parquet")
    refused = run(tmp_path / "all.parquet", status=2).stderr
    assert "in column 'system' in each row of all.parquet, but line 6 has none" in refused
    systems.assign(system=[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]).to_parquet(tmp_path / "all.parquet")
    found = read_systems([tmp_path / "all.parquet"])
    assert found.names == ["1", "2"]


def test_nothing_is_written_if_a_plot_is_impossible(
    tmp_path: Path, options: list[str], scorer: EstimeScorer
) -> None:
    scored = []
    for name in "ab":
        scored.append(tmp_path / f"{name}.csv")
        table = write_jsonl(tmp_path / f"{name}.jsonl", pairs(name))
        run_command("score", table, *options, "-o", scored[-1])
    out, plot = tmp_path / "out.json", tmp_path / "plot.png"
    refused = run(*scored, "-o", out, "--plot", plot, status=2).stderr
    assert "has none. Score it again with --measures copied.\n" in refused
    assert not out.exists()
    assert not plot.exists()


def test_the_first_invalid_rows_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    rows = [{"id": index, "alarms": index, "signature": "ESTIME|"} for index in range(3)]
    first = write_jsonl(tmp_path / "a.jsonl", [*rows, *["no object"] * 25])
    second = write_jsonl(tmp_path / "b.jsonl", [*rows, *["no object"] * 5])
    said = run(first, second, status=1).stderr.splitlines()
    named = [line for line in said if line.startswith("skipped ")]
    assert len(named) == 21
    assert named[0].startswith("skipped a.jsonl line 4: ")
    assert named[-1] == "skipped 10 more rows"
    refused = run(first, second, "--seed", "-1", status=2).stderr
    assert '"-1" for --seed' in refused

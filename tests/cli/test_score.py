"""``estime score`` as its user meets it: the screen, the files, the exit status."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from estime_metric import EstimeScorer, files
from estime_metric.examples import PATH as EXAMPLES
from tests.command import SHORT, csv_rows, json_rows, write_jsonl
from tests.command import run_command as run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two pairs, one of which has nothing to check, between invalid rows."""
    path = tmp_path / "pairs.jsonl"
    source = "The cat sat on the mat."
    pairs = (("a", source, "The cat sat."), ("b", None, "x"), ("c", source, "   "))
    rows = [json.dumps(dict(zip(("id", "source", "summary"), pair, strict=True))) for pair in pairs]
    path.write_text("\n".join([rows[0], "{bad", *rows[1:]]))
    return path


@pytest.mark.slow
def test_the_examples_are_scored_offline_and_the_faithful_ones_raise_fewer_alarms(
    tmp_path: Path,
) -> None:
    out = tmp_path / "scores.jsonl"
    shown = run("score", "--example", "-q", "-o", out)
    rows = json_rows(out)
    assert [row["verdict"] for row in rows] == ["faithful", "unfaithful"] * 4
    for good, bad in zip(rows[::2], rows[1::2], strict=True):
        assert good["alarm_rate"] < bad["alarm_rate"]
    examples = json_rows(EXAMPLES)
    assert [set(row) for row in examples] == [{"source", "summary", "verdict", "note"}] * 8
    assert [row["source"] for row in examples[::2]] == [row["source"] for row in examples[1::2]]
    assert all(len(row["source"].split()) > 100 for row in examples)
    assert "8 pairs scored, 0 rows skipped" in shown.stdout
    signature = files.read_signature(out)
    assert signature in shown.stdout.splitlines()
    assert str(signature).startswith("ESTIME|model:embedded@sha256-")


def test_bad_rows_are_named_and_the_rest_is_scored(table: Path, bert_folder: str) -> None:
    shown = run("score", table, "-m", bert_folder, "-q", *SHORT, status=1)
    assert "skipped line 2: is not JSON" in shown.stderr
    assert "skipped line 3: column 'source' should contain text, but is missing" in shown.stderr
    assert "2 pairs scored, 2 rows skipped, 1 blank summary" in shown.stdout
    assert (
        "1 summary shares no token with its source, so nothing was checked: line 4" in shown.stdout
    )
    assert "1 blank summary (inconsistency 1): line 4" in shown.stdout
    assert "|" not in shown.stderr  # no progress bar
    shown = run("score", table, "-m", bert_folder, *SHORT, status=1)
    assert re.search(r"2/2 .*pair", shown.stderr)
    assert "2/2" not in shown.stdout


def test_scores_go_to_a_file_with_other_columns(
    table: Path, bert_folder: str, tmp_path: Path
) -> None:
    out = tmp_path / "scores.csv"
    shown = run("score", table, "-m", bert_folder, "-q", "-l", "2,1", "-o", out, *SHORT, status=1)
    assert f"wrote 2 rows to {out}" in shown.stdout
    again = run(
        "score", table, "-m", bert_folder, "-l", "2,1", "-o", out, "--resume", *SHORT, status=1
    )
    assert f"{out} was already complete: 2 rows" in again.stdout
    rows = csv_rows(out)
    assert [(row["line"], row["id"]) for row in rows] == [("1", "a"), ("4", "c")]
    assert {"alarms_layer2", "alarms_layer1"} < rows[0].keys()


def test_columns_and_measures_go_by_name(tmp_path: Path, bert_folder: str) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("article,highlights\nThe cat sat on the mat.,The cat sat.\n")
    arguments = [
        "score",
        path,
        "-m",
        bert_folder,
        "--source-column",
        "article",
        "--summary-column",
        "highlights",
    ]
    shown = run(*arguments, "--unit", "word", "--measures", "soft,coherence,copied", "-q", *SHORT)
    assert re.search(
        r"line +inconsistency +alarms +tokens +soft +coherence +copied +summary", shown.stdout
    )
    assert re.search(r"(?m)^copied +\d\.\d{4} ", shown.stdout)
    assert re.search(r"(?m)^soft +-?0\.\d{4} ", shown.stdout)
    assert "|unit:word|" in shown.stdout


def test_standard_input_is_json_lines_and_standard_output_holds_rows_alone(
    table: Path, bert_folder: str
) -> None:
    typed, options = table.read_bytes(), ["-m", bert_folder, "-q", *SHORT]
    for name in ("-", "/dev/stdin"):
        shown = run("score", name, "-o", "-", *options, status=1, stdin=typed)
        rows = [json.loads(line) for line in shown.stdout.splitlines()]
        assert shown.stderr.splitlines()[-1].startswith("ESTIME|model:")
        assert [row["id"] for row in rows] == ["a", "c"]
        assert not {"source", "summary"} & set(rows[0])
    again = run("score", "-", "-o", "-", "--resume", *options, status=2, stdin=typed)
    assert (again.stdout, again.stderr) == (
        "",
        "error: Expected a file as --output with --resume: name the one to resume.\n",
    )
    assert (
        "Expected pairs on standard input"
        in run("score", "-", *options, status=2, stdin="\n").stderr
    )


def test_texts_cannot_steer_the_terminal_and_many_bad_rows_are_counted(
    tmp_path: Path, bert_folder: str
) -> None:
    path = tmp_path / "p.jsonl"
    row = {
        "source": "The cat sat.",
        "summary": "A \x1b]0;title\x07 cat [/red] sat.",
    }
    path.write_text(json.dumps(row) + "\nbad" * 50)
    shown = run("score", path, "-m", bert_folder, "-q", *SHORT, columns=200, status=1)
    assert "\x1b" not in shown.output
    assert "[/red]" in shown.stdout
    assert shown.stderr.count("is not JSON") == 20
    assert "skipped 30 more rows" in shown.stderr


def test_a_threshold_flags_the_summaries_to_look_at(
    table: Path, bert_folder: str, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    options = ["-m", bert_folder, "-q", *SHORT]
    rows = run("score", table, "-o", "-", *options, status=1).stdout.splitlines()
    values = [json.loads(row)["inconsistency"] for row in rows]
    shown = run("score", table, "-o", out, "--threshold", max(values), *options, status=1).stdout
    assert f"1 summary flagged (inconsistency >= {max(values):g})" in shown
    assert [row["flag"] for row in csv_rows(out)] == [
        str(int(value == max(values))) for value in values
    ]
    assert files.read_meta(out)["threshold"] == {"inconsistency": max(values)}


def test_text_files_are_scored_line_by_line(bert_folder: str, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("The cat sat on the mat.\nThe dog ran.\n")
    (tmp_path / "a.txt").write_text("The cat sat.\nThe dog.\n")
    (tmp_path / "b.txt").write_text("The dog sat.\n\n")
    options = ["-m", bert_folder, "-q", *SHORT]
    texts = ["-s", tmp_path / "s.txt", "-i", tmp_path / "a.txt", tmp_path / "b.txt"]
    out = tmp_path / "out.jsonl"
    shown = run("score", *texts, "-o", out, *options, columns=200).stdout
    assert f"wrote 4 rows to {out}" in shown
    found = [(Path(row["file"]).name, row["line"]) for row in json_rows(out)]
    assert found == [("a.txt", 1), ("a.txt", 2), ("b.txt", 1), ("b.txt", 2)]
    shown = run("score", *texts, *options, columns=200).stdout
    assert re.search(r"line .* file +summary", shown)
    assert re.search(r" 2 .*b\.txt", shown)
    found = json.loads(run("score", *texts, "--json", *options).stdout)["files"]
    assert list(found) == [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]
    for file, means in found.items():
        mean = means["inconsistency"]
        interval = rf"\[{mean['low']:.4f}, {mean['high']:.4f}\]"
        assert re.search(rf"(?m)^{Path(file).name} +2 +{mean['mean']:.4f} +{interval} ", shown)


def test_json_is_one_object_with_everything_and_score_only_one_number(
    table: Path, bert_folder: str, tmp_path: Path
) -> None:
    options = ["-m", bert_folder, "-q", *SHORT]
    out = tmp_path / "out.jsonl"
    shown = run("score", table, "--json", "-o", out, *options, status=1)
    found = json.loads(shown.stdout)
    assert f"wrote 2 rows to {out}" in shown.stderr
    assert (found["pairs"], found["skipped"]) == (2, 2)
    assert found["seconds"] > 0
    mean = found["measures"]["inconsistency"]["mean"]
    shown = run("score", table, "-b", *options, status=1)
    assert shown.stdout == f"{mean:.4f}\n"
    assert "skipped line 2" in shown.stderr


def test_a_mean_has_its_interval_and_the_short_signature_is_the_last_line(
    table: Path, bert_folder: str, tmp_path: Path
) -> None:
    path = tmp_path / "several.jsonl"
    sources = ["The cat sat on the mat.", "The dog ran.", "A dog sat."]
    path.write_text(
        "\n".join(json.dumps({"source": one, "summary": "The cat sat."}) for one in sources)
    )
    options = ["-m", bert_folder, "-q", *SHORT]
    shown = run("score", path, *options).stdout
    scorer = EstimeScorer(model=bert_folder, window=60, margin=10)
    result = scorer.score(["The cat sat."] * 3, sources)
    found = result.interval("inconsistency")
    assert found.low < found.mean < found.high
    assert re.search(
        rf"(?m)^inconsistency +{found.mean:.4f} +\[{found.low:.4f}, {found.high:.4f}\] +lower",
        shown,
    )
    assert "There are only 3 different sources, so the intervals are too narrow." in shown
    assert shown.splitlines()[-1] == result.signature.short
    assert shown.splitlines()[-2] == result.signature
    shown = run("score", table, *options, status=1).stdout
    assert "All pairs have the same source, so there are no intervals." in shown
    assert re.search(r"(?m)^inconsistency +\d\.\d{4} +– +lower", shown)


def test_flagged_summaries_are_named_worst_first_with_their_words(
    bert_folder: str, tmp_path: Path
) -> None:
    source = "The cat sat on the mat."
    paths = [
        write_jsonl(tmp_path / name, [{"source": source, "summary": text} for text in summaries])
        for name, summaries in (
            ("a.jsonl", ["The cat sat.", "A zebra sat on a zebra."]),
            ("b.jsonl", ["", "The dog sat on the mat."]),
        )
    ]
    options = ["-m", bert_folder, "-q", *SHORT]
    shown = run("score", *paths, "--threshold", 0.1, *options, columns=200).stdout
    found = re.findall(r"(\w)\.jsonl line (\d)  inconsistency ([\d.]+)", shown)
    values = [float(value) for *_, value in found]
    assert found[0] == ("b", "1", "1.000")
    assert values == sorted(values, reverse=True)
    assert min(values) >= 0.1
    assert f"{len(values)} summaries flagged (inconsistency >= 0.1):" in shown
    assert shown.count(" flag ") == len(values) + 1  # rows of the table and its header
    assert "b.jsonl line 1  inconsistency 1.000\n  blank summary\n" in shown
    assert "\n  not in the source: A, zebra\n" in shown.partition("a.jsonl line 2  ")[2]
    shown = run("score", *paths, "--threshold", 0.1, "--worst", 1, *options).stdout
    assert f"{len(values)} summaries flagged (inconsistency >= 0.1); the worst 1:" in shown
    content = json.loads(run("score", *paths, "--worst", 2, "--json", *options).stdout)
    assert [(pair["file"], pair["line"]) for pair in content["worst"]] == [
        (str(paths[1]), 1),
        (str(paths[0]), 2),
    ]
    assert content["worst"][1]["absent"] == ["A", "zebra"]
    assert "flagged" not in content


def test_a_plot_of_scores_is_one_file_and_an_output(
    table: Path, bert_folder: str, tmp_path: Path
) -> None:
    options = ["-m", bert_folder, "-q", *SHORT]
    before = set(tmp_path.iterdir())
    for ending, begins in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        plot = tmp_path / f"plot{ending}"
        shown = run("score", table, "--plot", plot, *options, status=1)
        assert f"wrote the plot to {plot}" in shown.stdout
        assert plot.read_bytes().startswith(begins)
        assert set(tmp_path.iterdir()) - before == {plot}
        refused = run("score", table, "--plot", plot, *options, status=2).stderr
        assert f"plot{ending} already exists. Use --overwrite to replace it." in refused
        plot.unlink()
    text = tmp_path / "plot.svg"
    run("score", table, "--plot", text, "--threshold", 0.5, *options, status=1)
    assert "threshold 0.5: 1 flagged" in text.read_text()  # the comments name the texts


def test_a_column_called_file_is_not_the_file_of_a_pair(bert_folder: str, tmp_path: Path) -> None:
    row = {"source": "The cat sat on the mat.", "summary": "The cat sat.", "file": "doc.txt"}
    paths = [write_jsonl(tmp_path / name, [row]) for name in ("a.jsonl", "b.jsonl")]
    options = ["-m", bert_folder, "-q", *SHORT]
    shown = run("score", *paths, *options, columns=300).stdout
    assert "doc.txt" not in shown
    assert all(shown.count(f" {path} ") == 1 for path in paths)
    worst = json.loads(run("score", *paths, "--worst", 2, "--json", *options).stdout)["worst"]
    assert sorted(pair["file"] for pair in worst) == list(map(str, paths))
    out = tmp_path / "out.jsonl"
    refused = run("score", *paths, "-o", out, *options, status=2).stderr
    assert "has a column 'file', which is also the name of an output column" in refused
    run("score", *paths, "-o", out, "--prefix", "x_", *options)
    assert [(row["file"], row["x_file"]) for row in json_rows(out)] == [
        ("doc.txt", str(path)) for path in paths
    ]


def test_summaries_without_anything_to_check_are_named_with_their_file(
    bert_folder: str, tmp_path: Path
) -> None:
    row = {"source": "The cat sat on the mat.", "summary": "The cat sat."}
    blank, unchecked = {**row, "summary": " "}, {**row, "summary": "zebra"}
    for name, rows in (("a", [row, blank, unchecked]), ("b", [blank, row]), ("empty", [])):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    paths = a, b, empty = [tmp_path / f"{name}.jsonl" for name in ("a", "b", "empty")]
    options = ["-m", bert_folder, "-q", *SHORT]
    shown = run("score", *paths, *options, columns=300)
    assert f"nothing was checked: {a} line 2, 3; {b} line 1\n" in shown.stdout
    assert f"2 blank summaries (inconsistency 1): {a} line 2; {b} line 1\n" in shown.stdout
    assert shown.stderr == f"{empty} has no pair\n"
    out = tmp_path / "out.jsonl"
    for resumed in ([], ["--resume"]):  # the second run has nothing left to do
        shown = run("score", *paths, "-b", "-o", out, *resumed, *options)
        assert f"{empty} has no pair\n" in shown.stderr


@pytest.mark.parametrize(
    "option", ["--threshold=0", "--worst=1", "--plot=plot.png", "--score-only"]
)
def test_what_needs_one_layer_says_so(table: Path, bert_folder: str, option: str) -> None:
    shown = run("score", table, option, "-l", "1,2", "-m", bert_folder, "-q", *SHORT, status=2)
    name = option.partition("=")[0]
    assert shown.stderr == f"error: Expected one layer with {name}, but got the layers 1, 2.\n"

"""Outputs that exist are kept: refused unasked, and whole again where writing fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from estime_metric import files
from estime_metric.tables import Column, Section, Table, write_table
from tests.command import full_disk, run_command

FOLDERS = (
    ("meta-evaluate", "a.csv", "b.csv"), ("benchmark", "summeval", "--data", "data"), ("benchmark", "frank", "data"),
    ("benchmark", "subtle-errors", "a.csv"), ("benchmark", "coherence", "data"),
)  # fmt: skip

FILES = (
    (("score", "--example"), "out.jsonl"), (("explain", "--example"), "out.html"), (("corrupt", "a.jsonl"), "out.csv"),
    (("compare", "a.csv", "b.csv"), "out.csv"), (("calibrate", "a.csv"), "out.csv"),
    (("coherence", "a.csv"), "out.parquet"), (("meta-evaluate", "a.csv", "b.csv"), "out.md"),
)  # fmt: skip


@pytest.mark.parametrize("command", FOLDERS, ids=lambda command: command[-2])
def test_a_folder_that_holds_something_is_refused_before_anything_is_read(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "scores.csv").write_text("mine")
    shown = run_command(*command, "-o", tmp_path / "out", status=2)
    assert "out is not empty: name another folder, or replace its files with --overwrite." in shown.stderr
    assert (tmp_path / "out" / "scores.csv").read_text() == "mine"
    for options in ([tmp_path / "out", "--overwrite"], [tmp_path / "new"]):  # there are no data
        assert "is not empty" not in run_command(*command, "-o", *options, status=2).stderr


@pytest.mark.parametrize(("command", "name"), FILES)
def test_a_file_that_exists_is_refused_before_anything_is_read(
    command: tuple[str, ...], name: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text("mine")
    shown = run_command(*command, "-o", tmp_path / name, status=2)
    assert f"{name} exists: replace it with --overwrite." in shown.stderr
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize("command", ["score", "explain", "corrupt", "compare", "calibrate", "coherence"])
def test_an_input_is_never_overwritten(command: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text("mine")
    for options in ([], ["--overwrite"], *([["--resume"]] if command == "score" else [])):
        assert "another file than the input" in run_command(command, path, "-o", path, *options, status=2).stderr
    assert path.read_text() == "mine"


@pytest.fixture
def judged(tmp_path: Path) -> list[Path]:
    rows = [{"document": row // 3, "system": row % 3, "soft": row % 7, "fluency": row % 5} for row in range(12)]
    paths = [tmp_path / "scores.jsonl", tmp_path / "judgements.jsonl"]
    for path, name in zip(paths, ("soft", "fluency"), strict=True):
        path.write_text("".join(json.dumps({k: row[k] for k in ("document", "system", name)}) + "\n" for row in rows))
    return paths


@pytest.mark.parametrize("ending", ["csv", "md", "tex"])
def test_meta_evaluate_replaces_its_output_whole_or_not_at_all(judged: list[Path], tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"out.{ending}"
    out.write_text("of an earlier run")
    before = set(tmp_path.iterdir())
    options = ["-n", 5, "--levels", "summary", "-o", out, "--overwrite"]
    with full_disk(100):
        shown = run_command("meta-evaluate", *judged, *options, status=2)
    assert shown.stderr.startswith("error: File too large")
    assert out.read_text() == "of an earlier run"
    assert set(tmp_path.iterdir()) == before
    run_command("meta-evaluate", *judged, *options)
    assert "soft" in out.read_text()
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_rows_replace_a_file_whole_or_not_at_all(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"rows.{ending}"
    files.write_rows(path, [{"name": "a"}])
    before = path.read_bytes()
    with full_disk(1_000), pytest.raises(OSError, match="File too large"):
        files.write_rows(path, [{"name": str(number)} for number in range(10_000)])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_tables_of_a_study_and_its_pictures_too(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    from estime_metric.meta.plots import save

    def table(rows: int) -> Table:
        return Table("t", "T", (Column("x"),), (Section("", tuple((row,) for row in range(rows))),))

    figure = Figure()
    written = [*write_table(table(1), tmp_path), *save(figure, tmp_path / "p")]
    before = [path.read_bytes() for path in written]
    figure.add_subplot()
    with full_disk(100):
        for again in (lambda: write_table(table(1000), tmp_path), lambda: save(figure, tmp_path / "p")):
            with pytest.raises(OSError, match="File too large"):
                again()
    assert [path.read_bytes() for path in written] == before
    assert set(tmp_path.iterdir()) == set(written)


def test_a_link_stays_one_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    files.write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"
    files.write_text(Path("/dev/null"), "gone")
    assert Path("/dev/null").is_char_device()

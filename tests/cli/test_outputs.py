"""Outputs that exist are kept: refused unasked, and whole again where writing fails."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from estime_metric.jobs import Job
from estime_metric.show.plot import save
from estime_metric.table.output import write_text
from estime_metric.table.table import record_of, write
from tests.command import full_disk, run_command

FOLDERS = ["meta-evaluate a.csv b.csv", "benchmark summeval --data data"]
FILES = {
    "score --example": "out.jsonl",
    "explain --example": "out.html",
    "corrupt a.jsonl": "out.csv",
    "compare a.csv b.csv": "out.csv",
    "coherence a.csv": "out.parquet",
}


@pytest.mark.parametrize("command", FOLDERS)
def test_a_folder_that_holds_something_is_refused_before_anything_is_read(
    command: str, tmp_path: Path
) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text("mine")
    said = "is not empty. Name another folder, or use --overwrite to replace its files."
    assert said in run_command(*command.split(), "-o", tmp_path, status=2).stderr
    assert scores.read_text() == "mine"
    for options in ([tmp_path, "--overwrite"], [tmp_path / "new"]):  # there are no data
        assert said not in run_command(*command.split(), "-o", *options, status=2).stderr


@pytest.mark.parametrize(("command", "name"), FILES.items())
def test_a_file_that_exists_is_refused_before_anything_is_read(
    command: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text("mine")
    shown = run_command(*command.split(), "-o", tmp_path / name, status=2)
    assert f"{name} already exists. Use --overwrite to replace it." in shown.stderr
    assert (tmp_path / name).read_text() == "mine"


def test_parquet_without_pyarrow_is_refused_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    shown = run_command("compare", "a.csv", "b.csv", "-o", tmp_path / "out.parquet", status=2)
    assert shown.stderr == "error: Parquet needs pyarrow: pip install 'estime-metric[files]'.\n"


@pytest.mark.parametrize("command", ["score", "explain", "corrupt", "compare", "coherence"])
def test_an_input_is_never_overwritten(command: str, tmp_path: Path) -> None:
    """Under any of its names."""
    path, link, hard = (tmp_path / f"{name}.jsonl" for name in ("pairs", "link", "hard"))
    path.write_text("mine")
    link.symlink_to(path)
    hard.hardlink_to(path)
    for output in (path, link, hard):
        refused = run_command(command, path, "-o", output, "--overwrite", status=2).stderr
        assert "the output to differ from the inputs and their records, but" in refused
    assert path.read_text() == "mine"


@pytest.mark.parametrize("command", ["compare a.csv b.csv --plot", f"{FOLDERS[1]} -o"])
def test_what_is_not_a_row_format_is_not_written_to_standard_output(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = run_command(*command.split(), "-", status=2)
    assert "error: Expected the output to " in shown.stderr
    assert shown.stdout == ""
    assert not list(tmp_path.iterdir())


def test_rows_tables_and_pictures_replace_files_whole_or_not_at_all(tmp_path: Path) -> None:
    figure = Figure()

    def writers(number: int) -> list[Callable[[], object]]:
        rows = [{"name": str(row)} for row in range(number)]
        paths = [tmp_path / f"rows.{ending}" for ending in ("csv", "jsonl", "parquet")]
        return [
            *(partial(write, path, rows) for path in paths),
            partial(write_text, tmp_path / "table.md", "row\n" * number),
            partial(save, figure, tmp_path / "p"),
        ]

    for first in writers(1):
        first()
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    figure.add_subplot()
    with full_disk(100):
        for again in writers(1000):
            with pytest.raises(OSError, match="File too large"):
                again()
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_link_stays_one_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    """What belongs to an output is next to the target of the link."""
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "real.jsonl", tmp_path / "link.jsonl"
    link.symlink_to(target)
    write(link, [{"a": 1}], {"signature": "s"})
    assert record_of(target) == {"signature": "s"}
    assert Job(inputs=(tmp_path / "a.jsonl",), output=link).output == target
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "link.jsonl"}
    write_text(Path("/dev/null"), "gone")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("command", "record"),
    [
        ("compare a.jsonl.gz b.jsonl -o a.jsonl", "a.jsonl.meta.json"),
        ("compare a.jsonl.gz b.jsonl -o a.jsonl --overwrite", "a.jsonl.meta.json"),
        ("compare a.jsonl.gz b.jsonl -o a.jsonl.meta.json --overwrite", "a.jsonl.meta.json"),
        ("score pairs.jsonl -o o.jsonl", "o.jsonl.meta.json"),
        ("score pairs.jsonl -o o.csv --resume", "o.csv.meta.json"),
    ],
)
def test_records_of_inputs_and_of_other_files_are_kept(
    command: str, record: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.jsonl.gz", "b.jsonl", "pairs.jsonl", record):
        Path(name).write_text("mine")
    assert record in run_command(*command.split(), status=2).stderr
    assert Path(record).read_text() == "mine"

"""``estime corrupt`` as its user meets it: the screen, the files, the exit status."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from estime_metric.studies.benchmarks.subtle_errors import SubtleErrors
from estime_metric.studies.benchmarks.subtle_errors.labeled import labeled_rows
from tests.command import json_rows, run_command, write_jsonl
from tests.families import SENTENCES

run = partial(run_command, "corrupt")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [
        {"source": f"Source {index}.", "summary": text} for index, text in enumerate(SENTENCES[:3])
    ]
    return write_jsonl(tmp_path / "clean.jsonl", rows)


def test_pairs_become_labeled_pairs(table: Path, bert_folder: str, tmp_path: Path) -> None:
    out = tmp_path / "labeled.jsonl"
    shown = run(table, "-o", out, "-m", bert_folder, "-n", "3,1", "--seed", 5, "-q")
    rows = json_rows(out)
    corrupted = SubtleErrors(bert_folder, n_errors=3, seed=5)(SENTENCES[:3])
    expected = labeled_rows([row["source"] for row in rows[::3]], corrupted, (1, 3), "123")
    assert rows == expected
    assert "3 clean and 6 corrupted rows, 0 rows skipped" in shown.stdout
    assert "SubtleErrors|model:bert@sha256-" in shown.stdout
    assert shown.stderr == ""


def test_what_is_missing_is_said(bert_folder: str, tmp_path: Path) -> None:
    rows = [{"source": "x", "summary": text} for text in (SENTENCES[0], "the.", "...")]
    path = write_jsonl(tmp_path / "short.jsonl", [*rows, {"source": "x"}])
    out = tmp_path / "out.jsonl"
    shown = run(path, "-o", out, "-m", bert_folder, "-q", status=1)
    assert "line 2: not enough suitable words; inserted 1 of 3 errors" in shown.stderr
    assert "line 3: not enough suitable words; inserted 0 of 3 errors" in shown.stderr
    assert "skipped line 4: column 'summary' is missing" in shown.stderr
    assert "3 clean and 2 corrupted rows, 1 row skipped" in shown.stdout

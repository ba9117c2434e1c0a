"""What jobs read: rows that the output has no place for, texts in files of lines, ids of any size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeScorer, files
from estime_metric.jobs import Job, Progress, Report, score_files
from tests.command import json_rows, write_jsonl
from tests.jobs.conftest import rows


@pytest.fixture(scope="module")
def scorer(bert_folder: str) -> EstimeScorer:
    return EstimeScorer(model=bert_folder, window=60, margin=10)


class Watched(Progress):
    """Counts chunks, and remembers what is wrong with lines."""

    def __init__(self) -> None:
        self.chunks = 0
        self.problems: list[str] = []

    def keep(self, pairs: int, problems: Sequence[str]) -> None:
        self.chunks += 1
        self.problems += problems


def score(
    job: Job, scorer: EstimeScorer, stop_after: int | None = None, **options: Any
) -> tuple[Report, list[str]]:
    """The report, and what is wrong with which lines."""
    watched = Watched()
    report = score_files(
        job, scorer, progress=watched, stop=lambda: watched.chunks == stop_after, **options
    )
    return report, watched.problems


def test_a_later_row_with_a_column_of_the_output_is_skipped(
    tmp_path: Path, scorer: EstimeScorer
) -> None:
    """Only if the first row has it, the job is refused: then all will have it."""
    made = rows(20)
    made[12]["tokens"] = 5
    table = write_jsonl(tmp_path / "pairs.jsonl", made)
    for ending in ("jsonl", "csv", "parquet"):
        job = Job(inputs=(table,), output=tmp_path / f"out.{ending}", look_ahead=4)
        report, (problem,) = score(job, scorer)
        assert (report.totals.pairs, report.totals.skipped) == (19, 1)
        assert problem.startswith("line 13: has a column 'tokens', which is also the name of an")
        prefixed = Job(inputs=(table,), output=tmp_path / f"all.{ending}", prefix="estime_")
        assert score(prefixed, scorer)[0].totals.pairs == 20
    assert score(Job(inputs=(table,)), scorer)[0].totals.pairs == 20  # without an output all fit


def test_text_files_are_scored_as_a_table_of_their_lines(
    tmp_path: Path, scorer: EstimeScorer
) -> None:
    """Each file of summaries against the same sources; the rows name their file and line."""
    made = rows(12)
    (tmp_path / "s.txt").write_text("".join(row["source"] + "\n" for row in made), encoding="utf-8")
    for name, key in (("a", "summary"), ("b", "source")):
        lines = "".join(row[key][:40] + "\n" for row in made)
        (tmp_path / f"{name}.txt").write_text(lines, encoding="utf-8")
        table = [{"source": row["source"], "summary": row[key][:40]} for row in made]
        write_jsonl(tmp_path / f"{name}.jsonl", table)
    layout = files.Layout(source_file=tmp_path / "s.txt")
    outputs = []
    for ending, how in ((".txt", {"layout": layout}), (".jsonl", {})):
        inputs = (tmp_path / f"a{ending}", tmp_path / f"b{ending}")
        job = Job(inputs=inputs, output=tmp_path / f"out{ending[1:]}.jsonl", look_ahead=5, **how)
        score(job, scorer, stop_after=2)
        score(job, scorer, existing="resume")
        outputs.append(json_rows(tmp_path / f"out{ending[1:]}.jsonl"))
    for texts, table in zip(*outputs, strict=True):
        assert Path(texts.pop("file")).stem == Path(table.pop("file")).stem
        assert texts == table
    (tmp_path / "s.txt").write_text("changed\n" * 12)
    with pytest.raises(ValueError, match="was made from, but its lines have changed"):
        score(
            Job(
                inputs=(tmp_path / "a.txt", tmp_path / "b.txt"),
                output=tmp_path / "outtxt.jsonl",
                look_ahead=5,
                layout=layout,
            ),
            scorer,
            existing="resume",
        )
    (tmp_path / "s.txt").write_text("one\n")
    with pytest.raises(ValueError, match=r"same number of lines, but got 1 and 12\."):
        Job(inputs=(tmp_path / "a.txt",), layout=layout)

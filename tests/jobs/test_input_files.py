"""What jobs read: rows that the output has no place for, texts in files of lines, ids of any size."""

from __future__ import annotations

from pathlib import Path

import pytest

from estime_metric import EstimeScorer, files
from estime_metric.jobs import Job
from tests.command import json_rows, write_jsonl
from tests.jobs.conftest import Watched, rows, score


def test_a_later_row_with_a_column_of_the_output_is_skipped(
    tmp_path: Path, scorer: EstimeScorer
) -> None:
    """Only if the first row has it, the job is refused: then all will have it."""
    made = rows(20)
    made[12]["tokens"] = 5
    table = write_jsonl(tmp_path / "pairs.jsonl", made)
    job, watched = Job(inputs=(table,), output=tmp_path / "out.jsonl"), Watched()
    totals = score(job, scorer, watched=watched).totals
    assert (totals.pairs, totals.skipped) == (19, 1)
    (problem,) = watched.problems
    assert problem.startswith("line 13: has a column 'tokens', which is also the name of an")
    for output in (tmp_path / "all.jsonl", None):  # without an output all fit
        job = Job(inputs=(table,), output=output, prefix="estime_" if output else "")
        assert score(job, scorer).totals.pairs == 20


def test_text_files_are_scored_as_a_table_of_their_lines(
    tmp_path: Path, scorer: EstimeScorer
) -> None:
    """Each file of summaries against the same sources; the rows name their file and line."""
    made = rows(12)
    sources = tmp_path / "s.txt"
    sources.write_text("".join(row["source"] + "\n" for row in made), encoding="utf-8")
    for name, key in (("a", "summary"), ("b", "source")):
        lines = "".join(row[key][:40] + "\n" for row in made)
        (tmp_path / f"{name}.txt").write_text(lines, encoding="utf-8")
        table = [{"source": row["source"], "summary": row[key][:40]} for row in made]
        write_jsonl(tmp_path / f"{name}.jsonl", table)

    def job(kind: str, layout: files.Layout) -> Job:
        return Job(
            inputs=(tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"),
            output=tmp_path / f"{kind}-scores.jsonl",
            layout=layout,
            look_ahead=5,
        )

    jobs = job("txt", files.Layout(source_file=sources)), job("jsonl", files.TABLES)
    for each in jobs:
        score(each, scorer, stop_after=2)
        score(each, scorer, "resume")
    of_texts, of_tables = (json_rows(Path(str(each.output))) for each in jobs)
    for text_row, table_row in zip(of_texts, of_tables, strict=True):
        assert Path(text_row.pop("file")).stem == Path(table_row.pop("file")).stem
        assert text_row == table_row
    sources.write_text("changed\n" * 12)
    with pytest.raises(ValueError, match="was made from, but its lines have changed"):
        score(jobs[0], scorer, "resume")
    sources.write_text("one\n")
    with pytest.raises(ValueError, match=r"same number of lines, but got 1 and 12\."):
        job("txt", files.Layout(source_file=sources))

"""What jobs read: rows that the output has no place for, texts in files of lines, ids of any size."""

from __future__ import annotations

from pathlib import Path

from estime_metric import EstimeScorer
from estime_metric.jobs import Job
from tests.command import write_jsonl
from tests.jobs.conftest import Watched, rows, score


def test_a_later_row_with_a_column_of_the_output_is_skipped(
    tmp_path: Path, scorer: EstimeScorer
) -> None:
    """Only if the first row has it, the job is refused: then all will have it."""
    made = rows(20)
    made[12]["tokens"] = 5
    table = write_jsonl(tmp_path / "pairs.jsonl", made)
    job, watched = Job(inputs=(table,), output=tmp_path / "out.jsonl"), Watched()
    report = score(job, scorer, progress=watched)
    assert (report.pairs, report.skipped) == (19, 1)
    (problem,) = watched.problems
    assert problem.startswith("line 13: has a column 'tokens', which is also the name of an")
    for output in (tmp_path / "all.jsonl", None):  # without an output all fit
        job = Job(inputs=(table,), output=output, prefix="estime_" if output else "")
        assert score(job, scorer).pairs == 20

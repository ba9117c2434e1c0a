"""What jobs read: rows that the output has no place for, texts in files of lines, ids of any size."""

from __future__ import annotations

from pathlib import Path

import pytest

from estime_metric import EstimeScorer, files
from estime_metric.jobs import Job
from tests.command import json_rows, write_jsonl
from tests.jobs.conftest import Watched, result_of, rows, score, score_chunks


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


def test_text_files_are_scored_line_by_line_and_resumed(
    tmp_path: Path, scorer: EstimeScorer
) -> None:
    """Each file of summaries against the same sources; the rows name their file and line."""
    pairs = rows(12)
    sources, first, second = (tmp_path / f"{name}.txt" for name in "sab")
    for path, column in ((sources, "source"), (first, "summary"), (second, "note")):
        lines = [row[column].replace("\n", " ") for row in pairs]
        path.write_text("\n".join(lines), encoding="utf-8")
    layout = files.Layout(source_file=sources)
    out = tmp_path / "out.jsonl"
    job = Job(inputs=(first, second), output=out, layout=layout, look_ahead=5)
    score_chunks(job, scorer, 2)
    score(job, scorer, "resume")
    notes = [{**row, "summary": row["note"].replace("\n", " ")} for row in pairs]
    alarms = result_of(scorer, [*pairs, *notes]).values("alarms").tolist()
    places = [(str(path), line) for path in (first, second) for line in range(1, 13)]
    written = [(row["file"], row["line"], row["alarms"]) for row in json_rows(out)]
    assert written == [(*place, number) for place, number in zip(places, alarms, strict=True)]
    sources.write_text("one\n")
    with pytest.raises(ValueError, match=r"same number of lines, but got 1 and 12\."):
        Job(inputs=(first,), layout=layout)

"""Files of pairs in the demo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from estime_metric import EstimeScorer, files
from estime_metric.demo import upload
from estime_metric.demo.encoders import Encoders, Setting
from estime_metric.demo.limits import Limits, RefusedError

SETTING = Setting("embedded-small", "token", 5)
PAIRS = [
    {"source": "The cat sat on the mat while the dog slept.", "summary": summary, "id": number}
    for number, summary in enumerate(["The dog sat.", "", "The cat slept on the dog.", "Nothing of it"])
]


@pytest.fixture(scope="module")
def encoders() -> Encoders:
    return Encoders(["embedded-small"])


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def limited(**limits: float) -> Encoders:
    return Encoders(["embedded-small"], Limits(**limits))  # type: ignore[arg-type]


def test_the_scores_are_those_of_the_scorer_row_by_row(tmp_path: Path, encoders: Encoders) -> None:
    pairs = upload.read(write(tmp_path / "p.jsonl", PAIRS), " source ", "", encoders)
    steps = [(len(progress.rows), progress.done) for progress in upload.score(pairs, encoders, SETTING)]
    assert steps == [(1, False), (2, False), (3, False), (4, False), (4, True)]
    *_, last = upload.score(pairs, encoders, SETTING)
    result = EstimeScorer(model="embedded-small").score(pairs.summaries, pairs.sources)
    assert last.rows == files.score_rows(pairs, result)
    assert [(pair.line, pair.summary) for pair in last.scored] == list(enumerate(pairs.summaries, start=1))
    assert [pair.alarms for pair in last.scored] == [row["alarms"] for row in last.rows]
    assert [pair.coverage > 0 for pair in last.scored] == [True, False, True, False]  # the second is empty
    assert (last.rows_in_file, last.problems, last.late) == (4, [], False)


def test_a_text_that_cannot_be_scored_is_a_problem_of_its_row(tmp_path: Path) -> None:
    encoders = limited(max_summary_chars=30, max_tokens=12)
    rows = [*PAIRS[:1], {**PAIRS[0], "summary": "x" * 31}, {**PAIRS[0], "source": "a " * 13}, {"source": "x"}]
    rows += [{**PAIRS[0], "summary": "half \ud800"}, *PAIRS[2:3]]
    pairs = upload.read(write(tmp_path / "p.jsonl", rows), "source", "summary", encoders)
    *_, last = upload.score(pairs, encoders, SETTING)
    assert [pair.line for pair in last.scored] == [1, 6]
    assert last.rows_in_file == 6
    assert [problem.split(",")[0][:40] for problem in sorted(last.problems)] == [
        "line 2: The summary has 31 characters; t",
        "line 3: The source has 13 tokens; with e",
        "line 4: has no column 'summary' (columns",
        "line 5: column 'summary' holds a lone su",
    ]


def test_files_over_the_limits_are_refused(tmp_path: Path, encoders: Encoders) -> None:
    path = write(tmp_path / "p.jsonl", PAIRS)
    with pytest.raises(RefusedError, match="The file has 4 pairs; this page takes up to 3"):
        upload.read(path, "source", "summary", limited(max_pairs=3))
    with pytest.raises(RefusedError, match=r"The file has 0.0 MB; this page takes up to 0.0001 MB"):
        upload.read(path, "source", "summary", limited(max_file_bytes=100))
    with pytest.raises(ValueError, match=r"Expected a column 'a' in p\.jsonl, but its columns are source, summary, id"):
        upload.read(path, "a", "b", encoders)
    with pytest.raises(RefusedError, match=r"^There is no pair in the file\.$"):
        upload.read(write(tmp_path / "empty.jsonl", []), "source", "summary", encoders)
    with pytest.raises(RefusedError, match=r"This page reads files that end in \.jsonl"):
        upload.read(tmp_path / "p.txt", "source", "summary", encoders)

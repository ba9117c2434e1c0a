"""How an input is cut into chunks, and how the chunks of an earlier run are known again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from estime_metric import EstimeScorer
from estime_metric.jobs import Job, score_files
from estime_metric.jobs.journal import Chunk, Limits, cut, digests, journal_path
from estime_metric.table.rows import TABLES, Line
from tests.jobs.conftest import score_chunks


def lines_of(sources: list[str], size: int = 0) -> list[Line]:
    """Pairs of summaries of two bytes; a line without a source is invalid."""
    return [
        Line(
            Path(),
            number,
            {"source": source, "summary": "12"} if source else {},
            "" if source else "is bad",
            size,
        )
        for number, source in enumerate(sources, start=1)
    ]


def numbers(lines: list[Line], limits: Limits) -> list[list[int]]:
    return [[line.number for line in part] for part in cut(lines, TABLES, limits)]


def test_chunks_end_between_sources_within_their_limits() -> None:
    two = Limits(lines=2, text=100, size=100)
    assert numbers([], two) == []
    assert numbers(lines_of(list("abcde")), two) == [[1, 2], [3, 4], [5]]
    # A source continues to twice the number of lines; invalid lines count.
    assert numbers(lines_of(["a"] * 6), two) == [[1, 2, 3, 4], [5, 6]]
    assert numbers(lines_of(list("abbc")), two) == [[1, 2, 3], [4]]
    assert numbers(lines_of(["a", "", "b", "", "", ""]), two) == [[1, 2], [3, 4, 5, 6]]
    # Bytes of text: a source counts once, a large source until its summaries are as large as it is.
    text = Limits(lines=99, text=8, size=100)
    assert numbers(lines_of(["aaaa", "aaaa", "b", "c"]), text) == [[1, 2], [3, 4]]
    long = numbers(lines_of(["a" * 12] * 20), replace(text, text=4))
    assert long == [[*range(1, 7)], [*range(7, 13)], [*range(13, 19)], [19, 20]]


@pytest.mark.parametrize("source", ["a", ""])
def test_a_chunk_is_bounded_by_the_bytes_of_whole_rows(source: str) -> None:
    """Those of columns that are not texts and of invalid lines included; a larger row is alone."""
    limits = Limits(lines=99, text=99, size=10)
    sizes = [4, 4, 4, 30, 1, 9, 1]
    lines = [
        replace(line, size=size) for line, size in zip(lines_of([source] * 7), sizes, strict=True)
    ]
    assert numbers(lines, limits) == [[1, 2], [3], [4], [5, 6], [7]]


def test_a_chunk_knows_its_lines_again() -> None:
    lines = lines_of(list("abc"))
    *_, digest = digests(lines[:2])
    chunk = Chunk(digest, [], 0, {})
    assert chunk.lines_in(lines[:2]) == chunk.lines_in(lines) == 2
    for other in (lines[:1], [lines[0], replace(lines[1], row={"source": "b"})], lines[1:]):
        assert chunk.lines_in(other) == 0


def test_a_chunk_has_less_text_if_an_encoder_has_more_to_do(
    scorer: EstimeScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("estime_metric.jobs.journal.WORK", 1e9)
    heavy, light, low = (
        Limits.of(EstimeScorer(scorer.config, distance=distance, layers=layer))
        for distance, layer in ((8, 2), (2, 2), (8, 1))
    )
    assert light.text == pytest.approx(4 * heavy.text, rel=0.01)
    assert low.text == pytest.approx(2 * heavy.text, rel=0.01)
    assert (light.lines, light.size) == (heavy.lines, heavy.size)


@pytest.fixture
def stopped(table: Path, tmp_path: Path, scorer: EstimeScorer) -> Job:
    """A job that has kept two chunks."""
    job = Job(inputs=(table,), output=tmp_path / "out.jsonl")
    score_chunks(job, scorer, 2)
    return job


@pytest.mark.parametrize(
    "left",
    [
        lambda kept: kept,  # and another limit now, as on another device
        lambda kept: kept + b'{"rows": [{"li',
        lambda kept: kept + b'{"rows": [], "skipped": 1, "digest": "d", "warnings": []}',
        lambda kept: kept[:20],  # killed before there was anything to keep
    ],
    ids=["whole lines", "half a row", "a line without its end", "half the record"],
)
def test_half_a_line_that_a_killed_run_has_left_is_cut_off(
    stopped: Job,
    tmp_path: Path,
    scorer: EstimeScorer,
    left: Callable[[bytes], bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out, whole = tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    score_files(replace(stopped, output=whole), scorer)
    kept = journal_path(out).read_bytes()
    journal_path(out).write_bytes(left(kept))
    if left(kept).startswith(kept):
        monkeypatch.setattr("estime_metric.jobs.journal.LINES", 5)
    report = score_files(stopped, scorer, existing="resume")
    assert (report.resumed > 0) == left(kept).startswith(kept)
    assert out.read_bytes() == whole.read_bytes()


def test_a_damaged_journal_is_not_resumed(
    stopped: Job, scorer: EstimeScorer, tmp_path: Path
) -> None:
    kept = journal_path(tmp_path / "out.jsonl")
    header, chunk, _ = kept.read_text().splitlines(keepends=True)
    for damaged in (
        *(f"{line}\n{chunk}" for line in ("{}", "[]", "{", header.replace("limits", "x").strip())),
        *(f"{header}{line}\n{chunk}" for line in ("{", "{}", "[]")),
    ):
        kept.write_text(damaged)
        with pytest.raises(ValueError, match="damaged"):
            score_files(stopped, scorer, existing="resume")

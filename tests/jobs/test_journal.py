"""How an input is cut into chunks, and how the chunks of an earlier run are known again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from estime_metric import EstimeScorer
from estime_metric.jobs import Job, score_files
from estime_metric.jobs.journal import cut, most_text
from estime_metric.table.output import journal_path
from estime_metric.table.pairs import Pair
from tests.command import json_rows, write_jsonl
from tests.jobs.conftest import rows, score_chunks


def lines_of(sources: list[str], size: int = 0) -> list[Pair]:
    """Pairs of summaries of two bytes; a line without a source is invalid."""
    return [
        Pair(Path(), number, {}, "" if source else "is bad", size, source=source, summary="12")
        for number, source in enumerate(sources, start=1)
    ]


def numbers(lines: list[Pair], most_text: int = 100) -> list[list[int]]:
    return [[line.number for line in part] for part in cut(lines, most_text)]


def test_chunks_end_between_sources_within_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("estime_metric.jobs.journal.LINES", 2)
    assert numbers([]) == []
    assert numbers(lines_of(list("abcde"))) == [[1, 2], [3, 4], [5]]
    # A source continues to twice the number of lines; invalid lines count.
    assert numbers(lines_of(["a"] * 6)) == [[1, 2, 3, 4], [5, 6]]
    assert numbers(lines_of(list("abbc"))) == [[1, 2, 3], [4]]
    assert numbers(lines_of(["a", "", "b", "", "", ""])) == [[1, 2], [3, 4, 5, 6]]
    monkeypatch.setattr("estime_metric.jobs.journal.LINES", 99)
    # Bytes of text: a source counts once, a large source until its summaries are as large as it is.
    assert numbers(lines_of(["aaaa", "aaaa", "b", "c"]), 8) == [[1, 2], [3, 4]]
    long = numbers(lines_of(["a" * 12] * 20), 4)
    assert long == [[*range(1, 7)], [*range(7, 13)], [*range(13, 19)], [19, 20]]


@pytest.mark.parametrize("source", ["a", ""])
def test_a_chunk_is_bounded_by_the_bytes_of_whole_rows(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of columns that are not texts and of invalid lines included; a larger row is alone."""
    monkeypatch.setattr("estime_metric.jobs.journal.LINES", 99)
    monkeypatch.setattr("estime_metric.jobs.journal.BYTES", 10)
    sizes = [4, 4, 4, 30, 1, 9, 1]
    lines = [
        replace(line, size=size) for line, size in zip(lines_of([source] * 7), sizes, strict=True)
    ]
    assert numbers(lines) == [[1, 2], [3], [4], [5, 6], [7]]


def test_a_chunk_has_less_text_if_an_encoder_has_more_to_do(
    scorer: EstimeScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("estime_metric.jobs.journal.WORK", 1e9)
    heavy, light, low = (
        most_text(EstimeScorer(scorer.config, distance=distance, layers=layer))
        for distance, layer in ((8, 2), (2, 2), (8, 1))
    )
    assert light == pytest.approx(4 * heavy, rel=0.01)
    assert low == pytest.approx(2 * heavy, rel=0.01)


@pytest.fixture
def stopped(job: Job, scorer: EstimeScorer) -> Job:
    """A job that has kept two chunks."""
    score_chunks(job, scorer, 2)
    return job


@pytest.mark.parametrize(
    ("left", "chunks"),
    [
        (lambda kept: [*kept, b'{"rows": [{"li'], 2),
        (lambda kept: [*kept[:2], b"\n", kept[2]], 2),
        (lambda kept: [kept[0], kept[2]], 0),
        (lambda kept: [kept[0], kept[2], kept[1]], 0),
        (lambda kept: [*kept[:2], kept[1], kept[2]], 1),
        (lambda kept: [*kept[:2], kept[2].rstrip()], 1),  # its end could be missing, too
        (lambda kept: [kept[0], kept[1].replace(b'"alarms": ', b'"alarms": 1'), kept[2]], 0),
        (lambda kept: [*kept[:2], b"[]\n", b"\xff\n"], 1),
        (lambda kept: [kept[0][:20]], 0),  # killed before there was anything to keep
    ],
    ids=[
        "half",
        "blank",
        "lost",
        "swapped",
        "doubled",
        "no end",
        "number",
        "no object",
        "half a record",
    ],
)
def test_what_can_be_read_is_resumed_and_the_rest_is_scored_again(
    stopped: Job,
    out: Path,
    scorer: EstimeScorer,
    left: Callable[[list[bytes]], list[bytes]],
    chunks: int,
) -> None:
    whole = out.with_name("whole.jsonl")
    score_files(replace(stopped, output=whole), scorer)
    kept = journal_path(out).read_bytes().splitlines(keepends=True)
    pairs = sum(len(chunk["rows"]) for chunk in json_rows(journal_path(out))[1 : 1 + chunks])
    journal_path(out).write_bytes(b"".join(left(kept)))
    report = score_files(stopped, scorer, existing="resume")
    assert report.resumed == pairs
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("record", [b"[]\n", b"{\n", b'{"signature": "s"}\n'])
def test_a_journal_with_a_damaged_record_is_not_resumed(
    stopped: Job, out: Path, scorer: EstimeScorer, record: bytes
) -> None:
    kept = journal_path(out)
    _, *chunks = kept.read_bytes().splitlines(keepends=True)
    kept.write_bytes(b"".join([record, *chunks]))
    with pytest.raises(ValueError, match="damaged"):
        score_files(stopped, scorer, existing="resume")


def test_an_input_that_grows_between_interruptions_is_resumed_each_time(
    job: Job, table: Path, out: Path, scorer: EstimeScorer
) -> None:
    """The last chunk of the first runs is what there was of it."""
    kept = 0
    for number in (13, 17, 31):
        write_jsonl(table, rows(number))
        kept += score_chunks(job, scorer, 2 if number == 13 else 1, existing="resume")
    report = score_files(job, scorer, existing="resume")
    assert (report.resumed, report.summary.pairs) == (kept, 31)
    assert kept > 17
    whole = out.with_name("whole.jsonl")
    score_files(replace(job, output=whole), scorer)
    expected, grown = (
        [(row["line"], row["alarms"]) for row in json_rows(path)] for path in (whole, out)
    )
    assert grown == expected

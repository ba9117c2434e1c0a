"""Lines -> pairs: which rows are none, text files with one text per line, chunks."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from estime_metric.passages import joined
from estime_metric.table.formats import Line
from estime_metric.table.pairs import (
    ColumnError,
    check_readable,
    other_columns,
    read_pairs,
    valid_lines,
)
from estime_metric.table.rows import TABLES, Layout
from tests.table.conftest import PAIR, save_in_all_formats


def valid_pairs(path: Path, layout: Layout = TABLES) -> tuple[list[Line], list[str]]:
    """The valid lines, and what is wrong with the others."""
    problems: list[str] = []
    return valid_lines(read_pairs(path, layout), problems), problems


Write = Callable[[str, str | bytes], Path]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"source": "x"}', r"column 'summary' is missing \(columns: source\)"),
        ('{"source": null, "summary": "x"}', "column 'source' should contain text, but is missing"),
        (
            '{"source": "x", "summary": 3}',
            "column 'summary' should contain text, but is of type int",
        ),
        ('{"source": ["...", ""], "summary": "x"}', "column 'source' has no words"),
        *(
            (
                f'{{"source": ["x", {element}], "summary": "x"}}',
                "column 'source' should contain text or a list of texts, but the list contains an "
                f"element of type {kind}",
            )
            for element, kind in (
                ("[]", "list"),
                ('{"text": "y"}', r"dict without the keys 'id' \(text or an integer\) and 'text'"),
                ('{"id": 1, "text": null}', "dict without .*"),
                ("null", "NoneType"),
            )
        ),
        (
            '{"source": ["x", "\\ud800"], "summary": "x"}',
            "column 'source' contains a lone surrogate, which is not a valid character",
        ),
        (
            '{"source": "x", "summary": ["x"]}',
            "column 'summary' should contain text, but is of type list",
        ),
        ('{"source": " ... ", "summary": "x"}', "column 'source' has no words"),
        (
            '{"source": "x", "summary": "\\ud800"}',
            "column 'summary' contains a lone surrogate, which is not a valid character",
        ),
    ],
)
def test_a_row_without_a_pair_is_named(write: Write, line: str, problem: str) -> None:
    good = json.dumps(PAIR)
    lines, problems = valid_pairs(write("p.jsonl", "\n".join([good, line, good])))
    assert [line.number for line in lines] == [1, 3]
    assert re.fullmatch(f"line 2: {problem}", *problems)


def test_further_columns_stay_and_one_column_may_be_both_texts(write: Write) -> None:
    path = write("p.jsonl", json.dumps({**PAIR, "source": "Ü 😀", "id": 7}, ensure_ascii=False))
    ((line,), _) = valid_pairs(path)
    assert line.row["source"] == "Ü 😀"
    assert other_columns(line.row, TABLES) == {"id": 7}
    layout = Layout(source_column="summary")
    ((line,), _) = valid_pairs(path, layout)
    assert other_columns(line.row, layout) == {"source": "Ü 😀", "id": 7}


def test_the_same_data_are_the_same_pairs_in_every_format(tmp_path: Path) -> None:
    """An empty summary is a blank one, an empty source none: the scores do not depend on the
    format.
    """
    rows = [PAIR, {**PAIR, "summary": ""}, {**PAIR, "source": ""}, {"source": "b", "summary": " "}]
    for path in save_in_all_formats(tmp_path, rows):
        lines, problems = valid_pairs(path)
        summaries = {line.number: line.row["summary"] for line in lines}
        assert summaries == {1: "A cat.", 2: "", 4: " "}
        assert problems == ["line 3: column 'source' has no words"]


def test_a_missing_column_is_an_error_with_the_columns_and_a_hint(write: Write) -> None:
    text = "text,summary\n" + "a,b\n" * 5
    for path in (write("p.csv", text), write("p.jsonl", '{"text": "a", "summary": "b"}\n' * 5)):
        with pytest.raises(ColumnError) as raised:
            valid_pairs(path)
        assert str(raised.value) == (
            f"Expected a column 'source' in {path.name}, but its columns are text, summary. "
            "Name the right one with `source_column`."
        )


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_another_delimiter_is_named(write: Write, delimiter: str) -> None:
    path = write("p.csv", f"source{delimiter}summary\na, c{delimiter}b\n")
    with pytest.raises(ValueError, match=re.escape(f"separated by {delimiter!r}")):
        valid_pairs(path)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("is_ended", [False, True])
def test_text_files_are_pairs_line_by_line(write: Write, end: str, is_ended: bool) -> None:
    r"""Only ``\n`` ends a line: Unicode's other line breaks and a lone ``\r`` are text."""
    sources = ["A cat.", "A\u2028dog\x0b.", "", "Ü 😀", "a\rb"]
    summaries = ["cat", "", "x", " y ", "z"]
    layout = Layout(source_file=write("s.txt", end.join(sources) + end))
    lines, problems = valid_pairs(write("a.txt", end.join(summaries) + end * is_ended), layout)
    rows = {line.number: (line.row["source"], line.row["summary"]) for line in lines}
    expected = dict(enumerate(zip(sources, summaries, strict=True), start=1))
    del expected[3]
    assert rows == expected
    assert problems == ["line 3: column 'source' has no words"]


def test_a_line_of_text_that_is_not_utf_8_is_named(write: Write) -> None:
    _, problems = valid_pairs(write("a.txt", b"\xff\n"), Layout(source_file=write("s.txt", "a\n")))
    assert problems == ["line 1: is not UTF-8; convert the file, for example with iconv"]


@pytest.mark.parametrize(("sources", "summaries"), [(3, 2), (0, 1)])
def test_unequal_numbers_of_lines_are_an_error_with_both(
    write: Write, sources: int, summaries: int
) -> None:
    layout = Layout(source_file=write("s.txt", "x\n" * sources))
    path = write("a.txt", "y\n" * summaries)
    with pytest.raises(ValueError, match=f"s.txt and a.txt .* but got {sources} and {summaries}."):
        valid_pairs(path, layout)


def test_a_pipe_that_ends_early_is_compared_as_it_is_read(write: Write) -> None:
    sources = write("s.txt", "x\nx\nx\n")
    pipe = sources.with_name("pipe")
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=("y\ny\n",)).start()
    with pytest.raises(ValueError, match=r"one of them ends before line 3\. If a text"):
        list(read_pairs(pipe, Layout(source_file=sources)))


def test_a_list_of_other_things_than_texts_is_not_joined() -> None:
    assert joined(["a", 1]) == ["a", 1]
    assert joined(["a", "b"]) == "a\nb"
    assert joined("ab") == "ab"


def test_a_file_on_standard_input_is_not_looked_at_before_it_is_read(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, kept = write("p.jsonl", json.dumps(PAIR)), os.dup(0)
    with path.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        os.dup2(stream.fileno(), 0)
        try:
            check_readable([path, Path("/dev/stdin")], TABLES)
        finally:
            os.dup2(kept, 0)
            os.close(kept)
        assert len(list(read_pairs(Path("-")))) == 1

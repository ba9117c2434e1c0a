"""Tables on disk: what is read, what is skipped and why, what is written."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

from estime_metric import files
from tests.command import csv_rows, json_rows

PAIR = {"source": "A cat sat.", "summary": "A cat."}


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def test_jsonl_lines_keep_their_numbers_and_further_columns(tmp_path: Path) -> None:
    lines = [
        json.dumps({**PAIR, "id": 7}),
        "",
        json.dumps({**PAIR, "source": "Ü 😀"}, ensure_ascii=False),
    ]
    pairs = files.read_pairs(write(tmp_path / "p.jsonl", "\n".join(lines)), "source", "summary")
    assert pairs.lines == [1, 3]
    assert pairs.sources == ["A cat sat.", "Ü 😀"]
    assert pairs.others == [{"id": 7}, {}]
    assert pairs.problems == []
    pairs = files.read_pairs(
        write(tmp_path / "p.jsonl", '{"text": "a", "id": 1}'), "text", "text"
    )  # both texts
    assert (pairs.sources, pairs.summaries, pairs.others, pairs.problems) == (
        ["a"],
        ["a"],
        [{"id": 1}],
        [],
    )


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{bad", "line 2: is not JSON"),
        (b"[1, 2]", "line 2: holds a list, not a JSON object"),
        (b'{"source": "x"}', "line 2: has no column 'summary' .columns: source."),
        (
            b'{"source": null, "summary": "x"}',
            "line 2: column 'source' should hold a text, but holds nothing",
        ),
        (
            b'{"source": "x", "summary": 3}',
            "line 2: column 'summary' should hold a text, but holds int",
        ),
        (b"\xff\xfe", "line 2: is not UTF-8"),
        (
            b'{"source": "x", "summary": "\\ud800"}',
            "line 2: column 'summary' holds a lone surrogate, which is no char",
        ),
    ],
)
def test_a_bad_jsonl_line_is_named_and_the_rest_is_read(
    tmp_path: Path, line: bytes, problem: str
) -> None:
    good = json.dumps(PAIR).encode()
    pairs = files.read_pairs(
        write(tmp_path / "p.jsonl", b"\n".join([good, line, good])), "source", "summary"
    )
    assert pairs.lines == [1, 3]
    assert len(pairs.problems) == 1
    assert re.match(problem, pairs.problems[0])


def test_csv_with_quoted_newlines_bom_and_a_row_too_long(tmp_path: Path) -> None:
    text = '\ufeffid,summary,source\n1,"A\ncat.",A cat sat.\n2,a,b,too many\n3,,x\n4\n'
    pairs = files.read_pairs(write(tmp_path / "p.CSV", text), "source", "summary")
    assert pairs.summaries == ["A\ncat."]
    assert pairs.lines == [2]  # the line on which the row begins
    assert pairs.others == [{"id": "1"}]
    assert pairs.problems == [
        "line 4: has more than the 3 columns of the header",
        "line 5: column 'summary' is empty, as a missing value is",
        "line 6: column 'source' should hold a text, but holds nothing",
    ]


def test_parquet_rows_are_counted_from_one(tmp_path: Path) -> None:
    columns = {"article": ["A.", None, "C."], "highlights": ["a", "b", "c"], "id": [1, 2, 3]}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "p.parquet")
    pairs = files.read_pairs(tmp_path / "p.parquet", "article", "highlights")
    assert pairs.lines == [1, 3]
    assert pairs.others == [{"id": 1}, {"id": 3}]
    assert pairs.problems == ["line 2: column 'article' should hold a text, but holds nothing"]
    # Another ending is refused.
    with pytest.raises(
        ValueError, match=r"ends in .jsonl, .json, .csv, .tsv, .parquet, .* but got 'p.txt'"
    ):
        files.read_pairs(tmp_path / "p.txt", "source", "summary")
    with pytest.raises(ValueError, match=r"end in .jsonl or .csv or .parquet, but got 'o.xlsx'"):
        files.check_writable(tmp_path / "o.xlsx")
    with pytest.raises(ValueError, match="folder to exist"):
        files.check_writable(tmp_path / "nowhere" / "o.csv")


def test_what_is_written_can_be_read_back(tmp_path: Path) -> None:
    rows: list[files.Row] = [
        {"line": 1, "alarms": 2, "note": 'a "b", ü'},
        {"line": 2, "alarms": 0.5, "more": "x\ny"},
    ]
    files.write_rows(tmp_path / "o.jsonl", rows)
    assert json_rows(tmp_path / "o.jsonl") == rows
    files.write_rows(tmp_path / "o.csv", rows)
    table = csv_rows(tmp_path / "o.csv")
    assert table[0] == {"line": "1", "alarms": "2", "note": 'a "b", ü', "more": ""}
    assert table[1]["more"] == "x\ny"


def test_lone_surrogates_are_escaped_counts_integers_and_a_rate_of_nothing_null(
    tmp_path: Path,
) -> None:
    files.write_rows(tmp_path / "o.jsonl", [{"note": "ü \ud800"}])
    assert (tmp_path / "o.jsonl").read_text(encoding="utf-8") == '{"note": "ü \\ud800"}\n'
    rows: list[files.Row] = [
        {"n": files.plain(3.0), "rate": files.plain(float("nan")), "x": files.plain(1 / 3)}
    ]
    files.write_rows(tmp_path / "o.jsonl", rows)
    files.write_rows(tmp_path / "o.csv", rows)
    assert (tmp_path / "o.jsonl").read_text() == '{"n": 3, "rate": null, "x": 0.333333}\n'
    assert (tmp_path / "o.csv").read_text() == "n,rate,x\n3,,0.333333\n"


def test_chunks_hold_all_pairs_in_their_order(tmp_path: Path) -> None:
    lines = [
        json.dumps({**PAIR, "summary": f"A cat {number}.", "id": number}) for number in range(5)
    ]
    pairs = files.read_pairs(write(tmp_path / "p.jsonl", "\n".join(lines)), "source", "summary")
    chunks = list(pairs.chunks(2))
    assert [len(chunk) for chunk in chunks] == [2, 2, 1]
    assert [line for chunk in chunks for line in chunk.lines] == pairs.lines == [1, 2, 3, 4, 5]
    for name in ("sources", "summaries", "others"):
        assert [one for chunk in chunks for one in getattr(chunk, name)] == getattr(pairs, name)
    assert list(files.Pairs().chunks(2)) == []


@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "tsv"])
def test_every_text_format_is_read_plain_and_compressed(
    tmp_path: Path, kind: str, ending: str
) -> None:
    rows = [
        {"id": str(number), "source": f"A cat, {number}.", "summary": "A\tcat."}
        for number in range(3000)
    ]
    frame = pd.DataFrame(rows)
    text = {
        "jsonl": frame.to_json(orient="records", lines=True),
        "json": frame.to_json(orient="records", indent=1),
        "csv": frame.to_csv(index=False),
        "tsv": frame.to_csv(index=False, sep="\t"),
    }[kind]
    plain = write(tmp_path / f"p.{kind}", text)
    data = (
        gzip.compress(text.encode())
        if ending == "gz"
        else pyarrow.compress(text.encode(), "zstd", asbytes=True)
    )
    packed = write(tmp_path / f"p.{kind}.{ending}", data)
    assert [row for _, row in files.read_rows(plain)] == rows
    assert list(files.read_rows(packed)) == list(files.read_rows(plain))
    write(packed, data[: len(data) // 2])
    with pytest.raises(ValueError, match="compressed data end early"):
        list(files.read_rows(packed))


def test_a_json_array_of_any_length_is_read_and_what_is_no_table_is_refused(tmp_path: Path) -> None:
    rows = [{"text": "x" * size} for size in (10, 70_000, 200_000, 3)]  # longer than a block
    path = write(tmp_path / "p.json", json.dumps(rows))
    assert list(files.read_rows(path)) == [
        (number, row) for number, row in enumerate(rows, start=1)
    ]
    for name, content, said in (
        *(
            ("p.json", text, "JSON")
            for text in ("[1, 2", '[{"a": 1}, {"a": ', "{}", "", '[{"a": 1} x]')
        ),
        ("p.csv", "source,summary\na,b\n".encode("utf-16"), "looks like UTF-16"),
        ("p.jsonl", '{"a": 1}'.encode("utf-16-le"), "looks like UTF-16"),
        ("p.csv", "source,source,summary\na,b,c\n", "the header has 'source' twice"),
    ):
        with pytest.raises(ValueError, match=said):
            list(files.read_rows(write(tmp_path / name, content)))


def test_csv_fields_may_be_long_and_the_index_that_pandas_writes_is_a_column(
    tmp_path: Path,
) -> None:
    source = "word " * 100_000
    pairs = files.read_pairs(
        write(tmp_path / "p.csv", f",source,summary\n7,{source},b\n"), "source", "summary"
    )
    assert (pairs.sources, pairs.others) == ([source], [{"Unnamed: 0": "7"}])
    # A missing column is said once, before reading.
    for name, text in (
        ("p.csv", "text,summary\n" + "a,b\n" * 5),
        ("p.jsonl", '{"text": "a", "summary": "b"}\n' * 5),
    ):
        with pytest.raises(
            ValueError, match=rf"column 'source' in {name}, but its columns are text, summary"
        ):
            files.read_pairs(write(tmp_path / name, text), "source", "summary")


def test_parquet_is_written_with_columns_that_only_some_rows_have_and_damage_is_named(
    tmp_path: Path,
) -> None:
    rows: list[files.Row] = [
        {"line": 1, "rate": 0},
        {"line": 2, "rate": 0.5, "note": "x"},
        {"line": 3, "rate": None},
    ]
    files.write_rows(tmp_path / "o.parquet", rows)
    read = [row for _, row in files.read_rows(tmp_path / "o.parquet")]
    assert read == [{"note": None, **row} for row in rows]
    files.write_rows(tmp_path / "whole.parquet", [{"line": number} for number in range(50_000)])
    data = (tmp_path / "whole.parquet").read_bytes()
    for name, damaged in (
        ("empty", b""),
        ("cut", data[:-9]),
        ("holes", data[:500] + b"x" * 500 + data[1000:]),
    ):
        path = write(tmp_path / f"{name}.parquet", damaged)
        with pytest.raises(ValueError, match=rf"Expected {name}\.parquet to be Parquet"):
            list(files.read_rows(path))

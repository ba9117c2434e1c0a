"""Lines of tables: every format, what is skipped and why."""

from __future__ import annotations

import csv
import gzip
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from estime_metric.table import table
from estime_metric.table.rows import Layout, is_table, read_rows
from tests.command import table_rows
from tests.table.conftest import save_in_all_formats

Write = Callable[[str, str | bytes], Path]


def problems(path: Path, **options: Any) -> dict[int, str]:
    lines = read_rows(path, Layout(**options))
    return {line.number: line.problem for line in lines if line.problem}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{bad", r"is not JSON \(Expecting property name .* at column 2\)"),
        (b'{"a": 1} {"b": 2}', r"is not JSON \(Extra data at column 10\)"),
        (b"[1, 2]", "is a JSON list, not an object"),
        (b'"\xff\xfe"', "is not UTF-8"),
        (b'{"id": ' + b"9" * 5000 + b"}", "has an integer with too many digits"),
        (b'{"a": ' + b"[" * 10**6 + b"]" * 10**6 + b"}", "is nested too deeply"),
        (b'{"a": ' + b"[" * 45 + b"NaN" + b"]" * 45 + b"}", "is nested too deeply"),
        (b'{"a": 1, "b": 2, "a": 1}', "has the key 'a' twice in one object"),
        (b'{"a": [{"c": {"b": 2, "b": 2}}]}', "has the key 'b' twice in one object"),
    ],
)
def test_a_bad_line_is_named_and_the_rest_is_read(write: Write, line: bytes, problem: str) -> None:
    """A bad element of an array is named if the array can be read."""
    good = b'{"a": 1}'
    path = write("p.jsonl", b"\n".join([good, line, good]))
    first, bad, last = read_rows(path)
    assert [(line.number, line.row) for line in (first, last)] == [(1, {"a": 1}), (3, {"a": 1})]
    assert bad.number == 2
    assert re.fullmatch(problem, bad.problem)
    path = write("p.json", b"[" + b",\n".join([good, line, good]) + b"]")
    if re.match("is a JSON|has the key|is nested", problem) and len(line) < 10**6:
        assert [line.row for line in read_rows(path)] == [{"a": 1}, {}, {"a": 1}]
        assert re.fullmatch(problem, problems(path)[2])
    else:
        with pytest.raises(ValueError, match=r"Expected p\.json to be a JSON array of objects"):
            list(read_rows(path))


def test_lines_count_alike_in_all_formats_plain_and_compressed(tmp_path: Path) -> None:
    rows = [{"id": str(number), "text": "A\tcat.\nc, d"} for number in range(3000)]
    for path in save_in_all_formats(tmp_path, rows):
        assert table_rows(path) == list(enumerate(rows, start=1))
        if path.suffix == ".parquet":
            continue
        compressed, data = path.with_name(f"{path.name}.gz"), gzip.compress(path.read_bytes())
        compressed.write_bytes(data)
        assert table_rows(compressed) == list(enumerate(rows, start=1))
        for damaged in (data[: len(data) // 2], data[:99] + b"x" * 99 + data[198:], b"no gzip" * 9):
            compressed.write_bytes(damaged)
            with pytest.raises(ValueError, match=f"Expected {compressed.name} to be whole"):
                list(read_rows(compressed))


def test_blank_lines_are_counted_and_skipped(write: Write) -> None:
    for path, numbers in (
        (write("p.jsonl", '{"a": 1}\n\n{"a": 2}'), [1, 3]),
        (write("p.csv", "a\n\n1\n\n2\n"), [2, 4]),
    ):
        assert [line.number for line in read_rows(path)] == numbers


def test_json_that_is_no_array_is_refused(write: Write) -> None:
    message = r"it is not an array\. If it has one object per line, name it \.jsonl"
    with pytest.raises(ValueError, match=message):
        list(read_rows(write("p.json", "{}")))


def test_csv_with_quoted_line_breaks_a_byte_order_mark_and_rows_of_other_lengths(
    write: Write,
) -> None:
    path = write("p.CSV", '\ufeffid,summary,source\n1,"A\ncat.",s\n2,a,b,too many\n3,,x\n4\n')
    rows = {line.number: line.row for line in read_rows(path) if not line.problem}
    assert rows == {
        1: {"id": "1", "summary": "A\ncat.", "source": "s"},
        3: {"id": "3", "summary": "", "source": "x"},
        4: {"id": "4"},
    }
    assert problems(path) == {2: "has more than the 3 columns of the header (line 4 of the file)"}


@pytest.mark.parametrize("name", ["p.jsonl", "p.csv", "p.parquet"])
def test_a_table_is_read_at_the_memory_of_a_few_rows(tmp_path: Path, name: str) -> None:
    row = {"source": "a few words " * 1000, "summary": "y"}
    table.write(tmp_path / name, [row] * 1000)
    pool = pyarrow.default_memory_pool()
    before = pool.bytes_allocated()
    tracemalloc.start()
    for line in read_rows(tmp_path / name):
        assert line.row == row
        assert pool.bytes_allocated() - before < 3_000_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3_000_000  # of 12 million


def test_cells_of_csv_may_be_long_and_the_index_that_pandas_writes_is_a_column(
    write: Write,
) -> None:
    source = "word " * 100_000
    path = write("p.csv", f",source,summary\n7,{source},b\n")
    before = csv.field_size_limit(131_072)  # as in a new process
    try:
        rows = table_rows(path)
        assert csv.field_size_limit() >= 10_000_000  # lowering it again would break other threads
    finally:
        csv.field_size_limit(before)
    assert rows == [(1, {"Unnamed: 0": "7", "source": source, "summary": "b"})]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('1,a\n2,"Anna.\n3,b\n4,"Peter.\n', 3, "',' expected after '\"'"),
        ('"one\ntwo",b\n"three\nfour","Anna.\n5,b\n', 4, "unexpected end of data"),
    ],
)
def test_a_quotation_mark_that_joins_rows_is_an_error_at_its_row(
    write: Write, text: str, line: int, message: str
) -> None:
    expected = (
        f"Expected p.csv to be CSV, but the row that begins on line {line} of the file is not: "
        f"{message}. Is a quotation mark not closed?"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        list(read_rows(write("p.csv", f"id,note\n{text}")))


def test_what_follows_an_open_quotation_mark_is_not_all_read(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("estime_metric.table.formats.MAX_CELL", 10_000)
    before = csv.field_size_limit(10_000)
    path = write("p.csv", 'id,note\n1,"Anna.\n' + "2,A sentence that is ordinary.\n" * 1_000)
    try:
        message = (
            "begins on line 2 of the file has a cell of more than 10,000 characters. .* a quotation"
        )
        with pytest.raises(ValueError, match=message):
            list(read_rows(path))
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize(
    ("name", "delimiter"), [("p.csv", ";"), ("p.csv.gz", ";"), ("p.tsv", None), ("p.csv", r"\t")]
)
def test_the_delimiter_can_be_named_and_files_are_utf_8(
    write: Write, name: str, delimiter: str | None
) -> None:
    text = "text;note\nCafé für alle;1\n".replace(";", "\t" if delimiter != ";" else ";")
    content = gzip.compress(text.encode("utf-8-sig")) if ".gz" in name else text.encode()
    (line,) = read_rows(write(name, content), Layout(delimiter=delimiter))
    assert (line.number, line.row) == (1, {"text": "Café für alle", "note": "1"})


def test_csv_in_another_encoding_is_named(write: Write) -> None:
    assert problems(write("p.csv", "a\nCafé\n".encode("latin-1"))) == {
        1: "is not UTF-8 (line 2 of the file); convert the file, for example with iconv"
    }
    with pytest.raises(ValueError, match=r"header of p\.csv to be UTF-8, .* with iconv"):
        list(read_rows(write("p.csv", "für,b\n1,2\n".encode("latin-1"))))


@pytest.mark.parametrize("delimiter", ["", "ab", '"', "\n"])
def test_a_delimiter_is_one_character(delimiter: str) -> None:
    with pytest.raises(ValueError, match="`delimiter` to be one character"):
        Layout(delimiter=delimiter)


def test_each_line_has_the_share_of_the_file_that_was_read(tmp_path: Path) -> None:
    rows = [{"id": str(number), "text": "a few words " * 9} for number in range(3000)]
    for path in save_in_all_formats(tmp_path, rows):
        shares = [line.share for line in read_rows(path)]
        assert shares == sorted(shares)
        assert (shares[1500], shares[-1]) == (pytest.approx(0.5, abs=0.05), 1)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        *(
            ("p.jsonl", '{"a": 1}'.encode(encoding), "iconv -f UTF-16 -t UTF-8 p.jsonl")
            for encoding in ("utf-16", "utf-16-be")
        ),
        (
            "p.csv",
            "source,source,summary\na,b,c\n",
            "p.csv to be unique, but 'source' occurs 2 times.",
        ),
        ("p.parquet", b"", "Expected p.parquet to be Parquet, but it cannot be read"),
        ("p.parquet.gz", b"", "all except .parquet can be followed by .gz"),
        ("p.xlsx", b"", "ends in .jsonl, .csv, .parquet, .ndjson, .json, .tsv (all except"),
        ("p.txt", b"", "Pass text files with one text per line as `source_file`"),
    ],
)
def test_what_is_no_table_is_refused(
    write: Write, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        list(read_rows(write(name, content)))


def test_parquet_of_all_types_is_read_as_python_has_them(tmp_path: Path) -> None:
    rows = [
        {"s": "a", "l": ["a", None], "t": {"x": "u", "y": [1]}, "b": b"\xff", "n": 1.5, "m": True},
        {"s": None, "l": [], "t": None, "b": None, "n": None, "m": None},
        {"s": "a", "l": None, "t": {"x": None, "y": []}, "b": b"", "n": 2.0, "m": False},
    ]
    path = tmp_path / "p.parquet"
    written = pyarrow.Table.from_pylist(rows * 300)
    pyarrow.parquet.write_table(written, path, compression="zstd", row_group_size=7)
    assert table_rows(path) == list(enumerate(rows * 300, start=1))


@pytest.mark.parametrize(
    "column",
    [
        pyarrow.array([0, 2**62, 1], pyarrow.timestamp("us")),
        pyarrow.array([b"a", b"\xff", b"b"]).view(pyarrow.string()),
    ],
)
def test_a_value_of_parquet_that_python_does_not_have_is_one_bad_line(
    tmp_path: Path, column: Any
) -> None:
    path = tmp_path / "p.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"id": [1, 2, 3], "x": column}), path)
    ((number, problem),) = problems(path).items()
    assert number == 2
    assert problem.startswith("column 'x' cannot be read (")


def test_parquet_that_names_a_column_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    written = pyarrow.table([["Anna sold a boat."], ["Peter flew."]], names=["summary"] * 2)
    pyarrow.parquet.write_table(written, path)
    with pytest.raises(
        ValueError, match=r"^Expected the column names in p\.parquet to be unique, but 'summary' "
    ):
        list(read_rows(path))


def test_parquet_with_a_column_name_that_is_not_utf_8_is_damaged(
    write: Write, tmp_path: Path
) -> None:
    table.write(tmp_path / "whole.parquet", [{"line": number} for number in range(1_000)])
    data = (tmp_path / "whole.parquet").read_bytes()
    with pytest.raises(ValueError, match=r"Expected p\.parquet to be Parquet"):
        list(read_rows(write("p.parquet", data.replace(b"line", b"l\xffne"))))


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Files of every format by name, with texts of all kinds."""
    folder = tmp_path_factory.mktemp("whole")
    texts = ["cat", "Straße 猫 😀", 'a "b", x', "line\nbreak", "\\u0041 [{ }]"]
    rows = [{"id": index, "text": texts[index % 5], "rate": index / 7} for index in range(40)]
    files = {path.name: path.read_bytes() for path in save_in_all_formats(folder, rows)}
    return files | {
        f"{name}.gz": gzip.compress(data) for name, data in files.items() if "parquet" not in name
    }


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_damaged_bytes_are_bad_lines_or_a_refusal_that_names_the_file(
    wholes: dict[str, bytes], tmp_path: Path, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(wholes)))
    content = bytearray(wholes[name])
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        length = data.draw(st.sampled_from([0, 1, 8, 1000]))
        content[start : start + length] = data.draw(st.binary(max_size=9))
    path = tmp_path / name
    path.write_bytes(content)
    try:
        assert all(line.problem or isinstance(line.row, dict) for line in read_rows(path))
    except ValueError as error:
        assert name in str(error)  # noqa: PT017 - most examples raise nothing


def test_the_name_of_a_file_says_its_format() -> None:
    names = [
        "a.JSONL.gz",
        "a.b.tsv",
        "a.parquet",
        "jsonl",
        ".jsonl",
        "a.parquet.gz",
        "a.gz",
        "a.txt",
    ]
    assert [name for name in names if is_table(Path(name))] == names[:3]

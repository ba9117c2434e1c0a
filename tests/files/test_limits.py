"""Files that strangers upload: what is larger than the limits is not read first."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from estime_metric import files
from estime_metric.files.formats.parquet_pages import pages

Write = Callable[[str, str | bytes], Path]
SIZE = 2_000_000
POOLS: list[Any] = []  # memory may be given back to a pool after the test


def read(path: Path, **limits: Any) -> list[files.Line]:
    options = files.ReadOptions(limits=files.ReadLimits(**limits))
    return list(files.read_rows(path, options))


@contextmanager
def memory() -> Iterator[list[int]]:
    """At the end of the block, the most bytes that Python and Arrow have allocated in it."""
    peak: list[int] = []
    before = pyarrow.default_memory_pool()
    pool = pyarrow.proxy_memory_pool(before)
    POOLS.append(pool)
    pyarrow.set_memory_pool(pool)
    tracemalloc.start()
    try:
        yield peak
        peak.append(tracemalloc.get_traced_memory()[1] + pool.max_memory())
    finally:
        tracemalloc.stop()
        pyarrow.set_memory_pool(before)


def refused(path: Path, **limits: Any) -> tuple[str, int]:
    """Which limit refuses a file, and how many bytes that took at most."""
    with memory() as peak, pytest.raises(files.LimitError) as found:
        read(path, **limits)
    return found.value.limit, peak[0]


def bomb(path: Path, *, groups: int | None = None, **options: Any) -> Path:
    """20,000 equal rows of 15 KB: 300 MB in a file of less than a kilobyte."""
    table = pyarrow.table({"source": ["x" * 15_000] * 20_000, "summary": ["y"] * 20_000})
    pyarrow.parquet.write_table(
        table, path, compression="zstd", row_group_size=groups or 20_000, **options
    )
    return path


def test_a_bomb_of_parquet_is_refused_for_its_bytes_and_for_its_rows(tmp_path: Path) -> None:
    path = bomb(tmp_path / "p.parquet")
    assert path.stat().st_size < 1000
    limit, taken = refused(path, size=SIZE)
    assert limit == "size"
    assert taken < 3 * SIZE
    assert refused(path, rows=500) == ("rows", pytest.approx(0, abs=SIZE))
    assert refused(path, rows=19_999)[0] == "rows"
    plain = bomb(tmp_path / "plain.parquet", use_dictionary=False)
    assert refused(plain, size=SIZE)[0] == "size"


def test_a_bomb_is_read_without_limits_at_the_memory_of_a_few_rows(tmp_path: Path) -> None:
    path = bomb(tmp_path / "p.parquet")
    with memory() as peak:
        rows = sum(len(line.row["source"]) == 15_000 for line in files.read_rows(path))
    assert rows == 20_000
    assert peak[0] < 3_000_000


def test_one_row_may_be_a_bomb_too(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    nested = pyarrow.table({"texts": [["x" * 15_000] * 20_000]})
    pyarrow.parquet.write_table(nested, path, compression="zstd")
    assert path.stat().st_size < 1000
    limit, taken = refused(path, size=SIZE)
    assert (limit, taken < 3 * SIZE) == ("size", True)
    empty = pyarrow.table(
        {"texts": pyarrow.array([[None] * 3_000_000], pyarrow.list_(pyarrow.int8()))}
    )
    pyarrow.parquet.write_table(empty, path, compression="zstd")
    assert path.stat().st_size < 3000
    assert refused(path, size=SIZE)[0] == "size"
    long = pyarrow.table({"text": ["x" * 10_000 + str(index) for index in range(3000)]})
    pyarrow.parquet.write_table(
        long, path, use_dictionary=False, column_encoding={"text": "DELTA_BYTE_ARRAY"}
    )
    assert path.stat().st_size < 100_000
    with pytest.raises(files.LimitError, match="DELTA_BYTE_ARRAY"):
        read(path, size=SIZE)


def test_a_footer_that_lies_about_its_pages_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    table = pyarrow.table({"text": ["x" * 30_000_000]})
    options = {"use_dictionary": False, "write_statistics": False, "data_page_size": 2**30}
    pyarrow.parquet.write_table(table, path, compression="zstd", **options)
    size = pyarrow.parquet.read_metadata(path).row_group(0).column(0).total_uncompressed_size
    data = path.read_bytes()
    length = int.from_bytes(data[-8:-4], "little")
    body, footer = data[: -8 - length], data[-8 - length :]
    true, false = varint(2 * size), varint(2 * 100)
    false = bytes(byte | 128 for byte in false) + b"\x80" * (len(true) - len(false) - 1) + b"\0"
    assert footer.count(true) == 2
    path.write_bytes(body + footer.replace(true, false))
    assert pyarrow.parquet.read_metadata(path).row_group(0).total_byte_size == 100
    assert refused(path, size=SIZE) == ("size", pytest.approx(0, abs=SIZE))


def varint(number: int) -> bytes:
    found = bytearray()
    while number >= 128:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def test_the_headers_of_pages_say_what_they_become(tmp_path: Path) -> None:
    """Arrow's own sums of all pages of a column, and the number of its values."""
    rows = [
        {"text": f"text {index}", "number": index, "list": [index] * 3} for index in range(9999)
    ]
    for options in (
        {},
        {"use_dictionary": False, "data_page_size": 1000},
        {"data_page_version": "2.0", "compression": "zstd"},
        {"write_page_index": True, "write_statistics": True, "compression": "none"},
        {"write_page_checksum": True, "row_group_size": 1000},
    ):
        path = tmp_path / "p.parquet"
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path, **options)
        metadata = pyarrow.parquet.read_metadata(path)
        with path.open("rb") as stream:
            for group in range(metadata.num_row_groups):
                for index in range(metadata.num_columns):
                    part = metadata.row_group(group).column(index)
                    starts = [part.data_page_offset]
                    if part.has_dictionary_page:
                        starts.append(part.dictionary_page_offset)
                    found = list(pages(stream, min(starts), part.total_compressed_size))
                    in_dictionary = found[0].values if part.has_dictionary_page else 0
                    assert sum(page.values for page in found) - in_dictionary == part.num_values
                    inner = sum(page.size for page in found)
                    assert inner <= part.total_uncompressed_size <= inner + 100 * len(found)


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv"])
@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_a_bomb_of_text_is_refused(write: Write, kind: str, ending: str) -> None:
    row = json.dumps({"source": "x" * 1000, "summary": "y"})
    text = {
        "jsonl": (row + "\n") * 20_000,
        "json": "[" + (row + ",") * 20_000 + "{}]",
        "csv": "source,summary\n" + ("x" * 1000 + ",y\n") * 20_000,
    }[kind].encode()
    packed = {
        "": text,
        ".gz": gzip.compress(text),
        ".zst": pyarrow.compress(text, "zstd", asbytes=True),
    }[ending]
    path = write(f"p.{kind}{ending}", packed)
    limit, taken = refused(path, size=SIZE)
    assert (limit, taken < 3 * SIZE) == ("size", True)
    assert refused(path, rows=500)[0] == "rows"
    assert len(read(path, rows=20_001, size=30_000_000)) >= 20_000


def test_columns_and_nesting_are_limited(write: Write, tmp_path: Path) -> None:
    names = [f"c{index}" for index in range(11)]
    with pytest.raises(files.LimitError, match="at most 10 columns, but it has 11") as found:
        read(write("p.csv", ",".join(names) + "\n1\n"), columns=10)
    assert found.value.limit == "columns"
    path = tmp_path / "p.parquet"
    pyarrow.parquet.write_table(pyarrow.table({name: [1] for name in names}), path)
    with pytest.raises(files.LimitError, match="at most 10 columns, but it has 11"):
        read(path, columns=10)
    objects = write("p.jsonl", json.dumps(dict.fromkeys(names, 1)) + '\n{"a": 1}')
    assert [line.problem for line in read(objects, columns=10)] == [
        "has more than 10 columns",
        "",
    ]
    deep: Any = "x"
    for _ in range(5):
        deep = [deep]
    for depth, is_bad in ((5, False), (4, True)):
        (line,) = read(write("p.jsonl", json.dumps({"a": deep})), depth=depth)
        assert bool(line.problem) == is_bad
    pyarrow.parquet.write_table(pyarrow.table({"a": [deep]}), path)
    with pytest.raises(files.LimitError, match="nested at most 4 levels deep"):
        read(path, depth=4)


def test_a_wide_header_over_short_rows_takes_no_memory_for_each_row(write: Write) -> None:
    text = ",".join(f"c{index}" for index in range(5000)) + "\n" + "1\n" * 2000
    tracemalloc.start()
    rows = [line.row for line in files.read_rows(write("p.csv", text))]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rows == [{"c0": "1"}] * 2000
    assert peak < 5_000_000

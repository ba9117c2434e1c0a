"""What is written: values as every reader understands them, whole files or none."""

from __future__ import annotations

import csv
import datetime
import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from estime_metric.compare import read_scores
from estime_metric.table.formats import _DEPTH, WRITABLE, Row
from estime_metric.table.table import record_of, write
from tests.command import csv_rows, json_rows, table_rows


def test_what_is_written_can_be_read_back(tmp_path: Path) -> None:
    rows: list[Row] = [
        {"line": 1, "alarms": 2, "note": 'a "b", ü'},
        {"line": 2, "alarms": 0.5, "more": "x\ny"},
    ]
    every = [{"note": None, "more": None} | row for row in rows]
    texts = [{name: str(cell or "") for name, cell in row.items()} for row in every]
    for ending, expected in ((".jsonl", rows), (".csv", texts), (".parquet", every)):
        write(tmp_path / f"o{ending}", rows)
        assert [row for _, row in table_rows(tmp_path / f"o{ending}")] == expected


def test_values_that_json_does_not_have_become_ones_that_it_has(tmp_path: Path) -> None:
    row: Row = {
        "nan": math.nan,
        "infinite": [math.inf, {"x": -math.inf}],
        "bytes": b"\xff\x00",
        "date": datetime.date(2020, 1, 2),
        "decimal": Decimal("1.50"),
    }
    for ending in (".jsonl", ".csv"):
        write(tmp_path / f"o{ending}", [row])
    texts = {"bytes": "/wA=", "date": "2020-01-02", "decimal": "1.50"}
    assert json_rows(tmp_path / "o.jsonl") == [
        {"nan": None, "infinite": [None, {"x": None}], **texts}
    ]
    assert csv_rows(tmp_path / "o.csv") == [{"nan": "", "infinite": '[null, {"x": null}]', **texts}]


@pytest.mark.parametrize(
    ("values", "read"),
    [
        ([1, 10**30], ["1", str(10**30)]),
        ([0.5, 2**60 + 1], ["0.5", str(2**60 + 1)]),
        ([1, "a", None, True, [2]], ["1", "a", None, "true", "[2]"]),
        ([{}, None], ["{}", None]),
        ([[{}], []], ["[{}]", "[]"]),
        ([None, None], [None, None]),
        ([0, 0.5, None], [0.0, 0.5, None]),
        (["caf\ud83d", "é", None, 1], ["caf\\ud83d", "é", None, "1"]),
        ([["caf\ud83d"], []], ['["caf\\ud83d"]', "[]"]),
    ],
)
def test_a_column_has_the_type_of_its_values_or_is_text(
    tmp_path: Path, values: list[object], read: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the values that do not fit are in one group of rows or in several."""
    path = tmp_path / "o.parquet"
    for size in (10_000, 1):
        monkeypatch.setattr("estime_metric.table.formats._GROUP_ROWS", size)
        write(path, [{"line": n, "x": value} for n, value in enumerate(values)])
        assert [row["x"] for _, row in table_rows(path)] == read


SCALARS = (
    st.none() | st.booleans() | st.integers(-(10**40), 10**40) | st.floats() | st.text(max_size=9)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)
ROWS = st.lists(st.dictionaries(st.sampled_from("abc"), VALUES, min_size=1), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(rows=ROWS)
@example(rows=[{"a": "one\rtwo\r\nthree\n"}])
def test_whatever_json_holds_can_be_written_in_every_format(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row]
) -> None:
    folder = tmp_path_factory.mktemp("out")
    for ending in WRITABLE:
        write(folder / f"o{ending}", rows)
    assert len(table_rows(folder / "o.jsonl")) == len(rows)
    with (folder / "o.csv").open(encoding="utf-8", newline="") as stream:
        assert len(list(csv.reader(stream))) == len(rows) + 1
    assert pyarrow.parquet.read_table(folder / "o.parquet").num_rows == len(rows)


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"k": value}])
def test_the_deepest_row_can_be_read_back_from_parquet(
    tmp_path: Path, wrap: Callable[[object], object]
) -> None:
    value: object = 1
    for _ in range(_DEPTH - 1):
        value = wrap(value)
    write(tmp_path / "o.parquet", [{"x": value}])
    assert table_rows(tmp_path / "o.parquet") == [(1, {"x": value})]


def test_a_lone_surrogate_concerns_only_the_row_whose_text_has_it(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(
        '{"source": "a b", "summary": "a", "my\\ud83d": "cut \\ud83d"}\n{"source": "a b", "summary": "\\ud83d"}\n'
    )
    skipped: list[str] = []
    table = read_scores(path, skipped=skipped)
    assert table.to_dict("list") == {
        "source": ["a b"],
        "summary": ["a"],
        "my\\ud83d": ["cut \\ud83d"],
    }
    assert skipped == [
        "t.jsonl line 2: column 'summary' contains a lone surrogate, which is not a valid character"
    ]


def test_a_row_group_of_parquet_is_bounded_by_rows_and_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("estime_metric.table.formats._GROUP_BYTES", 100_000)
    path = tmp_path / "o.parquet"
    for row, groups in (({"n": 1}, 2), ({"text": "x" * 100}, 13), ({"nested": [["x" * 500]]}, 60)):
        write(path, [row] * 12_000)
        assert pyarrow.parquet.ParquetFile(path).num_row_groups == pytest.approx(groups, rel=0.1)


def test_a_record_with_a_name_that_has_no_utf_8_is_written(tmp_path: Path) -> None:
    """As a name of a file in another encoding is, which Python has with lone surrogates."""
    for ending in WRITABLE:
        path = tmp_path / f"o{ending}"
        write(path, [{"a": 1}], {"inputs": ["caf\udce9.jsonl"]})
        assert record_of(path) == {"inputs": ["caf\udce9.jsonl"]}


@pytest.mark.parametrize("ending", WRITABLE)
def test_lone_surrogates_in_values_and_in_names_are_written_escaped(
    tmp_path: Path, ending: str
) -> None:
    """JSON has them as escapes too, which its parser reads as what they were."""
    row = {"b\ud83d": "caf\ud83d"}
    write(tmp_path / f"o{ending}", [row])
    expected = row if ending == ".jsonl" else {"b\\ud83d": "caf\\ud83d"}
    assert table_rows(tmp_path / f"o{ending}") == [(1, expected)]

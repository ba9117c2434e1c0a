"""Which rows of several systems belong together."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from estime_metric.compare import Joined, join_scores
from estime_metric.compare.join import NAMED
from estime_metric.table.intervals import source_id
from tests.compare.tables import table

IDS = ["0a" * 8, "0a" * 8, "0b" * 8]


def scores_by_source(sources: str, **columns: Any) -> pd.DataFrame:
    return table(source=list(sources), alarms=list(range(len(sources))), **columns)


def cells(joined: Joined, tables: dict[str, pd.DataFrame], name: str, column: str) -> list[Any]:
    """The cells of a column of a system, example by example."""
    return tables[name][column].iloc[joined.rows[name]].tolist()


def test_rows_are_joined_by_their_sources_and_what_a_system_lacks_is_named() -> None:
    tables = {
        name: scores_by_source(sources)
        for name, sources in {"A": "xyz", "B": "zxw", "C": "vzxy"}.items()
    }
    joined = join_scores(tables)
    orders = {tuple(cells(joined, tables, name, "source")) for name in "ABC"}
    assert orders in ({("x", "z")}, {("z", "x")})
    sources = cells(joined, tables, "A", "source")
    assert joined.sources == [source_id(source) for source in sources]
    assert sorted(joined.unmatched) == [
        "A: 'y' has no matching row in B",
        "B: 'w' has no matching row in A, C",
        "C: 'v' has no matching row in A, B",
    ]


def test_several_summaries_of_one_source_are_joined_in_their_order() -> None:
    joined = join_scores({"A": scores_by_source("xyxy"), "B": scores_by_source("yyxx")})
    pairs = joined.rows.sort_values("A").to_numpy().tolist()
    assert pairs == [[0, 2], [1, 0], [2, 3], [3, 1]]
    assert not joined.unmatched


def test_a_source_with_another_number_of_summaries_is_named_and_not_compared() -> None:
    joined = join_scores({"A": scores_by_source("xyy"), "B": scores_by_source("yx")})
    assert joined.rows["A"].tolist() == [0]
    assert joined.unmatched == ("A: 'y' has different numbers of summaries: A 2, B 1",)
    by_id = join_scores(
        {
            "A": scores_by_source("xyy", key=list("123")),
            "B": scores_by_source("yx", key=list("31")),
        },
        id_column="key",
    )
    assert by_id.rows["B"].tolist() == [1, 0]


def test_a_source_whose_text_is_not_known_is_named_by_its_line() -> None:
    def scored(*ids: str) -> pd.DataFrame:
        return table(source_id=[16 * digit for digit in ids]).drop(columns="source")

    joined = join_scores({"A": scored("1", "2", "2"), "B": scored("2", "1", "3")})
    assert joined.unmatched == (
        "A: line 2 has different numbers of summaries: A 2, B 1",
        "B: line 3 has no matching row in A",
    )
    with_texts = scored("2", "1", "3").assign(source=list("xyz"))
    assert join_scores({"A": scored("1", "2", "2"), "B": with_texts}).unmatched == (
        "A: 'x' has different numbers of summaries: A 2, B 1",
        "B: 'z' has no matching row in A",
    )


def test_more_than_a_few_are_counted() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    all_of_a = scores_by_source(letters)
    lacking = join_scores({"A": all_of_a, "B": scores_by_source("a")}).unmatched
    assert lacking[NAMED:] == (f"{25 - NAMED} more have no matching row in every system",)
    uneven = join_scores({"A": all_of_a, "B": scores_by_source("a" + 2 * letters[1:])}).unmatched
    assert uneven[NAMED:] == (f"{25 - NAMED} more sources have different numbers",)


def test_identifiers_are_the_same_as_text_and_as_the_floats_of_pandas() -> None:
    a, b = (
        scores_by_source("yzx", key=[7, 8, 9]),
        scores_by_source("xyz", key=["9.0", "7.0", "8.0"]),
    )
    joined = join_scores({"A": a, "B": b}, id_column="key")
    assert joined.rows["B"].tolist() == [1, 2, 0]
    assert joined.matched_by == "key"


@pytest.mark.parametrize(
    ("columns", "known"),
    [
        ({"source": list("xxy")}, [source_id(source) for source in "xxy"]),
        ({"source_id": IDS, "source": list("xyz"), "signature": "ESTIME|made"}, IDS),
        ({"source_id": IDS, "source": list("xxy")}, [source_id(source) for source in "xxy"]),
        ({"source_id": list("xxy")}, [source_id(source) for source in "xxy"]),  # written by others
        ({"document": list("xxy")}, None),
    ],
)
def test_which_examples_share_a_source(columns: dict[str, Any], known: list[str] | None) -> None:
    """One system is enough to know it."""
    rows = pd.DataFrame({"id": [1, 2, 3], **columns})
    assert join_scores({"A": rows[["id"]], "B": rows}, id_column="id").sources == known


@pytest.mark.parametrize(
    ("a", "b", "id_column", "message"),
    [
        ({}, {"x": [1]}, None, "each row of A to have the column 'source_id', .* or a source"),
        ({"source": [""]}, {"source": ["x"]}, None, "each row of A to have the column 'source_id'"),
        (
            {"source": ["x", "x", "y"]},
            {"source": ["x", "y", "y"]},
            None,
            "they have none: A: 'x' has different numbers of summaries: A 2, B 1. .*`id_column`",
        ),
        (
            {"source": ["caf\u00e9", "y"]},
            {"source": ["cafe\u0301", "z"]},
            None,
            r"no matching row in [AB]; a text there .* or Unicode normalization \(NFC or NFD\)\.",
        ),
        (
            {"source": ["a b\n", "z"]},
            {"source": ["a  b"]},
            None,
            "no matching row in [AB]; a text there differs only in white space or Unicode",
        ),
        ({"id": [1, 1]}, {"id": [1]}, "id", "rows of A, but the value '1' occurs twice"),
        ({"id": [1]}, {"id": [None]}, "id", "column 'id' in each row of B, but line 0 has none"),
        ({"id": [1]}, {"id": [1]}, "key", "'key' in A, but its columns are id. .*`id_column`"),
        (
            {"id": [1, 2], "source": ["x", "y"]},
            {"id": [1, 2], "source": ["x", "z"]},
            "id",
            "the same source in each example, but their sources of '2' in column 'id' differ",
        ),
    ],
)
def test_what_cannot_be_joined_is_refused(
    a: dict[str, Any], b: dict[str, Any], id_column: str | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        join_scores({"A": pd.DataFrame(a), "B": pd.DataFrame(b)}, id_column=id_column)

"""Which rows of two summarizers belong together."""

from __future__ import annotations

import pytest

from estime_metric.comparison.rows import join_rows, one_signature


def rows(*keys: object, column: str = "id", **further: object) -> list[dict]:
    return [{"line": number, column: key, **further} for number, key in enumerate(keys, start=1)]


def test_rows_are_joined_in_the_order_of_the_first_and_strangers_are_named() -> None:
    joined = join_rows(rows("x", "y", "z"), rows("z", "x", "w"), names=("a.csv", "b.csv"))
    assert joined.column == "id"
    assert [row["id"] for row in joined.a] == [row["id"] for row in joined.b] == ["x", "z"]
    assert joined.unmatched == ("a.csv: no partner in b.csv for 'y'", "b.csv: no partner in a.csv for 'w'")


def test_many_strangers_are_counted() -> None:
    joined = join_rows(rows(*range(30)), rows(0, 1, 2))
    assert len(joined.unmatched) == 11
    assert joined.unmatched[-1] == "A: no partner in B for 17 more"


@pytest.mark.parametrize("column", ["source", "id", "document", "doc", "doc_id", "document_id"])
def test_the_column_is_found(column: str) -> None:
    assert join_rows(rows("x", "y", column=column), rows("y", "x", column=column)).column == column


def test_two_columns_of_one_table_are_joined_by_line() -> None:
    """``score --summary-column one`` and ``--summary-column two``: neither file holds the source."""
    one = [{"line": line, "two": "text"} for line in (1, 2, 4)]
    two = [{"line": line, "one": "text"} for line in (1, 2, 3)]
    joined = join_rows(one, two)
    assert joined.column == "line"
    assert [row["line"] for row in joined.a] == [1, 2]


def test_a_column_that_does_not_identify_is_passed_over_where_another_does() -> None:
    """Two summaries of each document in one table."""
    a, b = rows("d1", "d1", "d2", column="doc"), rows("d1", "d1", "d2", column="doc")
    assert join_rows(a, b).column == "line"


def test_lines_of_different_tables_are_refused() -> None:
    a, b = rows("d1", "d1", column="doc"), rows("d1", "d3", column="doc")
    with pytest.raises(ValueError, match=r"agree in column 'doc', but line 2 has 'd1' and 'd3'"):
        join_rows(a, [*b, {"line": 3, "doc": "d3"}])
    assert len(join_rows(a, b, id_column="line").a) == 2


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        ([{"x": 1}], [{"x": 1}], {}, "Expected a column of 'source', 'id', .* name another by `id_column`"),
        ([{"id": 1}] * 2, [{"id": 1}], {}, "'id' to identify the rows of A, but '1' comes twice"),
        ([{"id": 1}], [{"id": None}], {}, r"column 'id' in each row of B, but not in line \?"),
        ([{"id": 1}], [{"id": 2}], {}, "examples in common, but there is none by column 'id'"),
        ([{"id": 1}], [{"id": 1}], {"id_column": "key"}, "column 'key' in each row of A"),
    ],
)
def test_what_cannot_be_joined_is_refused(a: list, b: list, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        join_rows(a, b, **options)


def test_one_signature() -> None:
    a, b = [{"signature": "s"}], [{"signature": "t"}]
    assert one_signature(a, a) == "s"
    with pytest.raises(ValueError, match=r"carry one signature(.|\n)*A: s\n  B: t"):
        one_signature(a, b)
    with pytest.raises(ValueError, match="A to carry one signature, but it has s and t"):
        one_signature(a + b, a)
    with pytest.raises(ValueError, match="each row of B to have a signature, but not so line 7"):
        one_signature(a, [{"line": 7}])
    with pytest.raises(ValueError, match="B to hold scored rows"):
        one_signature(a, [])

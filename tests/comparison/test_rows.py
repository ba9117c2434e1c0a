"""Which rows of several systems belong together."""

from __future__ import annotations

import pytest

from estime_metric.comparison.rows import join_rows, one_signature

NAMES = ("a.csv", "b.csv", "c.csv")


def rows(*keys: object, column: str = "id", **further: object) -> list[dict]:
    return [{"line": number, column: key, **further} for number, key in enumerate(keys, start=1)]


def test_rows_are_joined_in_any_order_and_what_a_system_lacks_is_named() -> None:
    joined = join_rows([rows("x", "y", "z"), rows("z", "x", "w"), rows("v", "z", "x", "y")], NAMES)
    assert joined.column == "id"
    assert [[row["id"] for row in side] for side in joined.rows] == [["x", "z"]] * 3
    assert joined.unmatched == (
        "a.csv: 'y' has no matching row in b.csv",
        "b.csv: 'w' has no matching row in a.csv, c.csv",
        "c.csv: 'v' has no matching row in a.csv, b.csv",
    )
    joined = join_rows([rows(*range(30)), rows(0, 1, 2)], "AB")
    assert len(joined.unmatched) == 11
    assert joined.unmatched[-1] == "A: 17 more have no matching row in B"


@pytest.mark.parametrize("column", ["source", "id", "document", "doc", "doc_id", "document_id"])
def test_the_column_is_found(column: str) -> None:
    assert (
        join_rows([rows("x", "y", column=column), rows("y", "x", column=column)], "AB").column
        == column
    )


def test_sources_that_repeat_are_told_apart_by_an_id() -> None:
    one = [{"source": source, "id": number} for source in "xy" for number in (1, 2)]
    joined = join_rows([one, [*one[:0:-1], {"source": "z", "id": 1}]], "AB")
    assert joined.column == "source, id"
    assert list(joined.rows[0]) == list(joined.rows[1]) == one[1:]
    assert joined.unmatched == (
        "A: '1' has no matching row in B",
        "B: '1' has no matching row in A",
    )


def test_lines_of_one_table_are_joined_and_those_of_different_tables_refused() -> None:
    one, two = (
        [{"line": line, name: "text"} for line in (1, 2, last)]
        for name, last in (("two", 4), ("one", 3))
    )
    joined = join_rows([one, two], "AB")  # as ``score --summary-column one`` and ``two`` write them
    assert (joined.column, [row["line"] for row in joined.rows[0]]) == ("line", [1, 2])
    a, b = rows("d1", "d1", column="doc"), rows("d1", "d3", column="doc")
    assert join_rows([a, a], "AB").column == "line"
    with pytest.raises(ValueError, match=r"agree in column 'doc', but line 2 has 'd1' and 'd3'"):
        join_rows([a, a, [*b, {"line": 3, "doc": "d3"}]], NAMES)
    assert len(join_rows([a, b], "AB", id_column="line").rows[0]) == 2


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        (
            [{"x": 1}],
            [{"x": 1}],
            {},
            "one of the columns 'source', 'id', .* Name another column with `id_column`",
        ),
        (
            [{"id": 1}] * 2,
            [{"id": 1}],
            {},
            "'id' to identify the rows of A, but the value '1' occurs twice",
        ),
        ([{"id": 1}], [{"id": None}], {}, "column 'id' in each row of B, but row 1 has none"),
        (
            [{"id": 1}],
            [{"id": 2}],
            {},
            "A and B to have examples in common, but by column 'id' they have none. Name",
        ),
        ([{"id": 1}], [{"id": 1}], {"id_column": "key"}, "column 'key' in each row of A"),
    ],
)
def test_what_cannot_be_joined_is_refused(a: list, b: list, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        join_rows([a, b], "AB", **options)


def test_one_signature() -> None:
    a, b = [{"signature": "s"}], [{"signature": "t"}]
    assert one_signature([a, a, a], "ABC") == "s"
    for sides, message in [
        ([a, b, a], r"to have the same signature(.|\n)*A: s\n  B: t\n  C: s"),
        ([a + b, a], "all rows of A to have the same signature, but got s and t"),
        ([a, [{"line": 7}]], "each row of B to have a signature, but line 7 has none"),
        ([a, []], "B to have scored rows"),
    ]:
        with pytest.raises(ValueError, match=message):
            one_signature(sides, "ABC"[: len(sides)])

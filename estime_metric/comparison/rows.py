"""Scored rows of two summarizers -> the rows of both that belong to one example."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: A row as ``estime score -o`` writes it: further columns, measures, signature.
Row = Mapping[str, Any]

#: Columns that say which rows belong together, tried in turn after that of the sources.
ID_COLUMNS = ("id", "document", "doc", "doc_id", "document_id")

#: The row's number in the table that was scored: tried last.
LINE = "line"

#: Rows without a partner that are named before they are only counted.
NAMED = 10


@dataclass(frozen=True)
class Joined:
    """Rows of two summarizers, example by example.

    Attributes:
        column: the column by which they were joined.
        a, b: n rows of each, in the order of the first.
        unmatched: one sentence for each row without a partner; beyond ten of a side they are only counted.
    """

    column: str
    a: tuple[Row, ...]
    b: tuple[Row, ...]
    unmatched: tuple[str, ...]


def one_signature(a: Sequence[Row], b: Sequence[Row], names: tuple[str, str] = ("A", "B")) -> str:
    """The one signature of all rows.

    Raises:
        ValueError: a row has none, or there are several; they are shown.
    """
    found = []
    for rows, name in ((a, names[0]), (b, names[1])):
        for row in rows:
            if not row.get("signature"):
                raise ValueError(f"Expected each row of {name} to have a signature, but not so {_where(row)}.")
        found.append(list(dict.fromkeys(str(row["signature"]) for row in rows)))
        if not rows:
            raise ValueError(f"Expected {name} to hold scored rows, but it holds none.")
        if len(found[-1]) > 1:
            raise ValueError(f"Expected {name} to carry one signature, but it has {' and '.join(found[-1][:2])}.")
    if found[0] != found[1]:
        raise ValueError(
            f"Expected both files to carry one signature, since other settings give other numbers, "
            f"but got\n  {names[0]}: {found[0][0]}\n  {names[1]}: {found[1][0]}"
        )
    return found[0][0]


def join_rows(
    a: Sequence[Row],
    b: Sequence[Row],
    *,
    id_column: str | None = None,
    source_column: str = "source",
    names: tuple[str, str] = ("A", "B"),
) -> Joined:
    """Joins the rows of two summarizers that are about one source.

    Args:
        a: rows of the first.
        b: rows of the second.
        id_column: the column that says which rows belong together. Where left out: the first of ``source_column``,
            `ID_COLUMNS` and ``line`` that every row has and that identifies the rows of both; ``line`` only where no
            other of these columns contradicts it.
        source_column: column of the sources.
        names: of the two, for messages.

    Raises:
        ValueError: no column identifies the rows, or none of them has a partner; the message names what was tried.
    """
    sides, candidates = (a, b), (source_column, *ID_COLUMNS, LINE)
    keys: list[dict[str, Row]] = []
    if id_column is not None:
        column = id_column
        keys = [_by_key(rows, column, name) for rows, name in zip(sides, names, strict=True)]
    else:
        present = [name for name in candidates if all(name in row for rows in sides for row in rows)]
        problems = []
        for column in present:
            try:
                keys = [_by_key(rows, column, name) for rows, name in zip(sides, names, strict=True)]
                break
            except ValueError as error:
                problems.append(str(error))
        if problems and not keys:
            raise ValueError(problems[0])
        if not present:
            raise ValueError(
                f"Expected a column of {', '.join(map(repr, candidates))} in both files, to tell which rows belong "
                "together: name another by `id_column`."
            )
    matched = [key for key in keys[0] if key in keys[1]]
    if not matched:
        raise ValueError(
            f"Expected {names[0]} and {names[1]} to have examples in common, but there is none by column {column!r}."
        )
    joined = Joined(
        column,
        tuple(keys[0][key] for key in matched),
        tuple(keys[1][key] for key in matched),
        tuple(_unmatched(keys, names)),
    )
    if id_column is None and column == LINE:
        _check_lines(joined, candidates[:-1])
    return joined


def _by_key(rows: Iterable[Row], column: str, name: str) -> dict[str, Row]:
    """The rows of one summarizer by what identifies them."""
    found: dict[str, Row] = {}
    for row in rows:
        key = str(row.get(column) if row.get(column) is not None else "")
        if not key:
            raise ValueError(f"Expected column {column!r} in each row of {name}, but not in {_where(row)}.")
        if key in found:
            raise ValueError(
                f"Expected column {column!r} to identify the rows of {name}, but {_short(key)!r} comes twice: "
                "name another by `id_column`."
            )
        found[key] = row
    return found


def _check_lines(joined: Joined, columns: Iterable[str]) -> None:
    """Refuses rows that are of one line, but not about the same text."""
    for column in columns:
        for one, other in zip(joined.a, joined.b, strict=True):
            if column in one and column in other and str(one[column]) != str(other[column]):
                raise ValueError(
                    f"Expected rows of the same line to agree in column {column!r}, but {_where(one)} has "
                    f"{_short(str(one[column]))!r} and {_short(str(other[column]))!r}: name the column that says which "
                    "rows belong together by `id_column`."
                )


def _unmatched(keys: list[dict[str, Row]], names: tuple[str, str]) -> list[str]:
    problems = []
    for own, other, name, partner in ((keys[0], keys[1], *names), (keys[1], keys[0], *names[::-1])):
        alone = [key for key in own if key not in other]
        problems += [f"{name}: no partner in {partner} for {_short(key)!r}" for key in alone[:NAMED]]
        if len(alone) > NAMED:
            problems.append(f"{name}: no partner in {partner} for {len(alone) - NAMED} more")
    return problems


def _where(row: Row) -> str:
    return f"line {row.get(LINE, '?')}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"

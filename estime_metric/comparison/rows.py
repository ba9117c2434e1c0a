"""Files -> scored rows of several systems -> for each example the row of each system."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from estime_metric import files
from estime_metric.comparison.keys import id_of, name_of
from estime_metric.comparison.scored_table import FILE, is_scored, pairs_of, read_scored_table
from estime_metric.measures import MEASURES, measure_of

#: A row as ``estime score -o`` writes it, with the signature: further columns and measures.
ScoredRow = Mapping[str, Any]

#: Columns that identify an example, tried in this order after the source, or together with the source if
#: it repeats.
ID_COLUMNS = ("id", "document", "doc", "doc_id", "document_id")

#: Columns that identify a source if there is none with its text, tried in this order. Examples with
#: the same value are not independent.
DOCUMENT_COLUMNS = ("document", "doc", "doc_id", "document_id")

LINE = "line"  # the row's number in the table that was scored: tried last
NAMED = 10  # rows without a partner that are named; further ones are counted

_NAME_ANOTHER = "Name another column with `id_column`."


@dataclass(frozen=True)
class Joined:
    """Rows of several systems, example by example.

    Attributes:
        column: the column or columns (``"source, id"``) by which they were joined.
        rows: the n rows of each system, sorted by example, so that resamples do not depend on the
            order in the files.
        unmatched: one sentence per example that some system lacks, beyond ten of a kind counted.
        sources: the source of each of the n examples, or what identifies it; ``None`` if the rows
            do not say which examples share a source.
    """

    column: str
    rows: tuple[tuple[ScoredRow, ...], ...]
    unmatched: tuple[str, ...]
    sources: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ReadSystems:
    """What files say of several systems.

    Attributes:
        names: the names of the systems; of files without their folders, if these differ.
        rows: the scored rows of each system.
        problems: a sentence for each line that could not be read.
    """

    names: list[str]
    rows: list[list[ScoredRow]]
    problems: list[str]


def one_signature(sides: Sequence[Sequence[ScoredRow]], names: Sequence[str]) -> str:
    """The one signature of all rows of all systems; ValueError if a row has none or there are
    several.
    """
    found: list[str] = []
    for rows, name in zip(sides, names, strict=True):
        if not rows:
            raise ValueError(f"Expected {name} to have scored rows, but it has none.")
        for number, row in enumerate(rows, start=1):
            if not row.get("signature"):
                raise ValueError(
                    f"Expected each row of {name} to have a signature, but {_where(row, number)} has "
                    "none."
                )
        own = list(dict.fromkeys(str(row["signature"]) for row in rows))
        if len(own) > 1:
            raise ValueError(
                f"Expected all rows of {name} to have the same signature, but got "
                f"{' and '.join(own[:2])}."
            )
        found += own
    if len(set(found)) > 1:
        shown = "".join(
            f"\n  {name}: {signature}" for name, signature in zip(names, found, strict=True)
        )
        raise ValueError(
            "Expected all systems to have the same signature, because scores with different "
            f"settings are not comparable, but got{shown}"
        )
    return found[0]


def join_rows(
    sides: Sequence[Sequence[ScoredRow]],
    names: Sequence[str],
    *,
    id_column: str | None = None,
    source_column: str = "source",
) -> Joined:
    """Joins the rows of all systems that are about one example; ValueError: no column identifies
    the rows, or they share no example. Identifiers are compared as text, see `keys.id_of`.

    Args:
        sides, names: the rows of each system, in any order, and its name for messages.
        id_column: the column that identifies an example. If omitted: the source, together with one
            of `ID_COLUMNS` if sources repeat; without sources one of `ID_COLUMNS`; otherwise
            ``line``, unless another of these columns contradicts it.
        source_column: column of the sources, by their text or by a name. If it is missing, one of
            `DOCUMENT_COLUMNS` shows which examples share a source, or ``id`` if it repeats.
    """
    candidates = _candidates(sides, id_column, source_column)
    problems: list[str] = []
    for columns in candidates:
        try:
            keys = [_by_key(rows, columns, name) for rows, name in zip(sides, names, strict=True)]
            break
        except ValueError as error:
            problems.append(str(error))
    else:
        tried = ", ".join(map(repr, (source_column, *ID_COLUMNS)))
        missing = (
            f"Expected every row to have one of the columns {tried} that identifies the example, or "
            f"each system to have a separate file with a column {LINE!r}."
        )
        raise ValueError(problems[0] if problems else f"{missing} {_NAME_ANOTHER}")
    matched = sorted(key for key in keys[0] if all(key in other for other in keys[1:]))
    if not matched:
        raise ValueError(
            f"Expected {' and '.join(names)} to have examples in common, but by column "
            f"{', '.join(columns)!r} they have none. {_NAME_ANOTHER}"
        )
    joined = tuple(tuple(own[key] for key in matched) for own in keys)
    if id_column is None and columns == (LINE,):
        _check_lines(joined, (source_column, *ID_COLUMNS))
    return Joined(
        ", ".join(columns),
        joined,
        tuple(_unmatched(keys, names)),
        _sources(joined, source_column),
    )


def _candidates(
    sides: Sequence[Sequence[ScoredRow]], id_column: str | None, source_column: str
) -> list[tuple[str, ...]]:
    """The columns that may identify an example, in the order in which they are tried."""
    if id_column is not None:
        return [(id_column,)]
    known = [
        name
        for name in (source_column, *ID_COLUMNS, LINE)
        if all(name in row for rows in sides for row in rows)
    ]
    source = (source_column,) if source_column in known else ()
    candidates: list[tuple[str, ...]] = [source] if source else []
    candidates += [(*source, name) for name in known if name in ID_COLUMNS]
    candidates += [(LINE,)] if LINE in known else []
    return candidates


def _by_key(
    rows: Iterable[ScoredRow], columns: tuple[str, ...], name: str
) -> dict[tuple[str, ...], ScoredRow]:
    """The rows of one system by what identifies them."""
    found: dict[tuple[str, ...], ScoredRow] = {}
    for number, row in enumerate(rows, start=1):
        key = tuple(id_of(row.get(column)) for column in columns)
        if "" in key:
            empty = columns[key.index("")]
            raise ValueError(
                f"Expected a value in column {empty!r} in each row of {name}, but "
                f"{_where(row, number)} has none."
            )
        if key in found:
            raise ValueError(
                f"Expected column {', '.join(columns)!r} to identify the rows of {name}, but the "
                f"value {shortened(key[-1])!r} occurs twice. {_NAME_ANOTHER}"
            )
        found[key] = row
    return found


def _check_lines(joined: Iterable[Sequence[ScoredRow]], columns: Iterable[str]) -> None:
    """Refuses rows of the same line that are not about the same text."""
    for column, (first, *others) in itertools.product(columns, zip(*joined, strict=True)):
        for other in others:
            if column in first and column in other and id_of(first[column]) != id_of(other[column]):
                raise ValueError(
                    f"Expected rows of the same line to agree in column {column!r}, but line "
                    f"{name_of(first[LINE])} has {shortened(str(first[column]))!r} and "
                    f"{shortened(str(other[column]))!r}. Name the column that identifies the examples "
                    "with `id_column`."
                )


def _sources(joined: Sequence[Sequence[ScoredRow]], source_column: str) -> tuple[str, ...] | None:
    """What identifies the source of each example: the first column that all rows of a system have,
    of the first such system.
    """
    for column in (source_column, *DOCUMENT_COLUMNS):
        for rows in joined:
            if all(name_of(row.get(column)) for row in rows):
                return tuple(id_of(row[column]) for row in rows)
    # An `id` that identifies each example does not say which examples share a source.
    ids = [id_of(row.get("id")) for row in joined[0]]
    return tuple(ids) if "" not in ids and len(set(ids)) < len(ids) else None


def _unmatched(keys: Sequence[dict[tuple[str, ...], ScoredRow]], names: Sequence[str]) -> list[str]:
    """Examples that some system lacks, each named once: with the first system that has it, and
    those that do not.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for key in dict.fromkeys(key for own in keys for key in own):
        has = [name for own, name in zip(keys, names, strict=True) if key in own]
        lacks = [name for own, name in zip(keys, names, strict=True) if key not in own]
        if lacks:
            groups.setdefault((has[0], ", ".join(lacks)), []).append(shortened(key[-1]))
    problems = []
    for (having, lacking), examples in groups.items():
        named, counted = examples[:NAMED], len(examples) - NAMED
        problems += [f"{having}: {name!r} has no matching row in {lacking}" for name in named]
        if counted > 0:
            problems.append(f"{having}: {counted} more have no matching row in {lacking}")
    return problems


def _where(row: ScoredRow, number: int) -> str:
    """The place of a row: its line, or, if it has none, its number among the rows of its system."""
    line = name_of(row.get(LINE))
    return f"line {line}" if line else f"row {number}"


def shortened(text: str) -> str:
    """A text in one line of at most 60 characters, for a message."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"


def read_systems(
    paths: Sequence[str | Path],
    *,
    system_column: str = "system",
    id_column: str | None = None,
    layout: files.Layout = files.TABLES,
    options: Mapping[str, Any] | None = None,
    progress: bool = False,
) -> ReadSystems:
    """The rows of each system: scored rows as they are, pairs scored now, in one run for all files.

    The output columns of ``estime score --prefix`` have their plain names. Rows of pairs that are
    scored now have no further columns than those that identify the example, its source and its
    system, so that no other column can be mistaken for a score.

    Args:
        paths: a file for each system, or one table with a column that names the system of each row.
            A table was written by ``estime score -o`` or contains pairs; text files contain a
            summary on each line. Each is read once, so one can be standard input, ``-``.
        system_column: the column of systems in one table of all.
        id_column: as for `join_rows`.
        layout: the columns with the texts of pairs.
        options, progress: of `EstimeScorer` and its progress bar, for pairs.

    Raises:
        ValueError: a file contains neither scores nor pairs, a single file has no column of
            systems, or a column that identifies pairs has the name of a measure.
        OSError: a file cannot be read.
    """
    given = [Path(path) for path in paths]
    columns = _Columns(
        system=system_column if len(given) == 1 else None,
        example=id_column,
        source=layout.source_column,
    )
    tables = [
        _read(path, name, layout, columns) for path, name in zip(given, _names(given), strict=True)
    ]
    if len(given) == 1:
        _check_system_column(tables[0], system_column, layout)
    _score([table for table in tables if table.pairs is not None], columns, options, progress)
    problems = [problem for table in tables for problem in table.problems]
    if len(given) == 1:
        by_system = _divide(tables[0].rows, system_column, id_column)
        return ReadSystems(list(by_system), list(by_system.values()), problems)
    return ReadSystems([table.name for table in tables], [table.rows for table in tables], problems)


@dataclass(frozen=True)
class _Columns:
    """The columns that the caller has named: of the ``system``, if one table contains all of them,
    of what identifies the ``example``, and of the ``source``.
    """

    system: str | None
    example: str | None
    source: str

    @property
    def named(self) -> dict[str, str]:
        """Argument -> column."""
        given = {
            "system_column": self.system,
            "id_column": self.example,
            "source_column": self.source,
        }
        return {argument: column for argument, column in given.items() if column is not None}

    def of_pair(self, row: files.Row) -> files.Row:
        """What identifies a pair among its further columns."""
        identifying = {*self.named.values(), *ID_COLUMNS}
        return {name: cell for name, cell in row.items() if name in identifying}


@dataclass
class _Table:
    """A file: its ``rows`` and their ``lines`` in it if they are scored, otherwise its ``pairs``."""

    name: str
    rows: list[ScoredRow]
    lines: list[int]
    problems: list[str]
    pairs: files.Pairs | None = None


def _names(paths: Sequence[Path]) -> list[str]:
    names = [path.name for path in paths]
    return names if len(set(names)) == len(names) else list(map(str, paths))


def _read(path: Path, name: str, layout: files.Layout, columns: _Columns) -> _Table:
    if layout.source_file is not None:
        return _table_of_pairs(files.read_pairs(path, layout), name)
    lines = read_scored_table(path, layout.options, list(columns.named.values())).lines
    scored = [line for line in lines if is_scored(line.row, layout)]
    if not scored:
        return _table_of_pairs(pairs_of(lines, path, layout), name)
    problems = [
        f"{name} line {line.number}: {line.problem or 'has no signature'}"
        for line in lines
        if not is_scored(line.row, layout)
    ]
    return _Table(name, [line.row for line in scored], [line.number for line in scored], problems)


def _table_of_pairs(pairs: files.Pairs, name: str) -> _Table:
    if not len(pairs):
        first = next(iter(pairs.problems), "it is empty")
        raise ValueError(f"Expected {name} to have scores or pairs, but it has neither: {first}.")
    problems = [f"{name} {problem}" for problem in pairs.problems]
    return _Table(name, [], pairs.lines, problems, pairs)


def _check_system_column(table: _Table, column: str, layout: files.Layout) -> None:
    """Raises an error, before anything is scored, if a file of several systems does not say which
    row belongs to which system.
    """
    rows = table.rows if table.pairs is None else table.pairs.others
    texts = [] if table.pairs is None else [layout.source_column, layout.summary_column]
    columns = list(dict.fromkeys([*texts, *(name for row in rows for name in row)]))
    advice = "Name the column of systems with `system_column`, or pass one file per system."
    if column not in columns:
        raise ValueError(
            f"Expected a column {column!r} in {table.name}, but its columns are "
            f"{', '.join(columns)}. {advice}"
        )
    for line, row in zip(table.lines, rows, strict=True):
        if not name_of(row.get(column)):
            raise ValueError(
                f"Expected a value in column {column!r} in each row of {table.name}, but line "
                f"{line} has none. {advice}"
            )


def _divide(
    rows: Sequence[ScoredRow], system_column: str, id_column: str | None
) -> dict[str, list[ScoredRow]]:
    """The rows of one table by their system.

    If each system was scored from a separate file, the line in that file shows which rows belong
    together. Otherwise each line is one summary, and the line is removed from the rows, unless it is
    the column to join by.
    """
    by_system: dict[str, list[ScoredRow]] = {}
    for row in rows:
        by_system.setdefault(name_of(row[system_column]), []).append(row)
    if id_column == LINE or _have_own_files(by_system.values()):
        return by_system
    return {
        system: [{name: cell for name, cell in row.items() if name != LINE} for row in own]
        for system, own in by_system.items()
    }


def _have_own_files(sides: Iterable[Sequence[ScoredRow]]) -> bool:
    """Whether all rows of a system name the same file, each system another one."""
    named = [{name_of(row.get(FILE)) for row in rows} for rows in sides]
    every = set().union(*named)
    return "" not in every and len(every) == len(named) and all(len(own) == 1 for own in named)


def _score(
    tables: Sequence[_Table],
    columns: _Columns,
    options: Mapping[str, Any] | None,
    progress: bool,
) -> None:
    """Fills in the rows of each table: what identifies the pair, its source, its line unless a
    column that identifies it has this name, and what ``estime score`` writes; all are scored in one
    run.
    """
    if not tables:
        return
    for argument, column in columns.named.items():
        if measure_of(column) in MEASURES or column == files.SIGNATURE:
            raise ValueError(
                f"Expected argument `{argument}` to be a column with another name than a measure or "
                f"the signature, but got {column!r}. Rename the column."
            )
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    together = files.Pairs()
    for table in tables:
        pairs = table.pairs or files.Pairs()
        parts = pairs.lines, pairs.sources, pairs.summaries, pairs.others
        for line, source, summary, others in zip(*parts, strict=True):
            identifying = {**columns.of_pair(others), columns.source: source}
            together.add(line=line, source=source, summary=summary, others=identifying)
    scorer = EstimeScorer(**(options or {}))
    result = scorer.score(together.summaries, together.sources, progress=progress)
    values = files.measure_values(result)
    rows = iter(
        {
            LINE: line,
            **identifying,
            **{name: of_measure[index] for name, of_measure in values.items()},
            files.SIGNATURE: result.signature,
        }
        for index, (line, identifying) in enumerate(
            zip(together.lines, together.others, strict=True)
        )
    )
    for table in tables:
        table.rows = list(itertools.islice(rows, len(table.pairs or ())))

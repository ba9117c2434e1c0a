"""Files -> scored rows of several systems -> for each example the row of each system."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from estime_metric import files

Row = Mapping[
    str, Any
]  # a row as ``estime score -o`` writes it, with the signature: further columns and measures

#: Columns that identify an example, tried in this order: after the source, or together with it
#: where it repeats.
ID_COLUMNS = ("id", "document", "doc", "doc_id", "document_id")

LINE = "line"  # the row's number in the table that was scored: tried last
NAMED = 10  # rows without a partner that are named; further ones are counted

_NAME_ANOTHER = "name another with `id_column` (--id-column)"


@dataclass(frozen=True)
class Joined:
    """Rows of several systems, example by example: the ``column`` or columns (``"source, id"``) by
    which they were joined; the n ``rows`` of each system, sorted by example, so that resamples do
    not depend on the order in the files; one sentence for each row without a partner in some system
    (``unmatched``), beyond ten of a kind counted."""

    column: str
    rows: tuple[tuple[Row, ...], ...]
    unmatched: tuple[str, ...]


def one_signature(sides: Sequence[Sequence[Row]], names: Sequence[str]) -> str:
    """The one signature of all rows of all systems; ValueError if a row has none or there are
    several.
    """
    found: list[str] = []
    for rows, name in zip(sides, names, strict=True):
        if not rows:
            raise ValueError(f"Expected {name} to hold scored rows, but it holds none.")
        for row in rows:
            if not row.get("signature"):
                raise ValueError(
                    f"Expected each row of {name} to have a signature, but {_where(row)} has none."
                )
        own = list(dict.fromkeys(str(row["signature"]) for row in rows))
        if len(own) > 1:
            raise ValueError(
                f"Expected {name} to carry one signature, but it has {' and '.join(own[:2])}."
            )
        found += own
    if len(set(found)) > 1:
        shown = "".join(
            f"\n  {name}: {signature}" for name, signature in zip(names, found, strict=True)
        )
        raise ValueError(
            f"Expected all systems to carry one signature, because other settings give other numbers, but got{shown}"
        )
    return found[0]


def join_rows(
    sides: Sequence[Sequence[Row]],
    names: Sequence[str],
    *,
    id_column: str | None = None,
    source_column: str = "source",
) -> Joined:
    """Joins the rows of all systems that are about one example; ValueError: no column identifies
    the rows, or they share no example.

    Args:
        sides, names: the rows of each system, in any order, and its name for messages.
        id_column: the column that identifies an example. Where left out: the source, with one of
            `ID_COLUMNS` where sources repeat; without sources one of `ID_COLUMNS`; else ``line``,
            unless another of these columns contradicts it.
        source_column: column of the sources.
    """
    tried = (source_column, *ID_COLUMNS, LINE)
    candidates: list[tuple[str, ...]] = [] if id_column is None else [(id_column,)]
    if id_column is None:
        known = [name for name in tried if all(name in row for rows in sides for row in rows)]
        source = (source_column,) if source_column in known else ()
        candidates += [source] if source else []
        candidates += [(*source, name) for name in known if name in ID_COLUMNS]
        candidates += [(LINE,)] if LINE in known else []
    problems = []
    for columns in candidates:
        try:
            keys = [_by_key(rows, columns, name) for rows, name in zip(sides, names, strict=True)]
            break
        except ValueError as error:
            problems.append(str(error))
    else:
        missing = f"Expected a column of {', '.join(map(repr, tried))} in each row, to tell which rows belong together"
        raise ValueError(problems[0] if problems else f"{missing}: {_NAME_ANOTHER}.")
    matched = sorted(key for key in keys[0] if all(key in other for other in keys[1:]))
    if not matched:
        raise ValueError(
            f"Expected {' and '.join(names)} to have examples in common, but there is none by column "
            f"{', '.join(columns)!r}: {_NAME_ANOTHER}."
        )
    joined = tuple(tuple(own[key] for key in matched) for own in keys)
    if id_column is None and columns == (LINE,):
        _check_lines(joined, (source_column, *ID_COLUMNS))
    return Joined(", ".join(columns), joined, tuple(_unmatched(keys, names)))


def _by_key(rows: Iterable[Row], columns: tuple[str, ...], name: str) -> dict[tuple[str, ...], Row]:
    """The rows of one system by what identifies them."""
    found: dict[tuple[str, ...], Row] = {}
    for row in rows:
        key = tuple("" if row.get(column) is None else str(row[column]) for column in columns)
        if "" in key:
            empty = columns[key.index("")]
            raise ValueError(
                f"Expected a value in column {empty!r} in each row of {name}, but {_where(row)} has none."
            )
        if key in found:
            raise ValueError(
                f"Expected column {', '.join(columns)!r} to identify the rows of {name}, but {_short(key[-1])!r} comes "
                f"twice: {_NAME_ANOTHER}."
            )
        found[key] = row
    return found


def _check_lines(joined: Iterable[Sequence[Row]], columns: Iterable[str]) -> None:
    """Refuses rows of the same line that are not about the same text."""
    for column, (first, *others) in itertools.product(columns, zip(*joined, strict=True)):
        for other in others:
            if column in first and column in other and str(first[column]) != str(other[column]):
                raise ValueError(
                    f"Expected rows of the same line to agree in column {column!r}, but line {first[LINE]} has "
                    f"{_short(str(first[column]))!r} and {_short(str(other[column]))!r}: name the column that "
                    "identifies the examples with `id_column` (--id-column)."
                )


def _unmatched(keys: Sequence[dict[tuple[str, ...], Row]], names: Sequence[str]) -> list[str]:
    """Examples that some system lacks, each named once: with the first system that has it, and
    those that do not.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for key in dict.fromkeys(key for own in keys for key in own):
        has = [name for own, name in zip(keys, names, strict=True) if key in own]
        lacks = [name for own, name in zip(keys, names, strict=True) if key not in own]
        if lacks:
            groups.setdefault((has[0], ", ".join(lacks)), []).append(_short(key[-1]))
    problems = []
    for (has_it, lack_it), alone in groups.items():
        shown = [repr(key) for key in alone[:NAMED]]
        shown += [f"{len(alone) - NAMED} more"] if len(alone) > NAMED else []
        problems += [f"{has_it}: no partner in {lack_it} for {what}" for what in shown]
    return problems


def _where(row: Row) -> str:
    return f"line {row.get(LINE, '?')}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"


def read_systems(
    paths: Sequence[str | Path],
    *,
    system_column: str = "system",
    source_column: str = "source",
    summary_column: str = "summary",
    options: Mapping[str, Any] | None = None,
    progress: bool = False,
) -> tuple[list[str], list[list[Row]], list[str]]:
    """The rows of each system: scored rows as they are, pairs scored now, in one run for all files.

    Args:
        paths: a file for each system, or one file with a column that names the system of each row.
            A file was written by ``estime score -o`` or holds pairs.
        options, progress: of `EstimeScorer` and its progress bar, for pairs.

    Returns:
        The names of the systems (of files without their folders, where these differ), the rows of
        each, and a sentence for each row that could not be read.

    Raises:
        ValueError: a file holds neither scores nor pairs, or a single file has no column of
            systems.
        OSError: a file cannot be read.
    """
    given = [Path(path) for path in paths]
    names = [path.name for path in given]
    if len(set(names)) < len(names):
        names = [str(path) for path in given]
    sides: list[list[Row]] = []
    problems: list[str] = []
    unscored: dict[int, files.Pairs] = {}
    for name, path in zip(names, given, strict=True):
        rows = list(files.read_scored(path))
        sides.append([row for _, row in rows if isinstance(row, dict) and "signature" in row])
        if sides[-1]:
            for line, row in rows:
                if isinstance(row, str) or "signature" not in row:
                    problems.append(
                        f"{name} line {line}: {row if isinstance(row, str) else 'has no signature'}"
                    )
            continue
        pairs = unscored[len(sides) - 1] = files.read_pairs(path, source_column, summary_column)
        problems += [f"{name} {problem}" for problem in pairs.problems]
        if not pairs.lines:
            first = next(iter(pairs.problems), "it is empty")
            raise ValueError(
                f"Expected {name} to hold scores or pairs, but it holds neither: {first}."
            )
    if len(given) == 1:
        _check_system_column(unscored[0].others if unscored else sides[0], system_column, names[0])
    if unscored:
        scored = _score(list(unscored.values()), source_column, dict(options or {}), progress)
        for index, rows_now in zip(unscored, scored, strict=True):
            sides[index] = rows_now
    if len(given) > 1:
        return names, sides, problems
    by_system: dict[str, list[Row]] = {}
    for scored_row in sides[
        0
    ]:  # one line is one summary here, so lines do not tell which rows belong together
        without_line = {name: value for name, value in scored_row.items() if name != "line"}
        by_system.setdefault(str(scored_row[system_column]), []).append(without_line)
    return list(by_system), list(by_system.values()), problems


def _check_system_column(rows: Sequence[Row], column: str, name: str) -> None:
    """Refuses a file of several systems that does not say which row is of which, before anything is
    scored.
    """
    lacking = next((row for row in rows if row.get(column) in (None, "")), None)
    if lacking is not None:
        raise ValueError(
            f"Expected a column {column!r} in each row of {name}, or a file for each system, but a row has the columns "
            f"{', '.join(lacking)}: name the column of systems with `system_column` (--system-column)."
        )


def _score(
    tables: list[files.Pairs], source_column: str, options: dict[str, Any], progress: bool
) -> list[list[Row]]:
    """The rows of each table as ``estime score`` writes them, and the source; all are scored in one
    run.
    """
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    together = files.Pairs()
    for pairs in tables:
        columns = pairs.lines, pairs.sources, pairs.summaries, pairs.others
        for line, source, summary, others in zip(*columns, strict=True):
            together.add(line, source, summary, {**others, source_column: source})
    result = EstimeScorer(**options).score(together.summaries, together.sources, progress=progress)
    rows = iter(files.score_rows(together, result))
    return [[next(rows) for _ in pairs.lines] for pairs in tables]

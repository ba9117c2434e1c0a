"""Files -> the scored rows of each system; pairs are scored on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from estime_metric import files
from estime_metric.comparison.rows import Row


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
        paths: a file for each system, or one file with a column that names the system of each row. A file was written
            by ``estime score -o`` or holds pairs.
        system_column, source_column, summary_column: these columns.
        options: options of `EstimeScorer`, for pairs.
        progress: show a progress bar.

    Returns:
        the names of the systems (names of files without their folders, where these differ), the rows of each, and a
        sentence for each row that could not be read.

    Raises:
        ValueError: a file holds neither scores nor pairs, or a single file has no column of systems.
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
                    problems.append(f"{name} line {line}: {row if isinstance(row, str) else 'has no signature'}")
            continue
        pairs = unscored[len(sides) - 1] = files.read_pairs(path, source_column, summary_column)
        problems += [f"{name} {problem}" for problem in pairs.problems]
        if not pairs.lines:
            first = next(iter(pairs.problems), "it is empty")
            raise ValueError(f"Expected {name} to hold scores or pairs, but it holds neither: {first}.")
    if len(given) == 1:
        _check_systems(unscored[0].others if unscored else sides[0], system_column, names[0])
    if unscored:
        scored = _score(list(unscored.values()), source_column, dict(options or {}), progress)
        for index, rows_now in zip(unscored, scored, strict=True):
            sides[index] = rows_now
    if len(given) > 1:
        return names, sides, problems
    by_system: dict[str, list[Row]] = {}
    for scored_row in sides[0]:  # one line is one summary here, so lines do not tell which rows belong together
        without_line = {name: value for name, value in scored_row.items() if name != "line"}
        by_system.setdefault(str(scored_row[system_column]), []).append(without_line)
    return list(by_system), list(by_system.values()), problems


def _check_systems(rows: Sequence[Row], column: str, name: str) -> None:
    """Refuses a file of several systems that does not say which row is of which, before anything is scored."""
    lacking = next((row for row in rows if row.get(column) in (None, "")), None)
    if lacking is not None:
        raise ValueError(
            f"Expected a column {column!r} in each row of {name}, or a file for each system, but a row has the columns "
            f"{', '.join(lacking)}: name the column of systems with `system_column` (--system-column)."
        )


def _score(tables: list[files.Pairs], source_column: str, options: dict[str, Any], progress: bool) -> list[list[Row]]:
    """The rows of each table as ``estime score`` writes them, and the source; all are scored in one run."""
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    together = files.Pairs()
    for pairs in tables:
        columns = pairs.lines, pairs.sources, pairs.summaries, pairs.others
        for line, source, summary, others in zip(*columns, strict=True):
            together.add(line, source, summary, {**others, source_column: source})
    result = EstimeScorer(**options).score(together.summaries, together.sources, progress=progress)
    rows = iter(files.score_rows(together, result))
    return [[next(rows) for _ in pairs.lines] for pairs in tables]

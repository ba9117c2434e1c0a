"""Two files -> the scored rows of both; pairs are scored on the way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from estime_metric import files
from estime_metric.comparison.rows import Row


def read_sides(
    a: str | Path,
    b: str | Path,
    *,
    source_column: str = "source",
    summary_column: str = "summary",
    options: Mapping[str, Any] | None = None,
    progress: bool = False,
) -> tuple[list[Row], list[Row], list[str]]:
    """The rows of two files: scored rows as they are, pairs scored now, in one run if both files hold pairs.

    Args:
        a: a file that ``estime score -o`` wrote, or a file of pairs.
        b: likewise.
        source_column: column of the sources.
        summary_column: column of the summaries.
        options: options of `EstimeScorer`, for pairs.
        progress: show a progress bar.

    Returns:
        the rows of the first, those of the second, and a sentence for each row that could not be read.

    Raises:
        ValueError: a file holds neither scores nor pairs.
        OSError: a file cannot be read.
    """
    paths = Path(a), Path(b)
    sides: list[list[Row]] = [[], []]
    problems: list[str] = []
    unscored: dict[int, files.Pairs] = {}
    for index, path in enumerate(paths):
        rows = list(files.read_rows(path))
        sides[index] = [row for _, row in rows if isinstance(row, dict) and "signature" in row]
        if sides[index]:
            problems += [
                f"{path.name} line {line}: {row if isinstance(row, str) else 'has no signature'}"
                for line, row in rows
                if isinstance(row, str) or "signature" not in row
            ]
            continue
        unscored[index] = files.read_pairs(path, source_column, summary_column)
        problems += [f"{path.name} {problem}" for problem in unscored[index].problems]
        if not unscored[index].lines:
            first = next(iter(unscored[index].problems), "it is empty")
            raise ValueError(f"Expected {path.name} to hold scores or pairs, but it holds neither: {first}.")
    if unscored:
        scored = _score(list(unscored.values()), source_column, dict(options or {}), progress)
        for index, rows_now in zip(unscored, scored, strict=True):
            sides[index] = rows_now
    return sides[0], sides[1], problems


def _score(tables: list[files.Pairs], source_column: str, options: dict[str, Any], progress: bool) -> list[list[Row]]:
    """The rows of each table as ``estime score`` writes them, and the source; all are scored in one run."""
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    together = files.Pairs()
    for pairs in tables:
        together.lines += pairs.lines
        together.sources += pairs.sources
        together.summaries += pairs.summaries
        together.others += [
            {**others, source_column: source} for others, source in zip(pairs.others, pairs.sources, strict=True)
        ]
    result = EstimeScorer(**options).score(together.summaries, together.sources, progress=progress)
    rows = iter(files.score_rows(together, result))
    return [[next(rows) for _ in pairs.lines] for pairs in tables]

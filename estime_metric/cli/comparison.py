"""Rows of two summarizers -> matched examples -> what their measures say."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from estime_metric import files
from estime_metric.config import HIGHER_IS_BETTER

if TYPE_CHECKING:
    from estime_metric.meta import PairedTest

#: A paired test of two lists of scores.
Test = Callable[..., "PairedTest"]

#: What a p-value has to stay below to be called a difference.
LEVEL = 0.05

#: Rows without a partner that are named before they are only counted.
NAMED = 10


@dataclass(frozen=True)
class Comparison:
    """One measure of both summarizers over the matched examples."""

    measure: str
    mean_a: float
    mean_b: float
    wins_a: int
    ties: int
    wins_b: int
    bootstrap: PairedTest
    randomization: PairedTest

    @property
    def better(self) -> str | None:
        """``A``, ``B``, or ``None`` where approximate randomisation finds no difference."""
        if self.randomization.p_value >= LEVEL:
            return None
        return "A" if (self.mean_a > self.mean_b) == higher_is_better(self.measure) else "B"


def read_sides(
    paths: tuple[Path, Path], source_column: str, summary_column: str, given: dict[str, Any], progress: bool
) -> tuple[list[list[files.Row]], list[str]]:
    """The rows of both files, scored now where they are not yet, and a sentence for each row that could not be read.

    Raises:
        ValueError: a file holds neither scores nor pairs.
    """
    sides: list[list[files.Row]] = [[], []]
    problems: list[str] = []
    waiting: dict[int, files.Pairs] = {}
    for place, path in enumerate(paths):
        rows = list(files.read_rows(path))
        sides[place] = [row for _, row in rows if isinstance(row, dict) and "signature" in row]
        if sides[place]:
            problems += [
                f"{path.name} line {line}: {row if isinstance(row, str) else 'has no signature'}"
                for line, row in rows
                if isinstance(row, str) or "signature" not in row
            ]
            continue
        waiting[place] = files.read_pairs(path, source_column, summary_column)
        problems += [f"{path.name} {problem}" for problem in waiting[place].problems]
        if not waiting[place].lines:
            first = next(iter(waiting[place].problems), "it is empty")
            raise ValueError(f"Expected {path.name} to hold scores or pairs, but it holds neither: {first}.")
    if waiting:
        scored = _score_now(list(waiting.values()), source_column, given, progress)
        sides = [scored.pop(0) if place in waiting else rows for place, rows in enumerate(sides)]
    return sides, problems


def _score_now(
    waiting: list[files.Pairs], source_column: str, given: dict[str, Any], progress: bool
) -> list[list[files.Row]]:
    """The rows of each table as ``estime score`` writes them, with the source; all are scored in one run."""
    from estime_metric.scorer import EstimeScorer  # brings torch, which takes its time

    together = files.Pairs()
    for pairs in waiting:
        together.lines += pairs.lines
        together.sources += pairs.sources
        together.summaries += pairs.summaries
        together.others += [
            {**others, source_column: source} for others, source in zip(pairs.others, pairs.sources, strict=True)
        ]
    result = EstimeScorer(**given).score(together.summaries, together.sources, progress=progress)
    rows = iter(files.score_rows(together, result))
    return [[next(rows) for _ in pairs.lines] for pairs in waiting]


def one_signature(sides: list[list[files.Row]], paths: tuple[Path, Path]) -> str:
    """The one signature of all rows.

    Raises:
        ValueError: there are several; they are shown.
    """
    found = [list(dict.fromkeys(str(row["signature"]) for row in rows)) for rows in sides]
    for signatures, path in zip(found, paths, strict=True):
        if len(signatures) > 1:
            raise ValueError(f"Expected {path.name} to carry one signature, but it has {' and '.join(signatures[:2])}.")
    if found[0] != found[1]:
        raise ValueError(
            f"Expected both files to carry one signature, since other settings give other numbers, "
            f"but got\n  {paths[0].name}: {found[0][0]}\n  {paths[1].name}: {found[1][0]}"
        )
    return found[0][0]


def by_key(
    sides: list[list[files.Row]], paths: tuple[Path, Path], id_column: str | None, source_column: str
) -> list[dict[str, files.Row]]:
    """The rows of each side by what identifies them.

    Raises:
        ValueError: nothing does: no such column, a row without it, or the same value twice in a file.
    """
    column = id_column or next(
        (name for name in (source_column, "id") if all(name in row for rows in sides for row in rows)), None
    )
    if column is None:
        raise ValueError(
            f"Expected a column {source_column!r} or 'id' in both files, to tell which rows belong together: "
            "name another with --id-column ('line' is the line that a pair had when it was scored)."
        )
    keys: list[dict[str, files.Row]] = []
    for rows, path in zip(sides, paths, strict=True):
        side: dict[str, files.Row] = {}
        for row in rows:
            key = str(row.get(column) if row.get(column) is not None else "")
            if not key:
                raise ValueError(f"Expected column {column!r} in each row of {path.name}, but not in {_named(row)}.")
            if key in side:
                raise ValueError(
                    f"Expected column {column!r} to identify the rows of {path.name}, but {_short(key)!r} comes twice: "
                    "name another with --id-column."
                )
            side[key] = row
        keys.append(side)
    return keys


def unmatched(keys: list[dict[str, files.Row]], paths: tuple[Path, Path]) -> list[str]:
    """One sentence for each row without a partner, up to a number."""
    problems = []
    for own, other, path, partner in ((keys[0], keys[1], *paths), (keys[1], keys[0], *paths[::-1])):
        alone = [key for key in own if key not in other]
        problems += [f"{path.name}: no partner in {partner.name} for {_short(key)!r}" for key in alone[:NAMED]]
        if len(alone) > NAMED:
            problems.append(f"{path.name}: no partner in {partner.name} for {len(alone) - NAMED} more")
    return problems


def measure_columns(asked: tuple[str, ...], rows: list[list[files.Row]], paths: tuple[Path, Path]) -> list[str]:
    """The columns of the measures: ``alarms``, or ``alarms@12`` and so on where several layers were read."""
    found = []
    for name in asked:
        columns = [column for column in rows[0][0] if column == name or column.startswith(f"{name}@")]
        if not columns:
            raise ValueError(
                f"Expected a column {name!r} in {paths[0].name}, but its columns are {', '.join(rows[0][0])}."
            )
        found += columns
    return found


def paired_tests() -> tuple[Test, Test]:
    """Paired bootstrap and approximate randomisation.

    Raises:
        ImportError: the extra ``meta`` is not installed.
    """
    from estime_metric.meta.paired import approximate_randomization, paired_bootstrap

    return paired_bootstrap, approximate_randomization


def compare_measure(
    measure: str, rows: list[list[files.Row]], tests: tuple[Test, Test], n: int, confidence: float, seed: int
) -> Comparison:
    """Means, wins and tests of one column, over the examples for which it is defined on both sides.

    Raises:
        ValueError: a row of it holds no number, or all are undefined.
    """
    defined = [pair for pair in zip(*rows, strict=True) if not any(_undefined(row, measure) for row in pair)]
    if not defined:
        raise ValueError(f"Expected {measure!r} to be defined for some example on both sides, but it is for none.")
    a, b = ([_number(row, measure) for row in side] for side in zip(*defined, strict=True))
    sign = 1 if higher_is_better(measure) else -1
    return Comparison(
        measure,
        math.fsum(a) / len(a),
        math.fsum(b) / len(b),
        sum(sign * x > sign * y for x, y in zip(a, b, strict=True)),
        sum(x == y for x, y in zip(a, b, strict=True)),
        sum(sign * x < sign * y for x, y in zip(a, b, strict=True)),
        tests[0](a, b, n=n, confidence=confidence, seed=seed),
        tests[1](a, b, n=n, seed=seed),
    )


def _undefined(row: files.Row, measure: str) -> bool:
    """Whether the cell says that there was nothing to divide by: null in JSON, empty in CSV."""
    return measure in row and row[measure] in (None, "")


def _number(row: files.Row, measure: str) -> float:
    try:
        return float(row[measure])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"Expected a number in column {measure!r}, but got {row.get(measure)!r} in {_named(row)}."
        ) from error


def higher_is_better(measure: str) -> bool:
    """Which way a measure points.

    Raises:
        ValueError: it is none of `HIGHER_IS_BETTER`, with or without a layer.
    """
    base = measure.split("@")[0]
    if base not in HIGHER_IS_BETTER:
        listed = ", ".join(HIGHER_IS_BETTER)
        raise ValueError(f"Expected --measure to name some of {listed}, but got {measure!r}.")
    return HIGHER_IS_BETTER[base]


def _named(row: files.Row) -> str:
    return f"line {row.get('line', '?')}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"

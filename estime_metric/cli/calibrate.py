"""``estime calibrate``: from which score on is a summary worth a look? A threshold from labeled
summaries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from estime_metric._messages import counted
from estime_metric.checks import did_you_mean
from estime_metric.cli import options
from estime_metric.cli.console import say, warn, warn_of_rows
from estime_metric.measures import (
    BASE_MEASURES,
    HIGHER_IS_BETTER,
    MEASURES,
    RECOMMENDED,
    measure_of,
)
from estime_metric.table.rows import Layout, check_delimiter, header_hint
from estime_metric.table.scores import Scores
from estime_metric.table.table import number_of

if TYPE_CHECKING:
    from pandas import DataFrame

    from estime_metric.table.threshold import Calibration

FEW = 10  # with fewer summaries of a class, the next sample would move the threshold far
CHANCE = 0.5  # balanced accuracy
#: A label in lower case -> 1 for a consistent summary, 0 for another.
_LABELS = {"1": 1, "true": 1, "1.0": 1, "0": 0, "false": 0, "0.0": 0}


def calibrate(
    labeled: Path,
    /,
    *,
    label: str = "label",
    score: Annotated[
        str, Parameter(help="Column with the scores, for example a measure of 'estime score'.")
    ] = RECOMMENDED,
    higher: bool = False,
    source_column: options.SourceColumn = "source",
    delimiter: str | None = None,
) -> int:
    """Choose the threshold with the best balanced accuracy on summaries that you have labeled.

    About fifty labeled summaries, some of them inconsistent, give a rough threshold. The accuracy
    on new summaries is estimated with a bootstrap: the threshold is chosen on each resample and
    evaluated on the summaries that were not drawn. If several summaries have the same source, whole
    sources are drawn.

    The table has a column of scores, of ESTIME or of anything else: score texts with 'estime score
    -o' first, which keeps your labels.

    Exit status: 0 if a threshold was chosen from all rows, 1 if invalid rows were skipped, 2 on
    failure.

    Example: estime calibrate scores.jsonl

    Args:
        labeled: Table with one labeled summary per row, in any format of 'estime score'.
        label: Column with the labels: 1 or true for consistent summaries, 0 or false for all
            others.
        source_column: Column of the sources, unless 'estime score' wrote the table.
        delimiter: Character between the cells of CSV, such as ';'. (default: comma, or tab for .tsv)
        higher: Higher scores are better. The direction of ESTIME's measures is known, except that of
            copied_density.
    """
    if label == score:
        raise ValueError(
            f"Expected argument `label` to name another column than `score`, but both are {label!r}."
        )
    # These import pandas: slow.
    from estime_metric.compare.join import source_ids
    from estime_metric.table.threshold import calibrate as find_threshold

    problems: list[str] = []
    layout = Layout(source_column=source_column, delimiter=delimiter)
    check_delimiter(layout, [labeled])
    rows = _read(labeled, score, label, layout, problems)
    warn_of_rows(problems)
    labels = rows[label].astype(int).tolist()
    sources = source_ids(rows, source_column)
    is_higher_better = HIGHER_IS_BETTER.get(measure_of(score), higher)
    try:
        calibration = find_threshold(
            rows[score].tolist(),
            labels,
            groups=None if sources is None else sources.tolist(),
            higher_is_better=is_higher_better,
        )
    except ValueError as error:
        message = str(error).replace("argument `labels`", f"column {label!r}")
        raise ValueError(message.replace("argument `scores`", f"column {score!r}")) from error
    different = len(rows) if sources is None else sources.nunique()
    for line in _sentences(calibration, score, labels, different, higher=is_higher_better):
        say(line)
    for line in _doubts(calibration, labels):
        warn(line)
    return 1 if problems else 0


def _read(path: Path, score: str, label: str, layout: Layout, problems: list[str]) -> DataFrame:
    """The rows with a score and a label, both as numbers. ``problems`` gets a sentence for each other row.
    Raises ValueError if no row has both.
    """
    from estime_metric.compare.join import check_column  # imports pandas: slow

    scores = Scores.read(path, layout, own_columns=[label], skipped=problems)
    rows = scores.frame
    if rows.empty:
        raise ValueError(
            f"Expected labeled summaries in {path.name}, but it has no rows{header_hint(path)}."
        )
    check_column(rows, label, path.name, "Name the right one with `label`.")
    advice = f"Name the right one with `score`.{did_you_mean(score, [*rows, *MEASURES])}"
    if measure_of(score) in MEASURES:
        further = "" if score in BASE_MEASURES else f" --measures {measure_of(score)}"
        advice = f"'estime score {path.name}{further} -o FILE' computes it."
    check_column(rows, score, path.name, advice)
    numbers = scores.numbers(score).replace(math.inf, math.nan)
    labels = rows[label].astype(str).str.strip().str.lower().map(_LABELS)
    is_usable = numbers.notna() & labels.notna()
    for line, value, truth in rows.loc[~is_usable, [score, label]].itertuples(name=None):
        if math.isnan(numbers[line]):
            problems.append(_problem(line, score, value, "a number"))
        else:
            problems.append(_problem(line, label, truth, "0 or 1"))
    if not is_usable.any():
        raise ValueError(
            f"Expected labeled summaries in {path.name}, but got none ({problems[0]})."
        )
    return rows.assign(**{score: numbers, label: labels})[is_usable]


def _problem(line: int, column: str, cell: Any, expected: str) -> str:
    """What is wrong with a cell."""
    number = number_of(cell)
    came = "missing" if number is not None and math.isnan(number) else repr(cell)
    return f"line {line}: column {column!r} should be {expected}, but is {came}"


def _sentences(
    calibration: Calibration, score: str, labels: list[int], sources: int, *, higher: bool
) -> Iterator[str]:
    """What follows from the labels of summaries of some different sources."""
    summaries, estimate = len(labels), calibration.out_of_bag
    yield (
        "found: fraction of the inconsistent summaries that are flagged; spared: fraction of the "
        "consistent summaries that are not flagged; accuracy: mean of the two; flagged: fraction of "
        "all summaries that are flagged."
    )
    yield f"{counted(summaries, 'summary')}, {sum(labels)} consistent"
    yield (
        f"threshold {calibration.threshold}: review summaries with {score} "
        f"{'<=' if higher else '>='} this value (found {calibration.found:.3f}, spared "
        f"{calibration.spared:.3f}, flagged {calibration.flagged:.3f})"
    )
    new = f"{estimate.mean:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"
    if not math.isfinite(estimate.mean):
        new = "not possible from so few"
    yield (
        f"balanced accuracy {calibration.accuracy:.3f} on these summaries (optimistic); estimate for "
        f"new summaries: {new}"
    )
    if 1 == sources < summaries:
        yield "All summaries have the same source, so there is no estimate for new summaries."
    elif sources < summaries:
        yield (
            f"The summaries have {sources} different sources. Summaries of one source are not "
            "independent, so the estimate comes from whole sources that were not drawn."
        )


def _doubts(calibration: Calibration, labels: list[int]) -> Iterator[str]:
    """Why the threshold may be wrong."""
    if calibration.accuracy < CHANCE:
        yield (
            f"The balanced accuracy is below {CHANCE}, that of chance. Pass --higher if higher scores are "
            "better, and check that label 1 is that of the consistent summaries."
        )
    if min(sum(labels), len(labels) - sum(labels)) < FEW:
        yield (
            f"One class has fewer than {FEW} summaries. Label more summaries before you rely on "
            "this threshold."
        )

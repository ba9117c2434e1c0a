"""``estime calibrate``: from which score on is a summary worth a look? A threshold from labeled
summaries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from estime_metric import files
from estime_metric._wording import counted
from estime_metric.cli import options
from estime_metric.cli.console import note, say, say_wrote, table_console, warn, warn_of_rows
from estime_metric.cli.scoring import read_or_score
from estime_metric.cli.screen import print_table
from estime_metric.measures import (
    HIGHER_IS_BETTER,
    MEASURES,
    RECOMMENDED,
    measure_of,
)
from estime_metric.validation import check_one_layer

if TYPE_CHECKING:
    from pandas import DataFrame

    from estime_metric.scorer import EstimeScorer
    from estime_metric.stats.detection import Calibration

FEW = 10  # with fewer summaries of a class, the next sample would move the threshold far
_LABELS = {"1": 1, "true": 1, "1.0": 1, "0": 0, "false": 0, "0.0": 0}


def calibrate(
    labeled: Path,
    /,
    *,
    label: str = "label",
    score: Annotated[
        str | None,
        Parameter(
            help="Column with the scores. If the file has no such column, it is the measure to "
            f"compute from the texts. (default: {RECOMMENDED})"
        ),
    ] = None,
    higher: bool = False,
    resamples: options.PositiveCount = 1000,
    seed: options.Seed = 0,
    output: options.Output = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    table: options.TableOptions = options.TABLE,
    measured: options.ScoringOptions = options.SCORING,
) -> int:
    """Choose the threshold with the best balanced accuracy on summaries that you have labeled.

    About fifty labeled summaries, some of them inconsistent, give a rough threshold. The accuracy
    on new summaries is estimated with a bootstrap: the threshold is chosen on each resample and
    evaluated on the summaries that were not drawn. If several summaries have the same source, whole
    sources are drawn.

    The table has a column of scores, or a source and a summary in each row, which are scored. The
    options of the encoder and the metric only apply to texts that are scored.

    Exit status: 0 if a threshold was chosen from all rows, 1 if invalid rows were skipped, 2 on
    failure.

    Example: estime calibrate judged.jsonl

    Args:
        labeled: Table with one labeled summary per row, in any format of 'estime score'.
        label: Column with the labels: 1 or true for consistent summaries, 0 or false for all
            others.
        higher: Higher scores are better. Not needed for ESTIME's own measures.
        resamples: Bootstrap samples of the interval.
        output: Write the accuracy for every threshold (.csv, .jsonl, .parquet; '-' for JSON Lines
            on standard output, with the report on standard error).
    """
    if output is not None:
        files.check_writable(output, [labeled], overwrite=overwrite)
    # These import pandas: slow.
    from estime_metric.comparison.reading import check_column
    from estime_metric.stats.detection import calibrate as find_threshold

    column = score or RECOMMENDED
    on_stderr = output is not None and files.is_standard(output)  # which is for data
    tell = note if on_stderr else say

    def is_scored(rows: DataFrame) -> bool:
        check_column(rows, label, labeled.name, "Name the right one with `label`.")
        if column not in rows:
            _check_texts(rows, column, labeled.name, table)
        return column in rows

    def new_scorer() -> EstimeScorer:
        scorer = _scorer_of(column, measured)
        tell(scorer.signature)
        return scorer

    rows, skipped = read_or_score(
        labeled,
        table,
        is_scored=is_scored,
        new_scorer=new_scorer,
        own_columns=[label, score or ""],
        quiet=quiet,
    )
    read = _read(rows, column, label, table.source_column)
    warn_of_rows(read.problems)
    if not read.labels:
        raise ValueError(f"Expected labeled summaries in {labeled}, but got none.")
    better = HIGHER_IS_BETTER.get(measure_of(column), higher)
    calibration = find_threshold(
        read.scores,
        read.labels,
        groups=read.sources,
        higher_is_better=better,
        resamples=resamples,
        seed=seed,
    )
    _print_curve(calibration, column, on_stderr=on_stderr)
    for line in _sentences(calibration, column, better, read):
        tell(line)
    if min(sum(read.labels), len(read.labels) - sum(read.labels)) < FEW:
        warn(
            f"One class has fewer than {FEW} summaries. Label more summaries before you rely on "
            "this threshold."
        )
    if output is not None:
        files.write_rows(output, calibration.curve.to_dict("records"))
        say_wrote(counted(len(calibration.curve), "row"), output)
    return 1 if skipped or read.problems else 0


@dataclass(frozen=True)
class _Labeled:
    """Scores and labels, and a sentence for each row that lacks one; the sources are what identifies
    them, ``None`` if they are not known.
    """

    scores: list[float]
    labels: list[int]
    problems: list[str]
    sources: list[str] | None


def _read(rows: DataFrame, column: str, label: str, source_column: str) -> _Labeled:
    """The scores of a column with their labels."""
    from estime_metric.comparison.joining import source_ids

    scores, labels = rows[column].map(_number), rows[label].map(_label)
    problems = [
        f"line {line}: column {name!r} should be {expected}, but is {_shown(rows[name][line])}"
        for line in rows.index[scores.isna() | labels.isna()]
        for name, expected in [
            (column, "a number") if math.isnan(scores[line]) else (label, "0 or 1")
        ]
    ]
    known = scores.notna() & labels.notna()
    sources = source_ids(rows[known], source_column)
    return _Labeled(
        scores[known].tolist(),
        labels[known].astype(int).tolist(),
        problems,
        None if sources is None else sources.tolist(),
    )


def _check_texts(rows: DataFrame, column: str, name: str, layout: files.Layout) -> None:
    """Raises ValueError if a missing column of scores cannot be computed."""
    from estime_metric.comparison.reading import check_column

    if column not in MEASURES:
        measures = f"a measure to compute: {', '.join(MEASURES)}."
        check_column(rows, column, name, f"Name the right one with `score`, or {measures}")
    texts = (layout.source_column, layout.summary_column)
    if any(text not in rows for text in texts):
        raise ValueError(
            f"Expected a column {column!r} in {name}, or the columns {texts[0]!r} and {texts[1]!r} "
            f"to compute it from, but the columns are {', '.join(rows.columns)}. Name the right "
            "ones with `score`, or with `source_column` and `summary_column`."
        )


def _scorer_of(measure: str, measured: options.ScoringOptions) -> EstimeScorer:
    """What computes one measure; ValueError if several layers are asked for."""
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    scorer = EstimeScorer(**{**measured.settings(), "measures": measure})
    check_one_layer(scorer.resolved_config.layers, ", because one threshold is chosen")
    return scorer


def _number(cell: Any) -> float:
    """A score; NaN if it is missing, not finite, or no number."""
    try:
        number = float(cell)
    except (OverflowError, TypeError, ValueError):
        return math.nan
    return number if math.isfinite(number) and not isinstance(cell, bool) else math.nan


def _label(cell: Any) -> float:
    """1 for a consistent summary, 0 for another, NaN for anything else."""
    return _LABELS.get(str(cell).strip().lower(), math.nan)


def _shown(cell: Any) -> str:
    is_missing = cell is None or cell == "" or cell != cell  # NaN
    return "missing" if is_missing else repr(cell)


def _print_curve(calibration: Calibration, column: str, *, on_stderr: bool) -> None:
    """Eleven of the thresholds."""
    from estime_metric.report.tables import Column, Section, Table

    curve = calibration.curve
    rows = curve.iloc[sorted({round(place * (len(curve) - 1) / 10) for place in range(11)})]
    columns = tuple(Column(name, decimals=4 if name == "threshold" else 3) for name in rows.columns)
    cells = tuple(rows.astype(float).itertuples(index=False, name=None))
    table = Table("calibration", f"Thresholds of {column}", columns, (Section("", cells),))
    print_table(table, table_console(on_stderr=on_stderr))


def _sentences(
    calibration: Calibration, column: str, better: bool, read: _Labeled
) -> Iterator[str]:
    """What follows from the labels; higher scores are ``better`` or not."""
    summaries, consistent = len(read.labels), sum(read.labels)
    side = "<=" if better else ">="
    estimate = f"{calibration.expected:.3f} [{calibration.low:.3f}, {calibration.high:.3f}]"
    if not math.isfinite(calibration.expected):
        estimate = "not possible from so few"
    yield (
        "found: fraction of the inconsistent summaries that are flagged; spared: fraction of the "
        "consistent summaries that are not flagged; accuracy: mean of the two; flagged: fraction of "
        "all summaries that are flagged."
    )
    yield (
        f"{counted(summaries, 'summary')}, {consistent} consistent; area under the ROC curve "
        f"{calibration.area:.3f}"
    )
    yield f"threshold {calibration.threshold:.4f}: review summaries with {column} {side} this value"
    yield (
        f"balanced accuracy {calibration.accuracy:.3f} on these summaries (optimistic); estimate for "
        f"new summaries: {estimate}"
    )
    sources = summaries if read.sources is None else len(set(read.sources))
    if 1 == sources < summaries:
        yield "All summaries have the same source, so there is no estimate for new summaries."
    elif sources < summaries:
        yield (
            f"The summaries have {sources} different sources. Summaries of one source are not "
            "independent, so the estimate comes from whole sources that were not drawn."
        )

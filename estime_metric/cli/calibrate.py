"""``estime calibrate``: from which score on is a summary worth a look? A threshold from labeled
summaries.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from estime_metric import files
from estime_metric.cli import options
from estime_metric.cli.console import (
    counted,
    note,
    say,
    say_wrote,
    table_console,
    warn,
    warn_of_rows,
)
from estime_metric.cli.screen import print_table
from estime_metric.measures import FURTHER_MEASURES, HIGHER_IS_BETTER, MEASURES, RECOMMENDED

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer
    from estime_metric.stats.detection import Calibration

TABLES = (".csv", ".jsonl", ".parquet")  # endings of tables that can be written
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
        output: Write the accuracy for every threshold as a table (.csv, .jsonl, .parquet; '-' for
            JSON Lines on standard output, with the report on standard error) or as a plot (.png,
            .svg, .pdf).
    """
    if output is not None:
        files.check_writable(
            output, [labeled], overwrite=overwrite, endings=(*TABLES, *options.PLOTS)
        )
    # The first imports pandas: slow.
    from estime_metric.comparison.scored_table import pairs_of, read_scored_table
    from estime_metric.stats.detection import calibrate as find

    column = score or RECOMMENDED
    layout = table.layout()
    found_table = read_scored_table(labeled, layout.options, own_columns=[label, score or ""])
    lines, columns = found_table.lines, found_table.columns
    if label not in columns:
        raise ValueError(
            f"Expected a column {label!r} in {labeled.name}, but its columns are "
            f"{', '.join(columns) or 'none'}. Name the right one with `label`."
        )
    report = _Report(on_stderr=output is not None and files.is_standard(output))
    if column in columns:
        read = _read_scores(lines, column, label, _source_column(lines, layout))
    else:
        _check_texts(columns, column, labeled, layout)
        pairs = pairs_of(lines, labeled, layout)
        read = _score_texts(pairs, column, label, measured, quiet, report)
    warn_of_rows(read.problems)
    if not read.labels:
        raise ValueError(f"Expected labeled summaries in {labeled}, but got none.")
    better = HIGHER_IS_BETTER.get(found_table.measure_in(column), higher)
    found = find(
        read.scores,
        read.labels,
        groups=read.sources,
        higher_is_better=better,
        resamples=resamples,
        seed=seed,
    )
    _print(found, column, better, read, report)
    if output is not None:
        _write(output, found, column)
    return 1 if read.problems else 0


@dataclass(frozen=True)
class _Report:
    """Where the report is printed: on stderr if standard output is for data."""

    on_stderr: bool

    def say(self, text: str) -> None:
        """One line."""
        (note if self.on_stderr else say)(text)


@dataclass
class _Labeled:
    """Scores and labels, and a sentence for each row that lacks one; the sources are what identifies
    them, ``None`` if they are not known.
    """

    scores: list[float] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    sources: list[str] | None = None


def _source_column(lines: list[files.Line], layout: files.Layout) -> str | None:
    """The column that identifies the source of each row, if there is one."""
    from estime_metric.comparison.rows import DOCUMENT_COLUMNS

    valid = [line.row for line in lines if not line.problem]
    return next(
        (
            column
            for column in (layout.source_column, *DOCUMENT_COLUMNS)
            if all(row.get(column) not in (None, "") for row in valid)
        ),
        None,
    )


def _read_scores(
    lines: list[files.Line], column: str, label: str, source_column: str | None
) -> _Labeled:
    """The scores of a column with their labels."""
    read = _Labeled(sources=None if source_column is None else [])
    for line in lines:
        score = _number(line.row.get(column))
        judged = _label(line.row.get(label))
        problem = line.problem
        if not problem and score is None:
            problem = f"column {column!r} should be a number, but is {_came(line.row.get(column))}"
        if not problem and judged is None:
            problem = _label_problem(label, line.row)
        if problem or score is None or judged is None:
            read.problems.append(f"line {line.number}: {problem}")
        else:
            read.scores.append(score)
            read.labels.append(judged)
            if read.sources is not None and source_column is not None:
                read.sources.append(str(line.row[source_column]))
    return read


def _check_texts(columns: list[str], column: str, labeled: Path, layout: files.Layout) -> None:
    """Raises ValueError if a column of scores is missing and cannot be computed."""
    if column not in MEASURES:
        raise ValueError(
            f"Expected a column {column!r} in {labeled.name}, but its columns are "
            f"{', '.join(columns)}. Name the right one with `score`, or a measure to compute: "
            f"{', '.join(MEASURES)}."
        )
    texts = (layout.source_column, layout.summary_column)
    if any(name not in columns for name in texts):
        raise ValueError(
            f"Expected a column {column!r} in {labeled.name}, or the columns {texts[0]!r} and "
            f"{texts[1]!r} to compute it from, but the columns are {', '.join(columns)}. Name the "
            "right ones with `score`, or with `source_column` and `summary_column`."
        )


def _score_texts(
    pairs: files.Pairs,
    measure: str,
    label: str,
    measured: options.ScoringOptions,
    quiet: bool,
    report: _Report,
) -> _Labeled:
    """The scores of pairs with their labels."""
    labels = [_label(others.get(label)) for others in pairs.others]
    labeled = pairs.select(index for index, judged in enumerate(labels) if judged is not None)
    read = _Labeled(problems=list(pairs.problems))
    read.problems += [
        f"line {line}: {_label_problem(label, others)}"
        for line, others, judged in zip(pairs.lines, pairs.others, labels, strict=True)
        if judged is None
    ]
    if not len(labeled):
        return read
    known = [judged for judged in labels if judged is not None]
    for wanted in (0, 1):
        if wanted not in known:
            raise ValueError(
                f"Expected column {label!r} to contain both 0 and 1, but got no {wanted}."
            )
    scorer = _scorer_of(measure, measured)
    result = scorer.score(labeled.summaries, labeled.sources, progress=not quiet)
    read.sources = []
    for line, source, value, judged in zip(
        labeled.lines, labeled.sources, result.values(measure).tolist(), known, strict=True
    ):
        if isfinite(value):
            read.scores.append(value)
            read.labels.append(judged)
            read.sources.append(source)
        else:
            read.problems.append(f"line {line}: {measure!r} is undefined for this summary")
    report.say(result.signature)
    return read


def _scorer_of(measure: str, measured: options.ScoringOptions) -> EstimeScorer:
    """What computes one measure; ValueError if several layers are asked for."""
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    further = [measure] if measure in FURTHER_MEASURES else []
    scorer = EstimeScorer(**{**measured.given(), "measures": further})
    layers = scorer.resolved_config.layer_tuple
    if len(layers) > 1:
        raise ValueError(
            "Expected argument `layers` to be one layer, because one threshold is chosen, but got "
            f"the layers {', '.join(map(str, layers))}."
        )
    return scorer


def _number(cell: Any) -> float | None:
    """A score; ``None`` if it is missing, not finite, or no number."""
    if isinstance(cell, bool) or not isinstance(cell, (str, int, float)):
        return None
    try:
        number = float(cell)
    except (OverflowError, ValueError):
        return None
    return number if isfinite(number) else None


def _label(cell: Any) -> int | None:
    """1 for a consistent summary, 0 for another, ``None`` for anything else."""
    return None if cell is None else _LABELS.get(str(cell).strip().lower())


def _label_problem(label: str, row: files.Row) -> str:
    return f"column {label!r} should be 0 or 1, but is {_came(row.get(label))}"


def _came(cell: Any) -> str:
    return "missing" if cell is None or cell == "" else repr(cell)


def _write(output: Path, found: Calibration, column: str) -> None:
    if output.suffix.lower() in options.PLOTS:
        from estime_metric.comparison.plots.calibration import plot_calibration
        from estime_metric.report.style import save

        save(plot_calibration(found, column), output)
        say_wrote("the plot", output)
    else:
        files.write_rows(output, found.curve.to_dict("records"))
        say_wrote(counted(len(found.curve), "row"), output)


def _print(found: Calibration, column: str, better: bool, read: _Labeled, report: _Report) -> None:
    from estime_metric.report.tables import Column, Section, Table

    rows = found.curve.iloc[
        sorted({round(place * (len(found.curve) - 1) / 10) for place in range(11)})
    ]
    columns = tuple(Column(name, decimals=4 if name == "threshold" else 3) for name in rows.columns)
    cells = tuple(rows.astype(float).itertuples(index=False, name=None))
    table = Table("calibration", f"Thresholds of {column}", columns, (Section("", cells),))
    print_table(table, table_console(on_stderr=report.on_stderr))
    report.say(
        "found: fraction of the inconsistent summaries that are flagged; spared: fraction of the "
        "consistent summaries that are not flagged; accuracy: mean of the two; flagged: fraction of "
        "all summaries that are flagged."
    )
    summaries, consistent = len(read.labels), sum(read.labels)
    report.say(
        f"{counted(summaries, 'summary')}, {consistent} consistent; area under the ROC curve "
        f"{found.area:.3f}"
    )
    side = "<=" if better else ">="
    report.say(f"threshold {found.threshold:.4f}: review summaries with {column} {side} this value")
    estimate = f"{found.expected:.3f} [{found.low:.3f}, {found.high:.3f}]"
    report.say(
        f"balanced accuracy {found.accuracy:.3f} on these summaries (optimistic); estimate for new "
        f"summaries: {estimate if isfinite(found.expected) else 'not possible from so few'}"
    )
    sources = summaries if read.sources is None else len(set(read.sources))
    if 1 == sources < summaries:
        report.say("All summaries have the same source, so there is no estimate for new summaries.")
    elif sources < summaries:
        report.say(
            f"The summaries have {sources} different sources. Summaries of one source are not "
            "independent, so the estimate comes from whole sources that were not drawn."
        )
    if min(consistent, summaries - consistent) < FEW:
        warn(
            f"One class has fewer than {FEW} summaries. Label more summaries before you rely on "
            "this threshold."
        )

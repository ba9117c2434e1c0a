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
from estime_metric.cli.console import counted, say, say_wrote, warn
from estime_metric.cli.screen import print_table
from estime_metric.measures import HIGHER_IS_BETTER, RECOMMENDED

if TYPE_CHECKING:
    from estime_metric.comparison.detection import Calibration

TABLES = (".csv", ".jsonl", ".parquet")  # endings of tables that can be written
FEW = 10  # with fewer summaries of a class, the next sample would move the threshold far
NAMED = 20  # invalid rows that are named before they are only counted
_LABELS = {"1": 1, "true": 1, "1.0": 1, "0": 0, "false": 0, "0.0": 0}


def calibrate(
    labeled: Path,
    /,
    *,
    label: str = "label",
    score: Annotated[
        str | None,
        Parameter(
            help=f"Column with the scores. (default: {RECOMMENDED}; if the file has no such column, "
            "the texts are scored)"
        ),
    ] = None,
    higher: bool = False,
    resamples: options.PositiveCount = 1000,
    seed: options.Seed = 0,
    output: options.Output = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    table: options.TableOptions = options.TABLE,
    measured: options.MeasureOptions = options.MEASURE,
) -> int:
    """Choose the threshold with the best balanced accuracy on summaries that you have labeled.

    About fifty labeled summaries, some of them inconsistent, give a rough threshold. The accuracy
    on new summaries is estimated with a bootstrap: the threshold is chosen on each resample and
    evaluated on the summaries that were not drawn. If several summaries have the same source, whole
    sources are drawn.

    Exit status: 0 if a threshold was chosen from all rows, 1 if invalid rows were skipped, 2 on
    failure.

    Example: estime calibrate judged.jsonl -m embedded

    Args:
        labeled: Table with one labeled summary per row, in any format of 'estime score'.
        label: Column with the labels: 1 or true for consistent summaries, 0 or false for all
            others.
        higher: Higher scores are better. Not needed for ESTIME's own measures.
        resamples: Bootstrap samples of the interval.
        output: Write the accuracy for every threshold as a table (.csv, .jsonl, .parquet) or as a
            plot (.png, .svg, .pdf).
    """
    if output is not None:
        files.check_writable(
            output, [labeled], overwrite=overwrite, endings=(*TABLES, *options.PLOTS)
        )
    from estime_metric.comparison.detection import calibrate as find  # imports pandas: slow

    column = score or RECOMMENDED
    layout = table.layout()
    lines = list(files.read_rows(labeled, layout.options))
    columns = list(dict.fromkeys(name for line in lines for name in line.row))
    for argument, name in (("label", label), *([("score", score)] if score else [])):
        if name not in columns:
            raise ValueError(
                f"Expected a column {name!r} in {labeled.name}, but its columns are "
                f"{', '.join(columns) or 'none'}. Name the right one with `{argument}`."
            )
    if column in columns:
        read = _read_scores(lines, column, label, _source_column(lines, layout))
    else:
        read = _score_texts(files.read_pairs(labeled, layout), column, label, measured, quiet)
    for problem in read.problems[:NAMED]:
        warn(f"skipped {problem}")
    if len(read.problems) > NAMED:
        warn(f"skipped {counted(len(read.problems) - NAMED, 'more row')}")
    if not read.labels:
        raise ValueError(f"Expected labeled summaries in {labeled}, but got none.")
    better = HIGHER_IS_BETTER.get(column, higher)
    found = find(
        read.scores,
        read.labels,
        groups=read.sources,
        higher_is_better=better,
        resamples=resamples,
        seed=seed,
    )
    _print(found, column, better, read)
    if output is not None:
        _write(output, found, column)
    return 1 if read.problems else 0


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


def _score_texts(
    pairs: files.Pairs, column: str, label: str, measured: options.MeasureOptions, quiet: bool
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
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    scorer = EstimeScorer(**measured.given())
    result = scorer.score(labeled.summaries, labeled.sources, progress=not quiet)
    read.scores = result.values(column).tolist()
    read.labels = [judged for judged in labels if judged is not None]
    read.sources = labeled.sources
    say(result.signature)
    return read


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
        from estime_metric.comparison.plots.style import save

        save(plot_calibration(found, column), output)
        say_wrote("the plot", output)
    else:
        files.write_rows(output, found.curve.to_dict("records"))
        say_wrote(counted(len(found.curve), "row"), output)


def _print(found: Calibration, column: str, better: bool, read: _Labeled) -> None:
    from estime_metric.comparison.tables import Column, Section, Table

    rows = found.curve.iloc[
        sorted({round(place * (len(found.curve) - 1) / 10) for place in range(11)})
    ]
    columns = tuple(Column(name, decimals=4 if name == "threshold" else 3) for name in rows.columns)
    cells = tuple(rows.astype(float).itertuples(index=False, name=None))
    print_table(Table("calibration", f"Thresholds of {column}", columns, (Section("", cells),)))
    say(
        "found: fraction of the inconsistent summaries that are flagged; spared: fraction of the "
        "consistent summaries that are not flagged; accuracy: mean of the two; flagged: fraction of "
        "all summaries that are flagged."
    )
    summaries, consistent = len(read.labels), sum(read.labels)
    say(
        f"{counted(summaries, 'summary')}, {consistent} consistent; area under the ROC curve "
        f"{found.area:.3f}"
    )
    side = "<=" if better else ">="
    say(f"threshold {found.threshold:.4f}: review summaries with {column} {side} this value")
    estimate = f"{found.expected:.3f} [{found.low:.3f}, {found.high:.3f}]"
    say(
        f"balanced accuracy {found.accuracy:.3f} on these summaries (optimistic); estimate for new "
        f"summaries: {estimate if isfinite(found.expected) else 'not possible from so few'}"
    )
    sources = summaries if read.sources is None else len(set(read.sources))
    if 1 == sources < summaries:
        say("All summaries have the same source, so there is no estimate for new summaries.")
    elif sources < summaries:
        say(
            f"The summaries have {sources} different sources. Summaries of one source are not "
            "independent, so the estimate comes from whole sources that were not drawn."
        )
    if min(consistent, summaries - consistent) < FEW:
        warn(
            f"One class has fewer than {FEW} summaries. Label more summaries before you rely on "
            "this threshold."
        )

"""``estime calibrate``: from which score on is a summary worth a look? A threshold from judged
summaries.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from estime_metric import files
from estime_metric.cli import options
from estime_metric.cli.console import say, warn
from estime_metric.cli.screen import print_table
from estime_metric.measures import HIGHER_IS_BETTER, RECOMMENDED

if TYPE_CHECKING:
    from estime_metric.comparison.detection import Calibration

TABLES, PLOTS = (".csv", ".jsonl", ".parquet"), (".png", ".svg")  # endings of what can be written
FEW = 10  # with fewer summaries of a class, the next sample would move the threshold far


def calibrate(
    judged: Path,
    /,
    *,
    label: str = "label",
    score: Annotated[
        str | None,
        Parameter(
            help=f"Column of scores. (default: {RECOMMENDED}; where there is none, the texts are scored)"
        ),
    ] = None,
    higher: bool = False,
    resamples: options.PositiveCount = 1000,
    seed: options.Seed = 0,
    output: options.Output = None,
    overwrite: options.Overwrite = False,
    source_column: options.SourceColumn = "source",
    summary_column: options.SummaryColumn = "summary",
    quiet: options.Quiet = False,
    measured: options.MeasureOptions = options.MeasureOptions(),
) -> int:
    """Choose a threshold for your texts: the one with the best balanced accuracy on summaries that
    you judged.

    Fifty judged summaries, some of them inconsistent, tell roughly. What the threshold reaches on
    other summaries is estimated by a bootstrap: it is chosen on those that were drawn and tried on
    the rest.

    Exit status: 0, a threshold was chosen; 2, failed.

    Args:
        judged: CSV, JSON Lines or Parquet with a row for each judged summary.
        label: Column of judgements: 1 or true for a consistent summary, else 0.
        higher: Higher scores are better; known for our measures.
        resamples: Bootstrap samples of the interval.
        output: The whole curve: .csv, .jsonl or .parquet, or drawn: .png, .svg.
    """
    if output is not None:
        files.check_writable(output, [judged], overwrite=overwrite, endings=(*TABLES, *PLOTS))
    from estime_metric.comparison.checks import listed  # imports pandas: slow
    from estime_metric.comparison.detection import calibrate as find
    from estime_metric.comparison.reading import read_table

    table = read_table(judged)
    column = score or RECOMMENDED
    scored, texts = column in table.columns, [summary_column, source_column]
    for name in [label, *([] if scored else [column] if score else texts)]:
        if name not in table.columns:
            raise ValueError(
                f"Expected {judged.name} to have the column {name!r}, but it has {listed(list(table))}."
            )
    if not scored:
        from estime_metric.scorer import EstimeScorer

        scorer = EstimeScorer(**measured.given())
        result = scorer.score(*(list(table[name]) for name in texts), progress=not quiet)
        table[column] = result.values(column).numpy()
        say(result.signature)
    better = HIGHER_IS_BETTER.get(column, higher)
    words = {"true": 1, "false": 0}
    labels = [words.get(str(cell).strip().lower(), cell) for cell in table[label]]
    found = find(table[column], labels, higher_is_better=better, resamples=resamples, seed=seed)
    _print(found, column, better, labels)
    if output is not None and output.suffix.lower() in PLOTS:
        from estime_metric.comparison.plots.calibration import plot_calibration
        from estime_metric.comparison.plots.style import save

        say(f"wrote {', '.join(map(str, save(plot_calibration(found, column), output)))}")
    elif output is not None:
        files.write_rows(output, found.curve.to_dict("records"))
        say(f"wrote {len(found.curve)} rows to {output}")
    return 0


def _print(found: Calibration, column: str, better: bool, labels: list[Any]) -> None:
    from estime_metric.comparison.tables import Column, Section, Table

    rows = found.curve.iloc[
        sorted({round(place * (len(found.curve) - 1) / 10) for place in range(11)})
    ]
    columns = tuple(Column(name, decimals=4 if name == "threshold" else 3) for name in rows.columns)
    cells = tuple(rows.astype(float).itertuples(index=False, name=None))
    print_table(Table("calibration", f"Thresholds of {column}", columns, (Section("", cells),)))
    say(
        "found: share of the inconsistent summaries that are flagged; spared: share of the consistent ones that are "
        "not; accuracy: their mean; flagged: share of all."
    )
    consistent = sum(label == 1 for label in labels)
    say(
        f"{len(labels)} summaries, {consistent} consistent; area under the ROC curve {found.area:.3f}"
    )
    side = "at most" if better else "at least"
    others = f"{found.expected:.3f} [{found.low:.3f}, {found.high:.3f}] on others"
    say(f"threshold {found.threshold:.4f}: look at summaries with {column} of {side} that")
    say(f"balanced accuracy {found.accuracy:.3f} on these, which flatters; {others}")
    if min(consistent, len(labels) - consistent) < FEW:
        warn(f"fewer than {FEW} summaries of a class: judge more before you rely on this threshold")

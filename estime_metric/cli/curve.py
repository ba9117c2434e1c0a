"""``estime curve``: how inconsistency and copying developed in a training run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from estime_metric import files
from estime_metric.cli import options
from estime_metric.cli.console import say, say_wrote, warn_of_rows
from estime_metric.cli.screen import print_table

RISE = 0.05  # from here on, a rise of `copied` is mentioned


def curve(
    log: Path,
    /,
    *,
    inconsistency: str | None = None,
    copied: str | None = None,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    overwrite: options.Overwrite = False,
) -> int:
    """Show how inconsistency and copying developed in a training run, from the log of Lightning's
    CSVLogger (metrics.csv).

    A model that copies more has a lower inconsistency, so both are shown.

    Exit status: 0 if the log was read, 1 if invalid rows were skipped, 2 on failure.

    Example: estime curve lightning_logs/version_0/metrics.csv -o curve.png

    Args:
        log: The log: metrics.csv, or a table in any format of 'estime score' with a column 'step'
            or 'epoch'.
        inconsistency: Column of the inconsistency. (default: the one that ends in this name)
        copied: Column of the copied share. (default: the one that ends in this name)
        output: Plot both (.png, .svg, .pdf).
    """
    if output is not None:
        files.check_writable(output, [log], overwrite=overwrite, endings=options.PLOTS)
    # These import pandas, and the second matplotlib: slow.
    from estime_metric.comparison.training_log import plot_training, read_training_log
    from estime_metric.report.tables import Cell, Column, Section, Table

    given = {"inconsistency": inconsistency, "copied": copied}
    found = read_training_log(log, {name: value for name, value in given.items() if value})
    warn_of_rows(found.problems)
    has_epochs = found.by != "epoch" and found.points[0].epoch is not None
    columns = [
        Column(found.by),
        *([Column("epoch")] if has_epochs else []),
        Column("inconsistency", decimals=4),
        Column("copied", decimals=4),
    ]
    rows: list[tuple[Cell, ...]] = [
        (
            f"{point.step:g}",
            *([f"{point.epoch:g}" if point.epoch is not None else ""] if has_epochs else []),
            point.inconsistency,
            point.copied,
        )
        for point in found.points
    ]
    print_table(Table("curve", "", tuple(columns), (Section("", tuple(rows)),)))
    say(f"lowest inconsistency: {found.best.inconsistency:.4f} at {found.by} {found.best.step:g}")
    rise = found.best.copied - found.points[0].copied
    if rise >= RISE:
        say(
            f"From the first {found.by} to the one with the lowest inconsistency, copied rose by "
            f"{rise:.2f}. Part of the improvement may be copying."
        )
    if output is not None:
        from estime_metric.report.style import save

        save(plot_training(found), output)
        say_wrote("the plot", output)
    return 1 if found.problems else 0

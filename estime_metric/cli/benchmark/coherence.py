"""``estime benchmark coherence``: Tables 3 and 4 of the coherence toolbox, from its published scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from estime_metric import files
from estime_metric.cli import options
from estime_metric.cli.console import note, say


def coherence(
    data: Annotated[Path, Parameter(help="Folder with summeval/, coherence_scores/ and shuffle/.")],
    /,
    *,
    output: Annotated[
        Path | None, Parameter(alias="-o", help="Folder for tables (CSV, Markdown, LaTeX) and plots.")
    ] = None,
    overwrite: options.Overwrite = False,
    resamples: Annotated[options.Count, Parameter(help="Bootstrap samples of the intervals; 0 for none.")] = 1000,
    runs: Annotated[
        options.Count,
        Parameter(help="Runs of the confounders with noise; 0 leaves Table 1 out."),
    ] = 100,
    seed: Annotated[int, Parameter(help="Seed of the bootstrap and of the noise.")] = 0,
) -> None:
    """Recompute the tables of Steen & Markert 2022 beside what the paper printed.

    It prints Tables 3 and 4. With --output it also writes the intervals of
    Table 3, Tables 1 and 5, agreement with length, and pictures.

    Exit status: 0, done; 2, the data cannot be read.
    """
    if output is not None:
        files.make_folder(output, overwrite=overwrite)
    from estime_metric.cli.screen import print_table
    from estime_metric.studies.coherence_toolbox import data as toolbox
    from estime_metric.studies.coherence_toolbox import report as toolbox_report
    from estime_metric.studies.coherence_toolbox.printed import LABELS
    from estime_metric.studies.shared.writing import write_figures
    from estime_metric.tables import write_table

    measures = toolbox.scored_measures(data)
    shuffled = toolbox.shuffle_test(data)
    rows: dict[str, toolbox_report.Agreement] = {}
    for number, measure in enumerate(measures, start=1):
        if output is not None:
            note(f"{number} of {len(measures)}: {LABELS[measure]}")
        rows[measure] = toolbox_report.agreement(data, measure, resamples if output is not None else 0, seed)
    shown = [toolbox_report.table_3(rows), toolbox_report.table_4(shuffled)]
    for table in shown:
        print_table(table)
        say("\n".join(table.notes) + "\n")
    if output is not None:
        further = [toolbox_report.table_3_intervals(rows), toolbox_report.table_lengths(data, rows)]
        if toolbox.has_components(data):
            further.append(toolbox_report.table_5(toolbox.gruen_components(data)))
        if runs:
            further.append(toolbox_report.table_1(toolbox.confounder_statistics(data, runs, seed)))
        written = [path for table in (*shown, *further) for path in write_table(table, output)]
        written += write_figures(output, toolbox_report.pictures(data, rows, resamples, seed).items())
        note(f"wrote {len(written)} files into {output}")

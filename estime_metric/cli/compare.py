"""``estime compare``: which of several systems is more consistent with the same sources?"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from estime_metric import files
from estime_metric.cli import options
from estime_metric.cli.console import say, warn
from estime_metric.cli.screen import print_sections, print_table
from estime_metric.measures import FURTHER_MEASURES, HIGHER_IS_BETTER, RECOMMENDED

if TYPE_CHECKING:
    from estime_metric.comparison import Comparison

WRITABLE = (".jsonl", ".csv", ".parquet", ".json", ".md", ".tex")
PLOTS = (".png", ".svg", ".pdf")
BESIDE = {  # how the means of each of two systems are shown
    "tokens": "{:.1f} tokens a summary",
    "coverage": "{:.0%} of them checked",
    "copied": "{:.0%} copied",
    "copied_density": "density {:.1f}",
}


@Parameter(name="*", group=Group("Measure", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class ComparedOptions(options.MeasureOptions):
    """Options of the measure, and which measures are compared."""

    measures: Annotated[
        str | None,
        Parameter(
            help="What is compared, comma-separated: "
            f"{', '.join(HIGHER_IS_BETTER)}. (default: {RECOMMENDED}, alarms, alarm_rate)"
        ),
    ] = None


def compare(
    *paths: Annotated[Path, Parameter(name="FILES")],
    baseline: str | None = None,
    system_column: str = "system",
    id_column: str | None = None,
    n: options.Resamples = 10_000,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    output: options.Output = None,
    plot: Path | None = None,
    overwrite: options.Overwrite = False,
    source_column: options.SourceColumn = "source",
    summary_column: options.SummaryColumn = "summary",
    quiet: options.Quiet = False,
    measured: ComparedOptions = ComparedOptions(),
) -> int:
    """Which of two or more systems is more consistent? Means, wins, intervals and p-values over the
    same sources.

    Scored files are taken as they are; the options of the measure are for pairs that are scored
    now. All systems have to carry the same signature. No winner is declared where most tokens of a
    system could not be checked, or where the difference is not significant; p-values of several
    pairs are corrected by Holm's method.

    Exit status: 0, all rows were compared; 1, some had no partner or could not be read; 2, nothing
    was compared.

    Args:
        paths: A file for each system: scores that 'estime score -o' wrote, or pairs to be scored.
            Or one file of all systems, with a column that names them.
        baseline: Compare each system with this one, named by its file or system. (default: every
            two systems)
        system_column: Column of the systems, in one file of all.
        id_column: Column that tells which rows belong together. (default: the source text, with
            'id' or a column of documents where sources repeat or are missing, or 'line' of the
            table that was scored)
        n: Number of resamples and of random swaps.
        output: Write the numbers, a row for each measure and pair of systems (.jsonl, .csv,
            .parquet), everything as one object (.json), or the table (.md, .tex).
        plot: Draw the first measure against the share of copied tokens, a point a system (.png,
            .svg, .pdf).
    """
    if not paths:
        raise ValueError(
            "Expected a file for each system, or one file of all systems, but got none."
        )
    for path, endings in ((output, WRITABLE), (plot, PLOTS)):
        if path is not None:
            files.check_writable(path, paths, overwrite=overwrite, endings=endings)
    from estime_metric.comparison import (
        compare_rows,
        plot_copying,
        read_systems,
    )  # imports pandas and scipy: slow
    from estime_metric.comparison.verdicts import higher_is_better

    given = measured.given()
    asked = given.get("measures")
    for name in asked or ():
        higher_is_better(name)  # refuses what cannot be compared before anything is scored
    given["measures"] = (
        "copied",
        "copied_density",
        *(name for name in asked or () if name in FURTHER_MEASURES),
    )
    columns = {
        "source_column": source_column,
        "summary_column": summary_column,
        "system_column": system_column,
    }
    names, sides, problems = read_systems(paths, **columns, options=given, progress=not quiet)
    stems = [path.stem for path in paths]
    if len(paths) > (2 if baseline is None else 1) and len(set(stems)) == len(stems):
        given_names = {
            given: stem
            for path, stem in zip(paths, stems, strict=True)
            for given in (path.name, str(path))
        }
        names, baseline = stems, given_names.get(baseline or "", baseline)
    found = compare_rows(
        *sides,
        names=names,
        baseline=baseline,
        measures=asked,
        id_column=id_column,
        source_column=source_column,
        n=n,
        confidence=confidence,
        seed=seed,
    )
    for problem in (*problems, *found.unmatched):
        warn(problem)
    if output is not None:
        _write(output, found)
    if plot is not None:
        figure = plot_copying(found, next(iter(found.pairs)))
        with files.replaced(plot) as unfinished:
            figure.savefig(unfinished, dpi=200)
    if output is None or not files.is_standard(output):
        _print(found, [str(path) for path in paths] if len(paths) > 1 else names)
        for written in filter(None, (output, plot)):
            say(f"written: {written}")
    return 1 if problems or found.unmatched else 0


def _write(output: Path, found: "Comparison") -> None:
    from estime_metric.comparison import to_table
    from estime_metric.comparison.tables import FORMATS

    ending = output.suffix.lower()
    if ending == ".json":
        files.write_text(output, json.dumps(found.to_dict(), ensure_ascii=False, indent=2) + "\n")
    elif ending in (".md", ".tex"):
        files.write_text(output, FORMATS[ending](to_table(found)))
    else:
        files.write_rows(output, found.to_rows())


def _print(found: "Comparison", paths: Sequence[str]) -> None:
    from estime_metric.comparison import to_table

    table = to_table(found)
    if len(found.systems) > 2 or found.baseline is not None:
        print_sections(table)
        say("\n".join([*table.notes, found.signature]))
        return
    for system, path in zip(found.systems, paths, strict=True):
        known = [f"{found.examples} summaries, {system.blank} blank"]
        known += [
            shown.format(system.means[name])
            for name, shown in BESIDE.items()
            if not isnan(system.means[name])
        ]
        say(f"{system.name}  {path}  ({', '.join(known)})")
    say(f"matched by column {found.matched_by!r}")
    print_table(table)
    for measure in found.pairs:
        say(f"{measure}: {found.verdict(measure)}")
    say("\n".join([*found.notes, found.signature]))

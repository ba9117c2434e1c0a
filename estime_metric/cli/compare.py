"""``estime compare``: which of two summarizers is more consistent with the same sources?"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from estime_metric import files
from estime_metric.cli import options
from estime_metric.cli.console import say, warn
from estime_metric.cli.screen import print_table
from estime_metric.measures import FURTHER_MEASURES, HIGHER_IS_BETTER

if TYPE_CHECKING:
    from estime_metric.comparison import Comparison
    from estime_metric.tables import Table


def compare(
    a: Annotated[Path, Parameter(help="Scores that 'estime score -o' wrote, or pairs to be scored.")],
    b: Annotated[Path, Parameter(help="Likewise, of the other summarizer for the same sources.")],
    /,
    *,
    id_column: Annotated[
        str | None,
        Parameter(
            help="Column that says which rows belong together. (default: the source text, 'id', a column of documents, "
            "or 'line' of the table that was scored)"
        ),
    ] = None,
    measure: Annotated[
        str | None,
        Parameter(
            help=f"What is compared, comma-separated: {', '.join(HIGHER_IS_BETTER)}. "
            "(default: alarms, alarm_rate, unsupported_rate)",
        ),
    ] = None,
    n: Annotated[int, Parameter(name=["--resamples", "-n"], help="Number of resamples and of random swaps.")] = 10_000,
    confidence: Annotated[float, Parameter(help="Share of the resamples within an interval.")] = 0.95,
    seed: options.Seed = 0,
    output: Annotated[
        Path | None, Parameter(alias="-o", help="Write the numbers to a .jsonl or .csv file, a row a measure.")
    ] = None,
    overwrite: options.Overwrite = False,
    source_column: options.SourceColumn = "source",
    summary_column: options.SummaryColumn = "summary",
    quiet: options.Quiet = False,
    measured: options.MeasureOptions = options.MeasureOptions(),
) -> int:
    """Which of two summarizers is more consistent? Means, wins, interval and p-values over the same sources.

    Scored files are taken as they are; the options of the measure are for pairs that are scored now. Both sides have to
    carry the same signature. No winner is declared where most tokens of a side could not be checked, or where the
    difference is not significant.

    Exit status: 0, all rows were compared; 1, some had no partner or could not be read; 2, nothing was compared.
    """
    if output is not None:
        files.check_writable(output, [a, b], overwrite=overwrite)
    from estime_metric.comparison import compare_rows, read_sides  # imports pandas and scipy: slow
    from estime_metric.comparison.verdicts import higher_is_better

    asked = options.parse_names(measure)
    for name in asked or ():
        higher_is_better(name)  # refuses what cannot be compared before anything is scored
    given = measured.given()
    needed = (name for name in asked or () if name in FURTHER_MEASURES)
    given |= {"measures": tuple(dict.fromkeys((*given.get("measures", ()), *needed)))}
    columns = {"source_column": source_column, "summary_column": summary_column}
    rows_a, rows_b, problems = read_sides(a, b, **columns, options=given, progress=not quiet)
    found = compare_rows(
        rows_a, rows_b, measures=asked, id_column=id_column, source_column=source_column, names=(a.name, b.name),
        n=n, confidence=confidence, seed=seed,
    )  # fmt: skip
    problems += found.unmatched
    for problem in problems:
        warn(problem)
    if output is not None:
        files.write_rows(output, found.to_rows())
    if output is None or not files.is_standard(output):
        _print(found, (a, b), confidence)
        if output is not None:
            say(f"wrote {len(found.found)} rows to {output}")
    return 1 if problems else 0


def _print(found: Comparison, paths: tuple[Path, Path], confidence: float) -> None:
    for letter, path, tokens, coverage in zip("AB", paths, found.tokens, found.coverage, strict=True):
        known = [f"{found.examples} summaries"]
        known += [] if math.isnan(tokens) else [f"{tokens:.1f} tokens a summary"]
        known += [] if math.isnan(coverage) else [f"{coverage:.0%} of them checked"]
        say(f"{letter}  {path}  ({', '.join(known)})")
    say(f"matched by column {found.matched_by!r}")
    print_table(_table(found, confidence))
    for measure in found.found:
        say(f"{measure}: {found.verdict(measure)}")
    for note in found.notes:
        say(note)
    say(found.signature)


def _table(found: Comparison, confidence: float) -> Table:
    """A column for each measure."""
    from estime_metric.comparison.verdicts import higher_is_better
    from estime_metric.tables import Column, Section, Table

    all_found = found.found.values()
    lines: dict[str, list[str]] = {
        "better is": [("higher" if higher_is_better(measure) else "lower") for measure in found.found],
        "mean of A": [_number(one.mean_first) for one in all_found],
        "mean of B": [_number(one.mean_second) for one in all_found],
        "A - B": [_number(one.bootstrap.difference, "+") for one in all_found],
        f"{confidence:.0%} interval from": [_number(one.bootstrap.low, "+") for one in all_found],
        "to": [_number(one.bootstrap.high, "+") for one in all_found],
        "p, paired bootstrap": [_p(one.bootstrap.p_value) for one in all_found],
        "p, randomisation": [_p(one.randomization.p_value) for one in all_found],
        "A better": [str(one.better_first) for one in all_found],
        "tied": [str(one.ties) for one in all_found],
        "B better": [str(one.better_second) for one in all_found],
    }
    columns = (Column("", text=True), *(Column(measure) for measure in found.found))
    return Table("comparison", "", columns, (Section("", tuple((name, *cells) for name, cells in lines.items())),))


def _number(value: float | None, sign: str = "") -> str:
    return "–" if value is None or math.isnan(value) else f"{value:{sign}.4f}"


def _p(value: float) -> str:
    return "<0.0001" if value < 1e-4 else _number(value)

"""``estime compare``: which of two summarizers is more consistent with the same sources?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from estime_metric import files
from estime_metric.cli import comparison, options
from estime_metric.cli.comparison import LEVEL, Comparison
from estime_metric.cli.console import warn
from estime_metric.config import ALL_UNIT_MEASURES, HIGHER_IS_BETTER


def compare(
    a: Annotated[Path, Parameter(help="Scores that 'estime score -o' wrote, or pairs to be scored.")],
    b: Annotated[Path, Parameter(help="Likewise, of the other summarizer for the same sources.")],
    /,
    *,
    id_column: Annotated[
        str | None,
        Parameter(help="Column that says which rows belong together. (default: the source text, or else 'id')"),
    ] = None,
    measure: Annotated[
        str, Parameter(help=f"What is compared, with commas between: {', '.join(HIGHER_IS_BETTER)}.")
    ] = "alarms,alarm_rate",
    n: Annotated[int, Parameter(name=["--resamples", "-n"], help="Number of resamples and of random swaps.")] = 10_000,
    confidence: Annotated[float, Parameter(help="Share of the resamples within an interval.")] = 0.95,
    seed: options.Seed = 0,
    output: Annotated[
        Path | None, Parameter(alias="-o", help="Write the numbers to a .jsonl or .csv file, a row a measure.")
    ] = None,
    source_column: options.SourceColumn = "source",
    summary_column: options.SummaryColumn = "summary",
    quiet: options.Quiet = False,
    measured: options.MeasureOptions = options.MeasureOptions(),
) -> int:
    """Which of two summarizers is more consistent? Means, wins, interval and p-values over the same sources.

    Scored files are taken as they are; the options of the measure are for pairs that are scored now. Both sides have to
    carry the same signature. Exit status: 0, all rows were compared; 1, some had no partner or could not be read; 2,
    nothing was compared.
    """
    given = measured.given()
    if output is not None:
        files.check_writable(output)
    asked = options.parse_names(measure) or ()
    for name in asked:
        comparison.higher_is_better(name)
    needed = (name for name in asked if name in ALL_UNIT_MEASURES)
    given |= {"measures": tuple(dict.fromkeys((*given.get("measures", ()), *needed)))}
    tests = comparison.paired_tests()  # before anything is scored: they need the extra
    sides, problems = comparison.read_sides((a, b), source_column, summary_column, given, not quiet)
    signature = comparison.one_signature(sides, (a, b))
    keys = comparison.by_key(sides, (a, b), id_column, source_column)
    matched = [key for key in keys[0] if key in keys[1]]
    problems += comparison.unmatched(keys, (a, b))
    if not matched:
        raise ValueError(f"Expected {a.name} and {b.name} to have examples in common, but there is none.")
    rows = [[keys[side][key] for key in matched] for side in (0, 1)]
    found = [
        comparison.compare_measure(name, rows, tests, n, confidence, seed)
        for name in comparison.measure_columns(asked, rows, (a, b))
    ]
    for problem in problems:
        warn(problem)
    if output is not None:
        files.write_rows(output, [_row(each, len(matched), signature) for each in found])
    if str(output) != "-":
        _print(found, (a, b), rows, confidence, signature)
    return 1 if problems else 0


def _row(found: Comparison, examples: int, signature: str) -> files.Row:
    return {
        "measure": found.measure,
        "examples": examples,
        "mean_a": found.mean_a,
        "mean_b": found.mean_b,
        "difference": found.bootstrap.difference,
        "low": found.bootstrap.low,
        "high": found.bootstrap.high,
        "p_bootstrap": found.bootstrap.p_value,
        "p_randomization": found.randomization.p_value,
        "a_better": found.wins_a,
        "ties": found.ties,
        "b_better": found.wins_b,
        "better": found.better,
        "signature": signature,
    }


def _print(
    found: list[Comparison], paths: tuple[Path, Path], rows: list[list[files.Row]], confidence: float, signature: str
) -> None:
    """A column for each measure."""
    console = Console()
    for letter, path, side in zip("AB", paths, rows, strict=True):
        tokens = [float(row["tokens"]) for row in side if "tokens" in row]
        length = f", {sum(tokens) / len(tokens):.1f} tokens a summary" if tokens else ""
        console.print(Text(f"{letter}  {path}  ({len(side)} summaries{length})"), soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("", no_wrap=True)
    for each in found:
        table.add_column(each.measure, justify="right", no_wrap=True)
    lines: dict[str, list[str] | list[Text]] = {
        "better is": [("higher" if comparison.higher_is_better(each.measure) else "lower") for each in found],
        "mean of A": [_mean(each.mean_a, each.better == "A") for each in found],
        "mean of B": [_mean(each.mean_b, each.better == "B") for each in found],
        "A - B": [f"{each.bootstrap.difference:+.4f}" for each in found],
        f"{confidence:.0%} interval": [f"{each.bootstrap.low:+.4f} to {each.bootstrap.high:+.4f}" for each in found],
        "p, paired bootstrap": [_p(each.bootstrap.p_value) for each in found],
        "p, randomisation": [_p(each.randomization.p_value) for each in found],
        "A better": [str(each.wins_a) for each in found],
        "tied": [str(each.ties) for each in found],
        "B better": [str(each.wins_b) for each in found],
    }
    for name, cells in lines.items():
        table.add_row(name, *cells)
    console.print(table)
    for each in found:
        said = f"{each.better} is better" if each.better else f"no difference at the level {LEVEL}"
        console.print(Text(f"{each.measure}: {said} (approximate randomisation, p = {_p(each.randomization.p_value)})"))
    console.print(Text(signature), soft_wrap=True)


def _mean(value: float, bold: bool) -> Text:
    return Text(f"{value:.4f}", style="bold green" if bold else "")


def _p(value: float) -> str:
    return "<0.0001" if value < 1e-4 else f"{value:.4f}"

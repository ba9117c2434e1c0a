"""``estime compare``: which of several systems is more consistent with the same sources?"""

# Annotations are evaluated here, not postponed, because Cyclopts reads the annotations of option groups.
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from estime_metric import files
from estime_metric.cli import options
from estime_metric.cli.console import counted, say, say_wrote, warn, warn_of_rows
from estime_metric.cli.screen import print_sections, print_table
from estime_metric.measures import FURTHER_MEASURES, HIGHER_IS_BETTER, RECOMMENDED

if TYPE_CHECKING:
    from estime_metric.comparison import Comparison, ReadSystems

WRITABLE = (".jsonl", ".csv", ".parquet", ".json", ".md", ".tex")


@Parameter(name="*", group=Group("Measure", sort_key=3))
@dataclass(frozen=True, kw_only=True)
class ComparedOptions(options.MeasureOptions):
    """Options of the metric, and which measures are compared."""

    measures: Annotated[
        str | None,
        Parameter(
            help=f"Measures to compare, comma-separated: {', '.join(HIGHER_IS_BETTER)}. "
            f"(default: {RECOMMENDED}, alarms, alarm_rate)"
        ),
    ] = None

    @property
    def compared(self) -> tuple[str, ...] | None:
        """The requested measures."""
        return options.parse_names(self.measures)

    def given(self) -> dict[str, Any]:
        """The options for pairs that are scored now; copying is always computed with them."""
        asked = [name for name in self.compared or () if name in FURTHER_MEASURES]
        return {**super().given(), "measures": ("copied", "copied_density", *asked)}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """Which systems are compared, and how.

    Attributes:
        baseline: Compare every system only with this one. Give its file name or system name.
            (default: compare all systems with each other)
        system_column: Column of the systems, if one table contains all of them.
        id_column: Column that identifies the example, used to match rows across systems. (default:
            the source text; if sources repeat or are missing, also 'id' or a document column;
            otherwise the 'line' of the scored table)
        n: Number of resamples and of random swaps.
    """

    baseline: str | None = None
    system_column: str = "system"
    id_column: str | None = None
    n: options.Resamples = 10_000
    confidence: options.Confidence = 0.95
    seed: options.Seed = 0


COMPARISON, COMPARED = ComparisonOptions(), ComparedOptions()


def compare(
    *paths: Annotated[Path, Parameter(name="FILES")],
    output: options.Output = None,
    plot: Path | None = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    comparison: ComparisonOptions = COMPARISON,
    table: options.TableOptions = options.TABLE,
    texts: options.TextOptions = options.TEXT_FILES,
    measured: ComparedOptions = COMPARED,
) -> int:
    """Compare two or more systems on the same sources: means, wins, intervals and p-values.

    Files that already contain scores are used unchanged; the scoring options only apply to files
    with unscored pairs. All systems must have the same signature. No winner is declared if most
    tokens of a system could not be checked, or if the difference is not significant; p-values of
    several comparisons are corrected by Holm's method. If several summaries have the same source,
    the intervals and tests draw and swap whole sources.

    Exit status: 0 if all rows were compared, 1 if some rows had no counterpart or could not be
    read, 2 on failure.

    Example: estime compare a.jsonl b.jsonl

    Args:
        paths: One file per system: scores that 'estime score -o' wrote, or pairs to be scored.
            Or one file of all systems, with a column that names them.
        output: Write the numbers, one row per measure and comparison of two systems (.jsonl, .csv,
            .parquet), everything as one object (.json), or the table with its notes (.md, .tex).
        plot: Plot the first measure against the fraction of copied tokens, one point per system
            (.png, .svg, .pdf).
    """
    given = texts.choose(paths)
    if not given:
        raise ValueError(
            "Expected a file for each system, or one file of all systems, but got none."
        )
    if texts.summary_files and len(given) < 2:
        raise ValueError("Expected a text file of summaries for each system, but got only one.")
    read = [*given, *([texts.source_file] if texts.source_file is not None else [])]
    for path, endings in ((output, WRITABLE), (plot, options.PLOTS)):
        if path is not None:
            files.check_writable(path, read, overwrite=overwrite, endings=endings)
    # These import pandas and scipy: slow.
    from estime_metric.comparison import compare_rows, plot_copying, read_systems
    from estime_metric.comparison.verdicts import higher_is_better

    for name in measured.compared or ():
        higher_is_better(name)  # refuses what cannot be compared before anything is scored
    systems = read_systems(
        given,
        system_column=comparison.system_column,
        id_column=comparison.id_column,
        layout=table.layout(texts.source_file),
        options=measured.given(),
        progress=not quiet,
    )
    names, baseline = _names(given, systems, comparison.baseline)
    found = compare_rows(
        *systems.rows,
        names=names,
        baseline=baseline,
        measures=measured.compared,
        id_column=comparison.id_column,
        source_column=table.source_column,
        n=comparison.n,
        confidence=comparison.confidence,
        seed=comparison.seed,
    )
    figure = None if plot is None else plot_copying(found, next(iter(found.pairs)))
    warn_of_rows(systems.problems)
    for problem in found.unmatched:
        warn(problem)
    if output is not None:
        _write(output, found)
    if plot is not None and figure is not None:
        with files.replaced(plot) as unfinished:
            figure.savefig(unfinished, dpi=200)
    if output is None or not files.is_standard(output):
        _print(found)
        if output is not None:
            say_wrote(_written(output, found), output)
        if plot is not None:
            say_wrote("the plot", plot)
    return 1 if systems.problems or found.unmatched else 0


def _names(
    paths: Sequence[Path], systems: "ReadSystems", baseline: str | None
) -> tuple[list[str], str | None]:
    """The names of the systems and of the baseline: with several files, or with a baseline, the
    file names without their endings, if these differ.
    """
    stems = [path.stem for path in paths]
    is_short = len(paths) > (2 if baseline is None else 1) and len(set(stems)) == len(stems)
    if not is_short:
        return systems.names, baseline
    for path, stem in zip(paths, stems, strict=True):
        if baseline in (path.name, str(path)):
            return stems, stem
    return stems, baseline


def _write(output: Path, found: "Comparison") -> None:
    from estime_metric.comparison import to_table
    from estime_metric.report.tables import FORMATS

    ending = output.suffix.lower()
    if ending == ".json":
        files.write_text(output, json.dumps(found.to_dict(), ensure_ascii=False, indent=2) + "\n")
    elif ending in (".md", ".tex"):
        files.write_text(output, FORMATS[ending](to_table(found)))
    else:
        files.write_rows(output, found.to_rows())


def _written(output: Path, found: "Comparison") -> str:
    ending = output.suffix.lower()
    if ending == ".json":
        return "all numbers"
    if ending in (".md", ".tex"):
        return "the table"
    return counted(len(found.to_rows()), "row")


def _print(found: "Comparison") -> None:
    from estime_metric.comparison import to_table

    table = to_table(found)
    if len(found.systems) > 2 or found.baseline is not None:
        print_sections(table)
    else:
        print_table(table)
    say("\n".join(table.notes))

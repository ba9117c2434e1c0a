"""``estime compare``: how several systems differ on the same sources."""

# Annotations are evaluated here, not postponed, because Cyclopts reads the annotations of option groups.
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from estime_metric._wording import counted
from estime_metric.cli import options
from estime_metric.cli.console import say, say_wrote, warn, warn_of_rows
from estime_metric.measures import (
    HIGHER_IS_BETTER,
    MEASURES,
    PAPER_MEASURE,
    RECOMMENDED,
    measure_of,
)
from estime_metric.show.tables import decimals_of, fixed, interval_cell, p_value, print_columns
from estime_metric.table.output import check_writable, is_standard, write_text
from estime_metric.table.rows import Layout, header_hint
from estime_metric.table.table import write

if TYPE_CHECKING:
    from pandas import DataFrame

    from estime_metric.compare import Comparison

WRITABLE = (".jsonl", ".csv", ".parquet", ".json")


@Parameter(name="*", group=Group("Measure", sort_key=3))
@dataclass(frozen=True, kw_only=True)
class ComparedOptions(options.MeasureOptions):
    """Options of the metric, and which measures are compared."""

    measures: Annotated[
        str | None,
        Parameter(
            help=f"Measures to compare, comma-separated: {', '.join(HIGHER_IS_BETTER)}. "
            f"(default: {RECOMMENDED}, {PAPER_MEASURE})"
        ),
    ] = None

    @property
    def compared(self) -> tuple[str, ...] | None:
        """The requested measures."""
        return options.parse_names(self.measures)

    def settings(self) -> dict[str, Any]:
        """The options for pairs that are scored now."""
        return {**super().settings(), "measures": tuple(map(measure_of, self.compared or ()))}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """Which systems are compared, and how.

    Attributes:
        baseline: Compare every system only with this one. Give its file name or system name.
            (default: compare all systems with each other)
        system_column: Column of the systems, if one table contains all of them.
        id_column: Column that identifies the example, used to match rows across systems. (default:
            the source, and the position of the summary among the summaries of that source)
        swaps: Number of random swaps of the two systems, from which p-values are computed.
    """

    baseline: str | None = None
    system_column: str = "system"
    id_column: str | None = None
    swaps: Annotated[options.PositiveCount, Parameter(name=["--swaps", "-n"])] = 10_000
    seed: options.Seed = 0


COMPARISON, COMPARED = ComparisonOptions(), ComparedOptions()

_ANOTHER_COLUMN = (
    "Name another one with `id_column` or `system_column`, or pass one file per system."
)
_CACHE = 1 << 30  # bytes of sources that are kept from one system to the next


def compare(
    *paths: Annotated[Path, Parameter(name="FILES")],
    output: options.Output = None,
    plot: Path | None = None,
    as_json: Annotated[bool, Parameter(name="--json")] = False,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    comparison: ComparisonOptions = COMPARISON,
    texts: options.TextOptions = options.TEXTS,
    measured: ComparedOptions = COMPARED,
) -> int:
    """Compare two or more systems on the same sources: means, differences, intervals and p-values.

    For each pair of systems, the command says whether the first measure differs significantly, which
    system copies longer runs of words, and how often people agreed with such a difference in a study.
    It does not say which system is better: a system that copies more has lower scores. P-values of
    several pairs of systems are corrected by Holm's method. Summaries of one source are drawn and
    swapped together.

    Files that already contain scores are used unchanged; the scoring options only apply to files
    with unscored pairs. All systems must have the same signature. Unscored pairs are scored in
    memory, and a run that is stopped cannot be resumed: score large files with 'estime score' first.

    Exit status: 0 if all rows were compared, 1 if some rows had no counterpart or could not be
    read, 2 on failure.

    Example: estime compare a.jsonl b.jsonl

    Args:
        paths: One file per system: scores that 'estime score -o' wrote, or pairs to be scored.
            Or one file of all systems, with a column that names them.
        output: Write the numbers, one row per measure and comparison of two systems (.jsonl, .csv,
            .parquet), or everything as one object (.json).
        plot: Plot the first measure against copied_density, one point per system (.png, .svg, .pdf).
        as_json: Print one JSON object with all numbers and nothing else.
    """
    inputs = texts.choose(paths)
    _check_outputs(inputs, texts, output, plot, as_json=as_json, overwrite=overwrite)
    # This imports pandas: slow.
    from estime_metric.compare import compare_scores, plot_copying

    baseline = _name_of_baseline(inputs, comparison.baseline)
    systems, skipped = _read_systems(inputs, comparison, baseline, texts, measured, quiet=quiet)
    compared = compare_scores(
        systems,
        baseline=baseline,
        measures=measured.compared,
        id_column=comparison.id_column,
        source_column=texts.source_column,
        swaps=comparison.swaps,
        seed=comparison.seed,
    )
    figure = None if plot is None else plot_copying(compared, compared.measures[0])
    for problem in compared.unmatched:
        warn(problem)
    written = "" if output is None else _write(output, compared)
    if figure is not None and plot is not None:
        from estime_metric.show.plot import save

        save(figure, plot)
    if as_json:
        say(_as_json(compared))
    elif output is None or not is_standard(output):
        _print(compared)
        if output is not None:
            say_wrote(written, output)
        if plot is not None:
            say_wrote("the plot", plot)
    return 1 if skipped or compared.unmatched else 0


def _check_outputs(
    inputs: Sequence[Path],
    texts: options.TextOptions,
    output: Path | None,
    plot: Path | None,
    *,
    as_json: bool,
    overwrite: bool,
) -> None:
    """Refuses what cannot be compared or written, before anything is read."""
    if not inputs:
        raise ValueError(
            "Expected a file for each system, or one file of all systems, but got none."
        )
    for index, path in enumerate(inputs):
        if path in inputs[:index]:
            raise ValueError(f"Expected each file once, but got {str(path)!r} twice.")
    if texts.summary_files and len(inputs) < 2:
        raise ValueError("Expected a text file of summaries for each system, but got only one.")
    if as_json and output is not None and is_standard(output):
        raise ValueError("Expected --json or the rows on standard output, but got both.")
    read = [*inputs, *([texts.source_file] if texts.source_file is not None else [])]
    for written, endings in ((output, WRITABLE), (plot, options.PLOTS)):
        if written is not None:
            check_writable(written, read, overwrite=overwrite, endings=endings)
    if plot is not None:
        import estime_metric.show.plot  # noqa: F401 - fails now, not after hours


def _read_systems(
    inputs: Sequence[Path],
    comparison: ComparisonOptions,
    baseline: str | None,
    layout: Layout,
    measured: ComparedOptions,
    *,
    quiet: bool,
) -> tuple[dict[str, "DataFrame"], int]:
    """The scores of each system, and how many rows were skipped. All files are read and checked before
    any is scored.
    """
    from estime_metric.compare.differences import check_measures, check_names
    from estime_metric.compare.keys import name_of
    from estime_metric.compare.reading import check_filled, has_scores

    check_measures(measured.compared or ())
    columns = [comparison.id_column] if comparison.id_column is not None else []
    columns += [comparison.system_column] if len(inputs) == 1 else []
    problems: list[str] = []
    tables = {
        name: _read(path, columns, layout, problems)
        for path, name in zip(inputs, _names_of_files(inputs), strict=True)
    }
    warn_of_rows(problems)
    system_of_row = None  # of the one table of all systems
    if len(inputs) == 1:
        (table,) = tables.values()
        system_of_row = table[comparison.system_column].map(name_of)
        check_filled(system_of_row, inputs[0].name)
    check_names(list(tables if system_of_row is None else system_of_row.unique()), baseline)
    unscored = {name: table for name, table in tables.items() if not has_scores(table)}
    if unscored:
        tables |= _scored(unscored, columns, layout, measured, quiet=quiet)
    if system_of_row is not None:
        (table,) = tables.values()
        tables = dict(list(table.groupby(system_of_row, sort=False)))
    return tables, len(problems)


def _read(path: Path, columns: Sequence[str], layout: Layout, problems: list[str]) -> "DataFrame":
    """A table of scores, or the rows of a table that have two texts; ``problems`` gets a sentence for
    each other row. ValueError if there is none, or a column is missing.
    """
    from estime_metric.compare.reading import has_scores, rows_with_texts
    from estime_metric.table.table import read

    skipped: list[str] = []  # of this file alone: its first problem explains an empty table
    table = read(path, layout, own_columns=columns, skipped=skipped)
    if table.empty:
        reason = f" ({skipped[0]})" if skipped else header_hint(path)
        raise ValueError(
            f"Expected {path.name} to have scores or pairs, but it has no rows{reason}."
        )
    _check_columns(table, path, columns)
    if not has_scores(table):
        table = rows_with_texts(table, path, layout, skipped)
    problems += skipped
    return table


def _scored(
    tables: "dict[str, DataFrame]",
    columns: Sequence[str],
    layout: Layout,
    measured: ComparedOptions,
    *,
    quiet: bool,
) -> "dict[str, DataFrame]":
    """The scores of some tables of texts, with these of their columns."""
    from estime_metric.compare.differences import scores_of
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    scorer = EstimeScorer(**measured.settings(), cache=_CACHE if len(tables) > 1 else None)
    scored = {}
    for name, table in tables.items():
        result = scorer.score(
            table[layout.summary_column].tolist(),
            table[layout.source_column].tolist(),
            progress=not quiet,
        )
        own = {column: table[column] for column in columns}
        scored[name] = scores_of(result).set_axis(table.index).assign(**own)
    return scored


def _check_columns(table: "DataFrame", path: Path, columns: Sequence[str]) -> None:
    """Raises ValueError if a table lacks one of the ``columns``, or if one of them is a measure."""
    from estime_metric.compare.reading import check_column

    for column in columns:
        if measure_of(column) in MEASURES:
            raise ValueError(
                f"Expected `id_column` and `system_column` to be other columns than measures, but got "
                f"{column!r}."
            )
        check_column(table, column, path.name, _ANOTHER_COLUMN)


def _names_of_files(paths: Sequence[Path]) -> list[str]:
    """The names of the files without their endings if these differ; otherwise the paths."""
    names = [path.stem for path in paths]
    return names if len(set(names)) == len(names) else list(map(str, paths))


def _name_of_baseline(paths: Sequence[Path], baseline: str | None) -> str | None:
    """The name of the baseline, which can be the name of its file if only one file has it."""
    names = zip(paths, _names_of_files(paths), strict=True)
    named = [name for path, name in names if baseline in (path.name, str(path))]
    return named[0] if len(named) == 1 else baseline


def _write(output: Path, compared: "Comparison") -> str:
    """Writes a comparison by the ending of ``output``; returns what was written."""
    from estime_metric.compare import to_rows

    if output.suffix.lower() == ".json":
        write_text(output, _as_json(compared) + "\n")
        return "all numbers"
    write(output, to_rows(compared))
    return counted(len(compared.pairs), "row")


def _as_json(compared: "Comparison") -> str:
    from estime_metric.compare import to_dict

    return json.dumps(to_dict(compared), ensure_ascii=False, indent=2)


def _print(compared: "Comparison") -> None:
    from estime_metric.compare import sentences
    from estime_metric.compare.differences import PROPERTIES
    from estime_metric.compare.words import LISTED, limits, listed

    systems = compared.systems
    known = [name for name in PROPERTIES if systems[name].notna().any()]
    print_columns(
        {
            "system": list(systems.index),
            "summaries": systems["summaries"].tolist(),
            "blank": systems["blank"].tolist(),
            **{name: [fixed(value, 2) for value in systems[name]] for name in known},
        },
        texts=["system"],
        title=f"{' and '.join(systems.index) if len(systems) == 2 else 'Systems'} compared",
    )
    for measure in compared.measures:
        _print_means(compared, measure)
        if len(compared.pairs) <= LISTED * len(compared.measures):
            _print_differences(compared, measure)
    for paragraph in listed(list(map("\n  ".join, sentences(compared))), "pairs of systems"):
        say(paragraph)
    say("")
    for limit in limits(compared):
        say(limit)
    if compared.sources is None:
        say("To be safe, name the column that identifies the source with `source_column`.")
    say(compared.signature)


def _print_means(compared: "Comparison", measure: str) -> None:
    """The systems, the best mean first."""
    from estime_metric.compare.words import direction

    systems = compared.systems.loc[compared.ranking(measure)]
    ends = zip(systems[f"{measure}_low"], systems[f"{measure}_high"], strict=True)
    decimals = decimals_of(measure)
    print_columns(
        {
            "system": list(systems.index),
            "mean": [fixed(mean, decimals) for mean in systems[measure]],
            "95% interval": [interval_cell(low, high, decimals) for low, high in ends],
        },
        texts=["system"],
        title=f"Means of {measure} ({direction(measure)} is better)",
    )


def _print_differences(compared: "Comparison", measure: str) -> None:
    pairs = compared.pairs[compared.pairs["measure"] == measure]
    decimals = decimals_of(measure)
    print_columns(
        {
            "first": pairs["system_a"].tolist(),
            "second": pairs["system_b"].tolist(),
            "difference": [fixed(value, decimals) for value in pairs["difference"]],
            "95% interval": [
                interval_cell(low, high, decimals)
                for low, high in zip(pairs["low"], pairs["high"], strict=True)
            ],
            "p (Holm)" if len(compared.systems) > 2 else "p": list(map(p_value, pairs["p_holm"])),
            "wins / ties / losses": [
                f"{wins}/{ties}/{losses}"
                for wins, ties, losses in zip(
                    pairs["a_better"], pairs["ties"], pairs["b_better"], strict=True
                )
            ],
        },
        texts=["first", "second"],
        title=f"Differences in {measure}, first minus second",
    )

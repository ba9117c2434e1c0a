"""``estime compare``: how several systems differ on the same sources."""

# Annotations are evaluated here, not postponed, because Cyclopts reads the annotations of option groups.
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from estime_metric.cli import options
from estime_metric.cli.console import as_typed, note, say, say_wrote, warn, warn_of_rows
from estime_metric.measures import (
    HIGHER_IS_BETTER,
    MEASURES,
    PAPER_MEASURE,
    RECOMMENDED,
    measure_of,
)
from estime_metric.show.cells import (
    EMPTY,
    fixed,
    mean_cells,
    p_value,
    print_columns,
    with_direction,
)
from estime_metric.table.formats import WRITABLE, encodable, to_json
from estime_metric.table.output import (
    check_different,
    check_writable,
    is_standard,
    record_path,
    write_text,
)
from estime_metric.table.pairs import ColumnError
from estime_metric.table.rows import Layout, header_hint
from estime_metric.table.table import SOURCE_ID, read, write

if TYPE_CHECKING:
    from pandas import DataFrame

    from estime_metric.compare.differences import Comparison

OUTPUTS = (*WRITABLE, ".json")

_COMPARED, _INPUT = Group("Comparison", sort_key=3), Group("Input", sort_key=1)


@Parameter(name="*", group=_COMPARED)
@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """Which systems are compared, and how.

    Attributes:
        baseline: Compare every system only with this one. Give its file name or system name.
            (default: compare all systems with each other)
        higher: Compared columns of other metrics in which higher values are better, comma-separated.
        lower: Compared columns of other metrics in which lower values are better, comma-separated.
        system_column: Column of the systems, if one table contains all of them. (default: system)
        id_column: Column that identifies the example, used to match rows across systems. (default:
            the source, and the position of the summary among the summaries of that source)
    """

    baseline: str | None = None
    measures: Annotated[
        str | None,
        Parameter(
            help=f"Measures to compare, comma-separated: {', '.join(HIGHER_IS_BETTER)}, or any other "
            f"columns of numbers in your files. (default: {RECOMMENDED}, {PAPER_MEASURE})"
        ),
    ] = None
    higher: str | None = None
    lower: str | None = None
    system_column: Annotated[str | None, Parameter(group=_INPUT)] = None
    id_column: Annotated[str | None, Parameter(group=_INPUT)] = None

    @property
    def named_columns(self) -> list[str]:
        """The columns of a table that identify its rows."""
        return [name for name in (self.id_column, self.system_column) if name is not None]


COMPARISON = ComparisonOptions()

_ANOTHER_COLUMN = (
    "Name another one with `id_column` or `system_column`, or pass one file per system."
)


def compare(
    *paths: Annotated[Path, Parameter(name="FILES")],
    output: options.Output = None,
    plot: Path | None = None,
    as_json: Annotated[bool, Parameter(name="--json")] = False,
    fail_if_worse: bool = False,
    tolerance: float = 0.0,
    allow_shorter: bool = False,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    comparison: ComparisonOptions = COMPARISON,
    texts: options.TextOptions = options.TEXTS,
) -> int:
    """Compare two or more systems on the same sources: means, differences, intervals and p-values.

    For each pair of systems, the command prints the difference with its interval and p-value, and how
    long the runs of words are that both systems copy. It does not say which system is better: a system
    that copies more has lower scores. P-values of several pairs of systems are corrected by Holm's
    method. Summaries of one source are drawn and swapped together.

    Files with scores are used unchanged, and all must have the same signature. Files with texts alone
    are scored in memory first, with the settings of the files with scores, otherwise with the defaults; a
    run that is stopped cannot be resumed. For other settings or large files, use 'estime score' first.
    Columns of other metrics need neither an encoder nor a signature.

    Exit status: 0 if all rows were compared, 1 if some rows had no counterpart or could not be
    read, 2 on failure. With --fail-if-worse also 1 if values or texts are missing, 3 if the second system
    is significantly worse or has significantly more blank summaries, 4 if its copied_density is
    significantly higher by more than a tenth, 5 if it cannot be decided whether it is worse, for example
    because its summaries have less than half of the words. The last line names the reason.

    Example: estime compare a.jsonl b.jsonl

    Args:
        paths: One file per system: scores that 'estime score -o' wrote, pairs to be scored, or any
            table with a column of numbers. Or one file of all systems, with a column that names them.
        output: Write the numbers, one row per measure and comparison of two systems (.jsonl, .csv,
            .parquet), or everything as one object (.json).
        plot: Plot the first measure against copied_density, one point per system (.png, .svg, .pdf).
        as_json: Print one JSON object with all numbers and nothing else.
        fail_if_worse: Also say with the exit status whether the second of two systems (the one that is
            not the baseline) is worse by the first measure, or copies more.
    """
    if not fail_if_worse and (tolerance or allow_shorter):
        raise ValueError("Expected --tolerance and --allow-shorter only with --fail-if-worse.")
    inputs = texts.choose(paths)
    _check_outputs(inputs, texts, output, plot, as_json=as_json, overwrite=overwrite)
    # These import pandas: slow.
    from estime_metric.compare.differences import compare_scores
    from estime_metric.compare.examples import match_examples
    from estime_metric.compare.gate import check_gate, judge
    from estime_metric.compare.scoring import plan_scoring
    from estime_metric.compare.sentences import to_dict

    measures = options.parse_names(comparison.measures)
    systems = _read_systems(inputs, comparison, texts, measures)
    how: dict[str, Any] = {
        "baseline": _name_of_baseline(inputs, comparison.baseline),
        "measures": measures,
        "higher": comparison.higher or (),
        "lower": comparison.lower or (),
        "id_column": comparison.id_column,
        "source_column": texts.source_column,
        "summary_column": texts.summary_column,
    }
    scoring = plan_scoring(
        systems,
        measures,
        texts,
        asked=comparison.named_columns,
        baseline=how["baseline"],
        is_gate=fail_if_worse,
    )
    if scoring is not None:
        planned = match_examples(scoring.planned(systems), **how)  # fails now, not after hours
        if fail_if_worse:
            check_gate(planned)
        systems = scoring.scored(systems, progress=not quiet)
    compared = compare_scores(systems, **how)
    for problem in compared.unmatched:
        warn(problem)
    content = to_dict(compared)
    content["notes"] = list(map(as_typed, content["notes"]))
    status = 1 if any(compared.skipped.values()) else 0
    reasons: list[str] = []
    if fail_if_worse:
        verdict, reasons = judge(compared, tolerance=tolerance, allow_shorter=allow_shorter)
        status = int(verdict)
        content |= {"verdict": verdict.name.lower(), "status": status, "reasons": reasons}
    _write(compared, content, output, plot)
    if as_json:
        say(_as_json(content))
    elif output is None or not is_standard(output):
        _print(compared)
        if output is not None:
            say_wrote("the comparison", output)
        if plot is not None:
            say_wrote("the plot", plot)
    for reason in reasons[1:]:
        (warn if status else note)(reason)
    if reasons:
        (warn if status else note)(f"exit status {status}: {reasons[0]}")
    return status


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
    check_different(inputs)
    if texts.summary_files and len(inputs) < 2:
        raise ValueError("Expected a text file of summaries for each system, but got only one.")
    if as_json and output is not None and is_standard(output):
        raise ValueError("Expected --json or the rows on standard output, but got both.")
    sources = [] if texts.source_file is None else [texts.source_file]
    for written, endings in ((output, OUTPUTS), (plot, options.PLOTS)):
        if written is not None:
            check_writable(written, [*inputs, *sources], overwrite=overwrite, endings=endings)
    if plot is not None:
        import estime_metric.compare.plot  # noqa: F401 - fails now, not after hours


def _read_systems(
    inputs: Sequence[Path],
    comparison: ComparisonOptions,
    layout: Layout,
    measures: Sequence[str] | None,
) -> dict[str, "DataFrame"]:
    """The table of each system. Names the rows that are skipped."""
    from estime_metric.compare.join import check_filled, name_of

    if len(inputs) == 1:
        comparison = replace(comparison, system_column=comparison.system_column or "system")
    elif comparison.system_column is not None:
        raise ValueError(
            f"Expected `system_column` with one file of all systems, but got {len(inputs)} files."
        )
    problems: list[str] = []
    tables = {
        name: _read(path, comparison.named_columns, layout, measures, problems)
        for path, name in zip(inputs, _names_of_files(inputs), strict=True)
    }
    warn_of_rows(problems)
    if comparison.system_column is None:
        return tables
    (table,) = tables.values()
    names = table[comparison.system_column].map(name_of)
    check_filled(names, inputs[0].name)
    tables = {str(name): part for name, part in table.groupby(names, sort=False)}
    for part in tables.values():
        part.attrs = table.attrs
    return tables


def _read(
    path: Path,
    columns: Sequence[str],
    layout: Layout,
    measures: Sequence[str] | None,
    problems: list[str],
) -> "DataFrame":
    """A table of scores, or the rows of a table that have two texts if these must be scored;
    ``problems`` gets a sentence for each other row. ValueError if there is no row, or a column is
    missing.
    """
    from estime_metric.compare.examples import DEFAULT_MEASURES, needs_encoder, text_problems
    from estime_metric.compare.join import check_column, has_scores

    skipped: list[str] = []  # of this file alone: its first problem explains an empty table
    table = read(path, layout, own_columns=columns, skipped=skipped)
    if table.empty:
        reason = f" ({skipped[0]})" if skipped else header_hint(path)
        raise ValueError(
            f"Expected {path.name} to have scores or pairs, but it has no rows{reason}."
        )
    for column in columns:
        check_column(table, column, path.name, _ANOTHER_COLUMN)
    if not has_scores(table) and needs_encoder(measures or DEFAULT_MEASURES):
        _check_text_columns(path, table, layout)
        lines = zip(table.index, text_problems(table, layout.text_columns), strict=True)
        wrong = {line: problem for line, problem in lines if problem}
        skipped += [f"{path.name} line {line}: {problem}" for line, problem in wrong.items()]
        if len(wrong) == len(table):
            raise ValueError(f"Expected pairs in {path.name}, but got none ({skipped[0]}).")
        table = table.drop(index=list(wrong))
        table.attrs["skipped"] = len(skipped)
    problems += skipped
    return table


def _check_text_columns(path: Path, table: "DataFrame", layout: Layout) -> None:
    """Refuses a table without the columns of the texts; if it seems to be an output of ``estime score``
    without its record, the message says so.
    """
    for argument in ("source_column", "summary_column"):
        column = getattr(layout, argument)
        if column in table:
            continue
        if SOURCE_ID in table and any(measure_of(str(name)) in MEASURES for name in table):
            raise ValueError(
                f"Expected {record_path(path).name} next to {path.name}, which seems to be an output of "
                "'estime score', but there is none. Copy it, too."
            )
        raise ColumnError(path, argument, column, list(table.columns))


def _names_of_files(paths: Sequence[Path]) -> list[str]:
    """The names of the files without their endings if these differ; otherwise the paths."""
    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        names = list(map(str, paths))
    return [encodable(name) for name in names]


def _name_of_baseline(paths: Sequence[Path], baseline: str | None) -> str | None:
    """The name of the baseline, which can be the name of its file if only one file has it."""
    names = zip(paths, _names_of_files(paths), strict=True)
    named = [name for path, name in names if baseline in (path.name, str(path))]
    return named[0] if len(named) == 1 else baseline


def _write(
    compared: "Comparison", content: dict[str, Any], output: Path | None, plot: Path | None
) -> None:
    """Writes a comparison by the ending of ``output``, and its plot, which is drawn first."""
    from estime_metric.compare.sentences import to_rows

    figure = None
    if plot is not None:
        from estime_metric.compare.plot import plot_copying
        from estime_metric.show.plot import save

        figure = plot_copying(compared, compared.measures[0])
    if output is not None and output.suffix.lower() == ".json":
        write_text(output, _as_json(content) + "\n")
    elif output is not None:
        write(output, to_rows(compared))
    if figure is not None and plot is not None:
        save(figure, plot)


def _as_json(content: dict[str, Any]) -> str:
    return to_json(content, indent=2)


def _print(compared: "Comparison") -> None:
    from estime_metric.compare.examples import PROPERTIES
    from estime_metric.compare.sentences import notes

    systems = compared.systems
    known = [name for name in PROPERTIES if systems[name].notna().any()]
    print_columns(
        {
            "system": list(systems.index),
            "summaries": systems["summaries"].tolist(),
            "blank": [fixed(number, 0) for number in systems["blank"]],
            **({"skipped": systems["skipped"].tolist()} if systems["skipped"].any() else {}),
            **{name: [fixed(value, 2) for value in systems[name]] for name in known},
        },
        texts=["system"],
        title=f"{' and '.join(systems.index) if len(systems) == 2 else 'Systems'} compared",
    )
    for measure in compared.measures:
        _print_means(compared, measure)
        _print_differences(compared, measure)
    for line in notes(compared):
        say(as_typed(line))


def _print_means(compared: "Comparison", measure: str) -> None:
    """The systems, the best mean first."""
    names = compared.ranking(measure)
    cells = [mean_cells(measure, compared.interval(measure, name)) for name in names]
    print_columns(
        {
            "system": names,
            "mean": [mean for mean, _ in cells],
            "95% interval": [interval for _, interval in cells],
        },
        texts=["system"],
        title=f"Means of {with_direction(measure, compared.higher_is_better[measure])}",
    )


def _print_differences(compared: "Comparison", measure: str) -> None:
    """One line per pair of systems, of the first `LISTED` ones."""
    from estime_metric.compare.sentences import LISTED
    from estime_metric.table.intervals import Interval

    pairs = compared.pairs[compared.pairs["measure"] == measure].to_dict("records")
    shown = pairs[:LISTED]
    cells = [
        mean_cells(measure, Interval(row["difference"], row["low"], row["high"], row["examples"]))
        for row in shown
    ]
    columns = {
        "first": [row["system_a"] for row in shown],
        "second": [row["system_b"] for row in shown],
        "difference": [difference for difference, _ in cells],
        "95% interval": [interval for _, interval in cells],
        "p (Holm)" if len(pairs) > 1 else "p": [p_value(row["p_holm"]) for row in shown],
        "wins / ties / losses": [
            "/".join(EMPTY if number is None else str(number) for number in numbers)
            for numbers in ([row["a_better"], row["ties"], row["b_better"]] for row in shown)
        ],
    }
    density = compared.systems["copied_density"]
    if density.notna().any():
        copied = {name: fixed(runs, 1) for name, runs in density.items()}
        columns["copied density"] = [
            f"{copied[row['system_a']]} / {copied[row['system_b']]}" for row in shown
        ]
    some = f" ({LISTED} of {len(pairs)})" if len(pairs) > LISTED else ""
    print_columns(
        columns,
        texts=["first", "second"],
        title=f"Differences in {measure}, first minus second{some}",
    )

"""``estime compare``: how several systems differ on the same sources."""

# Annotations are evaluated here, not postponed, because Cyclopts reads the annotations of option groups.
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from estime_metric.cli import options
from estime_metric.cli.console import note, say, say_wrote, warn, warn_of_rows
from estime_metric.config_file import is_record_of_scores, options_of
from estime_metric.measures import (
    HIGHER_IS_BETTER,
    MEASURES,
    PAPER_MEASURE,
    RECOMMENDED,
    measure_of,
)
from estime_metric.show.tables import fixed, mean_cells, p_value, print_columns
from estime_metric.table.output import check_different, check_writable, is_standard, write_text
from estime_metric.table.rows import ColumnError, Layout, header_hint, pair_problem
from estime_metric.table.table import SIGNATURE, encodable, read, write

if TYPE_CHECKING:
    from pandas import DataFrame

    from estime_metric.compare.differences import Comparison

WRITABLE = (".jsonl", ".csv", ".parquet", ".json")


@Parameter(name="*", group=Group("Measure", sort_key=3))
@dataclass(frozen=True, kw_only=True)
class ComparedOptions(options.MeasureOptions):
    """Options of the metric, and which measures are compared.

    Attributes:
        higher: Compared columns in which higher values are better, comma-separated. The direction of
            ESTIME's measures is known; in other columns, lower values are better unless they are named.
    """

    measures: Annotated[
        str | None,
        Parameter(
            help=f"Measures to compare, comma-separated: {', '.join(HIGHER_IS_BETTER)}, or any other "
            f"columns of numbers in your files. (default: {RECOMMENDED}, {PAPER_MEASURE})"
        ),
    ] = None
    higher: str | None = None

    @property
    def compared(self) -> tuple[str, ...] | None:
        """The requested measures."""
        return options.parse_names(self.measures)

    def settings(self) -> dict[str, Any]:
        """The options for pairs that are scored now."""
        requested = map(measure_of, self.compared or ())
        own = super().settings()
        own.pop("higher", None)
        return {**own, "measures": tuple(name for name in requested if name in MEASURES)}


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
    """

    baseline: str | None = None
    system_column: str = "system"
    id_column: str | None = None


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
    fail_if_worse: bool = False,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    comparison: ComparisonOptions = COMPARISON,
    texts: options.TextOptions = options.TEXTS,
    measured: ComparedOptions = COMPARED,
) -> int:
    """Compare two or more systems on the same sources: means, differences, intervals and p-values.

    For each pair of systems, the command prints the difference with its interval and p-value, and how
    long the runs of words are that both systems copy. It does not say which system is better: a system
    that copies more has lower scores. P-values of several pairs of systems are corrected by Holm's
    method. Summaries of one source are drawn and swapped together.

    Files that already contain scores are used unchanged; the scoring options only apply to files
    with unscored pairs. All systems must have the same signature. Unscored pairs are scored in
    memory, and a run that is stopped cannot be resumed: score large files with 'estime score' first.
    Columns of other metrics need neither an encoder nor a signature.

    Exit status: 0 if all rows were compared, 1 if some rows had no counterpart or could not be
    read, 2 on failure. With --fail-if-worse also 3 if the second system is significantly worse or has
    significantly more blank summaries, 4 if its copied_density is significantly higher by more than a
    tenth, and 2 if that cannot be decided: fewer than 10 sources, neither texts nor copied_density,
    or a baseline with another signature and without texts that could be scored again.

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
    inputs = texts.choose(paths)
    _check_outputs(inputs, texts, output, plot, as_json=as_json, overwrite=overwrite)
    # These import pandas: slow.
    from estime_metric.compare.differences import (
        OF_TEXTS,
        check_measures,
        check_names,
        compare_scores,
    )
    from estime_metric.compare.gate import check_sources, judge
    from estime_metric.compare.join import join_scores

    baseline = _name_of_baseline(inputs, comparison.baseline)
    higher = options.parse_names(measured.higher) or ()
    systems, skipped = _read_systems(inputs, comparison, texts, measured.compared)
    check_names(list(systems), baseline)
    check_measures(measured.compared, higher, systems)
    joining: dict[str, Any] = {
        "id_column": comparison.id_column,
        "source_column": texts.source_column,
    }
    unmatched = join_scores(systems, **joining).unmatched  # known before anything is scored
    for problem in unmatched:
        warn(problem)
    joining["summary_column"] = texts.summary_column
    gate = _base_and_new(systems, baseline) if fail_if_worse else None
    if gate is not None:
        check_sources(compare_scores(systems, measures=OF_TEXTS, **joining))
    systems = _scored(systems, gate, comparison, texts, measured, quiet=quiet)
    compared = compare_scores(
        systems, baseline=baseline, measures=measured.compared, higher=higher, **joining
    )
    _write(compared, output, plot)
    if as_json:
        say(_as_json(compared))
    elif output is None or not is_standard(output):
        _print(compared)
        if output is not None:
            say_wrote("the comparison", output)
        if plot is not None:
            say_wrote("the plot", plot)
    if gate is not None:
        first = compared.measures[0]
        measures = [first, *(name for name in OF_TEXTS if name != measure_of(first))]
        joining["higher"] = [first] if first in higher else []
        verdict, reason = judge(
            compare_scores(systems, baseline=gate[0], measures=measures, **joining)
        )
        (warn if verdict else note)(reason)
        if verdict:
            return verdict
    return 1 if skipped or unmatched else 0


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
    for written, endings in ((output, WRITABLE), (plot, options.PLOTS)):
        if written is not None:
            check_writable(written, [*inputs, *sources], overwrite=overwrite, endings=endings)
    if plot is not None:
        import estime_metric.show.plot  # noqa: F401 - fails now, not after hours


def _read_systems(
    inputs: Sequence[Path],
    comparison: ComparisonOptions,
    layout: Layout,
    measures: Sequence[str] | None,
) -> tuple[dict[str, "DataFrame"], int]:
    """The table of each system, and how many rows were skipped."""
    from estime_metric.compare.join import check_filled, name_of

    columns = [comparison.id_column] if comparison.id_column is not None else []
    columns += [comparison.system_column] if len(inputs) == 1 else []
    problems: list[str] = []
    tables = {
        name: _read(path, columns, layout, measures, problems)
        for path, name in zip(inputs, _names_of_files(inputs), strict=True)
    }
    warn_of_rows(problems)
    if len(inputs) == 1:
        (table,) = tables.values()
        names = table[comparison.system_column].map(name_of)
        check_filled(names, inputs[0].name)
        tables = {str(name): part for name, part in table.groupby(names, sort=False)}
        for part in tables.values():
            part.attrs = table.attrs
    return tables, len(problems)


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
    from estime_metric.compare.differences import has_scores, needs_encoder
    from estime_metric.compare.join import check_column

    skipped: list[str] = []  # of this file alone: its first problem explains an empty table
    table = read(path, layout, own_columns=columns, skipped=skipped)
    if table.empty:
        reason = f" ({skipped[0]})" if skipped else header_hint(path)
        raise ValueError(
            f"Expected {path.name} to have scores or pairs, but it has no rows{reason}."
        )
    for column in columns:
        if measure_of(column) in MEASURES:
            raise ValueError(
                f"Expected `id_column` and `system_column` to be other columns than measures, but got "
                f"{column!r}."
            )
        check_column(table, column, path.name, _ANOTHER_COLUMN)
    if not has_scores(table) and needs_encoder(measures):
        for argument in ("source_column", "summary_column"):
            column = getattr(layout, argument)
            if column not in table:
                raise ColumnError(path, argument, column, list(table.columns))
        wrong = _problems_of_texts(table, layout)
        skipped += [f"{path.name} line {line}: {problem}" for line, problem in wrong.items()]
        if len(wrong) == len(table):
            raise ValueError(f"Expected pairs in {path.name}, but got none ({skipped[0]}).")
        table = table.drop(index=list(wrong))
    problems += skipped
    return table


def _problems_of_texts(table: "DataFrame", layout: Layout) -> dict[int, str]:
    """Line -> what keeps the row from being scored."""
    columns = layout.text_columns
    texts = table.reindex(columns=columns).astype(object)
    rows = texts.where(texts.notna(), None).to_dict("index")
    problems = {line: pair_problem(row, *columns) for line, row in rows.items()}
    return {line: problem for line, problem in problems.items() if problem}


def _base_and_new(systems: "dict[str, DataFrame]", baseline: str | None) -> tuple[str, str]:
    """The two systems of the gate."""
    if len(systems) != 2:
        raise ValueError(f"Expected two systems with --fail-if-worse, but got {len(systems)}.")
    first, second = systems
    return (second, first) if baseline == second else (first, second)


def _scored(
    systems: "dict[str, DataFrame]",
    gate: tuple[str, str] | None,
    comparison: ComparisonOptions,
    layout: Layout,
    measured: ComparedOptions,
    *,
    quiet: bool,
) -> "dict[str, DataFrame]":
    """The systems with their scores; those that have none are scored if a compared measure needs it.

    If the signatures of the two systems of a ``gate`` differ, its base is scored again, with the
    settings of the new system.
    """
    from estime_metric.compare.differences import has_scores, needs_encoder

    if not needs_encoder(measured.compared):
        return systems
    to_score = [name for name, table in systems.items() if not has_scores(table)]
    settings = measured.settings()
    if gate is not None and gate[0] not in to_score:
        base, new = (systems[name] for name in gate)
        if gate[1] in to_score:
            signature = _signature(settings)
        else:
            signature = str(new[SIGNATURE].iloc[0])
            record = new.attrs.get("record", {})
            if is_record_of_scores(record):
                settings = {**options_of(record), **settings}
        if str(base[SIGNATURE].iloc[0]) != signature:
            if problems := _problems_of_texts(base, layout):
                line, problem = next(iter(problems.items()))
                raise ValueError(
                    f"Expected {gate[0]} to have the signature {signature}, or texts that can be scored "
                    f"again, but it has {base[SIGNATURE].iloc[0]}, and line {line}: {problem}."
                )
            to_score.append(gate[0])
    if not to_score:
        return systems
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    scorer = EstimeScorer(**settings, cache=_CACHE if len(to_score) > 1 else None)
    scored = {}
    for name in to_score:
        table = systems[name]
        summaries, sources = (
            table[column].tolist() for column in (layout.summary_column, layout.source_column)
        )
        scores = scorer.score(summaries, sources, progress=not quiet).table()
        old = [
            column
            for column in table.columns.drop(comparison.id_column or [])
            if column in scores or measure_of(column) in MEASURES
        ]
        own = table.drop(columns=old)
        scores = scores.drop(columns=scores.columns.intersection(own.columns))
        scored[name] = own.join(scores.set_axis(table.index))
    return systems | scored


def _signature(settings: dict[str, Any]) -> str:
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    return str(EstimeScorer(**settings).signature)


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


def _write(compared: "Comparison", output: Path | None, plot: Path | None) -> None:
    """Writes a comparison by the ending of ``output``, and its plot, which is drawn first."""
    from estime_metric.compare.sentences import to_rows

    figure = None
    if plot is not None:
        from estime_metric.show.plot import plot_copying, save

        figure = plot_copying(compared, compared.measures[0])
    if output is not None and output.suffix.lower() == ".json":
        write_text(output, _as_json(compared) + "\n")
    elif output is not None:
        write(output, to_rows(compared))
    if figure is not None and plot is not None:
        save(figure, plot)


def _as_json(compared: "Comparison") -> str:
    from estime_metric.compare.sentences import to_dict

    return json.dumps(to_dict(compared), ensure_ascii=False, indent=2)


def _print(compared: "Comparison") -> None:
    from estime_metric.compare.differences import PROPERTIES
    from estime_metric.compare.sentences import notes

    systems = compared.systems
    known = [name for name in PROPERTIES if systems[name].notna().any()]
    print_columns(
        {
            "system": list(systems.index),
            "summaries": systems["summaries"].tolist(),
            "blank": [fixed(number, 0) for number in systems["blank"]],
            **{name: [fixed(value, 2) for value in systems[name]] for name in known},
        },
        texts=["system"],
        title=f"{' and '.join(systems.index) if len(systems) == 2 else 'Systems'} compared",
    )
    for measure in compared.measures:
        _print_means(compared, measure)
        _print_differences(compared, measure)
    for line in notes(compared):
        say(line)


def _print_means(compared: "Comparison", measure: str) -> None:
    """The systems, the best mean first."""
    names = compared.ranking(measure)
    cells = [mean_cells(measure, compared.interval(measure, name)) for name in names]
    better = "higher" if compared.higher_is_better[measure] else "lower"
    print_columns(
        {
            "system": names,
            "mean": [mean for mean, _ in cells],
            "95% interval": [interval for _, interval in cells],
        },
        texts=["system"],
        title=f"Means of {measure} ({better} is better)",
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
            f"{row['a_better']}/{row['ties']}/{row['b_better']}" for row in shown
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

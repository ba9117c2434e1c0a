"""``estime meta-evaluate``: scores and judgements in tables -> how well each measure agrees with
the judgements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from estime_metric.cli import options
from estime_metric.cli.console import say, say_wrote, warn
from estime_metric.measures import HIGHER_IS_BETTER, MEASURES
from estime_metric.studies.commands.folder import make_folder
from estime_metric.studies.tables import print_table
from estime_metric.table.output import write_text

if TYPE_CHECKING:
    from pandas import DataFrame

    from estime_metric.studies.meta import Grid
    from estime_metric.studies.tables import Table

#: Numbers that `estime score` writes next to the measures: they say which pair it is and how much of
#: it was checked.
NOT_MEASURES = ("line", "flag", *(name for name in MEASURES if name not in HIGHER_IS_BETTER))


def meta_evaluate(
    scores: Path,
    judgements: Path,
    /,
    *,
    measures: Annotated[
        str | None,
        Parameter(
            help="Score columns, comma-separated. (default: all numeric columns "
            f"except {', '.join(NOT_MEASURES)})"
        ),
    ] = None,
    qualities: Annotated[str | None, Parameter(name="--judgements")] = None,
    lower: str | None = None,
    higher: str | None = None,
    document_column: str | None = None,
    system_column: str | None = None,
    levels: str = "all",
    methods: str = "spearman,kendall_b",
    resample: str = "both",
    n: options.Resamples = 1000,
    seed: options.Seed = 0,
    significance: str | None = None,
    drop_missing: bool = False,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Correlate scores with human judgements on four levels, with bootstrap intervals.

    Exit status: 0 on success, 2 on failure. The error message lists the first cells that cause the
    problem.

    Example: estime meta-evaluate scores.csv judgements.csv -o results

    Args:
        scores: CSV, JSON Lines or Parquet file with one row per summary, or a folder with one such
            file per measure.
        judgements: CSV, JSON Lines or Parquet file with one row per summary.
        qualities: Columns of judgements, comma-separated. (default: all numeric columns)
        lower: Measures for which lower is better, comma-separated. Not needed for ESTIME's own
            measures.
        higher: Measures for which higher is better, comma-separated.
        document_column: Column that identifies the document. If the name differs between the two
            files, give both names as SCORES_COLUMN,JUDGEMENTS_COLUMN. (default: document, doc,
            doc_id, document_id)
        system_column: Column that identifies the system, in the same form. (default: system,
            system_id, summarizer, model, model_id)
        levels: summary, system, pairwise, intra_system, comma-separated, or all.
        methods: spearman, pearson, kendall_a, kendall_b, kendall_c, accuracy, comma-separated, or
            all.
        resample: What the intervals resample: documents, systems or both.
        n: Number of resamples.
        significance: Also test every two measures: bootstrap or williams.
        drop_missing: Drop rows that are in only one of the tables, and list them.
        output: Folder for tidy tables: agreement.csv and, with --significance, differences.csv.
    """
    if output is not None:
        if output.suffix:
            raise ValueError(f"Expected --output to be a folder, but got {output.name!r}.")
        make_folder(output, overwrite=overwrite)
    from estime_metric.studies.meta import (  # imports pandas: slow
        LEVELS,
        METHODS,
        TESTS,
        compare_all,
        evaluate_all,
        read_grids,
    )

    stated = _directions(lower, higher)
    chosen: dict[str, Any] = {
        "levels": _chosen("--levels", levels, LEVELS),
        "methods": _chosen("--methods", methods, METHODS),
    }
    if significance is not None:
        _check_significance(significance, TESTS, chosen["levels"], chosen["methods"])
    grids = read_grids(
        scores,
        judgements,
        measures=options.parse_names(measures),
        qualities=options.parse_names(qualities),
        directions={**HIGHER_IS_BETTER, **stated},
        not_measures=NOT_MEASURES,
        document=_name_pair(document_column),
        system=_name_pair(system_column),
        missing="drop" if drop_missing else "error",
    )
    known = dict.fromkeys(grid.measure for grid in grids)
    for name in stated:
        if name not in known:
            raise ValueError(
                f"Expected --lower and --higher to name measures ({', '.join(known)}), but got {name!r}."
            )
    if significance is not None and len(known) < 2:
        raise ValueError(
            f"Expected two measures or more for --significance, but there is only {grids[0].measure!r}."
        )
    resampling: dict[str, Any] = {"resample": resample, "n": n, "seed": seed}
    frames = {"agreement": evaluate_all(grids, **resampling, **chosen)}
    tables = [_agreement_table(frames["agreement"], grids, n, resample)]
    if significance is not None:
        if significance == "bootstrap":
            chosen |= resampling
        frames["differences"] = compare_all(grids, test=significance, **chosen)
        tables.append(_difference_table(frames["differences"], significance))
    if output is not None:
        for name, frame in frames.items():
            text = frame.to_csv(index=False, lineterminator="\n")
            write_text(output / f"{name}.csv", text)
    for line in dict.fromkeys(line for grid in grids for line in grid.dropped):
        warn(f"excluded: {line}")
    for table in tables:
        print_table(table)
        say("\n".join([*table.notes, ""]))
    if output is not None:
        say_wrote(", ".join(f"{name}.csv" for name in frames), output)


def _name_pair(text: str | None) -> tuple[str | None, str | None]:
    """``"doc,doc_id"`` as two names, ``"doc"`` as the same name twice."""
    names = options.parse_names(text)
    if names is None:
        return None, None
    if len(names) > 2:
        raise ValueError(f"Expected one or two names of columns, but got {text!r}.")
    return names[0], names[-1]


def _directions(lower: str | None, higher: str | None) -> dict[str, bool]:
    """Measure -> whether higher is better; ValueError for a measure that is said to be both."""
    lower_names, higher_names = (options.parse_names(names) or () for names in (lower, higher))
    both = next((name for name in lower_names if name in higher_names), None)
    if both is not None:
        raise ValueError(f"Expected {both!r} in --lower or in --higher, but got it in both.")
    return {**dict.fromkeys(lower_names, False), **dict.fromkeys(higher_names, True)}


def _chosen(option: str, text: str, every: Collection[str]) -> tuple[str, ...]:
    """The names that an option lists; ValueError for one that is not among ``every``."""
    names = tuple(every) if text == "all" else options.parse_names(text) or ()
    _check_names(option, names, every, ", or all")
    return names


def _check_names(
    option: str, names: Iterable[str], known: Collection[str], ending: str = ""
) -> None:
    for name in names:
        if name not in known:
            raise ValueError(
                f"Expected {option} to be one of {', '.join(known)}{ending}, but got {name!r}."
            )


def _check_significance(
    test: str, tests: Collection[str], levels: Iterable[str], methods: Iterable[str]
) -> None:
    """Raises ValueError for an unknown test, and for what Williams' test does not have."""
    from estime_metric.studies.meta.significance import WILLIAMS_LEVELS, WILLIAMS_METHODS

    _check_names("--significance", [test], tests)
    if test == "williams":
        ending = " with --significance williams"
        _check_names("--levels", levels, WILLIAMS_LEVELS, ending)
        _check_names("--methods", methods, WILLIAMS_METHODS, ending)


def _agreement_table(frame: DataFrame, grids: list[Grid], n: int, resample: str) -> Table:
    """Rows are measures, columns levels; a section for each judgement and method."""
    from estime_metric.show.tables import Cell
    from estime_metric.studies.meta import LEVELS
    from estime_metric.studies.tables import Column, Section, Table

    levels = list(dict.fromkeys(frame["level"]))
    columns = [Column("measure", text=True)]
    for level in levels:
        columns += [
            Column("value", group=level),
            Column("95%", group=level, text=True),
        ]
    sections = []
    for names, part in frame.groupby(["judgement", "method"], sort=False):
        rows = []
        for measure, by_level in part.groupby("measure", sort=False):
            cells: list[Cell] = [str(measure)]
            for row in by_level.itertuples():
                cells += [row.value, _interval(row)]
            rows.append(tuple(cells))
        sections.append(Section(", ".join(names), tuple(rows)))
    documents, systems = grids[0].scores.shape
    resampled = "documents and systems" if resample == "both" else resample
    intervals = f"intervals from {n} resamples of {resampled}"
    notes = [f"{documents} documents, {systems} systems; {intervals}. Higher is better."]
    notes += [f"{level}: {LEVELS[level]}." for level in levels]
    notes += _exclusions(frame, n)
    return Table(
        "agreement", "Agreement with the judgements", tuple(columns), tuple(sections), tuple(notes)
    )


def _exclusions(frame: DataFrame, n: int) -> list[str]:
    """What rests on fewer groups or resamples than there are."""
    constant, undefined = frame[frame["left_out"] > 0], frame[frame["undefined"] > 0]
    notes = []
    if len(constant):
        notes.append(
            f"{len(constant)} of {len(frame)} correlations exclude groups with constant values, at "
            f"most {constant['left_out'].max()} of {constant['groups'].max()} groups."
        )
    if len(undefined):
        notes.append(
            f"{len(undefined)} of {len(frame)} intervals exclude resamples without a defined value, "
            f"at most {undefined['undefined'].max()} of {n} resamples."
        )
    return notes


def _difference_table(frame: DataFrame, test: str) -> Table:
    """Rows are pairs of measures; a section for each judgement, level and method."""
    from estime_metric.studies.tables import Column, Section, Table, p_value

    columns = [Column("first", text=True), Column("second", text=True), Column("first", "value")]
    columns += [Column("second", "value"), Column("difference"), Column("interval", text=True)]
    columns += [Column("alone", "p", 4), Column("Holm", "p", 4)]
    bounded = test == "bootstrap"
    shown = [column for column in columns if bounded or column.name != "interval"]
    sections = []
    for names, part in frame.groupby(["judgement", "level", "method"], sort=False):
        rows = []
        for row in part.itertuples():
            cells = [row.first, row.second, row.first_value, row.second_value, row.difference]
            cells += [_interval(row)] if bounded else []
            rows.append((*cells, p_value(row.p_value), p_value(row.p_holm)))
        sections.append(Section(", ".join(names), tuple(rows)))
    notes = ["p is two-sided; Holm: corrected for the pairs of its section."]
    notes += [f"Empty cells: {note}" for note in dict.fromkeys(frame["note"]) if note]
    return Table(
        "differences",
        f"Differences between measures, {test} test",
        tuple(shown),
        tuple(sections),
        notes,
    )


def _interval(row: Any) -> str:
    """``[-.12,.30]``: short, and never broken in two on a narrow screen."""
    from estime_metric.show.tables import interval_cell

    return interval_cell(row.low, row.high).replace("0.", ".").replace(" ", "")

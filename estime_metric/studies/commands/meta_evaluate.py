"""``estime meta-evaluate``: scores and judgements in tables -> how well each measure agrees with
the judgements.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from estime_metric.cli import options
from estime_metric.cli.console import say_wrote, warn
from estime_metric.measures import HIGHER_IS_BETTER, measure_of
from estime_metric.studies.columns import DOCUMENT_COLUMNS, NOT_MEASURES, SYSTEM_COLUMNS
from estime_metric.studies.commands.folder import make_folder
from estime_metric.table.output import write_text

if TYPE_CHECKING:
    from pandas import DataFrame

    from estime_metric.studies.meta import Grid
    from estime_metric.studies.printed import Table


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
    resample: Literal["documents", "systems", "both"] = "both",
    n: options.Resamples = 1000,
    seed: options.Seed = 0,
    significance: Literal["bootstrap", "williams"] | None = None,
    drop_missing: bool = False,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Correlate scores with human judgements on four levels, with bootstrap intervals.

    Exit status: 0 on success, 2 on failure. The error message lists the first cells that cause the
    problem.

    Example: estime meta-evaluate scores.csv judgements.csv -o results-agreement

    Args:
        scores: CSV, JSON Lines or Parquet file with one row per summary, or a folder with one such
            file per measure.
        judgements: CSV, JSON Lines or Parquet file with one row per summary.
        qualities: Columns of judgements, comma-separated. (default: all numeric columns)
        lower: Measures for which lower is better, comma-separated. Not needed for ESTIME's own
            measures.
        higher: Measures for which higher is better, comma-separated.
        document_column: Column that identifies the document, or several names, comma-separated, of
            which the first one that a file has is used. (default: document, doc, doc_id,
            document_id, hash, pair, domain)
        system_column: Column that identifies the system, in the same form. A system of SummEval can
            be called M0 in one file and LEAD-3 in the other. (default: system, system_id,
            summarizer, model, model_id, model_name, n_errors, version, id)
        levels: summary, system, pairwise, intra_system, comma-separated, or all.
        methods: spearman, pearson, kendall_a, kendall_b, kendall_c, accuracy, comma-separated, or
            all.
        resample: What the intervals resample: documents, systems or both.
        n: Number of resamples.
        significance: Also test every two measures: bootstrap or williams.
        drop_missing: Exclude summaries that one of the tables lacks, and list them.
        output: Folder for tidy tables: agreement.csv and, with --significance, differences.csv.
    """
    if output is not None:
        make_folder(output, overwrite=overwrite)
    from estime_metric.studies import meta  # imports pandas: slow

    chosen: dict[str, Any] = {
        name: tuple(every if text == "all" else dict.fromkeys(options.parse_names(text) or ()))
        for name, text, every in (
            ("levels", levels, meta.LEVELS),
            ("methods", methods, meta.METHODS),
        )
    }
    if significance is not None:
        meta.check_test(significance, **chosen)
    stated = _directions(lower, higher)
    grids = meta.read_grids(
        scores,
        judgements,
        measures=options.parse_names(measures),
        qualities=options.parse_names(qualities),
        directions={**HIGHER_IS_BETTER, **stated},
        not_measures=NOT_MEASURES,
        document=options.parse_names(document_column) or DOCUMENT_COLUMNS,
        system=options.parse_names(system_column) or SYSTEM_COLUMNS,
        missing="drop" if drop_missing else "error",
    )
    known = dict.fromkeys(grid.measure for grid in grids)
    named = {*known, *map(measure_of, known)}
    if unknown := [name for name in stated if name not in named]:
        raise ValueError(
            f"Expected --lower and --higher to name measures ({', '.join(known)}), but got {unknown[0]!r}."
        )
    if significance is not None and len(known) < 2:
        raise ValueError(
            f"Expected two measures or more for --significance, but there is only {grids[0].measure!r}."
        )
    for line in dict.fromkeys(line for grid in grids for line in grid.dropped):
        warn(f"excluded: {line}")
    resampling: dict[str, Any] = {"resample": resample, "n": n, "seed": seed}
    agreement = meta.evaluate_all(grids, **resampling, **chosen)
    _write(agreement, "agreement", output)
    tables = [_agreement_table(agreement, grids, n, resample)]
    if significance is not None:
        of_test = {} if significance == "williams" else resampling
        differences = meta.compare_all(grids, test=significance, **of_test, **chosen)
        _write(differences, "differences", output)
        tables.append(_differences_table(differences, significance))
    from estime_metric.studies.printed import print_tables

    print_tables(tables)
    if output is not None:
        say_wrote(", ".join(f"{table.name}.csv" for table in tables), output)


def _write(frame: DataFrame, name: str, folder: Path | None) -> None:
    if folder is not None:
        write_text(folder / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n"))


def _directions(lower: str | None, higher: str | None) -> dict[str, bool]:
    """Measure -> whether higher is better; ValueError for a measure that is said to be both."""
    lower_names, higher_names = (options.parse_names(names) or () for names in (lower, higher))
    if both := [name for name in lower_names if name in higher_names]:
        raise ValueError(f"Expected {both[0]!r} in --lower or in --higher, but got it in both.")
    return {**dict.fromkeys(lower_names, False), **dict.fromkeys(higher_names, True)}


def _agreement_table(frame: DataFrame, grids: list[Grid], n: int, resample: str) -> Table:
    """Rows are measures, columns levels; a part for each judgement and method."""
    import pandas as pd

    from estime_metric.studies.meta import LEVELS
    from estime_metric.studies.printed import Table, intervals

    parts = {}
    for names, part in frame.groupby(["judgement", "method"], sort=False):
        columns: dict[str, Any] = {"measure": part["measure"].unique()}
        for level, rows in part.groupby("level", sort=False):
            columns |= {str(level): rows["value"].array, f"{level} 95%": intervals(rows)}
        parts[", ".join(names)] = pd.DataFrame(columns)
    resampled = "documents and systems" if resample == "both" else resample
    by_size: dict[str, list[str]] = {}
    for grid in grids:
        names = f"{grid.measure} with {grid.judgement}"
        by_size.setdefault(_size_of(grid), []).append(names)
    is_one = len(by_size) == 1
    notes = [
        *(f"{size}: {', '.join(names)}." for size, names in by_size.items() if not is_one),
        f"{f'{next(iter(by_size))}; intervals' if is_one else 'Intervals'} from {n} resamples of {resampled}. "
        "Higher is better.",
        *(f"{level}: {LEVELS[level]}." for level in frame["level"].unique()),
    ]
    constant, undefined = frame[frame["left_out"] > 0], frame[frame["undefined"] > 0]
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
    return Table("agreement", "Agreement with the judgements", parts, notes)


def _size_of(grid: Grid) -> str:
    """How many documents, systems and, if some are excluded, summaries a grid has."""
    documents, systems = grid.scores.shape
    summaries = len(grid.cells)
    of_summaries = "" if summaries == documents * systems else f", {summaries} summaries"
    return f"{documents} documents, {systems} systems{of_summaries}"


def _differences_table(frame: DataFrame, test: str) -> Table:
    """Rows are pairs of measures; a part for each judgement, level and method."""
    from estime_metric.studies.printed import Table, intervals, p_values

    shown = frame[["first", "second", "first_value", "second_value", "difference"]]
    ends = {"95%": intervals(frame)} if test == "bootstrap" else {}
    p = {"p alone": p_values(frame["p_value"]), "p Holm": p_values(frame["p_holm"])}
    shown = shown.rename(columns=lambda name: name.replace("_", " ")).assign(**ends, **p)
    groups = frame.groupby(["judgement", "level", "method"], sort=False).groups
    is_empty = frame["difference"].isna()
    notes = [
        "p is two-sided; Holm: corrected for the pairs of its table.",
        *(f"Empty cells: {note}" for note in frame.loc[is_empty, "note"].unique()),
        *(f"{note}." for note in frame.loc[~is_empty, "note"].unique() if note),
    ]
    title = f"Differences between measures, {test} test"
    parts = {", ".join(names): shown.loc[rows] for names, rows in groups.items()}
    return Table("differences", title, parts, notes, texts=["second"])

"""``estime meta-evaluate``: scores and judgements in tables -> how well each measure agrees with the judgements."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from estime_metric.cli import options
from estime_metric.cli.screen import print_table

if TYPE_CHECKING:
    from pandas import DataFrame

    from estime_metric.meta import Grid
    from estime_metric.studies.report import Table

#: Names under which the columns of documents and systems are looked for, where none is given.
DOCUMENT_COLUMNS = ("document", "doc", "doc_id", "document_id")
SYSTEM_COLUMNS = ("system", "system_id", "summarizer", "model", "model_id")

WRITABLE = (".csv", ".md", ".tex")


def meta_evaluate(
    scores: Annotated[
        Path,
        typer.Argument(help="CSV, JSON Lines or Parquet, a row for each summary; or a folder of such, one a measure."),
    ],
    judgements: Annotated[Path, typer.Argument(help="CSV, JSON Lines or Parquet, a row for each summary.")],
    measure: Annotated[
        str | None, typer.Option(metavar="NAME[,NAME...]", help="Columns of scores. (default: all that hold numbers)")
    ] = None,
    judgement: Annotated[
        str | None,
        typer.Option(metavar="NAME[,NAME...]", help="Columns of judgements. (default: all that hold numbers)"),
    ] = None,
    lower: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[,NAME...]", help="Measures of which lower is better, as alarms are; they are negated."
        ),
    ] = None,
    document_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[,NAME]",
            help=f"Column of the documents, in SCORES and in JUDGEMENTS. (default: {', '.join(DOCUMENT_COLUMNS)})",
        ),
    ] = None,
    system_column: Annotated[
        str | None,
        typer.Option(metavar="NAME[,NAME]", help=f"Column of the systems. (default: {', '.join(SYSTEM_COLUMNS)})"),
    ] = None,
    level: Annotated[
        str, typer.Option(metavar="NAME[,NAME...]", help="summary, system, pairwise, intra_system, or all.")
    ] = "all",
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME[,NAME...]",
            help="spearman, pearson, kendall_a, kendall_b, kendall_c, accuracy, or all.",
        ),
    ] = "spearman,kendall_b",
    resample: Annotated[str, typer.Option(help="What the intervals draw anew: documents, systems or both.")] = "both",
    n: Annotated[int, typer.Option("-n", help="Number of resamples or permutations.")] = 1000,
    confidence: Annotated[float, typer.Option(help="Share of the resamples within an interval.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Of the random numbers.")] = 0,
    significance: Annotated[
        str | None,
        typer.Option(metavar="TEST", help="Also test every two measures: permutation, bootstrap or williams."),
    ] = None,
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Leave out, and name, what only one of the tables holds.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A .csv, .md or .tex file for the agreement, or a folder for everything."),
    ] = None,
) -> None:
    """How well do scores agree with judgements? Correlations on four levels, with bootstrap intervals.

    Exit status: 0, done; 2, it could not be done; the first cells that are in the way are named.
    """
    try:
        _check_output(output, significance)
        from estime_metric.meta.evaluation import compare_all, evaluate_all  # brings pandas, which takes its time

        columns = (_pair(document_column), _pair(system_column))
        grids = _grids(scores, judgements, measure, judgement, lower, columns, drop_missing)
        asked: dict[str, Any] = {"levels": _chosen(level, "levels"), "methods": _chosen(method, "methods")}
        agreement = evaluate_all(grids, resample=resample, n=n, confidence=confidence, seed=seed, **asked)
        tables = [_agreement_table(agreement, grids, resample, n, confidence)]
        frames = {"agreement": agreement}
        if significance is not None:
            extra: dict[str, dict[str, Any]] = {
                "permutation": {"n": n, "seed": seed},
                "bootstrap": {"n": n, "seed": seed, "resample": resample, "confidence": confidence},
            }
            found = compare_all(grids, test=significance, **extra.get(significance, {}), **asked)
            tables.append(_difference_table(found, significance))
            frames["differences"] = found
        if output is not None:
            _write(output, tables, frames)
    except (ValueError, TypeError, OSError, ImportError) as error:
        message = str(error).replace('missing="drop"', "--drop-missing")
        typer.secho(f"error: {message}", fg="red", err=True)
        raise typer.Exit(2) from error
    for line in dict.fromkeys(line for grid in grids for line in grid.dropped):
        typer.secho(f"left out: {line}", fg="yellow", err=True)
    for table in tables:
        for section in table.sections:
            title = f"{table.title}: {section.title}"
            print_table(replace(table, title=title, sections=(replace(section, title=""),)))
        typer.echo("\n".join([*table.notes, ""]))
    if output is not None:
        typer.echo(f"written: {output}")


def _grids(
    scores: Path,
    judgements: Path,
    measure: str | None,
    judgement: str | None,
    lower: str | None,
    columns: tuple[tuple[str | None, str | None], tuple[str | None, str | None]],
    drop_missing: bool,
) -> list[Grid]:
    """A grid for each measure and judgement."""
    from estime_metric.meta import join

    (scored_document, judged_document), (scored_system, judged_system) = columns
    judged, judged_ids = _read(judgements, judged_document, judged_system)
    qualities = options.parse_names(judgement) or _numeric(judged, judged_ids, judgements)
    measured = _measures(scores, measure, scored_document, scored_system)
    negated = options.parse_names(lower) or ()
    for name in negated:
        if name not in measured:
            raise ValueError(f"Expected --lower to name measures ({', '.join(measured)}), but got {name!r}.")
    return [
        join(
            table.rename(columns={column: name}),
            judged,
            name,
            quality,
            document=(ids[0], judged_ids[0]),
            system=(ids[1], judged_ids[1]),
            lower_is_better=name in negated,
            missing="drop" if drop_missing else "error",
        )
        for quality in qualities
        for name, (table, column, ids) in measured.items()
    ]


def _measures(
    path: Path, measure: str | None, document: str | None, system: str | None
) -> dict[str, tuple[DataFrame, str, tuple[str, str]]]:
    """Name -> table, column and columns of names. A file of a folder that holds one measure names it."""
    from estime_metric.meta.tables import READABLE

    asked = options.parse_names(measure)
    files = sorted(file for file in path.iterdir() if file.suffix.lower() in READABLE) if path.is_dir() else [path]
    found: dict[str, tuple[DataFrame, str, tuple[str, str]]] = {}
    for file in files:
        table, ids = _read(file, document, system)
        if not path.is_dir():
            return {name: (table, name, ids) for name in asked or _numeric(table, ids, file)}
        numeric = _numeric(table, ids, file)
        for column in numeric:
            found[file.stem if len(numeric) == 1 else f"{file.stem}.{column}"] = (table, column, ids)
    unknown = [name for name in asked or () if name not in found]
    if unknown or not found:
        known = ", ".join(found) or "none"
        raise ValueError(f"Expected --measure to name measures in {path} ({known}), but got {', '.join(unknown)}.")
    return {name: found[name] for name in asked or found}


def _read(path: Path, document: str | None, system: str | None) -> tuple[DataFrame, tuple[str, str]]:
    """A table and its columns of documents and systems."""
    from estime_metric.meta import read_table

    given = [name for name in (document, system) if name is not None]
    table = read_table(path, (*DOCUMENT_COLUMNS, *SYSTEM_COLUMNS, *given))
    found = []
    for kind, name, known in (("document", document, DOCUMENT_COLUMNS), ("system", system, SYSTEM_COLUMNS)):
        name = name or next((each for each in known if each in table.columns), None)
        if name is None or name not in table.columns:
            listed = ", ".join(map(str, table.columns)) or "none"
            raise ValueError(
                f"Expected {path.name!r} to have a column of {kind}s, but its columns are {listed}: "
                f"name it with --{kind}-column."
            )
        found.append(name)
    return table, (found[0], found[1])


def _numeric(table: DataFrame, ids: tuple[str, str], path: Path) -> tuple[str, ...]:
    """The columns that hold numbers."""
    numbers = tuple(str(name) for name in table.select_dtypes("number").columns if name not in ids)
    if not numbers:
        raise ValueError(f"Expected {path.name!r} to have a column of numbers, but it has none.")
    return numbers


def _pair(text: str | None) -> tuple[str | None, str | None]:
    """``"doc,doc_id"`` as two names, ``"doc"`` as the same name twice."""
    names = options.parse_names(text)
    if names is None:
        return None, None
    if len(names) > 2:
        raise ValueError(f"Expected one or two names of columns, but got {text!r}.")
    return names[0], names[-1]


def _chosen(text: str, what: str) -> tuple[str, ...]:
    from estime_metric.meta import LEVELS, METHODS

    return tuple(LEVELS if what == "levels" else METHODS) if text == "all" else options.parse_names(text) or ()


def _check_output(output: Path | None, significance: str | None) -> None:
    """Refuses a path before any work is done."""
    if output is None or not output.suffix:
        if output is not None and output.exists() and not output.is_dir():
            raise ValueError(f"Expected the output to be a folder, but {str(output)!r} is a file.")
        return
    if output.suffix.lower() not in WRITABLE:
        raise ValueError(
            f"Expected the output to be a folder or to end in {', '.join(WRITABLE)}, but got {output.name!r}."
        )
    if significance is not None:
        raise ValueError("Expected the output to be a folder, since --significance makes a second table.")
    if not output.parent.is_dir():
        raise ValueError(f"Expected the output's folder to exist, but there is no {str(output.parent)!r}.")


def _write(output: Path, tables: list[Table], frames: dict[str, DataFrame]) -> None:
    """CSV is tidy, with all numbers; Markdown and LaTeX are the tables on the screen."""
    from estime_metric.studies import report

    formats = {".md": report.to_markdown, ".tex": report.to_latex}
    ending = output.suffix.lower()
    if ending == ".csv":
        frames["agreement"].to_csv(output, index=False, lineterminator="\n")
    elif ending:
        output.write_text(formats[ending](tables[0]), encoding="utf-8")
    else:
        output.mkdir(parents=True, exist_ok=True)
        for table in tables:
            report.write(table, output)
            frames[table.name].to_csv(output / f"{table.name}.csv", index=False, lineterminator="\n")


def _agreement_table(found: DataFrame, grids: list[Grid], resample: str, n: int, confidence: float) -> Table:
    """Rows are measures, columns levels; a section for each judgement and method."""
    from estime_metric.meta import LEVELS
    from estime_metric.studies.report import Column, Section, Table

    levels = list(dict.fromkeys(found["level"]))
    columns = [Column("measure", text=True)]
    for level in levels:
        columns += [Column("value", group=level), Column(f"{confidence:.0%}", group=level, text=True)]
    sections = []
    for (judgement, method), part in found.groupby(["judgement", "method"], sort=False):
        rows = []
        for measure, of_measure in part.groupby("measure", sort=False):
            cells: list[Any] = [measure]
            for row in of_measure.itertuples():
                cells += [row.value, _interval(row.low, row.high)]
            rows.append(tuple(cells))
        sections.append(Section(f"{judgement}, {method}", tuple(rows)))
    documents, systems = grids[0].scores.shape
    notes = [
        f"{documents} documents, {systems} systems; intervals from {n} resamples of "
        f"{'documents and systems' if resample == 'both' else resample}. Higher is better.",
        *(f"{level}: {LEVELS[level]}." for level in levels),
        *_left_out(found),
    ]
    return Table("agreement", "Agreement with the judgements", tuple(columns), tuple(sections), tuple(notes))


def _left_out(found: DataFrame) -> list[str]:
    """What of the values rests on fewer documents, systems or resamples than there are."""
    notes = []
    for row in found.itertuples():
        name = f"{row.measure}, {row.judgement}, {row.level}, {row.method}"
        if row.left_out:
            notes.append(f"{name}: {row.left_out} of {row.groups} groups are constant and left out.")
        if row.undefined:
            notes.append(f"{name}: {row.undefined} resamples have no value and are left out.")
    return notes


def _difference_table(found: DataFrame, test: str) -> Table:
    """Rows are pairs of measures; a section for each judgement, level and method."""
    from estime_metric.studies.report import Column, Section, Table

    intervals = test == "bootstrap"
    columns = (
        Column("first", text=True),
        Column("second", text=True),
        Column("first value"),
        Column("second value"),
        Column("difference"),
        *([Column("interval", text=True)] if intervals else []),
        Column("p", decimals=4),
        Column("p (Holm)", decimals=4),
    )
    sections = []
    for (judgement, level, method), part in found.groupby(["judgement", "level", "method"], sort=False):
        rows = [
            (
                row.first,
                row.second,
                row.first_value,
                row.second_value,
                row.difference,
                *([_interval(row.low, row.high)] if intervals else []),
                _p_value(row.p_value),
                _p_value(row.p_holm),
            )
            for row in part.itertuples()
        ]
        sections.append(Section(f"{judgement}, {level}, {method}", tuple(rows)))
    notes = ("p is two-sided; p (Holm) is corrected for the pairs of its section.",)
    return Table("differences", f"Differences between measures, {test} test", columns, tuple(sections), notes)


def _interval(low: float, high: float) -> str:
    """``[-.12,.30]``: short, and never broken in two on a narrow screen."""
    from estime_metric.studies.report import interval

    return interval(low, high).replace("0.", ".").replace(" ", "")


def _p_value(value: float) -> float | str:
    return "<.0001" if value < 1e-4 else value

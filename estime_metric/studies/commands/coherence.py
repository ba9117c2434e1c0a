"""``estime coherence``: summaries in a file -> scores of coherence measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from estime_metric import files
from estime_metric.cli import options
from estime_metric.cli.console import counted, say, say_wrote, warn_of_rows
from estime_metric.cli.screen import print_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

LISTED = 30  # more summaries than this are not listed on the screen


def coherence(
    file: Path,
    /,
    *,
    measures: str = "entity_graph",
    output: options.Output = None,
    overwrite: options.Overwrite = False,
    table: options.TableOptions = options.TABLE,
    classifier: str | None = None,
    bartscore_model: str | None = None,
    tagger: str | None = None,
    truncate: bool = False,
    device: str | None = None,
    seed: Annotated[options.Seed, Parameter(help="Seed of the measure random.")] = 0,
) -> int:
    """Score summaries with coherence measures: how well do the sentences fit together? Higher is
    better.

    These are the measures of Steen & Markert 2022 that do not require the authors' checkpoints.
    'estime benchmark coherence' compares published scores of such measures with human judgements.

    Exit status: 0 if all rows were scored, 1 if invalid rows were skipped, 2 on failure.

    Example: estime coherence summaries.jsonl --measures entity_graph,length -o coherence.csv

    Args:
        file: Table with one summary per row, in any format of 'estime score'.
        measures: Comma-separated: entity_graph (no requirements), classifier (needs --classifier),
            bartscore (needs the sources and --bartscore-model), and the baselines length and
            random.
        output: Write scores to a .jsonl, .csv or .parquet file; '-' for standard output.
        classifier: Folder or Hub name of a trained classifier (python -m
            estime_metric.studies.coherence_measures.train).
        bartscore_model: Sequence-to-sequence model, Hub name or folder. (default:
            facebook/bart-large-cnn)
        tagger: 'nltk' makes the entity graph link nouns. (default: content words, which needs no
            NLTK data)
        truncate: Truncate texts that are longer than the model's maximum input.
        device: cpu, cuda ... (default: cuda if available, otherwise cpu)
    """
    from estime_metric.studies.coherence_measures import (
        BARTSCORE_MODEL,
        scoring,
    )  # imports pandas: slow

    names = tuple(dict.fromkeys(options.parse_names(measures) or ()))
    needed = scoring.CoherenceOptions(
        classifier=classifier,
        bartscore_model=bartscore_model or BARTSCORE_MODEL,
        tagger=tagger,
        device=device,
        truncate=truncate,
        seed=seed,
    )
    scoring.check_measures(names, needed)
    if output is not None:
        files.check_writable(output, [file], overwrite=overwrite)
    summary_column, source_column = table.summary_column, table.source_column
    read = _read(file, table, with_sources="bartscore" in names, reserved=("line", *names))
    warn_of_rows(read.problems)
    if not read.rows:
        raise ValueError(f"Expected summaries in {file}, but got none.")
    summaries = [row.cells[summary_column] for row in read.rows]
    sources = [row.cells[source_column] for row in read.rows] if "bartscore" in names else None
    scores_of = scoring.coherence_scores(summaries, names, sources=sources, options=needed)
    signature = scoring.coherence_signature(names, needed)
    if output is not None:
        written = []  # as `estime score` writes them: line, further columns, measures
        for index, row in enumerate(read.rows):
            others = {
                name: value
                for name, value in row.cells.items()
                if name not in (source_column, summary_column)
            }
            measured = {
                name: files.plain(float(scores[index])) for name, scores in scores_of.items()
            }
            written.append({"line": row.line, **others, **measured})
        files.write_rows(output, written, {"signature": signature})
    elif len(read.rows) <= LISTED:
        _print_rows([row.line for row in read.rows], summaries, scores_of)
    if output is None or not files.is_standard(output):
        scored, skipped = counted(len(read.rows), "summary"), counted(len(read.problems), "row")
        say(f"{scored} scored, {skipped} skipped")
        for name, scores in scores_of.items():
            say(f"{name}: mean {scores.mean():.4f} (higher is better)")
        say(signature)
        if output is not None:
            say_wrote(counted(len(read.rows), "row"), output)
    return 1 if read.problems else 0


@dataclass(frozen=True)
class _NumberedRow:
    """A row of the file, with its line."""

    line: int
    cells: dict[str, Any]


@dataclass
class _Summaries:
    """The rows with a summary, and a sentence for each row without one."""

    rows: list[_NumberedRow] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def _read(
    path: Path, layout: files.Layout, *, with_sources: bool, reserved: Sequence[str]
) -> _Summaries:
    """The summaries of a file, with their sources if these are needed.

    Raises ColumnError if no row has a column, ValueError for a column of the output.
    """
    arguments = ["summary_column", *(["source_column"] if with_sources else [])]
    columns = [getattr(layout, argument) for argument in arguments]
    summaries = _Summaries()
    known: dict[str, None] = {}
    for read in files.read_rows(path, layout):
        line, row = read.number, read.row
        if read.problem:
            summaries.problems.append(f"line {line}: {read.problem}")
            continue
        taken = next((name for name in reserved if name in row and name not in columns), None)
        if taken is not None:
            raise ValueError(
                f"Expected no column {taken!r} in {path.name}, because the output has a column with that name."
            )
        known |= dict.fromkeys(row)
        problem = next(filter(None, (files.text_problem(row, name) for name in columns)), "")
        if problem:
            summaries.problems.append(f"line {line}: {problem}")
            continue
        summaries.rows.append(_NumberedRow(line, row))
    for argument, column in zip(arguments, columns, strict=True):
        if known and column not in known:
            raise files.ColumnError(path, argument, column, list(known))
    return summaries


def _print_rows(
    lines: Sequence[int], summaries: Sequence[str], scores_of: Mapping[str, NDArray[Any]]
) -> None:
    from estime_metric.report.tables import Cell, Column, Section, Table

    columns = (
        Column("line", text=True),
        Column("summary", text=True),
        *(Column(name) for name in scores_of),
    )
    rows: list[tuple[Cell, ...]] = []
    for index, line in enumerate(lines):
        text = " ".join(summaries[index].split())
        beginning = text if len(text) <= 36 else f"{text[:35]}…"
        rows.append((line, beginning, *(float(scores[index]) for scores in scores_of.values())))
    print_table(Table("coherence", "", columns, (Section("", tuple(rows)),)))

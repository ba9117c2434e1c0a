"""``estime coherence``: summaries in a file -> scores of coherence measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from estime_metric._wording import counted, shortened
from estime_metric.cli import options
from estime_metric.cli.console import say, say_wrote, warn_of_rows
from estime_metric.show.tables import print_columns
from estime_metric.table.output import check_writable, is_standard
from estime_metric.table.rows import (
    ColumnError,
    Layout,
    Line,
    other_columns,
    read_rows,
    text_problem,
    valid_lines,
)
from estime_metric.table.table import LINE, measure_values, write

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
        check_writable(output, [file], overwrite=overwrite)
    with_sources = "bartscore" in names
    problems: list[str] = []
    read = _read(file, table, problems, with_sources=with_sources, reserved=(LINE, *names))
    warn_of_rows(problems)
    if not read:
        raise ValueError(f"Expected summaries in {file}, but got none.")
    scores_of = scoring.coherence_scores(
        [line.row[table.summary_column] for line in read],
        names,
        sources=[line.row[table.source_column] if with_sources else "" for line in read],
        options=needed,
    )
    signature = scoring.coherence_signature(names, needed)
    if output is not None:
        columns = measure_values({name: scores.tolist() for name, scores in scores_of.items()})
        rows = [
            {
                LINE: line.number,
                **other_columns(line.row, table),
                **{name: values[index] for name, values in columns.items()},
            }
            for index, line in enumerate(read)
        ]
        write(output, rows, {"signature": signature})
    elif len(read) <= LISTED:
        _print_rows(read, table, scores_of)
    if output is None or not is_standard(output):
        scored, skipped = counted(len(read), "summary"), counted(len(problems), "row")
        say(f"{scored} scored, {skipped} skipped")
        for name, scores in scores_of.items():
            say(f"{name}: mean {scores.mean():.4f} (higher is better)")
        say(signature)
        if output is not None:
            say_wrote(counted(len(read), "row"), output)
    return 1 if problems else 0


def _read(
    path: Path, layout: Layout, problems: list[str], *, with_sources: bool, reserved: Sequence[str]
) -> list[Line]:
    """The lines of a file that have a summary, and a source if they are needed; ``problems`` gets a
    sentence for each other line.

    Raises ColumnError if no row has a column, ValueError for a column of the output.
    """
    arguments = ["summary_column", *(["source_column"] if with_sources else [])]
    columns = [getattr(layout, argument) for argument in arguments]
    lines, known = [], dict[str, None]()
    for line in read_rows(path, layout):
        row = line.row
        known |= dict.fromkeys(row)
        problem = line.problem or next(
            filter(None, (text_problem(row, name) for name in columns)), ""
        )
        lines.append(replace(line, problem=problem))
    for name in reserved:
        if name in known and name not in columns:
            raise ValueError(
                f"Expected no column {name!r} in {path.name}, because the output has a column with that name."
            )
    for argument, column in zip(arguments, columns, strict=True):
        if known and column not in known:
            raise ColumnError(path, argument, column, list(known))
    return valid_lines(lines, problems)


def _print_rows(
    read: Sequence[Line], layout: Layout, scores_of: Mapping[str, NDArray[Any]]
) -> None:
    beginnings = [shortened(line.row[layout.summary_column], 36) for line in read]
    scores = {name: values.tolist() for name, values in scores_of.items()}
    print_columns(
        {"line": [line.number for line in read], "summary": beginnings, **scores},
        texts=("line", "summary"),
    )

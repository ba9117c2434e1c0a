"""``estime coherence``: summaries in a file -> scores of coherence measures."""

# Annotations are evaluated here, not postponed, because Cyclopts reads them.
from pathlib import Path

from estime_metric._messages import counted
from estime_metric.cli import options
from estime_metric.cli.console import say, say_wrote, warn_of_rows
from estime_metric.studies.coherence_measures import OPTIONS, CoherenceOptions
from estime_metric.table.formats import WRITABLE
from estime_metric.table.output import check_writable, is_standard
from estime_metric.table.pairs import other_columns, valid_lines, with_texts
from estime_metric.table.rows import check_delimiter, read_rows
from estime_metric.table.table import LINE, measure_values, write


def coherence(
    file: Path,
    /,
    *,
    measures: str = "entity_graph",
    output: options.Output = None,
    overwrite: options.Overwrite = False,
    table: options.TableOptions = options.TABLE,
    needed: CoherenceOptions = OPTIONS,
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
    """
    from estime_metric.studies.coherence_measures import scoring  # imports pandas: slow

    names = tuple(dict.fromkeys(options.parse_names(measures) or ()))
    scoring.check_measures(names, needed)
    if output is not None:
        check_writable(output, [file], overwrite=overwrite, endings=WRITABLE)
    check_delimiter(table, [file])
    texts = [table.summary_column, *([table.source_column] if "bartscore" in names else [])]
    problems: list[str] = []
    lines = valid_lines(with_texts(read_rows(file, table), texts), problems)
    warn_of_rows(problems)
    if not lines:
        raise ValueError(f"Expected summaries in {file}, but got none.")
    for name in (LINE, *names):
        if name not in texts and any(name in line.row for line in lines):
            raise ValueError(
                f"Expected no column {name!r} in {file.name}, because the output has a column with that name."
            )
    summaries, *sources = ([line.row[column] for line in lines] for column in texts)
    scores_of = scoring.coherence_scores(
        summaries, names, sources=sources[0] if sources else (), options=needed
    )
    signature = scoring.coherence_signature(names, needed)
    scores = {name: values.tolist() for name, values in scores_of.items()}
    if output is not None:
        cells = zip(*measure_values(scores).values(), strict=True)
        rows = [
            {
                LINE: line.number,
                **other_columns(line.row, table),
                **dict(zip(names, values, strict=True)),
            }
            for line, values in zip(lines, cells, strict=True)
        ]
        write(output, rows, {"signature": signature})
    if output is None or not is_standard(output):
        scored, skipped = counted(len(lines), "summary"), counted(len(problems), "row")
        say(f"{scored} scored, {skipped} skipped")
        for name, values in scores_of.items():
            say(f"{name}: mean {values.mean():.4f} (higher is better)")
        say(signature)
        if output is not None:
            say_wrote(counted(len(lines), "row"), output)
    return 1 if problems else 0

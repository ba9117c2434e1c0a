"""``estime explain``: a pair -> its verdicts with their evidence, on the screen, as a page or data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from estime_metric._messages import counted
from estime_metric.checks import check_one_layer
from estime_metric.cli import options
from estime_metric.cli.console import say_wrote, warn_of_rows
from estime_metric.config import EstimeConfig
from estime_metric.examples import PATH as EXAMPLES
from estime_metric.measures import RECOMMENDED
from estime_metric.table.formats import Line
from estime_metric.table.output import check_writable, write_text
from estime_metric.table.pairs import no_pairs, read_lines, valid_lines
from estime_metric.table.rows import TABLES, Layout
from estime_metric.table.table import LINE, read, record_of, write

if TYPE_CHECKING:
    from estime_metric.explanation import Explanation

PAGE, DATA = ".html", ".jsonl"  # endings of what can be written
SHOWN = 10  # more pairs than this are not shown on the screen
EXAMPLE_ROW = 2  # row of the examples that is shown by default: an unfaithful summary


def explain(
    file: options.PairsFile | None = None,
    /,
    *,
    summary: str | None = None,
    source: str | None = None,
    example: bool = False,
    row: Annotated[list[int] | None, Parameter(alias="-r")] = None,
    worst: Annotated[options.PositiveCount | None, Parameter(metavar="N")] = None,
    function_words: Annotated[bool, Parameter(negative=())] = False,
    output: options.Output = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    texts: options.TextOptions = options.TEXTS,
    scoring: options.ScoringOptions = options.SCORING,
) -> int:
    """Show which words of a summary are likely errors, with the evidence in the source.

    New names come first, then new numbers, other new words, and alarms by their margin.

    Exit status: 0 if all pairs were explained, 1 if invalid rows were skipped, 2 on failure.

    Example: estime explain pairs.jsonl --row 3 -o pair.html

    Args:
        summary: A summary; needs --source.
        source: The text to judge it against.
        example: Explain a bundled example pair.
        row: Line of a pair in the file, as 'estime score' numbers them; may be given several times.
            (default: all; 2 with --example)
        worst: Explain the N pairs with the highest inconsistency, the worst first. If the file has the
            scores of 'estime score --keep-texts', these are used; otherwise all pairs are scored.
        function_words: Also list alarms on function words and on punctuation.
        output: Write a page (.html) or data (.jsonl, '-' for standard output).
    """
    inputs = texts.choose((file,) if file is not None else ())
    is_typed = summary is not None or source is not None
    is_whole = (summary is None) == (source is None)
    if bool(inputs) + example + is_typed != 1 or not is_whole:
        raise ValueError(
            "Expected exactly one of a file, text files, --example, or --summary together with "
            "--source."
        )
    if len(inputs) > 1:
        raise ValueError(f"Expected one text file of summaries, but got {len(inputs)}.")
    if worst is not None and (row or is_typed):
        raise ValueError("Expected one of --worst, --row and --summary, but got several.")
    chosen = scoring.settings()
    check_one_layer(EstimeConfig(**chosen).layers)
    if output is not None:
        read = [path for path in (*inputs, texts.source_file) if path is not None]
        check_writable(output, read, overwrite=overwrite, endings=(PAGE, DATA))
    problems: list[str] = []
    if summary is not None and source is not None:
        if row:
            raise ValueError("Expected --row with a file or --example, but got it with --summary.")
        layout: Layout = TABLES
        numbers, pairs = [1], [{"source": source, "summary": summary}]
    else:
        layout = texts
        path = Path(EXAMPLES) if example else inputs[0]
        lines = valid_lines(read_lines(path, texts), problems)
        if wanted := row or ([EXAMPLE_ROW] if example and worst is None else []):
            lines, problems = _only(lines, problems, wanted), []
        if not lines:
            raise no_pairs([path], texts, next(iter(problems), ""))
        number = min(worst or len(lines), len(lines))
        if output is None and number > SHOWN:
            raise ValueError(
                f"Expected at most {SHOWN} pairs for the screen, but got {number}. Select some "
                "with --row or --worst, or write a page with -o pairs.html."
            )
        if worst is not None:
            lines = _worst(path, lines, layout, chosen, progress=not quiet)[:worst]
        numbers, pairs = [line.number for line in lines], [line.row for line in lines]
    warn_of_rows(problems)
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    shown = EstimeScorer(**chosen).explain_pairs(
        [pair[layout.summary_column] for pair in pairs],
        [pair[layout.source_column] for pair in pairs],
        progress=not quiet and len(pairs) > SHOWN,
    )
    headings = [f"line {number}" for number in numbers] if len(shown) > 1 else [""]
    if output is None:
        _show(shown, headings, function_words=function_words)
    else:
        _write(output, shown, headings, numbers, worst_first=worst is None)
    return 1 if problems else 0


def _only(lines: list[Line], problems: Sequence[str], rows: Sequence[int]) -> list[Line]:
    """The lines with the given numbers, in the given order."""
    by_number = {line.number: line for line in lines}
    for row in rows:
        if row not in by_number:
            problem = next((text for text in problems if text.startswith(f"line {row}:")), "")
            last = f", the last on line {lines[-1].number}" if lines else ""
            raise ValueError(
                f"{problem}."
                if problem
                else f"Expected --row to be the line of a pair, but got {row} of {len(lines)} "
                f"pairs{last}."
            )
    return [by_number[row] for row in rows]


def _worst(
    path: Path, lines: list[Line], layout: Layout, chosen: Mapping[str, Any], *, progress: bool
) -> list[Line]:
    """The lines, the worst first: by the scores in the file if it has any."""
    if layout.source_file is None and record_of(path):
        scores = read(path, layout, skipped=[])
        if RECOMMENDED in scores:
            by_number = {line.number: line for line in lines}
            order = scores[RECOMMENDED].sort_values(ascending=False, kind="stable").index
            return [by_number[number] for number in order if number in by_number]
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    result = EstimeScorer(**chosen).score(
        [line.row[layout.summary_column] for line in lines],
        [line.row[layout.source_column] for line in lines],
        progress=progress,
    )
    return [lines[index] for index in result.worst(len(lines))]


def _show(shown: list[Explanation], headings: list[str], *, function_words: bool) -> None:
    from rich.console import Console

    from estime_metric.show import to_terminal

    console = Console()
    for number, (explanation, heading) in enumerate(zip(shown, headings, strict=True)):
        if heading:
            between = "\n" if number else ""
            console.print(f"{between}[bold]{heading}[/bold]", highlight=False)
        to_terminal(explanation, console, function_words=function_words)


def _write(
    output: Path,
    shown: list[Explanation],
    headings: list[str],
    numbers: list[int],
    *,
    worst_first: bool,
) -> None:
    if output.suffix.lower() == PAGE:
        from estime_metric.show import to_html

        write_text(output, to_html(shown, headings=headings, worst_first=worst_first))
    else:
        rows = []
        for line, explanation in zip(numbers, shown, strict=True):
            data = explanation.to_dict()
            rows.append({LINE: line, "summary": data.pop("prediction"), **data})
        write(output, rows)
    say_wrote(counted(len(shown), "pair"), output)

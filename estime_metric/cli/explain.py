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
from estime_metric.passages import Source
from estime_metric.table.output import check_writable, write_text
from estime_metric.table.pairs import Pair, no_pairs, read_pairs, valid_lines
from estime_metric.table.rows import Layout
from estime_metric.table.scores import Scores
from estime_metric.table.table import LINE, record_of, write

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
        function_words: List every word, also function words and punctuation.
        output: Write a page (.html) or data (.jsonl, '-' for standard output).
    """
    inputs = texts.choose((file,) if file is not None else ())
    _check_inputs(inputs, summary, source, example=example)
    if (summary is not None) + (worst is not None) + bool(row) > 1:
        raise ValueError("Expected one of --worst, --row and --summary, but got several.")
    settings = scoring.settings()
    check_one_layer(EstimeConfig(**settings).layers)
    if output is not None:
        read_files = [path for path in (*inputs, texts.source_file) if path is not None]
        check_writable(output, read_files, overwrite=overwrite, endings=(PAGE, DATA))
    problems: list[str] = []
    if summary is not None:
        lines = [Pair(Path("-"), 1, source=source or "", summary=summary)]
    else:
        path = inputs[0] if inputs else Path(EXAMPLES)
        rows = row or ([EXAMPLE_ROW] if example and worst is None else [])
        lines, problems = _read(path, texts, rows)
        number = min(worst or len(lines), len(lines))
        if output is None and number > SHOWN:
            raise ValueError(
                f"Expected at most {SHOWN} pairs for the screen, but got {number}. Select some "
                "with --row or --worst, or write a page with -o pairs.html."
            )
        if worst is not None:
            lines = _worst_first(path, lines, texts, settings, progress=not quiet)[:worst]
    warn_of_rows(problems)
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    explanations = EstimeScorer(**settings).explain_pairs(
        *_texts(lines), progress=not quiet and len(lines) > SHOWN
    )
    if output is None:
        _show(lines, explanations, function_words=function_words)
    else:
        _write(output, lines, explanations, worst_first=worst is None)
    return 1 if problems else 0


def _check_inputs(
    inputs: Sequence[Path], summary: str | None, source: str | None, *, example: bool
) -> None:
    """Raises ValueError unless there is one thing to explain."""
    is_typed = summary is not None or source is not None
    is_whole = (summary is None) == (source is None)
    if bool(inputs) + example + is_typed != 1 or not is_whole:
        raise ValueError(
            "Expected exactly one of a file, text files, --example, or --summary together with "
            "--source."
        )
    if len(inputs) > 1:
        raise ValueError(f"Expected one text file of summaries, but got {len(inputs)}.")


def _read(path: Path, layout: Layout, rows: Sequence[int]) -> tuple[list[Pair], list[str]]:
    """The pairs of a file, or those on the lines with the given numbers; and a sentence for each line that
    is skipped.
    """
    if rows:
        return _only(list(read_pairs(path, layout)), rows), []
    problems: list[str] = []
    lines = valid_lines(read_pairs(path, layout), problems)
    if not lines:
        raise no_pairs([path], layout, next(iter(problems), ""))
    return lines, problems


def _only(lines: Sequence[Pair], rows: Sequence[int]) -> list[Pair]:
    """The lines with the given numbers, in the given order."""
    by_number = {line.number: line for line in lines}
    for row in rows:
        if row not in by_number:
            pairs = [line.number for line in lines if not line.problem]
            last = f", the last on line {pairs[-1]}" if pairs else ""
            raise ValueError(
                f"Expected --row to be the line of a pair, but got {row} of {len(pairs)} pairs{last}."
            )
        if by_number[row].problem:
            raise ValueError(f"{by_number[row].sentence}.")
    return [by_number[row] for row in rows]


def _worst_first(
    path: Path, lines: list[Pair], layout: Layout, settings: Mapping[str, Any], *, progress: bool
) -> list[Pair]:
    """The lines, the worst first: by the scores in the file if it has any."""
    if layout.source_file is None and record_of(path):
        scores = Scores.read(path, layout, skipped=[]).frame
        if RECOMMENDED in scores:
            by_number = {line.number: line for line in lines}
            order = scores[RECOMMENDED].sort_values(ascending=False, kind="stable").index
            return [by_number[number] for number in order if number in by_number]
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    result = EstimeScorer(**settings).score(*_texts(lines), progress=progress)
    return [lines[index] for index in result.worst(len(lines))]


def _texts(pairs: list[Pair]) -> tuple[list[str], list[Source]]:
    """The summaries and the sources."""
    return [pair.summary for pair in pairs], [pair.source for pair in pairs]


def _headings(lines: list[Pair]) -> list[str]:
    """A line above each of several pairs."""
    return [f"line {line.number}" for line in lines] if len(lines) > 1 else [""]


def _show(lines: list[Pair], explanations: list[Explanation], *, function_words: bool) -> None:
    from rich.console import Console

    from estime_metric.show import to_terminal

    console = Console()
    for number, (heading, explanation) in enumerate(
        zip(_headings(lines), explanations, strict=True)
    ):
        if heading:
            between = "\n" if number else ""
            console.print(f"{between}[bold]{heading}[/bold]", highlight=False)
        to_terminal(explanation, console, function_words=function_words)


def _write(
    output: Path, lines: list[Pair], explanations: list[Explanation], *, worst_first: bool
) -> None:
    if output.suffix.lower() == PAGE:
        from estime_metric.show import to_html

        write_text(
            output, to_html(explanations, headings=_headings(lines), worst_first=worst_first)
        )
    else:
        rows = []
        for line, explanation in zip(lines, explanations, strict=True):
            data = explanation.to_dict()
            rows.append({LINE: line.number, "summary": data.pop("prediction"), **data})
        write(output, rows)
    say_wrote(counted(len(explanations), "pair"), output)

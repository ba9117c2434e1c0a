"""``estime explain``: a pair -> its verdicts with their evidence, on the screen, as a page, a plot
or data.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from estime_metric import files
from estime_metric.cli import options
from estime_metric.cli.console import say, warn
from estime_metric.config import EMBEDDED_SMALL_MODEL
from estime_metric.examples import PATH as EXAMPLES

if TYPE_CHECKING:
    from estime_metric.explanation import Explanation

PAGES, PLOTS, DATA = (
    (".html",),
    (".png", ".svg", ".pdf"),
    (".jsonl",),
)  # endings of what can be written
SHOWN = 10  # more pairs than this are not shown on the screen
EXAMPLE_ROW = 2  # row of the examples that is shown where none is asked for: an unfaithful summary


def explain(
    file: options.PairsFile | None = None,
    /,
    *,
    summary: str | None = None,
    source: str | None = None,
    example: bool = False,
    row: Annotated[list[int] | None, Parameter(alias="-r")] = None,
    output: options.Output = None,
    overwrite: options.Overwrite = False,
    source_column: options.SourceColumn = "source",
    summary_column: options.SummaryColumn = "summary",
    layer: Annotated[int | None, Parameter(alias="-l")] = None,
    units: options.UnitOptions = options.UnitOptions(),
) -> int:
    """Show the per-word verdicts behind the alarms, each with its evidence in the source.

    Exit status: 0, all pairs shown; 1, invalid rows skipped, the rest shown; 2, failed.

    Args:
        summary: A summary; needs --source.
        source: The text to judge it against.
        example: Explain a pair that ships with the package, with its own encoder.
        row: Line of a pair in FILE, as 'estime score' numbers them; may be given several times.
            (default: all; 2 with --example)
        output: Write a page (.html), a plot of one pair (.png, .svg, .pdf) or data (.jsonl, '-' for
            the screen).
        layer: Hidden layer. (default: by model)
    """
    typed = summary is not None or source is not None
    if (file is not None) + example + typed != 1 or (summary is None) != (source is None):
        raise ValueError("Give exactly one of FILE, --example, and --summary with --source.")
    chosen = {**({"model": EMBEDDED_SMALL_MODEL} if example else {}), **units.given()}
    if layer is not None:
        chosen["layers"] = layer
    if output is not None:
        files.check_writable(
            output, [file] if file else [], overwrite=overwrite, endings=(*PAGES, *PLOTS, *DATA)
        )
    if summary is not None and source is not None:
        if row:
            raise ValueError("Expected --row with a FILE or --example, but got it with --summary.")
        pairs = files.Pairs(lines=[1], sources=[source], summaries=[summary], others=[{}])
    else:
        pairs = files.read_pairs(file or EXAMPLES, source_column, summary_column)
        pairs = _only(pairs, row or ([EXAMPLE_ROW] if example else []))
    for problem in pairs.problems:
        warn(f"skipped {problem}")
    number = len(pairs.lines)
    if not number:
        raise ValueError(f"There is no pair in {file}.")
    if output is not None and output.suffix.lower() in PLOTS and number > 1:
        raise ValueError(f"Expected one pair for a plot, but got {number}: choose it with --row.")
    if output is None and number > SHOWN:
        raise ValueError(
            f"Expected at most {SHOWN} pairs for the screen, but got {number}: choose with --row, "
            "or write a page with -o pairs.html."
        )
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    scorer = EstimeScorer(**chosen)
    shown = scorer.explain_pairs(pairs.summaries, pairs.sources)
    headings = [f"line {line}" for line in pairs.lines] if len(shown) > 1 else [""]
    _show(shown, headings) if output is None else _write(output, shown, headings, pairs)
    return 1 if pairs.problems else 0


def _only(pairs: files.Pairs, rows: list[int]) -> files.Pairs:
    """The pairs on some lines, in the order asked for; all where none is named."""
    if not rows:
        return pairs
    chosen = files.Pairs()
    for row in rows:
        if row not in pairs.lines:
            why = [problem for problem in pairs.problems if problem.startswith(f"line {row}:")]
            found = (
                f"of {len(pairs.lines)} pairs, the last on line {pairs.lines[-1]}"
                if pairs.lines
                else "of no pairs"
            )
            raise ValueError(
                why[0]
                if why
                else f"Expected --row to be the line of a pair, but got {row} {found}."
            )
        index = pairs.lines.index(row)
        chosen.add(row, pairs.sources[index], pairs.summaries[index], pairs.others[index])
    return chosen


def _show(shown: list[Explanation], headings: list[str]) -> None:
    from rich.console import Console

    from estime_metric.explain import to_terminal

    console = Console()
    for number, (explanation, heading) in enumerate(zip(shown, headings, strict=True)):
        if heading:
            console.print(f"{chr(10) if number else ''}[bold]{heading}[/bold]", highlight=False)
        to_terminal(explanation, console)


def _write(output: Path, shown: list[Explanation], headings: list[str], pairs: files.Pairs) -> None:
    suffix = output.suffix.lower()
    if suffix in PAGES:
        from estime_metric.explain import to_html

        files.write_text(output, to_html(shown, headings=headings))
    elif suffix in PLOTS:
        from estime_metric.explain import plot_alarms

        with files.replaced(output) as unfinished:
            plot_alarms(shown[0]).savefig(unfinished, dpi=150)
    else:
        rows = zip(pairs.lines, shown, strict=True)
        files.write_rows(
            output, [{"line": line, **explanation.to_dict()} for line, explanation in rows]
        )
    if not files.is_standard(output):
        say(f"wrote {len(shown)} {'pair' if len(shown) == 1 else 'pairs'} to {output}")

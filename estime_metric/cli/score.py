"""``estime score``: pairs in a file -> alarms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from estime_metric import files
from estime_metric.cli import options
from estime_metric.cli.console import say, warn
from estime_metric.config import EMBEDDED_MODEL
from estime_metric.examples import PATH as EXAMPLES

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult

#: More pairs than this are not listed on the screen.
LISTED = 30


def score(
    file: options.PairsFile | None = None,
    /,
    *,
    example: Annotated[
        bool, Parameter(help="Score the pairs that ship with the package, with its own encoder.")
    ] = False,
    output: Annotated[
        Path | None, Parameter(alias="-o", help="Write scores to a .jsonl or .csv file; '-' for the screen.")
    ] = None,
    source_column: options.SourceColumn = "source",
    summary_column: options.SummaryColumn = "summary",
    quiet: options.Quiet = False,
    measure: options.MeasureOptions = options.MeasureOptions(),
) -> int:
    """Score summaries against their sources: the number of alarms, lower is better.

    Exit status: 0, all rows scored; 1, some rows hold no pair, the rest is scored; 2, nothing could be scored.
    """
    if (file is None) != example:
        raise ValueError("Give a FILE or --example, one of the two.")
    given = {**({"model": EMBEDDED_MODEL} if example else {}), **measure.given()}
    if output is not None:
        files.check_writable(output)
    pairs = files.read_pairs(file or EXAMPLES, source_column, summary_column)
    for problem in pairs.problems:
        warn(f"skipped {problem}")
    if not pairs.lines:
        raise ValueError(f"There is no pair in {file}.")
    from estime_metric.scorer import EstimeScorer  # brings torch, which takes its time

    scorer = EstimeScorer(**given)
    result = scorer.score(pairs.summaries, pairs.sources, progress=not quiet)
    if output is not None:
        files.write_rows(output, files.score_rows(pairs, result))
    elif len(result) <= LISTED:
        _print_pairs(pairs, result)
    if str(output) != "-":
        _print_summary(pairs, result)
    return 1 if pairs.problems else 0


def _print_pairs(pairs: files.Pairs, result: EstimeResult) -> None:
    """One line for each pair and layer; a ``verdict`` column of the input, as the examples have it, is shown too."""
    several = len(result.layers) > 1
    judged = any("verdict" in others for others in pairs.others)
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for name in ("line", *(["layer"] if several else []), "alarms", "overlap", "rate"):
        table.add_column(name, justify="right", no_wrap=True)
    if judged:
        table.add_column("verdict", no_wrap=True)
    table.add_column("summary", no_wrap=True, overflow="ellipsis")
    table.columns[-1].ratio = 1
    table.expand = True
    for layer in result.layers:
        alarms, overlap, rate = (result.values(name, layer) for name in ("alarms", "overlap", "alarm_rate"))
        for place, (line, others) in enumerate(zip(pairs.lines, pairs.others, strict=True)):
            cells = [str(line), *([str(layer)] if several else [])]
            cells += [f"{alarms[place]:.0f}", f"{overlap[place]:.0f}"]
            cells += ["" if rate[place].isnan() else f"{rate[place]:.3f}"]
            cells += [str(others.get("verdict", ""))] if judged else []
            table.add_row(*cells, Text(" ".join(pairs.summaries[place].split())))
    Console().print(table)


def _print_summary(pairs: files.Pairs, result: EstimeResult) -> None:
    say(f"{len(result)} pairs scored, {len(pairs.problems)} rows skipped")
    for layer in result.layers:
        say(
            f"layer {layer}: {_mean(result, 'alarms', layer):.3f} alarms a summary, "
            f"alarm rate {_mean(result, 'alarm_rate', layer):.4f}, "
            f"unsupported rate {_mean(result, 'unsupported_rate', layer):.4f} (lower is better); "
            f"coverage {result.coverage:.4f}"
        )
        for measure in result.config.measures:
            say(f"layer {layer}: mean {measure} {_mean(result, measure, layer):.4f}")
    for indices, said in (
        (result.unchecked, "pairs share no token, so nothing was checked in them"),
        (result.blank, "of the summaries are blank, and left out of every rate"),
    ):
        if indices:
            lines = ", ".join(str(pairs.lines[index]) for index in indices[:10])
            say(f"{len(indices)} {said}: line {lines}")
    say(result.signature)


def _mean(result: EstimeResult, measure: str, layer: int) -> float:
    """The mean over the pairs for which the measure is defined; the lines below say which those are not."""
    return float(result.values(measure, layer).nanmean())

"""``estime compare``: how several systems differ on the same sources."""

# Annotations are evaluated here, not postponed, because Cyclopts reads the annotations of option groups.
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from estime_metric.cli import options
from estime_metric.cli.console import as_typed, note, say, say_wrote, warn, warn_of_rows
from estime_metric.measures import HIGHER_IS_BETTER, PAPER_MEASURE, RECOMMENDED
from estime_metric.table.formats import WRITABLE, to_json
from estime_metric.table.output import (
    check_different,
    check_writable,
    is_standard,
    write_text,
)
from estime_metric.table.table import write

OUTPUTS = (*WRITABLE, ".json")

_COMPARED, _INPUT = Group("Comparison", sort_key=3), Group("Input", sort_key=1)


@Parameter(name="*", group=_COMPARED)
@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """Which systems are compared, and how.

    Attributes:
        baseline: Compare every system only with this one. Give its file name or system name.
            (default: compare all systems with each other)
        higher: Compared columns of other metrics in which higher values are better, comma-separated.
        lower: Compared columns of other metrics in which lower values are better, comma-separated.
        system_column: Column of the systems, if one table contains all of them. (default: system)
        id_column: Column that identifies the example, used to match rows across systems. (default:
            the source, and the position of the summary among the summaries of that source)
    """

    baseline: str | None = None
    measures: Annotated[
        str | None,
        Parameter(
            help=f"Measures to compare, comma-separated: {', '.join(HIGHER_IS_BETTER)}, or any other "
            f"columns of numbers in your files. (default: {RECOMMENDED}, {PAPER_MEASURE})"
        ),
    ] = None
    higher: str | None = None
    lower: str | None = None
    system_column: Annotated[str | None, Parameter(group=_INPUT)] = None
    id_column: Annotated[str | None, Parameter(group=_INPUT)] = None


COMPARISON = ComparisonOptions()


@Parameter(name="*", group=Group("Gate", sort_key=4))
@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """What --fail-if-worse lets pass.

    Attributes:
        tolerance: How much worse the mean of the first measure may be: the new system is worse only if
            the whole 95% interval of the difference lies beyond it. Blank summaries, copying and rows
            that failed have no tolerance.
        allow_shorter: Summaries may have less than a third of the words of the other system's.
        allow_copying: Summaries may copy longer runs of words than the other system's.
        range: Least and greatest possible value of the first measure, if it is a column of another
            metric (-inf inf: any value). Values outside it are failures, and none inside it is. (default:
            values far better than all of the other system's and one value in all rows are failures)
    """

    tolerance: float = 0.0
    allow_shorter: bool = False
    allow_copying: bool = False
    range: tuple[float, float] | None = None


GATE = GateOptions()


def compare(
    *paths: Annotated[Path, Parameter(name="FILES")],
    output: options.Output = None,
    plot: Path | None = None,
    as_json: Annotated[bool, Parameter(name="--json")] = False,
    fail_if_worse: bool = False,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    comparison: ComparisonOptions = COMPARISON,
    texts: options.TextOptions = options.TEXTS,
    gate: GateOptions = GATE,
) -> int:
    """Compare two or more systems on the same sources: means, differences, intervals and p-values.

    For each pair of systems, the command prints the difference with its interval and p-value, and how
    long the runs of words are that both systems copy. It does not say which system is better: a system
    that copies more has lower scores. P-values of several pairs of systems are corrected by Holm's
    method. Summaries of one source are drawn and swapped together.

    Files with scores are used unchanged, and all must have the same signature. A file with texts alone
    is scored first, with the settings of the files with scores, otherwise with the defaults. The command
    writes these scores to a file beside it, whose name ends in .scores.jsonl. If the command is stopped, run
    it again to resume. For other settings, use 'estime score' first. Columns of other metrics need neither
    an encoder nor a signature.

    Exit status: 0 if all rows were compared, 1 if some rows had no counterpart or could not be
    read, 2 on failure. With --fail-if-worse also 1 if values or texts are missing, 3 if the second system
    is significantly worse (by more than --tolerance) or has significantly more blank summaries, 4 if its
    copied_density is significantly higher by more than a quarter, 5 if it cannot be decided whether it is
    worse, for example because more than a fifth of its summaries have less than a third of the words. The
    last line names the reason.

    Example: estime compare a.jsonl b.jsonl

    Args:
        paths: One file per system: scores that 'estime score -o' wrote, pairs to be scored, or any
            table with a column of numbers. Or one file of all systems, with a column that names them.
        output: Write the numbers, one row per measure and comparison of two systems (.jsonl, .csv,
            .parquet), or everything as one object (.json).
        plot: Plot the first measure against copied_density, one point per system (.png, .svg, .pdf).
        as_json: Print one JSON object with all numbers and nothing else.
        fail_if_worse: Also say with the exit status whether the second of two systems (the one that is
            not the baseline) is worse by the first measure, or copies more.
    """
    if gate != GATE and not fail_if_worse:
        permitted = ", ".join(f"`{name}`" for name in vars(gate))
        raise ValueError(f"Expected {permitted} only with `fail_if_worse`.")
    inputs = texts.choose(paths)
    _check_outputs(inputs, texts, output, plot, as_json=as_json, overwrite=overwrite)
    # These import pandas: slow.
    from estime_metric.cli.printed_comparison import print_comparison
    from estime_metric.compare.gate import judge
    from estime_metric.compare.read import baseline_of, name_files, read_systems
    from estime_metric.compare.request import Gate, Request
    from estime_metric.compare.scoring import compare as compare_systems
    from estime_metric.compare.sentences import to_dict

    files = name_files(inputs)
    request = Request(layout=texts, **vars(comparison))
    request = replace(request, baseline=baseline_of(files, request.baseline))
    skipped: list[str] = []
    systems = read_systems(files, request, skipped)
    warn_of_rows(skipped)
    compared = compare_systems(
        systems,
        request,
        gate=Gate(**vars(gate)) if fail_if_worse else None,
        overwrite=overwrite,
        progress=not quiet,
        on_scoring=note,
    )
    for problem in compared.unmatched:
        warn(problem)
    content = to_dict(compared)
    content["notes"] = list(map(as_typed, content["notes"]))
    status = 1 if any(compared.skipped.values()) else 0
    reasons: list[str] = []
    if fail_if_worse:
        verdict, reasons = judge(compared, **vars(gate))
        status = int(verdict)
        reasons = list(map(as_typed, reasons))
        content |= {"verdict": verdict.name.lower(), "status": status, "reasons": reasons}
    if plot is not None:  # first, because a picture may be impossible
        from estime_metric.compare.plot import plot_copying
        from estime_metric.show.plot import save

        figure = plot_copying(compared, compared.measures[0])
        save(figure, plot)
    as_text = to_json(content, indent=2)
    if output is not None and output.suffix.lower() == ".json":
        write_text(output, as_text + "\n")
    elif output is not None:
        write(output, content["pairs"])
    if as_json:
        say(as_text)
    elif output is None or not is_standard(output):
        print_comparison(compared, content["notes"])
        if output is not None:
            say_wrote("the comparison", output)
        if plot is not None:
            say_wrote("the plot", plot)
    tell = warn if status else note
    for reason in reasons[1:]:
        tell(reason)
    if reasons:
        tell(f"exit status {status}: {reasons[0]}")
    return status


def _check_outputs(
    inputs: Sequence[Path],
    texts: options.TextOptions,
    output: Path | None,
    plot: Path | None,
    *,
    as_json: bool,
    overwrite: bool,
) -> None:
    """Refuses what cannot be compared or written, before anything is read."""
    if not inputs:
        raise ValueError(
            "Expected a file for each system, or one file of all systems, but got none."
        )
    check_different(inputs)
    if texts.summary_files and len(inputs) < 2:
        raise ValueError("Expected a text file of summaries for each system, but got only one.")
    if as_json and output is not None and is_standard(output):
        raise ValueError("Expected --json or the rows on standard output, but got both.")
    sources = [] if texts.source_file is None else [texts.source_file]
    for written, endings in ((output, OUTPUTS), (plot, options.PLOTS)):
        if written is not None:
            check_writable(written, [*inputs, *sources], overwrite=overwrite, endings=endings)
    if plot is not None:
        import estime_metric.compare.plot  # noqa: F401 - fails now, not after hours

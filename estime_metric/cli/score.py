"""``estime score``: pairs in files -> alarms."""

from __future__ import annotations

import math
import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
from tqdm import tqdm

from estime_metric import files
from estime_metric.cli import options
from estime_metric.cli.console import note, printable, say, warn
from estime_metric.config import EMBEDDED_SMALL_MODEL
from estime_metric.examples import PATH as EXAMPLES
from estime_metric.jobs import (
    Job,
    Report,
    Stop,
    Team,
    Workers,
    count_pairs,
    estimate_job,
    expand,
    score_files,
)
from estime_metric.measures import MEASURES, RECOMMENDED

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult

LISTED = 30  # more pairs than this are not listed on the screen
NAMED = 20  # invalid rows that are listed before they are only counted
#: Measures that are listed for each pair, and those whose means are printed, beside those asked
#: for.
_LISTED_MEASURES = (RECOMMENDED, "alarms", "tokens")
_MEANS = (*_LISTED_MEASURES, "coverage")


def score(
    *inputs: str,
    example: bool = False,
    output: options.Output = None,
    resume: bool = False,
    overwrite: options.Overwrite = False,
    dry_run: bool = False,
    keep_texts: bool = False,
    prefix: str = "",
    with_signature: bool = False,
    look_ahead: options.PositiveCount | None = None,
    threshold: Annotated[float | str | None, Parameter(metavar="VALUE|balanced")] = None,
    ray: Annotated[str | None, Parameter(metavar="[ADDRESS]")] = None,
    ray_cpus: options.PositiveCount = 1,
    source_column: options.SourceColumn = "source",
    summary_column: options.SummaryColumn = "summary",
    quiet: options.Quiet = False,
    measure: options.MeasureOptions = options.MeasureOptions(),
) -> int:
    """Score summaries against their sources; lower is better.

    Pairs are read, scored and written a chunk at a time. To resume a run that was stopped, even by
    kill -9, repeat the command with --resume.

    Several processes: torchrun --nproc-per-node N --no-python estime score ...; a Ray cluster:
    --ray.

    Exit status: 0, all rows scored; 1, invalid rows skipped, the rest scored; 2, failed or
    incomplete; 130 or 143, stopped by Ctrl-C or SIGTERM after the current chunk.

    Args:
        inputs: Files with a source and a summary in each row: .jsonl, .json, .csv, .tsv, .parquet,
            also with .gz or .zst behind; patterns such as 'data/*.jsonl'; '-' for JSON Lines on
            standard input.
        example: Score the pairs that ship with the package, with its own encoder.
        output: Write scores to a .jsonl, .csv or .parquet file; '-' for standard output.
        resume: Resume the output of a stopped run, if there is one.
        dry_run: Count the work, time a few pairs, and print what the job would take; write nothing.
        keep_texts: Write the sources and summaries beside the scores.
        prefix: Prefix of the output columns, such as estime_.
        with_signature: Write the signature into each row, not only beside the rows (.meta.json;
            Parquet's metadata).
        look_ahead: Pairs scored and written together; equal sources among them are encoded once.
            (default: as many as take about half a minute, 256 at most)
        threshold: Flag summaries with inconsistency of at least VALUE in the column 'flag';
            'balanced': the value documented for an encoder of the package.
        ray: Score on a Ray cluster: an actor for each GPU, or for each CPU if it has none. ADDRESS
            is HOST:PORT, 'auto' or 'local'; without it RAY_ADDRESS, the cluster that runs here, or
            a new one here. Not under torchrun, not with --dry-run.
        ray_cpus: CPUs for each actor of --ray.
    """
    if bool(inputs) == example:
        raise ValueError("Give a FILE or --example, one of the two.")
    if resume and overwrite:
        raise ValueError("Give --resume or --overwrite, not both.")
    if resume and output is None:
        raise ValueError("Expected --resume with --output, the file to resume.")
    if ray is not None and (dry_run or int(os.environ.get("WORLD_SIZE", "1")) > 1):
        raise ValueError(
            "Expected --ray without torchrun and without --dry-run: Ray has processes of its own."
        )
    job = Job(
        inputs=(Path(EXAMPLES),) if example else expand(inputs),
        output=output,
        source_column=source_column,
        summary_column=summary_column,
        prefix=prefix,
        keep_texts=keep_texts,
        with_signature=with_signature,
        look_ahead=look_ahead,
        threshold=threshold,
    )
    given = {**({"model": EMBEDDED_SMALL_MODEL} if example else {}), **measure.given()}
    if dry_run:
        return _estimate(job, given, quiet)
    existing = "resume" if resume else "overwrite" if overwrite else "refuse"
    if ray is not None:
        from estime_metric.integrations.ray import RayTeam

        with closing(RayTeam(None if ray == "any" else ray, num_cpus=ray_cpus)) as actors:
            return _run(job, given, existing, quiet, actors)
    team = Team.of_environment()
    if team is None:
        return _run(job, given, existing, quiet, Workers())
    from torch import cuda

    if cuda.is_available():  # the device of this process among those of its machine
        given = {"device": f"cuda:{os.environ.get('LOCAL_RANK', '0')}", **given}
    status = _run(job, given, existing, quiet or team.rank > 0, team)
    if status < 128:  # no signal has ended a process: all come to this
        team.leave()
    if status == 1:
        note(
            "because of invalid rows torchrun will report this process as failed; the output is complete"
        )
    return status


def _run(job: Job, given: dict[str, Any], existing: str, quiet: bool, workers: Workers) -> int:
    from estime_metric.scorer import EstimeScorer  # brings torch, which takes its time

    first = workers.rank == 0  # the others score, and say nothing but errors
    shown: list[tuple[files.Pairs, EstimeResult]] = []
    scored = skipped = 0

    def on_start(pairs: int) -> None:
        nonlocal scored
        scored = pairs
        if pairs:
            note(f"{pairs} pairs were scored before")
        bar.total = None if quiet else count_pairs(job)
        bar.update(pairs)

    def on_chunk(pairs: files.Pairs, result: EstimeResult) -> None:
        nonlocal scored, skipped
        for problem in pairs.problems[: max(NAMED - skipped, 0)]:
            with tqdm.external_write_mode():
                warn(f"skipped {problem}")
        skipped += len(pairs.problems)
        scored += len(pairs)
        shown.append((pairs, result)) if scored <= LISTED else shown.clear()
        bar.update(len(pairs))

    with (
        Stop(
            lambda: note("stopping after the current chunk; press Ctrl-C again to stop at once")
        ) as stop,
        tqdm(unit="pair", disable=quiet, dynamic_ncols=True, delay=0.001) as bar,
    ):
        try:
            scorer = EstimeScorer(**given)
            report = score_files(
                job,
                scorer,
                existing=existing,
                on_start=on_start,
                on_chunk=on_chunk,
                stop=lambda: stop.asked,
                workers=workers,
            )
            bar.refresh()
        except BaseException:
            bar.close()
            _say_how_to_resume(job, scored)
            raise
    if skipped > NAMED:
        warn(f"skipped {skipped - NAMED} more rows")
    if not report.done:
        if first:
            _say_how_to_resume(job, scored)
        return 128 + stop.signal
    if not first:
        return 0
    if not report.totals.pairs:
        raise ValueError("There is no pair on standard input.")
    if job.output is None and len(shown) and report.totals.pairs <= LISTED:
        _print_pairs(shown)
    if job.streams:
        note(report.signature)
    else:
        _print_totals(report)
        if job.output is not None:
            say(f"wrote {report.totals.pairs} rows to {job.output}")
    return 1 if report.totals.skipped else 0


def _estimate(job: Job, given: dict[str, Any], quiet: bool) -> int:
    from estime_metric.scorer import EstimeScorer

    with tqdm(unit="pair", desc="counting", disable=quiet, dynamic_ncols=True, delay=0.001) as bar:
        found = estimate_job(
            job, EstimeScorer(**given), on_chunk=lambda pairs: bar.update(len(pairs))
        )
    say(f"{found.pairs} pairs of {found.sources} different sources, {found.skipped} rows skipped")
    say(
        f"{found.tokens} tokens in {found.windows} windows ({found.positions} positions), equal texts counted once"
    )
    say(
        f"longest source: {found.longest} tokens, {_duration(found.longest_seconds)} of the time below"
    )
    memory = "" if found.memory is None else f" and at least {found.memory / 1e9:.1f} GB of memory"
    say(f"expected: {_duration(found.seconds)}{memory}; {found.calibrated} pairs were timed")
    return 1 if found.skipped else 0


def _duration(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} seconds"


def _say_how_to_resume(job: Job, scored: int) -> None:
    if scored and job.output is not None and not job.streams:
        note(f"{scored} pairs are scored in {job.output}; repeat the command with --resume")


def _print_pairs(chunks: list[tuple[files.Pairs, EstimeResult]]) -> None:
    """One line for each pair and layer; a ``verdict`` column of the input, as the examples have it,
    is shown too.
    """
    first = chunks[0][1]
    measures = tuple(dict.fromkeys((*_LISTED_MEASURES, *first.config.measures)))
    judged = any("verdict" in others for pairs, _ in chunks for others in pairs.others)
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, expand=True)
    several = len(first.layers) > 1
    for name in ("line", *(["layer"] if several else []), *measures):
        table.add_column(name, justify="right", no_wrap=True)
    if judged:
        table.add_column("verdict", no_wrap=True)
    table.add_column("summary", no_wrap=True, overflow="ellipsis", ratio=1)
    for layer in first.layers:
        for pairs, result in chunks:
            values = [result.values(name, layer).tolist() for name in measures]
            for index, (line, others) in enumerate(zip(pairs.lines, pairs.others, strict=True)):
                cells = [str(line), *([str(layer)] if several else [])]
                cells += [
                    _shown(name, column[index])
                    for name, column in zip(measures, values, strict=True)
                ]
                cells += [str(others.get("verdict", ""))] if judged else []
                cells += [" ".join(pairs.summaries[index].split())]
                table.add_row(*(Text(printable(cell)) for cell in cells))
    Console().print(table)


def _shown(measure: str, value: float) -> str:
    if math.isnan(value):
        return ""
    return f"{value:.0f}" if MEASURES[measure].kind == "count" else f"{value:.3f}"


def _print_totals(report: Report) -> None:
    totals = report.totals
    say(
        f"{totals.pairs} pairs scored, {totals.skipped} rows skipped, {totals.blank} summaries blank"
    )
    layers = report.config.layer_tuple
    for layer in layers:
        end = f"@{layer}" if len(layers) > 1 else ""
        means = {name: totals.mean(f"{name}{end}") for name in (*_MEANS, *report.config.measures)}
        say(
            f"layer {layer}: {RECOMMENDED} {means[RECOMMENDED]:.4f}, {means['alarms']:.3f} alarms a summary (lower is "
            f"better); {means['tokens']:.1f} tokens a summary, coverage {means['coverage']:.4f}"
        )
        for name in report.config.measures:
            if name not in _MEANS:
                say(f"layer {layer}: mean {name} {means[name]:.4f}")
    if report.flagged_from is not None:
        say(
            f"{totals.flagged} summaries flagged: {RECOMMENDED} of at least {report.flagged_from:g}"
        )
    for number, lines, said in (
        (
            totals.unchecked,
            totals.unchecked_lines,
            "summaries have no token in common with their source (not checked)",
        ),
        (
            totals.blank,
            totals.blank_lines,
            f"summaries are blank ({RECOMMENDED} {MEASURES[RECOMMENDED].blank:g})",
        ),
    ):
        if number:
            say(
                f"{number} {said}: line {', '.join(map(str, lines))}{' ...' if number > len(lines) else ''}"
            )
    say(report.signature)

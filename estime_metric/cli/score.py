"""``estime score``: pairs in files -> alarms."""

# Annotations are evaluated here, not postponed: Cyclopts reads those of a group of options.
import os
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich import box
from rich.table import Table
from rich.text import Text
from tqdm import tqdm

from estime_metric import files
from estime_metric.cli import options
from estime_metric.cli.console import (
    WIDE,
    counted,
    note,
    printable,
    say,
    say_wrote,
    table_console,
    warn,
)
from estime_metric.config import EMBEDDED_SMALL_MODEL, EstimeConfig
from estime_metric.examples import PATH as EXAMPLES
from estime_metric.jobs import (
    ChunkScores,
    Job,
    Report,
    Stop,
    Team,
    Totals,
    Workers,
    count_pairs,
    estimate_job,
    expand,
    is_launched,
    score_files,
)
from estime_metric.measures import MEASURES, RECOMMENDED, reported_name

LISTED = 30  # more pairs than this are not listed on the screen
NAMED = 20  # invalid rows that are listed before they are only counted
#: Measures that are listed for each pair, and those whose means are printed, in addition to those
#: asked for.
_LISTED_MEASURES = (RECOMMENDED, "alarms", "tokens")
_MEANS = (*_LISTED_MEASURES, "coverage")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """What is written, and what becomes of an output that exists.

    Attributes:
        output: Write scores to a .jsonl, .csv or .parquet file; '-' for standard output.
        resume: Resume the output of a stopped run, if there is one.
        keep_texts: Also write the sources and summaries to the output.
        prefix: Prefix of the output columns, such as estime_.
        with_signature: Also write the signature to every row. By default it is only in the
            .meta.json file or in the Parquet metadata.
        look_ahead: Number of pairs per chunk. Identical sources within a chunk are encoded once.
            (default: about half a minute of work, at most 256)
        threshold: Add a column 'flag' that is 1 if the inconsistency is at least VALUE. 'balanced'
            uses the documented threshold of a bundled encoder.
    """

    output: options.Output = None
    resume: bool = False
    overwrite: options.Overwrite = False
    keep_texts: bool = False
    prefix: Annotated[str, Parameter(allow_leading_hyphen=True, show_default=False)] = ""
    with_signature: bool = False
    look_ahead: options.PositiveCount | None = None
    threshold: Annotated[float | str | None, Parameter(metavar="VALUE|balanced")] = None

    @property
    def existing(self) -> str:
        """What is done with an output that exists; ValueError if the options contradict each
        other.
        """
        if self.resume and self.overwrite:
            raise ValueError("Expected --resume or --overwrite, but got both.")
        if self.resume and self.output is None:
            raise ValueError("Expected --output with --resume: name the file to resume.")
        return "resume" if self.resume else "overwrite" if self.overwrite else "refuse"

    def job(self, inputs: tuple[Path, ...], layout: files.Layout) -> Job:
        """The job that scores the inputs."""
        return Job(
            inputs=inputs,
            output=self.output,
            layout=layout,
            prefix=self.prefix,
            keep_texts=self.keep_texts,
            with_signature=self.with_signature,
            look_ahead=self.look_ahead,
            threshold=self.threshold,
        )


NO_OUTPUT = OutputOptions()


def score(
    *inputs: str,
    example: bool = False,
    dry_run: bool = False,
    ray: Annotated[str | None, Parameter(metavar="[ADDRESS]")] = None,
    ray_cpus: options.PositiveCount = 1,
    quiet: options.Quiet = False,
    output: OutputOptions = NO_OUTPUT,
    table: options.TableOptions = options.TABLE,
    texts: options.TextOptions = options.TEXT_FILES,
    measure: options.MeasureOptions = options.MEASURE,
) -> int:
    """Score summaries against their sources; lower is better.

    Pairs are read, scored and written in chunks. If a run is interrupted, even by kill -9, run the
    same command again with --resume.

    Several processes: torchrun --nproc-per-node N --no-python estime score ...; a Ray cluster:
    --ray.

    Exit status: 0 if all rows were scored, 1 if invalid rows were skipped, 2 if the run failed or
    is incomplete, 130 or 143 if it was stopped by Ctrl-C or SIGTERM after the current chunk.

    Args:
        inputs: Files with one pair of source and summary per row: .jsonl, .json, .csv, .tsv (each
            also as .gz or .zst) or .parquet. Glob patterns such as 'data/*.jsonl' are allowed. Use
            '-' to read JSON Lines from standard input.
        example: Score the bundled example pairs with the encoder embedded-small.
        dry_run: Estimate the time and memory that the job needs, from the size of the input and a
            few timed pairs. Nothing is written.
        ray: Score on a Ray cluster with one actor per GPU, or per CPU if there are no GPUs. ADDRESS
            is HOST:PORT, 'auto' or 'local'. Without ADDRESS, RAY_ADDRESS is used if it is set, then
            a cluster running on this machine, then a new local one. Cannot be combined with
            torchrun or --dry-run.
        ray_cpus: Number of CPUs per Ray actor.
    """
    given = texts.choose(tuple(map(Path, inputs)))
    if bool(given) == example:
        raise ValueError(
            f"Expected either files or --example, but got {'both' if example else 'neither'}."
        )
    if ray is not None and (dry_run or is_launched()):
        raise ValueError(
            "Expected --ray alone, but got it with torchrun or --dry-run: Ray starts its own "
            "processes."
        )
    existing = output.existing
    paths = (Path(EXAMPLES),) if example else expand(given)
    job = output.job(paths, table.layout(texts.source_file))
    chosen = {**({"model": EMBEDDED_SMALL_MODEL} if example else {}), **measure.given()}
    if dry_run:
        return _estimate(job, chosen, quiet)
    if ray is not None:
        from estime_metric.integrations.ray import RayTeam

        with closing(RayTeam(None if ray == "any" else ray, num_cpus=ray_cpus)) as actors:
            return _run(job, chosen, existing, quiet, actors)
    team = Team.of_environment()
    if team is None:
        return _run(job, chosen, existing, quiet, Workers())
    return _run_in_team(job, chosen, existing, quiet, team)


def _run_in_team(job: Job, chosen: dict[str, Any], existing: str, quiet: bool, team: Team) -> int:
    from torch import cuda

    if cuda.is_available():  # the device of this process among those of its machine
        chosen = {"device": f"cuda:{os.environ.get('LOCAL_RANK', '0')}", **chosen}
    status = _run(job, chosen, existing, quiet or team.rank > 0, team)
    if status < 128:  # no signal has ended a process: all come to this
        team.leave()
    if status == 1:
        note(
            "The output is complete. Because invalid rows were skipped, torchrun will report this "
            "process as failed."
        )
    return status


class _Progress:
    """What the screen shows while a job runs: a bar, the invalid rows, and the first pairs."""

    def __init__(self, job: Job, quiet: bool) -> None:
        self._job, self._quiet = job, quiet
        self.bar = tqdm(unit="pair", disable=quiet, dynamic_ncols=True, delay=0.001)
        self.scored = self.skipped = 0
        self.shown: list[tuple[files.Pairs, ChunkScores]] = []

    def start(self, resumed: int) -> None:
        """Called before the first chunk, with the pairs that an earlier run has scored."""
        self.scored = resumed
        if resumed:
            note(f"{counted(resumed, 'pair')} already scored")
        self.bar.total = None if self._quiet else count_pairs(self._job)
        self.bar.update(resumed)

    def add(self, pairs: files.Pairs, scores: ChunkScores) -> None:
        """Called with each chunk that is scored."""
        for problem in pairs.problems[: max(NAMED - self.skipped, 0)]:
            with tqdm.external_write_mode():
                warn(f"skipped {problem}")
        self.skipped += len(pairs.problems)
        self.scored += len(pairs)
        if self.scored <= LISTED:
            self.shown.append((pairs, scores))
        else:
            self.shown.clear()
        self.bar.update(len(pairs))

    def say_how_to_resume(self) -> None:
        """Called when a job ends early."""
        output = self._job.output
        if self.scored and output is not None and not files.is_standard(output):
            note(
                f"{counted(self.scored, 'pair')} already scored in {output}. Run the command again "
                "with --resume to continue."
            )


def _run(job: Job, chosen: dict[str, Any], existing: str, quiet: bool, workers: Workers) -> int:
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    progress = _Progress(job, quiet)
    with Stop(_say_that_it_stops) as stop, progress.bar:
        try:
            report = score_files(
                job,
                EstimeScorer(**chosen),
                existing=existing,
                on_start=progress.start,
                on_chunk=progress.add,
                stop=lambda: stop.asked,
                workers=workers,
            )
            progress.bar.refresh()
        except BaseException:
            progress.bar.close()
            progress.say_how_to_resume()
            raise
    is_first = workers.rank == 0  # the others score, and say nothing but errors
    if progress.skipped > NAMED:
        warn(f"skipped {counted(progress.skipped - NAMED, 'more row')}")
    if not report.done:
        if is_first:
            progress.say_how_to_resume()
        return 128 + stop.signal
    return _report(job, report, progress) if is_first else 0


def _say_that_it_stops() -> None:
    note("Stopping after the current chunk. Press Ctrl-C again to stop immediately.")


def _report(job: Job, report: Report, progress: _Progress) -> int:
    totals = report.totals
    if not totals.pairs:
        raise ValueError("Expected pairs on standard input, but got none.")
    if job.output is None and progress.shown and totals.pairs <= LISTED:
        _print_pairs(progress.shown, report.config, job)
    if job.output is not None and files.is_standard(job.output):
        note(report.signature)
    else:
        _print_totals(report)
        if job.output is not None:
            say_wrote(counted(totals.pairs, "row"), job.output)
    return 1 if totals.skipped else 0


def _estimate(job: Job, chosen: dict[str, Any], quiet: bool) -> int:
    from estime_metric.scorer import EstimeScorer

    with tqdm(unit="pair", desc="counting", disable=quiet, dynamic_ncols=True, delay=0.001) as bar:
        found = estimate_job(
            job, EstimeScorer(**chosen), on_chunk=lambda pairs: bar.update(len(pairs))
        )
    say(
        f"{counted(found.pairs, 'pair')} of {counted(found.sources, 'different source')}, "
        f"{counted(found.skipped, 'row')} skipped"
    )
    say(
        f"{counted(found.tokens, 'token')} in {counted(found.windows, 'window')} "
        f"({counted(found.positions, 'encoder position')}); identical texts are counted once"
    )
    say(
        f"longest source: {counted(found.longest, 'token')}, which takes "
        f"{_duration(found.longest_seconds)} of the expected time"
    )
    memory = ""
    if found.memory is not None:
        memory = f"; expected memory: at least {found.memory / 1e9:.1f} GB"
    timed = counted(found.calibrated, "timed pair")
    say(f"expected time: {_duration(found.seconds)}{memory} (based on {timed})")
    return 1 if found.skipped else 0


def _duration(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} seconds"


def _print_pairs(
    shown: list[tuple[files.Pairs, ChunkScores]], config: EstimeConfig, job: Job
) -> None:
    """One line for each pair and layer; a ``verdict`` column of the input, as the examples have it,
    is shown too.
    """
    layers = config.layer_tuple
    measures = tuple(dict.fromkeys((*_LISTED_MEASURES, *config.measures)))
    named = [
        name
        for name in ("file", "verdict")
        if any(name in others for pairs, _ in shown for others in pairs.others)
    ]
    console = table_console()
    grid = Table(
        box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, expand=console.width < WIDE
    )
    for name in ("line", *(["layer"] if len(layers) > 1 else []), *measures):
        grid.add_column(name, justify="right", no_wrap=True)
    for name in named:
        grid.add_column(name, no_wrap=True)
    grid.add_column("summary", no_wrap=True, overflow="ellipsis", ratio=1)
    for layer in layers:
        for pairs, scores in shown:
            columns = [scores.values[reported_name(name, layer, layers)] for name in measures]
            for index, (line, others) in enumerate(zip(pairs.lines, pairs.others, strict=True)):
                cells = [str(line), *([str(layer)] if len(layers) > 1 else [])]
                cells += [
                    _shown(name, column[index])
                    for name, column in zip(measures, columns, strict=True)
                ]
                cells += [str(others.get(name, "")) for name in named]
                cells += [" ".join(pairs.summaries[index].split())]
                grid.add_row(*(Text(printable(cell)) for cell in cells))
    console.print(grid)


def _shown(measure: str, value: files.Number) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if MEASURES[measure].kind == "count" else f"{value:.3f}"


def _print_totals(report: Report) -> None:
    totals = report.totals
    say(
        f"{counted(totals.pairs, 'pair')} scored, {counted(totals.skipped, 'row')} skipped, "
        f"{counted(totals.blank, 'blank summary')}"
    )
    for layer in report.config.layer_tuple:
        _print_means(totals, layer, report.config)
    if report.flagged_from is not None:
        say(
            f"{counted(totals.flagged, 'summary')} flagged "
            f"({RECOMMENDED} >= {report.flagged_from:g})"
        )
    if totals.unchecked:
        lines = _listed(totals.unchecked_lines, totals.unchecked)
        shared = (
            "shares no token with its source"
            if totals.unchecked == 1
            else ("share no token with their source")
        )
        say(f"{counted(totals.unchecked, 'summary')} {shared}, so nothing was checked: {lines}")
    if totals.blank:
        lines = _listed(totals.blank_lines, totals.blank)
        worst = f"{RECOMMENDED} {MEASURES[RECOMMENDED].blank:g}"
        say(f"{counted(totals.blank, 'blank summary')} ({worst}): {lines}")
    say(report.signature)


def _print_means(totals: Totals, layer: int, config: EstimeConfig) -> None:
    layers = config.layer_tuple
    means = {
        name: totals.mean(reported_name(name, layer, layers))
        for name in (*_MEANS, *config.measures)
    }
    say(
        f"layer {layer}: {RECOMMENDED} {means[RECOMMENDED]:.4f}, {means['alarms']:.3f} alarms per "
        f"summary (lower is better); {means['tokens']:.1f} tokens per summary, coverage "
        f"{means['coverage']:.4f}"
    )
    for name in config.measures:
        if name not in _MEANS:
            say(f"layer {layer}: mean {name} {means[name]:.4f}")


def _listed(lines: list[int], number: int) -> str:
    more = " ..." if number > len(lines) else ""
    return f"line {', '.join(map(str, lines))}{more}"

"""``estime score``: pairs in files -> alarms."""

# Annotations are evaluated here, not postponed, because Cyclopts reads the annotations of option
# groups.
import json
import os
from array import array
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from tqdm import tqdm

from estime_metric import files
from estime_metric.cli import options
from estime_metric.cli.console import (
    NAMED_ROWS,
    counted,
    note,
    say,
    say_wrote,
    warn,
    warn_of_more_rows,
)
from estime_metric.cli.scored import (
    Explained,
    print_estimate,
    print_pairs,
    print_report,
    print_worst,
    worst_as_dicts,
)
from estime_metric.config import EMBEDDED_SMALL_MODEL
from estime_metric.examples import PATH as EXAMPLES
from estime_metric.jobs import (
    ChunkScores,
    Job,
    JobPairs,
    MeansByFile,
    NotResumableError,
    Report,
    Stop,
    Team,
    Values,
    Workers,
    WorstPairs,
    count_pairs,
    estimate_job,
    expand,
    score_files,
)
from estime_metric.measures import RECOMMENDED

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer

LISTED = 30  # more pairs than this are not listed on the screen
WORST = 10  # flagged summaries that are named, unless --worst says how many
FILES = 30  # more input files than this have no means of their own


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
        threshold: Flag summaries with an inconsistency of at least VALUE: in the column 'flag' of
            the output and the table, and in a list of the worst with their words. 'balanced' uses
            the documented threshold of a bundled encoder.
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


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ShownOptions:
    """What the screen shows.

    Attributes:
        json: Print one JSON object and nothing else: means with 95% intervals by source, counts,
            seconds, the signature and its short form; with --dry-run, the estimate.
        score_only: Print the mean inconsistency and nothing else.
        short: Print the short form of the signature, for the caption of a table.
        worst: List the worst summaries with their lines and words, at most N. (default: 10 if
            --threshold is set, otherwise 0)
        plot: Plot how the inconsistency is distributed, and the worst summaries (.png, .svg, .pdf).
    """

    json: bool = False
    score_only: Annotated[bool, Parameter(alias="-b")] = False
    short: bool = False
    worst: Annotated[options.Count | None, Parameter(metavar="N")] = None
    plot: Path | None = None

    def check(self, output: OutputOptions, *, dry_run: bool) -> None:
        """Refuses options that contradict each other or that have no effect together
        (ValueError).
        """
        if self.json and self.score_only:
            raise ValueError("Expected --json or --score-only, but got both.")
        for option, is_given in (
            ("--short", self.short),
            ("--worst", bool(self.worst)),
            ("--dry-run", dry_run),
        ):
            if self.score_only and is_given:
                raise ValueError(
                    f"Expected --score-only without {option}, because it prints one number."
                )
        if (self.json or self.score_only) and output.output and files.is_standard(output.output):
            raise ValueError(
                f"Expected {'--json' if self.json else '--score-only'} or the rows on standard "
                "output, but got both."
            )
        if self.worst and output.output and files.is_standard(output.output):
            raise ValueError("Expected --worst or the rows on standard output, but got both.")

    def number_of_worst(self, job: Job) -> int:
        """How many of the worst summaries are listed."""
        if self.worst is not None:
            return self.worst
        return 0 if job.threshold is None else WORST


NO_OUTPUT, SHOWN = OutputOptions(), ShownOptions()


def score(
    *inputs: str,
    example: bool = False,
    dry_run: bool = False,
    quiet: options.Quiet = False,
    output: OutputOptions = NO_OUTPUT,
    shown: ShownOptions = SHOWN,
    table: options.TableOptions = options.TABLE,
    texts: options.TextOptions = options.TEXT_FILES,
    measure: options.MeasureOptions = options.MEASURE,
) -> int:
    """Score summaries against their sources; lower is better.

    Pairs are read, scored and written in chunks. If a run is interrupted, even by kill -9, run the
    same command again with --resume.

    Several processes: torchrun --nproc-per-node N --no-python estime score ...

    Exit status: 0 if all rows were scored, 1 if invalid rows were skipped, 2 on failure, 130 or
    143 if it was stopped by Ctrl-C or SIGTERM after the current chunk.

    Example: estime score pairs.jsonl -m embedded -o scores.jsonl

    Args:
        inputs: Files with one pair of source and summary per row: .jsonl, .json, .csv, .tsv (each
            also as .gz or .zst) or .parquet. Glob patterns such as 'data/*.jsonl' are allowed. Use
            '-' to read JSON Lines from standard input.
        example: Score the bundled example pairs with the encoder embedded-small.
        dry_run: Estimate the time and memory that the job needs, from the size of the input and a
            few timed pairs. Nothing is written.
    """
    given = texts.choose(tuple(map(Path, inputs)))
    if bool(given) == example:
        raise ValueError(
            f"Expected either files or --example, but got {'both' if example else 'neither'}."
        )
    existing = output.existing
    shown.check(output, dry_run=dry_run)
    paths = (Path(EXAMPLES),) if example else expand(given)
    job = output.job(paths, table.layout(texts.source_file))
    chosen = {**({"model": EMBEDDED_SMALL_MODEL} if example else {}), **measure.given()}
    if dry_run:
        return _estimate(job, chosen, quiet, as_json=shown.json)
    if shown.plot is not None:
        overwrite = output.overwrite or output.resume
        files.check_writable(shown.plot, job.read_files, overwrite=overwrite, endings=options.PLOTS)
        import estime_metric.comparison.plots  # noqa: F401 - fails now, not after hours
    run = _Run(job, chosen, existing, shown, quiet)
    team = Team.of_environment()
    return run(Workers()) if team is None else _run_in_team(run, team)


def _run_in_team(run: "_Run", team: Team) -> int:
    from torch import cuda

    if cuda.is_available():  # the device of this process on its machine
        device = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
        run = replace(run, chosen={"device": device, **run.chosen})
    status = replace(run, quiet=run.quiet or team.rank > 0)(team)
    if status < 128:  # no signal has ended a process: all come to this
        team.leave()
    if status == 1:
        note(
            "The output is complete. Because invalid rows were skipped, torchrun will report this "
            "process as failed."
        )
    return status


class _Progress:
    """What the screen shows while a job runs: a bar, the invalid rows, and the first pairs; and
    what is shown of all pairs in the end.
    """

    def __init__(self, job: Job, shown: ShownOptions, quiet: bool) -> None:
        self._job, self._quiet = job, quiet
        self.values = array("d") if shown.plot is not None else None
        number = shown.number_of_worst(job)
        only_flagged = job.threshold is not None
        self.worst = WorstPairs(job, number, only_flagged=only_flagged)
        self.plotted = WorstPairs(job, WORST, only_flagged=False)
        is_short = 1 < len(job.inputs) <= FILES
        self.by_file = MeansByFile(job) if is_short else None
        self.lists_worst = number > 0
        self.needs_one_layer = self.lists_worst or shown.plot is not None
        self.sees_all = self.needs_one_layer or is_short
        self.bar = tqdm(unit="pair", disable=quiet, dynamic_ncols=True, delay=0.001)
        self.scored = self.skipped = 0
        self.shown: list[tuple[JobPairs, ChunkScores]] = []

    def start(self, resumed: int) -> None:
        """Called before the first chunk, with the pairs that an earlier run has scored."""
        self.scored = resumed
        if resumed:
            note(f"{counted(resumed, 'pair')} already scored")
        self.bar.total = None if self._quiet else count_pairs(self._job)
        self.bar.update(resumed)

    def add(self, pairs: JobPairs, scores: ChunkScores) -> None:
        """Called with each chunk that is scored."""
        for problem in pairs.problems[: max(NAMED_ROWS - self.skipped, 0)]:
            with tqdm.external_write_mode():
                warn(f"skipped {problem}")
        self.skipped += len(pairs.problems)
        self.scored += len(pairs)
        if self.scored <= LISTED:
            self.shown.append((pairs, scores))
        else:
            self.shown.clear()
        self.bar.update(len(pairs))

    def see(self, pairs: JobPairs, values: Values) -> None:
        """Called with all pairs and their values, including earlier runs."""
        if self.by_file is not None:
            self.by_file.add(pairs, values)
        if self.lists_worst:
            self.worst.add(pairs, values)
        if self.values is not None:
            self.values.extend(value for value in values[RECOMMENDED] if value is not None)
            self.plotted.add(pairs, values)

    def say_how_to_resume(self) -> None:
        """Called when a job ends early."""
        output = self._job.output
        if self.scored and output is not None and not files.is_standard(output):
            note(
                f"{counted(self.scored, 'pair')} already scored in {output}. Run the command again "
                "with --resume to continue."
            )


@dataclass(frozen=True)
class _Run:
    """A job that is scored once: what is scored with which options, and what is shown of it."""

    job: Job
    chosen: dict[str, Any]
    existing: str
    shown: ShownOptions
    quiet: bool

    def __call__(self, workers: Workers) -> int:
        """Scores the job and returns the exit status."""
        from estime_metric.scorer import EstimeScorer  # imports torch: slow

        scorer = EstimeScorer(**self.chosen)
        progress = _Progress(self.job, self.shown, self.quiet)
        if progress.needs_one_layer or self.shown.score_only:
            self._check_one_layer(scorer)
        with Stop(_say_that_it_stops) as stop, progress.bar:
            try:
                report = score_files(
                    self.job,
                    scorer,
                    existing=self.existing,
                    on_start=progress.start,
                    on_chunk=progress.add,
                    on_scored=progress.see if progress.sees_all else None,
                    stop=lambda: stop.asked,
                    workers=workers,
                )
                progress.bar.refresh()
            except BaseException as error:
                progress.bar.close()
                if not isinstance(error, NotResumableError):
                    progress.say_how_to_resume()
                raise
        is_first = workers.rank == 0  # the others score, and say nothing but errors
        warn_of_more_rows(progress.skipped)
        if not report.done:
            if is_first:
                progress.say_how_to_resume()
            return 128 + stop.signal
        if is_first:
            self._show(report, progress, scorer)
        return 1 if is_first and report.totals.skipped else 0

    def _check_one_layer(self, scorer: "EstimeScorer") -> None:
        layers = scorer.resolved_config.layer_tuple
        if len(layers) > 1:
            needs_one_layer = {
                "threshold": self.job.threshold is not None,
                "worst": bool(self.shown.worst),
                "plot": self.shown.plot is not None,
                "score_only": self.shown.score_only,
            }
            option = next(name for name, needs_it in needs_one_layer.items() if needs_it)
            raise ValueError(
                f"Expected one layer with `{option}`, but got the layers "
                f"{', '.join(map(str, layers))}."
            )

    def _show(self, report: Report, progress: _Progress, scorer: "EstimeScorer") -> None:
        job, shown = self.job, self.shown
        if not report.totals.pairs:
            raise ValueError("Expected pairs on standard input, but got none.")
        for path in report.without_pairs:
            warn(f"{path} has no pair")
        explained = progress.worst.explained(scorer)
        is_data = shown.json or shown.score_only
        if shown.json:
            say(json.dumps(_as_dict(report, explained, progress), ensure_ascii=False, indent=1))
        elif shown.score_only:
            say(f"{report.interval(RECOMMENDED).mean:.4f}")
        elif job.output is not None and files.is_standard(job.output):
            note(report.signature.short if shown.short else report.signature)
            is_data = True
        else:
            if job.output is None and progress.shown and report.totals.pairs <= LISTED:
                print_pairs(progress.shown, report.config, job)
            if explained or job.threshold is not None:
                print_worst(report, explained, job)
            by_file = progress.by_file.intervals() if progress.by_file is not None else {}
            print_report(report, by_file, job, short=shown.short)
        if job.output is not None:
            self._say_output(report, job.output, on_stderr=is_data)
        if shown.plot is not None and progress.values is not None:
            self._plot(shown.plot, report, progress)
            say_wrote("the plot", shown.plot, on_stderr=is_data)

    def _say_output(self, report: Report, output: Path, *, on_stderr: bool) -> None:
        rows = counted(report.totals.pairs, "row")
        if report.resumed < report.totals.pairs:
            say_wrote(rows, output, on_stderr=on_stderr)
        else:
            (note if on_stderr else say)(f"{output} was already complete: {rows}")

    def _plot(self, path: Path, report: Report, progress: _Progress) -> None:
        from estime_metric.comparison.plots.distribution import NamedValue, plot_distribution
        from estime_metric.comparison.plots.style import save

        several = self.job.has_several_inputs
        worst = [
            NamedValue(
                name=f"{Path(pair.file).name if several else ''} line {pair.line}".strip(),
                text=pair.summary,
                value=pair.value,
            )
            for pair in progress.plotted.pairs
        ]
        save(
            plot_distribution(
                progress.values or [],
                measure=RECOMMENDED,
                mean=report.interval(RECOMMENDED),
                worst=worst,
                threshold=report.flagged_from,
            ),
            path,
        )


def _as_dict(report: Report, explained: Explained, progress: _Progress) -> dict[str, Any]:
    found = report.to_dict()
    if progress.by_file is not None:
        found["files"] = {
            file: {name: one.to_dict() for name, one in means.items()}
            for file, means in progress.by_file.intervals().items()
        }
    if progress.lists_worst:
        found["worst"] = worst_as_dicts(explained)
    return found


def _say_that_it_stops() -> None:
    note("Stopping after the current chunk. Press Ctrl-C again to stop immediately.")


def _estimate(job: Job, chosen: dict[str, Any], quiet: bool, *, as_json: bool) -> int:
    from estime_metric.scorer import EstimeScorer

    with tqdm(unit="pair", desc="counting", disable=quiet, dynamic_ncols=True, delay=0.001) as bar:
        found = estimate_job(
            job, EstimeScorer(**chosen), on_chunk=lambda pairs: bar.update(len(pairs))
        )
    if as_json:
        say(json.dumps(asdict(found), indent=1))
    else:
        print_estimate(found)
    return 1 if found.skipped else 0

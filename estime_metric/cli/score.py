"""``estime score``: pairs in files -> alarms."""

# Annotations are evaluated here, not postponed, because Cyclopts reads the annotations of option
# groups.
import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from estime_metric import files
from estime_metric._wording import counted
from estime_metric.cli import options
from estime_metric.cli.console import note, say, say_wrote, warn
from estime_metric.cli.scored import (
    Explained,
    print_estimate,
    print_pairs,
    print_report,
    print_worst,
    worst_as_dicts,
)
from estime_metric.cli.waiting import Bar
from estime_metric.examples import PATH as EXAMPLES
from estime_metric.jobs import (
    Job,
    NotResumableError,
    Report,
    Stop,
    estimate_job,
    expand,
    score_files,
)
from estime_metric.measures import RECOMMENDED
from estime_metric.validation import check_one_layer

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer

WORST = 10  # flagged summaries that are named, unless --worst says how many
REPEATED = 0.05  # a larger share of sources that were encoded again is mentioned

#: A variable that ``torchrun`` sets. Schedulers set WORLD_SIZE too, for other programs.
_LAUNCHED = "TORCHELASTIC_RUN_ID"


@Parameter(name="*", group=Group("Output", sort_key=4))
@dataclass(frozen=True, kw_only=True)
class OutputOptions(Job):
    """The job, and what becomes of an output that exists.

    Attributes:
        resume: Resume the output of a stopped run, if there is one.
    """

    inputs: Annotated[tuple[Path, ...], options.NO_OPTION] = ()
    layout: Annotated[files.Layout, options.NO_OPTION] = files.TABLES
    look_ahead: Annotated[int | None, options.NO_OPTION] = None
    output: options.Output = None
    resume: bool = False
    overwrite: options.Overwrite = False
    prefix: Annotated[str, Parameter(show_default=False)] = ""
    threshold: Annotated[float | None, Parameter(metavar="VALUE")] = None

    @property
    def existing(self) -> str:
        """What is done with an output that exists; ValueError if the options contradict each
        other.
        """
        if self.resume and self.overwrite:
            raise ValueError("Expected --resume or --overwrite, but got both.")
        if self.resume and (self.output is None or files.is_standard(self.output)):
            raise ValueError("Expected a file as --output with --resume: name the one to resume.")
        return "resume" if self.resume else "overwrite" if self.overwrite else "refuse"


@Parameter(name="*", group=Group("Report", sort_key=5))
@dataclass(frozen=True, kw_only=True)
class ShownOptions:
    """What the screen shows.

    Attributes:
        json: Print one JSON object and nothing else: means with 95% intervals by source, counts,
            seconds, the signature and its short form; with --dry-run, the estimate.
        score_only: Print the mean inconsistency and nothing else.
        worst: List the worst summaries with their lines and words, at most N. (default: 10 if
            --threshold is set, otherwise 0)
        plot: Plot how the inconsistency is distributed, and the worst summaries (.png, .svg, .pdf).
    """

    json: bool = False
    score_only: Annotated[bool, Parameter(alias="-b")] = False
    worst: Annotated[options.Count | None, Parameter(metavar="N")] = None
    plot: Path | None = None

    def check(self, output: Path | None, *, dry_run: bool) -> None:
        """Refuses what cannot be on standard output together (ValueError)."""
        is_rows = output is not None and files.is_standard(output)
        streams = {"--json": self.json, "--score-only": self.score_only, "rows": is_rows}
        printed = [name for name, is_printed in streams.items() if is_printed]
        if self.worst and (self.score_only or is_rows):
            printed.insert(0, "--worst")
        if dry_run and self.score_only:
            printed.insert(0, "--dry-run")
        if len(printed) > 1:
            raise ValueError(
                f"Expected {printed[0]} or {printed[1]} on standard output, but got both."
            )

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
    texts: options.TextOptions = options.TEXTS,
    measure: options.MeasureOptions = options.MEASURE,
) -> int:
    """Score summaries against their sources; lower is better.

    Pairs are read, scored and written in chunks. If a run is interrupted, even by kill -9, run the
    same command again with --resume.

    Exit status: 0 if all rows were scored, 1 if invalid rows were skipped, 2 on failure, 130 or
    143 if it was stopped by Ctrl-C or SIGTERM after the current chunk.

    Example: estime score pairs.jsonl -o scores.jsonl

    Args:
        inputs: Files with one pair of source and summary per row: .jsonl, .json, .csv, .tsv (each
            also as .gz) or .parquet. Glob patterns such as 'data/*.jsonl' are allowed. Use
            '-' to read JSON Lines from standard input.
        example: Score the bundled example pairs.
        dry_run: Estimate the time and memory that the job needs, from the characters of the input
            and a few timed pairs. Nothing is written.
    """
    if _LAUNCHED in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise ValueError(
            "Expected a single process, but torchrun has started several, which would all score "
            "everything. Use Ray Data instead: see 'Several GPUs or machines' on the page 'Command "
            "line' of the documentation."
        )
    patterns = texts.choose(tuple(map(Path, inputs)))
    if bool(patterns) == example:
        raise ValueError(
            f"Expected either files or --example, but got {'both' if example else 'neither'}."
        )
    existing = output.existing
    shown.check(output.output, dry_run=dry_run)
    paths = (Path(EXAMPLES),) if example else expand(patterns, output.output)
    job = replace(output, inputs=paths, layout=texts)
    chosen = measure.settings()
    if dry_run:
        return _estimate(job, chosen, as_json=shown.json)
    if shown.plot is not None:
        overwrite = output.overwrite or output.resume
        files.check_writable(shown.plot, job.read_files, overwrite=overwrite, endings=options.PLOTS)
        import estime_metric.comparison.plots  # noqa: F401 - fails now, not after hours
    return _score(job, chosen, existing, shown, quiet=quiet)


def _score(
    job: Job, chosen: dict[str, Any], existing: str, shown: ShownOptions, *, quiet: bool
) -> int:
    """Scores the job and returns the exit status."""
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    scorer = EstimeScorer(**chosen)
    _check_one_layer(scorer, shown)
    with Bar(job, quiet=quiet) as bar, Stop(lambda: _say_that_it_stops(bar)) as stop:
        try:
            report = score_files(
                job,
                scorer,
                existing=existing,
                worst=max(shown.number_of_worst(job), 0 if shown.plot is None else WORST),
                progress=bar,
                stop=lambda: stop.requested,
            )
        except BaseException as error:
            if not isinstance(error, NotResumableError):
                bar.say_how_to_resume()
            raise
    if not report.done:
        bar.say_how_to_resume()
        return 128 + stop.signal
    _show(report, job, shown, scorer)
    return 1 if report.totals.skipped else 0


def _check_one_layer(scorer: "EstimeScorer", shown: ShownOptions) -> None:
    """A threshold is checked by the job."""
    for option, value in (
        ("--worst", shown.worst),
        ("--plot", shown.plot),
        ("--score-only", shown.score_only),
    ):
        if value:
            check_one_layer(scorer.resolved_config.layers, f" with {option}")


def _show(report: Report, job: Job, shown: ShownOptions, scorer: "EstimeScorer") -> None:
    if not report.totals.pairs:
        raise ValueError("Expected pairs on standard input, but got none.")
    for path in report.without_pairs:
        warn(f"{path} has no pair")
    explained = _explained(report, job, shown, scorer)
    is_data = shown.json or shown.score_only
    if shown.json:
        flags = {} if job.threshold is None else {"threshold": report.flagged_from}
        content = {
            **report.to_dict(),
            **flags,
            "seconds": round(report.seconds, 3),
            "signature": report.signature,
            "short_signature": report.signature.short,
        }
        if shown.number_of_worst(job):
            content["worst"] = worst_as_dicts(explained)
        say(json.dumps(content, ensure_ascii=False, indent=1))
    elif shown.score_only:
        say(f"{report.interval(RECOMMENDED).mean:.4f}")
    elif job.output is not None and files.is_standard(job.output):
        note(report.signature)
        is_data = True
    else:
        if report.first and job.output is None:
            print_pairs(report, job)
        if explained or job.threshold is not None:
            print_worst(report, explained, job)
        print_report(report, job)
    _say_repeated(report)
    if job.output is not None:
        _say_output(report, job.output, on_stderr=is_data)
    if shown.plot is not None:
        _plot(shown.plot, report, job)
        say_wrote("the plot", shown.plot, on_stderr=is_data)


def _explained(
    report: Report, job: Job, shown: ShownOptions, scorer: "EstimeScorer"
) -> list[Explained]:
    """The worst summaries, the worst first, each with the verdicts on its words if its texts are
    known; if the job has a threshold, only those that it flags.
    """
    listed = [pair for pair in report.worst if job.threshold is None or pair.is_flagged]
    listed = listed[: shown.number_of_worst(job)]
    if not listed:
        return []
    texts = [pair.texts for pair in listed if pair.texts is not None]
    explanations = iter(
        scorer.explain_pairs([summary for _, summary in texts], [source for source, _ in texts])
    )
    return [(pair, None if pair.texts is None else next(explanations)) for pair in listed]


def _say_output(report: Report, output: Path, *, on_stderr: bool) -> None:
    rows = counted(report.totals.pairs, "row")
    if report.resumed < report.totals.pairs:
        say_wrote(rows, output, on_stderr=on_stderr)
    else:
        (note if on_stderr else say)(f"{output} was already complete: {rows}")


def _say_repeated(report: Report) -> None:
    if report.repeated > REPEATED * report.encoded:
        share = report.repeated / report.encoded
        note(
            f"{counted(report.repeated, 'source')} of {report.encoded} were encoded again, because "
            f"their rows are far apart. If you sort the input by source, {share:.0%} of the sources "
            "need not be encoded."
        )


def _plot(path: Path, report: Report, job: Job) -> None:
    from estime_metric.comparison.plots.distribution import NamedValue, plot_distribution
    from estime_metric.report.style import save

    worst = [
        NamedValue(
            name=f"{Path(pair.file).name if job.has_several_inputs else ''} line {pair.line}".strip(),
            text="" if pair.texts is None else pair.texts[1],
            value=pair.values[RECOMMENDED] or 0.0,
        )
        for pair in report.worst[:WORST]
    ]
    figure = plot_distribution(
        report.values,
        measure=RECOMMENDED,
        mean=report.interval(RECOMMENDED),
        worst=worst,
        threshold=report.flagged_from,
    )
    save(figure, path)


def _say_that_it_stops(bar: Bar) -> None:
    note(
        f"Stopping after the current chunk, about ten seconds of work for two idle cores; "
        f"{counted(bar.kept, 'pair')} scored before it. Press Ctrl-C again to stop immediately."
    )


def _estimate(job: Job, chosen: dict[str, Any], *, as_json: bool) -> int:
    from estime_metric.scorer import EstimeScorer

    estimate = estimate_job(job, EstimeScorer(**chosen))
    if as_json:
        say(json.dumps(asdict(estimate), indent=1))
    else:
        print_estimate(estimate)
    return 1 if estimate.skipped else 0

"""``estime score``: pairs in files -> alarms."""

# Annotations are evaluated here, not postponed, because Cyclopts reads the annotations of option
# groups.
import json
import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from estime_metric._wording import counted
from estime_metric.checks import check_one_layer
from estime_metric.cli import options
from estime_metric.cli.console import note, say, say_wrote, warn
from estime_metric.cli.scored import (
    Explained,
    print_pairs,
    print_report,
    print_worst,
    worst_as_dicts,
)
from estime_metric.cli.waiting import Bar
from estime_metric.examples import PATH as EXAMPLES
from estime_metric.jobs import Job, Report, expand, score_files
from estime_metric.measures import RECOMMENDED, check_threshold
from estime_metric.table.output import is_standard
from estime_metric.table.rows import TABLES, Layout

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer

WORST = 10  # flagged summaries that are named, unless --worst says how many
ABOVE = 3  # the exit status if the mean is above --fail-above

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
    layout: Annotated[Layout, options.NO_OPTION] = TABLES
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
        if self.resume and (self.output is None or is_standard(self.output)):
            raise ValueError("Expected a file as --output with --resume: name the one to resume.")
        return "resume" if self.resume else "overwrite" if self.overwrite else "refuse"


@Parameter(name="*", group=Group("Report", sort_key=5))
@dataclass(frozen=True, kw_only=True)
class ShownOptions:
    """What the screen shows.

    Attributes:
        json: Print one JSON object and nothing else: means with 95% intervals by source, counts,
            seconds, the signature and its short form.
        score_only: Print the mean inconsistency and nothing else.
        worst: List the worst summaries with their lines and words, at most N. (default: 10 if
            --threshold is set, otherwise 0)
        fail_above: Exit with status 3 if the mean inconsistency is above VALUE or undefined.
    """

    json: bool = False
    score_only: Annotated[bool, Parameter(alias="-b")] = False
    worst: Annotated[options.Count | None, Parameter(metavar="N")] = None
    fail_above: Annotated[float | None, Parameter(metavar="VALUE")] = None

    def check(self, output: Path | None) -> None:
        """Refuses two contents of standard output, and a limit that no mean can be above (ValueError)."""
        if self.fail_above is not None:
            check_threshold(self.fail_above, RECOMMENDED, "fail_above")
        is_rows = output is not None and is_standard(output)
        if self.json + self.score_only + is_rows > 1 or (
            self.worst and (self.score_only or is_rows)
        ):
            raise ValueError("Expected one of --json, --score-only and -o - (without --worst).")

    def number_of_worst(self, job: Job) -> int:
        """How many of the worst summaries are listed."""
        if self.worst is not None:
            return self.worst
        return 0 if job.threshold is None else WORST


NO_OUTPUT, SHOWN = OutputOptions(), ShownOptions()


def score(
    *inputs: str,
    example: bool = False,
    quiet: options.Quiet = False,
    output: OutputOptions = NO_OUTPUT,
    shown: ShownOptions = SHOWN,
    texts: options.TextOptions = options.TEXTS,
    measure: options.MeasureOptions = options.MEASURE,
) -> int:
    """Score summaries against their sources; lower is better.

    Pairs are read, scored and written in chunks. If a run is interrupted, even by kill -9, run the
    same command again with --resume.

    Exit status: 0 if all rows were scored, 1 if invalid rows were skipped, 2 on failure, 3 if the
    mean inconsistency is above --fail-above, 130 or 143 if it was stopped by Ctrl-C or SIGTERM.

    Example: estime score pairs.jsonl -o scores.jsonl

    Args:
        inputs: Files with one pair of source and summary per row: .jsonl, .json, .csv, .tsv (each
            also as .gz) or .parquet. Glob patterns such as 'data/*.jsonl' are allowed. Use
            '-' to read JSON Lines from standard input.
        example: Score the bundled example pairs.
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
    shown.check(output.output)
    paths = (Path(EXAMPLES),) if example else expand(patterns, output.output)
    job = replace(output, inputs=paths, layout=texts)
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    scorer = EstimeScorer(**measure.settings())
    _check_one_layer(scorer, shown)
    with Bar(job, quiet=quiet) as bar:
        report = score_files(
            job, scorer, existing=existing, worst=shown.number_of_worst(job), progress=bar
        )
    _show(report, job, shown, scorer)
    if shown.fail_above is not None:
        mean = report.interval(RECOMMENDED).mean
        if math.isnan(mean) or mean > shown.fail_above:
            state = "undefined" if math.isnan(mean) else f"above {shown.fail_above:g}"
            warn(f"the mean {RECOMMENDED} {mean:.4f} is {state}")
            return ABOVE
    return 1 if report.skipped else 0


def _check_one_layer(scorer: "EstimeScorer", shown: ShownOptions) -> None:
    """A threshold is checked by the job."""
    for option, is_given in (
        ("--worst", shown.worst),
        ("--score-only", shown.score_only),
        ("--fail-above", shown.fail_above is not None),
    ):
        if is_given:
            check_one_layer(scorer.resolved_config.layers, f" with {option}")


def _show(report: Report, job: Job, shown: ShownOptions, scorer: "EstimeScorer") -> None:
    for path in report.without_pairs:
        warn(f"{path} has no pair")
    explained = _explained(report, job, shown, scorer)
    is_data = shown.json or shown.score_only
    if shown.json:
        flags = {} if job.threshold is None else {"threshold": job.threshold}
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
    elif job.output is not None and is_standard(job.output):
        note(report.signature.short)
        is_data = True
    else:
        if report.first and job.output is None:
            print_pairs(report, job)
        if explained or job.threshold is not None:
            print_worst(report, explained, job)
        print_report(report, job)
    if job.output is not None:
        _say_output(report, job.output, on_stderr=is_data)


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
    explained, _ = scorer.explain_checked(
        [summary for _, summary in texts], [source for source, _ in texts]
    )
    explanations = iter(explained)
    return [(pair, None if pair.texts is None else next(explanations)) for pair in listed]


def _say_output(report: Report, output: Path, *, on_stderr: bool) -> None:
    rows = counted(report.pairs, "row")
    if report.resumed < report.pairs:
        say_wrote(rows, output, on_stderr=on_stderr)
    else:
        (note if on_stderr else say)(f"{output} was already complete: {rows}")

"""``estime score``: pairs in files -> alarms."""

# Annotations are evaluated here, not postponed, because Cyclopts reads the annotations of option
# groups.
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from estime_metric._messages import counted
from estime_metric.checks import check_one_layer
from estime_metric.cli import options
from estime_metric.cli.console import note, say, say_wrote, skipped_rows, warn
from estime_metric.cli.printed_scores import (
    Explained,
    print_pairs,
    print_report,
    print_worst,
    worst_as_dicts,
)
from estime_metric.examples import PATH as EXAMPLES
from estime_metric.jobs import Job, Report, score_files
from estime_metric.jobs.report import LISTED
from estime_metric.table.formats import to_json
from estime_metric.table.output import is_standard
from estime_metric.table.table import FLAG

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer

WORST = 10  # flagged summaries that are named, unless --worst says how many

#: A variable that ``torchrun`` sets. Schedulers set WORLD_SIZE too, for other programs.
_LAUNCHED = "TORCHELASTIC_RUN_ID"


@Parameter(name="*", group=Group("Output", sort_key=4))
@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """What is written, and what becomes of an output that exists.

    Attributes:
        output: Write scores to a .jsonl, .csv or .parquet file; '-' for standard output. If it is a
            link, to its target.
        resume: Resume the output of a stopped run, if there is one.
        keep_texts: Also write the sources and summaries to the output.
        prefix: Prefix of the output columns, such as estime_.
        threshold: Flag summaries with an inconsistency of at least VALUE: in the column 'flag' of
            the output and the table, and in a list of the worst with their words. 'estime
            calibrate' chooses a threshold for your texts.
    """

    output: options.Output = None
    resume: bool = False
    overwrite: options.Overwrite = False
    keep_texts: bool = False
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
        worst: List the worst summaries with their lines and words, at most N. (default: 10 if
            --threshold is set, otherwise 0)
    """

    json: bool = False
    worst: Annotated[options.Count | None, Parameter(metavar="N")] = None


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
    same command again with --resume. Without --output, the texts are in the system's temporary folder
    until the run ends.

    Exit status: 0 if all rows were scored, 1 if invalid rows were skipped, 2 on failure, 130, 141 or
    143 if it was stopped by Ctrl-C, a closed pipe or SIGTERM.

    Example: estime score pairs.jsonl -o scores.jsonl

    Args:
        inputs: Files with one pair of source and summary per row: .jsonl, .json, .csv, .tsv (each
            also as .gz) or .parquet. Use '-' to read JSON Lines from standard input.
        example: Score the bundled example pairs.
    """
    if _LAUNCHED in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise ValueError(
            "Expected a single process, but torchrun has started several, which would all score "
            "everything. Use Ray Data instead: see 'Several GPUs or machines' on the page 'Command "
            "line' of the documentation."
        )
    paths = texts.choose(tuple(map(Path, inputs)))
    if bool(paths) == example:
        raise ValueError(
            "Expected either files or --example, but got both."
            if example
            else "Expected either files or --example, but got neither. Use - to read JSON Lines from standard "
            "input."
        )
    existing = output.existing
    if output.output is not None and is_standard(output.output) and (shown.json or shown.worst):
        raise ValueError("Expected -o - or one of --json and --worst, but got both.")
    job = Job(
        inputs=(Path(EXAMPLES),) if example else paths,
        layout=texts,
        output=output.output,
        keep_texts=output.keep_texts,
        prefix=output.prefix,
        threshold=output.threshold,
    )
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    scorer = EstimeScorer(**measure.settings())
    if shown.worst:
        check_one_layer(scorer.resolved_config.layers, " with --worst")
    worst = shown.worst
    if worst is None:
        worst = 0 if job.threshold is None else WORST
    with skipped_rows() as name_row:
        report = score_files(
            job,
            scorer,
            existing=existing,
            worst=worst,
            progress=not quiet,
            on_problem=name_row,
        )
    explained = _explained(report, scorer) if worst else None
    _show(report, job, explained, as_json=shown.json)
    return 1 if report.scores.skipped else 0


def _show(report: Report, job: Job, explained: Explained | None, *, as_json: bool) -> None:
    """Prints a report, with the worst summaries if these are listed."""
    if report.resumed and not report.was_complete:
        appended = f", {counted(report.appended, 'line')} appended since" if report.appended else ""
        note(f"{counted(report.resumed, 'pair')} already scored{appended}")
    for path in report.without_pairs:
        warn(f"{path} has no pair")
    signature = report.config.signature()
    if as_json:
        flags = {} if job.threshold is None else {"threshold": job.threshold}
        content = {
            **report.to_dict(),
            **flags,
            "seconds": round(report.seconds, 3),
            "signature": signature,
            "short_signature": signature.short,
        }
        if explained is not None:
            content["worst"] = worst_as_dicts(report, explained)
        say(to_json(content, indent=1))
    elif job.output is not None and is_standard(job.output):
        note(signature.short)
    else:
        if job.output is None and report.summary.pairs <= LISTED:
            print_pairs(report)
        if explained or job.threshold is not None:
            print_worst(report, explained or {}, job.threshold)
        print_report(report)
    if job.output is None:
        return
    rows = counted(report.summary.pairs, "row")
    if report.was_complete:
        (note if as_json else say)(f"{job.output} was already complete: {rows}")
    else:
        say_wrote(rows, job.output, on_stderr=as_json)


def _explained(report: Report, scorer: "EstimeScorer") -> Explained:
    """The worst summaries, the worst first; if the job has a threshold, only those that it flags."""
    pairs = report.scores.frame
    worst = [position for position in report.worst if FLAG not in pairs or pairs[FLAG][position]]
    explained: Explained = dict.fromkeys(worst)
    if known := [position for position in worst if position in report.texts]:
        sources, summaries = zip(*(report.texts[position] for position in known), strict=True)
        explanations, _ = scorer.explain_checked(list(summaries), list(sources))  # warned of before
        explained.update(zip(known, explanations, strict=True))
    return explained

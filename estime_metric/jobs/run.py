"""A job from its first chunk to its last, or to the signal that stops it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from estime_metric import files
from estime_metric.config import EstimeConfig
from estime_metric.jobs.chunks import (
    Chunk,
    Digest,
    JobPairs,
    cut_chunks,
    kept_columns,
    refuse_clashes,
    refuse_further_columns,
)
from estime_metric.jobs.earlier import EarlierScores, OnScored, Values
from estime_metric.jobs.inputs import first_pairs, job_lines
from estime_metric.jobs.job import Job, chunk_limits
from estime_metric.jobs.output import EXISTING, Output, opened_output
from estime_metric.jobs.record import NotResumableError, Record
from estime_metric.jobs.team import ChunkScores, Workers
from estime_metric.jobs.totals import Totals, totals_of
from estime_metric.measures import RECOMMENDED, reported_name
from estime_metric.signature import Signature
from estime_metric.stats.intervals import Interval
from estime_metric.validation import check_choice

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult
    from estime_metric.scorer import EstimeScorer

_HEAD = 256  # pairs of the input that determine the columns of CSV


@dataclass(frozen=True)
class Report:
    """How a run ended.

    Attributes:
        totals: totals of all scored pairs, including earlier runs.
        means: for each measure (``alarms``, or ``alarms_layer12`` if there are several layers) the
            mean of these pairs with its 95% interval by source; empty if the input is not scored
            to its end, and on all processes but the first.
        few_sources: as `BootstrapMeans.few_sources`.
        done: whether the whole input is scored.
        resumed: pairs that an earlier run had scored.
        config: the fully resolved configuration.
        without_pairs: the inputs in which no row is a pair, once the whole input is scored.
        flagged_from: the threshold of the flags, if any.
        seconds: duration of this run, without loading the encoder.
    """

    totals: Totals
    means: Mapping[str, Interval]
    few_sources: int | None
    done: bool
    resumed: int
    config: EstimeConfig
    without_pairs: tuple[Path, ...] = ()
    flagged_from: float | None = None
    seconds: float = 0.0

    @property
    def signature(self) -> Signature:
        """The signature of the scores."""
        return self.config.signature()

    def interval(self, measure: str, layer: int | None = None) -> Interval:
        """The mean of a measure with its 95% interval by source.

        ``layer`` is one of several layers. ValueError: the job does not have the measure or the
        layer, or it is not done.
        """
        layers = self.config.layer_tuple
        name = measure if layer is None else reported_name(measure, layer, layers)
        check_choice("measure", name, tuple(self.means))
        return self.means[name]

    def to_dict(self) -> dict[str, Any]:
        """Everything about the whole job as plain numbers and strings, for JSON: as
        `EstimeResult.to_dict`, with ``skipped`` (invalid rows), ``seconds``, and with a threshold
        ``flagged`` (summaries) and ``threshold``.
        """
        totals = self.totals
        flags = {"flagged": totals.flagged, "threshold": self.flagged_from}
        return {
            "pairs": totals.pairs,
            "skipped": totals.skipped,
            "blank": totals.blank,
            "unchecked": totals.unchecked,
            **({} if self.flagged_from is None else flags),
            "measures": {name: one.to_dict() for name, one in self.means.items()},
            "seconds": round(self.seconds, 3),
            "signature": str(self.signature),
            "short_signature": self.signature.short,
        }


def score_files(
    job: Job,
    scorer: EstimeScorer,
    *,
    existing: str = "refuse",
    on_chunk: Callable[[JobPairs, ChunkScores], None] | None = None,
    on_start: Callable[[int], None] | None = None,
    on_scored: OnScored | None = None,
    stop: Callable[[], bool] = lambda: False,
    workers: Workers | None = None,
) -> Report:
    """Scores files into a file, at constant memory, and resumably.

    A process that is killed loses the current chunk and nothing else: with ``existing="resume"``
    the next run resumes there, and the output is byte for byte that of a run that was not killed.

    Args:
        job, scorer: what is scored into what, and what scores it.
        existing: what is done with an output that exists: ``refuse``, ``overwrite``, or ``resume``
            if there is one.
        on_chunk: called with each chunk that is scored and its scores.
        on_start: called before the first chunk with the number of pairs that an earlier run has
            scored.
        on_scored: called with all pairs and their values by column, in order, also with those that
            an earlier run has scored.
        stop: called after each chunk; if it returns true, the run ends.
        workers: the processes of a `Team`, each of which calls this, or Ray's actors; by default
            this process alone.

    Raises:
        NotResumableError: the output cannot be resumed, because something has changed.
        ValueError, OSError: the input or the output cannot be used; the message says why. What is
            scored is on disk.
    """
    from estime_metric.stats.bootstrap import BootstrapMeans, source_id  # imports numpy: slow

    check_choice("existing", existing, EXISTING)
    workers = workers or Workers()
    first = first_pairs(job)
    blank = scorer.score([""], [""])  # loads the encoder, which layers and signature depend on
    config = blank.config
    if job.threshold is not None and len(config.layer_tuple) > 1:
        layers = ", ".join(map(str, config.layer_tuple))
        raise ValueError(
            f"Expected one layer with argument `threshold`, but got the layers {layers}."
        )
    added = _added_columns(job, blank)
    if job.output is not None:
        _refuse_clash(first, job, added)
    with ExitStack() as held:
        output: Output | None = None

        def start() -> dict[str, Any]:
            nonlocal output
            output = held.enter_context(opened_output(job, Record.start(job, config), existing))
            return output.record.to_json()

        record = Record.from_json(workers.share(start), job.output or job.inputs[0])
        began = perf_counter()
        totals = record.totals
        report = Report(
            totals=totals,
            means=record.measures,
            few_sources=record.few_sources,
            done=record.finished,
            resumed=totals.pairs,
            config=config,
            flagged_from=record.threshold.get(RECOMMENDED),
        )
        if output is not None and on_start is not None:
            on_start(report.resumed)
        inputs_with_pairs: set[Path] = set()
        lines = _with_inputs_noted(_checked_lines(job, record, added), inputs_with_pairs)
        names = files.measure_columns(blank.measures, blank.layers)
        bootstrap = BootstrapMeans(names)

        def take(pairs: JobPairs, values: Values) -> None:
            if not record.finished:
                bootstrap.add([source_id(source) for source in pairs.sources], values)
            if on_scored is not None:
                on_scored(pairs, values)

        earlier = None
        if output is not None and (on_scored is not None or not record.finished):
            flag = [] if job.threshold is None else [files.FLAG]
            earlier = EarlierScores(output.written(), job, [*names, *flag], take)
        chunks = _unscored(lines, job, record, chunk_limits(job, scorer), earlier)
        if report.done:
            if next(chunks, None) is not None:
                raise NotResumableError(
                    f"{job.output} is complete, but its input has grown since then. Use "
                    "`overwrite` to score everything again."
                )
            return replace(report, without_pairs=_without(inputs_with_pairs, job))
        score = partial(score_chunk, job=job, scorer=scorer)
        for chunk, scores in workers.run(chunks, score, stop):
            assert output is not None  # the scores go to the first process
            totals.add(scores.totals)
            output.record.columns = record.columns
            output.commit(_rows(chunk, scores, job, config), chunk.digest, totals)
            take(chunk.pairs, scores.values)
            if on_chunk is not None:
                on_chunk(chunk.pairs, scores)
            if stop():
                break
        done = not stop()
        if output is not None and done:
            output.record.measures = {name: bootstrap.interval(name) for name in names}
            output.record.few_sources = bootstrap.few_sources
            output.finish()
            report = replace(
                report, means=output.record.measures, few_sources=output.record.few_sources
            )
        return replace(
            report,
            done=done,
            without_pairs=_without(inputs_with_pairs, job) if done else (),
            seconds=perf_counter() - began,
        )


def score_chunk(chunk: Chunk, *, job: Job, scorer: EstimeScorer) -> ChunkScores:
    """The scores of one chunk, on whichever process."""
    result = scorer.score(chunk.pairs.summaries, chunk.pairs.sources)
    values = files.measure_values(result)
    if job.threshold is not None:
        values[files.FLAG] = result.flags(job.threshold).int().tolist()
    return ChunkScores(values, totals_of(chunk.pairs, result, job.threshold))


def _added_columns(job: Job, result: EstimeResult) -> list[str]:
    """The columns that the output adds to those of the input, in their order."""
    names = [files.LINE, *files.measure_columns(result.measures, result.layers)]
    names += [files.FLAG] if job.threshold is not None else []
    names += [files.SIGNATURE] if job.with_signature else []
    return [f"{job.prefix}{name}" for name in names]


def _refuse_clash(first: list[files.Line], job: Job, added: list[str]) -> None:
    """Refuses a job if the first pair of a file has a column of the output: all will have it."""
    for line, checked in zip(first, refuse_clashes(first, job, added), strict=True):
        if checked.problem:
            raise ValueError(f"{line.path.name} line {line.number} {checked.problem}.")


def _rows(chunk: Chunk, scores: ChunkScores, job: Job, config: EstimeConfig) -> list[files.Row]:
    if job.output is None:
        return []
    signature = config.signature() if job.with_signature else None
    return files.rows_with(scores.values, chunk.pairs, prefix=job.prefix, signature=signature)


def _checked_lines(job: Job, record: Record, added: list[str]) -> Iterator[files.Line]:
    """The lines of the job; those that the output has no place for are invalid.

    For CSV, the first lines decide on the columns, which the record notes.
    """
    lines = job_lines(job)
    if job.output is None:
        return lines
    lines = refuse_clashes(lines, job, added)
    if job.output.suffix.lower() != ".csv":
        return lines
    if not record.columns:
        head = _first_valid(lines, _HEAD)
        kept = [kept_columns(line, job) for line in head if not line.problem]
        line_number, *measured = added
        record.columns = [line_number, *dict.fromkeys(chain(*kept)), *measured]
        lines = chain(head, lines)
    return refuse_further_columns(lines, job, record.columns)


def _with_inputs_noted(lines: Iterator[files.Line], noted: set[Path]) -> Iterator[files.Line]:
    """The lines; adds the input of each pair to ``noted``."""
    for line in lines:
        if not line.problem:
            noted.add(line.path)
        yield line


def _without(inputs_with_pairs: Collection[Path], job: Job) -> tuple[Path, ...]:
    """The other inputs of the job."""
    return tuple(path for path in job.inputs if path not in inputs_with_pairs)


def _first_valid(lines: Iterator[files.Line], number: int) -> list[files.Line]:
    """The lines up to the ``number``-th that is valid."""
    found: list[files.Line] = []
    valid = 0
    for line in lines:
        found.append(line)
        valid += not line.problem
        if valid == number:
            break
    return found


def _unscored(
    lines: Iterator[files.Line],
    job: Job,
    record: Record,
    limits: files.ChunkLimits,
    earlier: EarlierScores | None,
) -> Iterator[Chunk]:
    """The chunks that are not committed yet; NotResumableError if the committed part of the input has
    changed.
    """
    digest = Digest()
    for line in islice(lines, record.totals.pairs + record.totals.skipped):
        digest.add(line)
        if earlier is not None:
            earlier.add(line)
    if record.digest not in ("", str(digest)):
        raise NotResumableError(
            "Expected the rows scored by the earlier run to be unchanged, but they have changed. "
            "Use `overwrite` to start again."
        )
    if earlier is not None:
        earlier.finish()
    return cut_chunks(lines, job, limits, digest)

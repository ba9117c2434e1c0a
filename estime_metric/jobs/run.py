"""A job from its first chunk to its last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from estime_metric import files
from estime_metric.config import EstimeConfig
from estime_metric.jobs.inputs import Digest, chunks, first_pairs, further, read_lines
from estime_metric.jobs.job import Job
from estime_metric.jobs.output import EXISTING, Output, Record
from estime_metric.jobs.team import Alone, Workers
from estime_metric.jobs.totals import Totals
from estime_metric.measures import RECOMMENDED
from estime_metric.thresholds import threshold_value

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult
    from estime_metric.scorer import EstimeScorer

#: Called after each chunk: its pairs, its scores.
OnChunk = Callable[[files.Pairs, "EstimeResult"], None]

#: Rows of the input from which the columns of CSV are taken.
_HEAD = 256


@dataclass(frozen=True)
class Report:
    """How a run ended.

    Attributes:
        totals: those of all pairs that are scored, in earlier runs too.
        done: whether the whole input is.
        resumed: pairs that an earlier run had scored.
        config: the configuration with nothing left open.
        flagged_from: the threshold of the flags, if any.
    """

    totals: Totals
    done: bool
    resumed: int
    config: EstimeConfig
    flagged_from: float | None = None

    @property
    def signature(self) -> str:
        """That of the scores."""
        return self.config.signature()


def score_files(
    job: Job,
    scorer: EstimeScorer,
    *,
    existing: str = "refuse",
    on_chunk: OnChunk | None = None,
    on_start: Callable[[int], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
    workers: Workers | None = None,
) -> Report:
    """Scores files into a file, at constant memory, and resumably.

    A process that is killed at any moment loses the current chunk and nothing else: with ``existing="resume"`` the next
    run resumes there, and the output is byte for byte that of a run that was not killed.

    Args:
        job: what is scored into what.
        scorer: what scores it.
        existing: what is done with an output that exists: ``refuse``, ``overwrite``, or ``resume`` where there is one.
        on_chunk: called with each chunk that is scored and its scores.
        on_start: called before the first chunk with the number of pairs that an earlier run has scored.
        stop: asked after each chunk whether to end here.
        workers: what shares the job: the processes of a `Team`, each of which calls this, or Ray's actors; by default
            this process alone.

    Raises:
        ValueError, OSError: the input or the output cannot be used; the message says why. What is scored is on disk.
    """
    if existing not in EXISTING:
        raise ValueError(f"Expected argument `existing` to be one of {', '.join(EXISTING)}, but got {existing!r}.")
    workers = workers or Alone()
    heads = first_pairs(job)
    empty = scorer.score([], [])  # loads the encoder, which tells layers and signature
    config = empty.config
    (row,) = _rows(job, files.Pairs([0], [""], [""], [{}]), scorer.score([""], [""]))
    for path, line, found in heads if job.output is not None else ():
        if isinstance(found, dict):
            files.check_names(further(job, path, found), row, f"{path.name} line {line}")
    with ExitStack() as held:
        output: Output | None = None

        def start() -> Record:
            nonlocal output
            fresh = Record.start(job, config)
            if job.threshold is not None:
                fresh.threshold = {RECOMMENDED: threshold_value(job.threshold, RECOMMENDED, config)}
            output = held.enter_context(Output(job, fresh, existing))
            return output.record

        record = workers.share(start)
        totals = Totals(**record.totals)
        resumed = totals.pairs
        if on_start is not None and output is not None:
            on_start(resumed)
        tasks = _unscored(job, record, job.limits(scorer), list(row))
        if record.finished:
            if next(tasks, None) is not None:
                raise ValueError(f"{job.output} is done, but its input has grown since: replace it with --overwrite.")
            return Report(totals, True, resumed, config, record.threshold.get(RECOMMENDED))
        for chunk in workers.run(tasks, partial(_score, job=job, scorer=scorer), stop):
            assert output is not None  # the results go to the first process
            totals.add(chunk.totals)
            output.record.columns = chunk.columns
            output.commit(chunk.data, chunk.digest, totals)
            if on_chunk is not None:
                on_chunk(chunk.pairs, chunk.result)
            if stop():
                break
        done = not stop()
        if output is not None and done:
            output.finish()
        return Report(totals, done, resumed, config, record.threshold.get(RECOMMENDED))


@dataclass(frozen=True)
class _Task:
    """A chunk to score: whether it is the first one, the digest of all rows to its end, and the columns of CSV."""

    pairs: files.Pairs
    first: bool
    digest: str
    columns: list[str]


@dataclass(frozen=True)
class Scored:
    """A chunk that is scored: its rows as they are written, and what is to be known of it."""

    pairs: files.Pairs
    result: EstimeResult
    data: bytes
    digest: str
    columns: list[str]
    totals: Totals


def _score(task: _Task, *, job: Job, scorer: EstimeScorer) -> Scored:
    pairs = task.pairs
    result = scorer.score(pairs.summaries, pairs.sources)
    data = b""
    if job.output is not None:
        data = files.encode_rows(_rows(job, pairs, result), job.ending, task.columns, header=task.first)
    totals = Totals.of(pairs, result)
    if job.threshold is not None:
        totals.flagged = int(result.flags(job.threshold).sum())
    return Scored(pairs, result, data, task.digest, task.columns, totals)


def _rows(job: Job, pairs: files.Pairs, result: EstimeResult) -> list[files.Row]:
    flags = None if job.threshold is None else result.flags(job.threshold).int().tolist()
    return files.score_rows(pairs, result, job.prefix, flags=flags, signature=job.with_signature)


def _unscored(job: Job, record: Record, limits: tuple[int, int], ours: list[str]) -> Iterator[_Task]:
    """The chunks that are not committed yet. The columns of CSV are those of the first rows, around them ours.

    Raises:
        ValueError: the committed part of the input is not what it was.
    """
    lines, digest = read_lines(job), Digest()
    done = Totals(**record.totals)
    for line in islice(lines, done.pairs + done.skipped):
        digest.add(line)
    if record.digest not in ("", str(digest)):
        raise ValueError(
            "Expected the rows that the earlier run has scored, to resume it, but they have changed: start again with "
            "--overwrite."
        )
    columns = record.columns
    if job.ending == ".csv" and not columns:
        head = list(islice(lines, _HEAD))
        found = [further(job, line.path, line.row) for line in head if isinstance(line.row, dict)]
        columns = [ours[0], *dict.fromkeys(name for row in found for name in row), *ours[1:]]
        lines = chain(head, lines)
    for number, chunk in enumerate(chunks(lines, job, limits, digest)):
        yield _Task(chunk, not number and not record.digest, str(digest), columns)

"""A job from its first chunk to its last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from estime_metric import files
from estime_metric.config import EstimeConfig
from estime_metric.jobs.inputs import Digest, check_names, first_rows, read_chunks
from estime_metric.jobs.job import Job
from estime_metric.jobs.output import EXISTING, Output, Progress, holds_all
from estime_metric.jobs.team import Workers
from estime_metric.jobs.totals import Totals
from estime_metric.measures import BASE_MEASURES, FURTHER_MEASURES

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult
    from estime_metric.scorer import EstimeScorer

#: Called after each chunk: its pairs, its scores.
OnChunk = Callable[[files.Pairs, "EstimeResult"], None]


@dataclass(frozen=True)
class Report:
    """How a run ended.

    Attributes:
        totals: those of all pairs that are scored, in earlier runs too.
        done: whether the whole input is.
        resumed: pairs that an earlier run had scored.
        config: the configuration with nothing left open.
    """

    totals: Totals
    done: bool
    resumed: int
    config: EstimeConfig

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that were read."""
        return self.config.layer_tuple

    @property
    def further(self) -> tuple[str, ...]:
        """The measures that were asked for beside the base ones."""
        return tuple(name for name in self.config.measures if name in FURTHER_MEASURES)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of all measures."""
        return (*BASE_MEASURES, *self.further)

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
    team: Workers | None = None,
) -> Report:
    """Scores files into a file, at constant memory, and resumably.

    A process that is killed at any moment loses the chunk at hand and nothing else: with ``existing="resume"`` the next
    run goes on with it, and the output is byte for byte that of a run that was not killed.

    Args:
        job: what is scored into what.
        scorer: what scores it.
        existing: what is done with an output that exists: ``refuse``, ``overwrite``, or ``resume`` where there is one.
        on_chunk: called with each chunk that is scored and its scores.
        on_start: called before the first chunk with the number of pairs that an earlier run has scored.
        stop: asked after each chunk whether to end here.
        team: what shares the job: the processes of a `Team`, each of which calls this, or Ray's actors; ``None`` for
            this process alone.

    Raises:
        ValueError, OSError: the input or the output cannot be used; the message says why. What is scored is on disk.
    """
    if existing not in EXISTING:
        raise ValueError(f"Expected argument `existing` to be one of {', '.join(EXISTING)}, but got {existing!r}.")
    heads = first_rows(job)
    empty = scorer.score([], [])  # loads the encoder, which tells layers and signature
    ours = [f"{job.prefix}{name}" for name in files.score_columns(empty.measures, empty.layers)]
    for path, line, row in heads if job.output is not None else ():
        check_names(row, ours, f"{path.name} line {line}")
    signature, config = empty.signature, empty.config
    if team is not None and team.rank:
        shared: Progress | None = team.share(lambda: None)  # that of the first process
        if shared is not None:
            for _ in team.run(_unscored(job, shared, ours), lambda task: _score(task, job, scorer), stop):
                pass
        return Report(Totals(), not stop(), 0, config)
    output: Output | None = None
    totals = Totals()

    def open_output() -> Progress | None:
        nonlocal output
        output = Output(job, Progress.start(job, signature), existing)
        if output.finished:
            totals.add(_finished(job))
        return None if output.finished else output.progress

    try:
        progress = open_output() if team is None else team.share(open_output)
        assert output is not None
        if progress is None:
            return Report(totals, True, totals.pairs, config)
        totals = Totals(**progress.totals)
        resumed = totals.pairs
        if on_start is not None:
            on_start(resumed)
        tasks = _unscored(job, progress, ours)
        if team is None:
            scored: Iterator[Scored] = (_score(task, job, scorer) for task in tasks)
        else:
            scored = team.run(tasks, lambda task: _score(task, job, scorer), stop)
        for chunk in scored:
            totals.add(chunk.totals)
            output.progress.columns = chunk.columns
            output.commit(chunk.data, chunk.digest, totals)
            if on_chunk is not None:
                on_chunk(chunk.pairs, chunk.result)
            if stop():
                break
        if stop():
            return Report(totals, False, resumed, config)
        output.finish()
        return Report(totals, True, resumed, config)
    finally:
        if output is not None:
            output.close()


@dataclass(frozen=True)
class _Task:
    """A chunk to score: whether it is the first one, the digest of all pairs to its end, and the columns of CSV."""

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


def _score(task: _Task, job: Job, scorer: EstimeScorer) -> Scored:
    pairs = task.pairs
    result = scorer.score(pairs.summaries, pairs.sources)
    data = b""
    if job.output is not None:
        rows = files.score_rows(pairs, result, job.prefix)
        data = files.encode_rows(rows, job.ending, task.columns, header=task.first)
    return Scored(pairs, result, data, task.digest, task.columns, Totals.of(pairs, result))


def _finished(job: Job) -> Totals:
    """The totals, without sums, of an output that is of no unfinished run.

    Raises:
        ValueError: it is not that of this job, done.
    """
    assert job.output is not None
    totals = Totals()

    def chunks() -> Iterator[files.Pairs]:
        for chunk in read_chunks(job):
            totals.add(Totals(pairs=len(chunk), skipped=len(chunk.problems)))
            yield chunk

    if not holds_all(job.output, chunks(), job.prefix):
        raise ValueError(
            f"{job.output} is of no unfinished run, and holds other rows than the input: replace it with --overwrite."
        )
    return totals


def _unscored(job: Job, progress: Progress, ours: list[str]) -> Iterator[_Task]:
    """The chunks that are not committed yet. The columns of CSV are those of the first chunk, around them ours.

    Raises:
        ValueError: the committed part of the input is not what it was.
    """
    digest = Digest()
    committed, expected = progress.chunks, progress.digest
    columns: list[str] = []
    for number, chunk in enumerate(read_chunks(job), start=1):
        found = digest.add(chunk)
        if number == 1 and job.ending == ".csv":
            columns = [ours[0], *dict.fromkeys(name for others in chunk.others for name in others), *ours[1:]]
        if number > committed:
            yield _Task(chunk, number == 1, found, columns)
        elif number == committed and found != expected:
            raise ValueError(
                "Expected the input that the unfinished run has scored, to go on with it, but its rows have changed: "
                "start anew with --overwrite."
            )

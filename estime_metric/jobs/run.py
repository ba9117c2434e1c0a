"""A job from its first chunk to its last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from estime_metric import files
from estime_metric.config import ALL_UNIT_MEASURES, BASE_MEASURES, EstimeConfig
from estime_metric.jobs.inputs import Digest, check_names, first_rows, read_chunks
from estime_metric.jobs.job import Job
from estime_metric.jobs.output import EXISTING, Output, Progress, holds_all
from estime_metric.jobs.totals import Totals

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
        return tuple(name for name in self.config.measures if name in ALL_UNIT_MEASURES)

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
    output = Output(job, Progress.start(job, empty.signature), existing)
    try:
        if output.finished:
            assert job.output is not None
            if not holds_all(job.output, read_chunks(job), job.prefix):
                raise ValueError(
                    f"{job.output} is of no unfinished run, and holds other rows than the input: "
                    "replace it with --overwrite."
                )
            pairs = sum(len(chunk) for chunk in read_chunks(job))
            return Report(Totals(pairs=pairs), True, pairs, empty.config)
        totals = Totals(**output.progress.totals)
        resumed = totals.pairs
        if on_start is not None:
            on_start(resumed)
        for chunk, digest in _unscored(job, output.progress):
            result = scorer.score(chunk.summaries, chunk.sources)
            first = output.progress.chunks == 0
            if first and job.ending == ".csv":
                output.progress.columns = _columns(chunk, ours)
            data = b""
            if job.output is not None:
                rows = files.score_rows(chunk, result, job.prefix)
                data = files.encode_rows(rows, job.ending, output.progress.columns, header=first)
            totals.add(Totals.of(chunk, result))
            output.commit(data, digest, totals)
            if on_chunk is not None:
                on_chunk(chunk, result)
            if stop():
                output.close()
                return Report(totals, False, resumed, empty.config)
        output.finish()
        return Report(totals, True, resumed, empty.config)
    finally:
        output.close()


def _columns(chunk: files.Pairs, ours: list[str]) -> list[str]:
    """The columns of CSV: those of the first chunk between our line and our measures."""
    return [ours[0], *dict.fromkeys(name for others in chunk.others for name in others), *ours[1:]]


def _unscored(job: Job, progress: Progress) -> Iterator[tuple[files.Pairs, str]]:
    """The chunks that are not committed yet, with the digest of all pairs up to their end.

    Raises:
        ValueError: the committed part of the input is not what it was.
    """
    digest = Digest()
    committed, expected = progress.chunks, progress.digest
    for number, chunk in enumerate(read_chunks(job), start=1):
        found = digest.add(chunk)
        if number > committed:
            yield chunk, found
        elif number == committed and found != expected:
            raise ValueError(
                "Expected the input that the unfinished run has scored, to go on with it, but its rows have changed: "
                "start anew with --overwrite."
            )

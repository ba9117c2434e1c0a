"""What a job will cost, before it starts: its work is counted, its time and memory come from
scoring a few pairs.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from estime_metric.jobs.chunks import Digest, JobPairs, cut_chunks
from estime_metric.jobs.inputs import first_pairs, job_lines
from estime_metric.jobs.job import Job, bytes_of_work, chunk_limits

if TYPE_CHECKING:
    import torch

    from estime_metric.engine.work import Work
    from estime_metric.scorer import EstimeScorer

_FIRST = 4  # pairs of the first timed call; each further call times twice as many, to weigh more
_SAMPLE = _FIRST * (1 + 2 + 4 + 8 + 16)  # pairs that are timed at most
_ENOUGH = 8.0  # seconds of calibration after which no further call is timed


@dataclass(frozen=True)
class Estimate:
    """What a job will cost.

    Attributes:
        pairs, skipped: pairs to score, and invalid rows.
        sources: different sources in the whole input.
        tokens: tokens of the texts; equal texts count once within a chunk, as the job encodes them.
        windows, positions: inputs of the encoder, and the tokens in all of them, special ones
            included.
        calibrated: pairs that were scored to measure their time.
        seconds: expected time on this machine, without loading the encoder.
        longest, longest_seconds: tokens of the longest source, and its part of ``seconds``, once.
        memory: bytes that the job needs at least, of the GPU if the encoder runs on one, otherwise
            of the process; ``None`` if the system does not say. Batches of further shapes add to
            it.
    """

    pairs: int
    skipped: int
    sources: int
    tokens: int
    windows: int
    positions: int
    calibrated: int
    seconds: float
    longest: int
    longest_seconds: float
    memory: int | None


def estimate_job(
    job: Job, scorer: EstimeScorer, *, on_chunk: Callable[[JobPairs], object] | None = None
) -> Estimate:
    """Counts the work of a job, and times some of its pairs, drawn at random with a fixed seed.
    Nothing is written.

    ``on_chunk`` is called with each chunk that is counted. Standard input is read to its end.
    Raises ValueError or OSError if the input cannot be read, or has no pair.
    """
    first_pairs(job)
    work = scorer.work([], [])
    sample = _Sample(_SAMPLE)
    skipped = 0
    sources: set[int] = set()
    for chunk in cut_chunks(job_lines(job), job, chunk_limits(job, scorer), Digest()):
        pairs = chunk.pairs
        work += scorer.work(pairs.summaries, pairs.sources)
        skipped += len(pairs.problems)
        sources.update(map(hash, pairs.sources))
        for summary, source in zip(pairs.summaries, pairs.sources, strict=True):
            sample.offer(summary, source)
        if on_chunk is not None:
            on_chunk(pairs)
    if not sample.offered:
        raise ValueError("Expected pairs on standard input, but got none.")
    timed = _calibrate(sample.shuffled(), scorer)
    rate = timed.seconds / timed.work.cost if timed.work.cost else 0.0
    memory = _peak_memory(scorer.encoder.device)
    if memory is not None:
        memory += max(work.units - timed.work.units, 0) * scorer.bytes_per_unit

    return Estimate(
        pairs=sample.offered,
        skipped=skipped,
        sources=len(sources),
        tokens=work.tokens,
        windows=work.windows,
        positions=work.positions,
        calibrated=timed.pairs,
        seconds=rate * work.cost if rate else timed.seconds * sample.offered / timed.pairs,
        longest=work.longest_source,
        longest_seconds=rate * work.longest_cost,
        memory=memory,
    )


class _Sample:
    """Some of the pairs that are offered, each with the same probability (reservoir sampling)."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._rng = random.Random(0)
        self._pairs: list[tuple[str, str]] = []
        self.offered = 0

    def offer(self, summary: str, source: str) -> None:
        self.offered += 1
        if len(self._pairs) < self._size:
            self._pairs.append((summary, source))
        elif (index := self._rng.randrange(self.offered)) < self._size:
            self._pairs[index] = (summary, source)

    def shuffled(self) -> list[tuple[str, str]]:
        """The pairs (summary, source) of the sample, in random order."""
        return self._rng.sample(self._pairs, len(self._pairs))


class _Timed(NamedTuple):
    """How many pairs were scored, in how many seconds, and what work they were."""

    pairs: int
    seconds: float
    work: Work


def _calibrate(sample: list[tuple[str, str]], scorer: EstimeScorer) -> _Timed:
    """Scores pairs until enough time has passed. Long texts are cut."""
    longest = bytes_of_work(scorer) // 8
    pairs = [(summary[:longest], source[:longest]) for summary, source in sample]
    middle = sorted(pairs, key=lambda pair: len(pair[0]) + len(pair[1]))[len(pairs) // 2]
    scorer.score([middle[0]], [middle[1]])  # before the clock runs
    work, seconds = scorer.work([], []), 0.0
    start, size = 0, _FIRST
    while start < len(pairs) and seconds < _ENOUGH:
        timed = pairs[start : start + size]
        summaries, sources = [summary for summary, _ in timed], [source for _, source in timed]
        began = perf_counter()
        scorer.score(summaries, sources)
        seconds += perf_counter() - began
        work += scorer.work(summaries, sources)
        start, size = start + len(timed), 2 * size
    return _Timed(start, seconds, work)


def _peak_memory(device: torch.device) -> int | None:
    if device.type == "cuda":
        import torch

        return torch.cuda.max_memory_allocated(device)
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak

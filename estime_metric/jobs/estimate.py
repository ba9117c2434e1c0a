"""What a job will cost, before it starts: its work is counted, its time and memory come from
scoring a few pairs.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from estime_metric import files
from estime_metric.jobs.inputs import chunks, first_pairs, read_lines
from estime_metric.jobs.job import Job, bytes_of_work

if TYPE_CHECKING:
    import torch

    from estime_metric.engine.work import Work
    from estime_metric.scorer import EstimeScorer

#: Pairs of the first timed call, each further one takes twice as many, so that full batches weigh
#: most; and of all.
_FIRST, _SAMPLE = 4, 4 + 8 + 16 + 32 + 64
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
        calibrated: pairs that were scored to find out how long they take.
        seconds: expected time on this machine, without loading the encoder.
        longest, longest_seconds: tokens of the longest source, and the part of ``seconds`` that it
            takes, once.
        memory: bytes that it takes at least, of the GPU where the encoder runs on one, else of the
            process; ``None`` where the system does not tell. Batches of further shapes add to it.
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
    job: Job, scorer: EstimeScorer, *, on_chunk: Callable[[files.Pairs], object] | None = None
) -> Estimate:
    """Counts the work of a job, and times some of its pairs, drawn at random with a fixed seed.
    Nothing is written.

    ``on_chunk`` is called with each chunk that is counted. Standard input is read to its end.
    Raises ValueError or OSError where the input cannot be read, or holds no pair.
    """
    first_pairs(job)
    rng = random.Random(0)
    work = scorer.work([], [])
    sample: list[tuple[str, str]] = []
    pairs = skipped = 0
    sources: set[int] = set()
    for chunk in chunks(read_lines(job), job, job.limits(scorer)):
        work += scorer.work(chunk.summaries, chunk.sources)
        skipped += len(chunk.problems)
        sources.update(map(hash, chunk.sources))
        for pair in zip(chunk.summaries, chunk.sources, strict=True):
            pairs += 1
            if len(sample) < _SAMPLE:
                sample.append(pair)
            elif (index := rng.randrange(pairs)) < _SAMPLE:
                sample[index] = pair
        if on_chunk is not None:
            on_chunk(chunk)
    if not pairs:
        raise ValueError("There is no pair on standard input.")
    calibrated, seconds, timed = _calibrate(rng.sample(sample, len(sample)), scorer)
    rate = seconds / timed.cost if timed.cost else 0.0
    memory = _peak_memory(scorer.encoder.device)
    if memory is not None:
        memory += max(work.units - timed.units, 0) * scorer.bytes_per_unit
    longest, cost = work.longest_source, work.longest_cost
    expected = rate * work.cost if rate else seconds * pairs / calibrated
    counted = pairs, skipped, len(sources), work.tokens, work.windows, work.positions
    return Estimate(*counted, calibrated, expected, longest, rate * cost, memory)


def _calibrate(sample: list[tuple[str, str]], scorer: EstimeScorer) -> tuple[int, float, Work]:
    """How many pairs were scored, in how many seconds, and what work they were. Long texts are cut."""
    longest = bytes_of_work(scorer) // 8
    pairs = [(summary[:longest], source[:longest]) for summary, source in sample]
    middle = sorted(pairs, key=lambda pair: len(pair[0]) + len(pair[1]))[len(pairs) // 2]
    scorer.score([middle[0]], [middle[1]])  # before the clock runs
    work, seconds, start, size = scorer.work([], []), 0.0, 0, _FIRST
    while start < len(pairs) and seconds < _ENOUGH:
        summaries, sources = map(list, zip(*pairs[start : start + size], strict=True))
        began = perf_counter()
        scorer.score(summaries, sources)
        seconds += perf_counter() - began
        work += scorer.work(summaries, sources)
        start, size = start + len(summaries), 2 * size
    return start, seconds, work


def _peak_memory(device: torch.device) -> int | None:
    if device.type == "cuda":
        import torch

        return torch.cuda.max_memory_allocated(device)
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak

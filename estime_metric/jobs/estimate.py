"""What a job will cost, before it starts: its work is counted, its time and memory come from scoring a few pairs."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import torch

from estime_metric import files
from estime_metric.engine.masking import mask_units
from estime_metric.jobs.inputs import first_rows, read_chunks
from estime_metric.jobs.job import Job

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer

#: Pairs of the first timed call; each further one takes twice as many, so that full batches weigh most.
_FIRST = 4

#: Pairs that are drawn from the input for calibration, at most: 4 + 8 + 16 + 32 + 64.
_SAMPLE = 124

#: Seconds of calibration after which no further call is timed.
_ENOUGH = 5.0


@dataclass(frozen=True)
class Estimate:
    """What a job will cost.

    Attributes:
        pairs: pairs to score.
        skipped: rows that hold no pair.
        sources: different sources in the whole input.
        tokens: tokens of the texts once equal ones are removed, as far as the job does it: within ``look_ahead``.
        windows: inputs of the encoder.
        positions: tokens in all windows, special ones included; time is taken to grow with them.
        calibrated: pairs that were scored to find out how long they take.
        seconds: expected time on this machine, without loading the encoder.
        memory: bytes that it takes at least, of the GPU where the encoder runs on one, else of the process; ``None``
            where the system does not tell. Batches of further shapes add to it.
    """

    pairs: int
    skipped: int
    sources: int
    tokens: int
    windows: int
    positions: int
    calibrated: int
    seconds: float
    memory: int | None


@dataclass
class _Work:
    """What some pairs give the encoder to do; ``units`` are those embedded at once, at most."""

    tokens: int = 0
    windows: int = 0
    positions: int = 0
    units: int = 0

    def add(self, pairs: files.Pairs, scorer: EstimeScorer) -> None:
        """Counts pairs that are scored in one call: tokenized and planned as they would be, but not encoded."""
        config, around = scorer.resolved_config, scorer.encoder.info.special.around
        for chunk in scorer.plan(pairs.summaries, pairs.sources):
            encoded = chunk.sources + chunk.summaries
            self.tokens += sum(len(source.units.tokens) for source in chunk.sources)
            self.tokens += sum(len(one.units.tokens) for _, summaries in chunk.groups for one in summaries)
            self.units = max(self.units, sum(len(one.units) for one in encoded))
            for one in encoded:
                windows = mask_units(one.units, config).windows
                self.windows += len(windows)
                self.positions += sum(len(window) + around for window in windows)


def estimate_job(
    job: Job, scorer: EstimeScorer, *, on_chunk: Callable[[files.Pairs], object] | None = None
) -> Estimate:
    """Counts the work of a job, and times a few of its pairs on this machine. Nothing is written.

    The pairs are drawn at random with a fixed seed; one is scored before the clock runs. Standard input is read to
    its end.

    Args:
        job: what would be scored; its output is not looked at.
        scorer: what would score it.
        on_chunk: called with each chunk that is counted.

    Raises:
        ValueError, OSError: the input cannot be read, or holds no pair.
    """
    first_rows(job)
    rng = random.Random(0)
    work, sample = _Work(), files.Pairs()
    pairs = skipped = 0
    sources: set[int] = set()
    for chunk in read_chunks(job):
        work.add(chunk, scorer)
        skipped += len(chunk.problems)
        sources.update(map(hash, chunk.sources))
        for line, source, summary in zip(chunk.lines, chunk.sources, chunk.summaries, strict=True):
            pairs += 1
            if len(sample) < _SAMPLE:
                sample.add(line, source, summary, {})
            elif (index := rng.randrange(pairs)) < _SAMPLE:
                sample.lines[index], sample.sources[index], sample.summaries[index] = line, source, summary
        if on_chunk is not None:
            on_chunk(chunk)
    if not pairs:
        raise ValueError("There is no pair on standard input.")
    calibrated, seconds, timed = _calibrate(sample, scorer, rng)
    share = work.positions / timed.positions if timed.positions else pairs / calibrated
    memory = _peak_memory(scorer.encoder.device)
    if memory is not None:
        memory += max(work.units - timed.units, 0) * scorer.bytes_per_unit
    return Estimate(
        pairs, skipped, len(sources), work.tokens, work.windows, work.positions, calibrated, seconds * share, memory
    )


def _calibrate(sample: files.Pairs, scorer: EstimeScorer, rng: random.Random) -> tuple[int, float, _Work]:
    """How many pairs were scored, in how many seconds, and what work they were."""
    order = rng.sample(range(len(sample)), len(sample))
    middle = sorted(order, key=lambda index: len(sample.sources[index]) + len(sample.summaries[index]))[len(order) // 2]
    scorer.score([sample.summaries[middle]], [sample.sources[middle]])
    work, seconds, start, size = _Work(), 0.0, 0, _FIRST
    while start < len(order) and seconds < _ENOUGH:
        chosen = order[start : start + size]
        group = files.Pairs(
            [sample.lines[index] for index in chosen],
            [sample.sources[index] for index in chosen],
            [sample.summaries[index] for index in chosen],
            [{}] * len(chosen),
        )
        began = perf_counter()
        scorer.score(group.summaries, group.sources)
        seconds += perf_counter() - began
        work.add(group, scorer)
        start, size = start + len(chosen), 2 * size
    return start, seconds, work


def _peak_memory(device: torch.device) -> int | None:
    """The most bytes that were in use so far."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak

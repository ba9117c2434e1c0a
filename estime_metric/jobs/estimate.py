"""What a job will cost, before it starts: some of its pairs are scored, and time and memory follow
from the characters of the input.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from estime_metric import files
from estime_metric.jobs.input_files import first_pairs, job_lines
from estime_metric.jobs.job import Job, bytes_of_work, chunk_limits

if TYPE_CHECKING:
    import torch

    from estime_metric.scorer import EstimeScorer

_FIRST = 4  # pairs of the first timed call; each further call times twice as many
_SAMPLE = _FIRST * (1 + 2 + 4 + 8 + 16)  # pairs that are timed at most
_ENOUGH = 8.0  # seconds after which no further call is timed
_TOKEN = 4  # characters of a token, about
_SPREAD = 1.25  # by which a single call may be wrong


@dataclass(frozen=True)
class Estimate:
    """What a job will cost.

    Attributes:
        pairs, skipped: pairs to score, and invalid rows.
        sources: different sources in the whole input.
        characters: characters to encode; equal sources count once within a chunk.
        timed: pairs that were scored to measure their time.
        seconds_low, seconds_high: expected time on this machine, without loading the encoder.
        memory: bytes that the job needs at least, of the GPU if the encoder runs on one, otherwise
            of the process; ``None`` if the system does not say.
    """

    pairs: int
    skipped: int
    sources: int
    characters: int
    timed: int
    seconds_low: float
    seconds_high: float
    memory: int | None


def estimate_job(job: Job, scorer: EstimeScorer) -> Estimate:
    """Times some of the pairs of a job, drawn at random with a fixed seed. Nothing is written.

    Standard input is read to its end. Raises ValueError or OSError if the input cannot be read, or
    has no pair.
    """
    first_pairs(job)
    source_column, summary_column = job.text_columns
    sample: list[tuple[str, str]] = []
    rng = random.Random(0)
    pairs = skipped = characters = longest = 0
    sources: set[int] = set()
    for chunk in files.cut(job_lines(job), job.layout, chunk_limits(job, scorer)):
        valid = [line.row for line in chunk if not line.problem]
        skipped += len(chunk) - len(valid)
        of_chunk = {row[source_column] for row in valid}
        sources.update(map(hash, of_chunk))
        characters += sum(map(len, of_chunk)) + sum(len(row[summary_column]) for row in valid)
        longest = max([longest, *map(len, of_chunk)])
        for row in valid:
            pair = row[summary_column], row[source_column]
            place = len(sample) if len(sample) < _SAMPLE else rng.randrange(pairs + 1)
            if place < _SAMPLE:  # each pair with the same probability (reservoir sampling)
                sample[place : place + 1] = [pair]
            pairs += 1
    if not pairs:
        raise ValueError("Expected pairs on standard input, but got none.")
    rng.shuffle(sample)
    rates, timed, longest_timed = _timed(sample, scorer)
    memory = _peak_memory(scorer.encoder.device)
    if memory is not None:
        memory += max(longest - longest_timed, 0) // _TOKEN * scorer.bytes_per_unit
    spread = 1.0 if len(rates) > 1 else _SPREAD
    return Estimate(
        pairs=pairs,
        skipped=skipped,
        sources=len(sources),
        characters=characters,
        timed=timed,
        seconds_low=min(rates) * characters / spread,
        seconds_high=max(rates) * characters * spread,
        memory=memory,
    )


def _timed(sample: list[tuple[str, str]], scorer: EstimeScorer) -> tuple[list[float], int, int]:
    """Scores pairs until enough time has passed: the seconds per character of each call, the number
    of pairs, and the characters of the longest source. Long texts are cut.
    """
    limit = bytes_of_work(scorer) // 4
    cut = [(summary[:limit], source[:limit]) for summary, source in sample]
    scorer.score(*zip(*cut[:1], strict=True))  # before the clock runs
    rates: list[float] = []
    start, size, seconds = 0, _FIRST, 0.0
    while start < len(cut) and seconds < _ENOUGH:
        summaries, sources = zip(*cut[start : start + size], strict=True)
        began = perf_counter()
        scorer.score(summaries, sources)
        needed = perf_counter() - began
        characters = sum(map(len, summaries)) + sum(map(len, set(sources)))
        rates.append(needed / max(characters, 1))
        seconds += needed
        start, size = start + len(sources), 2 * size
    return rates, start, max(len(source) for _, source in cut[:start])


def _peak_memory(device: torch.device) -> int | None:
    if device.type == "cuda":
        import torch

        return torch.cuda.max_memory_allocated(device)
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak

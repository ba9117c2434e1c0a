"""Input files -> chunks of pairs, whose boundaries depend on the input and the job alone."""

from __future__ import annotations

import glob
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from estime_metric import files
from estime_metric.jobs.job import Job

#: Blocks of a large input that are looked at to see whether it is still the same, bytes of each,
#: and of a file that is looked at whole.
_BLOCKS, _BLOCK = 64, 1 << 16
WHOLE = _BLOCKS * _BLOCK


class Line(NamedTuple):
    """A row of an input."""

    path: Path
    number: int
    row: files.Row | str  # or a sentence that says what is wrong with it

    def encoded(self) -> bytes:
        """What is digested to see later whether the input is still the same."""
        return json.dumps([self.number, self.row], default=str).encode("utf-8")


def expand(names: Iterable[str | Path]) -> tuple[Path, ...]:
    """Names of files, and patterns such as ``data/*.jsonl.gz``, as paths; those of a pattern are
    sorted.

    Raises ValueError for a pattern that no file matches, or a file twice.
    """
    found: list[Path] = []
    for name in map(str, names):
        matches = [name]
        if glob.has_magic(name) and not Path(name).exists():
            matches = sorted(glob.glob(name, recursive=True))
            if not matches:
                raise ValueError(
                    f"Expected the pattern {name!r} to match a file, but it matches none."
                )
        found += map(Path, matches)
    twice = [path for path in found if found.count(path) > 1]
    if twice:
        raise ValueError(f"Expected each input once, but got {str(twice[0])!r} twice.")
    return tuple(found)


def first_pairs(job: Job) -> list[Line]:
    """The first pair of each input but standard input and pipes, which are read once; ValueError if
    there is none.
    """
    found: list[Line] = []
    problem = ""
    kept = [path for path in job.inputs if not files.is_standard(path) and not path.is_fifo()]
    for path in kept:
        for line in read_lines(job, path):
            if isinstance(line.row, dict):
                found.append(line)
                break
            problem = problem or f" (line {line.number}: {line.row})"
    if not found and len(kept) == len(job.inputs):
        raise ValueError(f"There is no pair in {', '.join(map(str, job.inputs))}{problem}.")
    return found


def read_lines(job: Job, *paths: Path) -> Iterator[Line]:
    """The rows of some inputs, or of all, in their order."""
    for path in paths or job.inputs:
        for number, row in files.iterate_pairs(path, job.source_column, job.summary_column):
            yield Line(path, number, row)


def count_pairs(job: Job) -> int | None:
    """The number of pairs in all inputs; ``None`` where one is standard input or not a plain file."""
    if not all(path.is_file() for path in job.inputs):
        return None
    return sum(isinstance(line.row, dict) for line in read_lines(job))


def further(job: Job, path: Path, row: files.Row) -> files.Row:
    """The columns of a pair that the output keeps, with the file where there are several."""
    texts = () if job.keep_texts else (job.source_column, job.summary_column)
    kept = {name: value for name, value in row.items() if name not in texts}
    return {f"{job.prefix}file": str(path), **kept} if len(job.inputs) > 1 else kept


def chunks(
    lines: Iterable[Line], job: Job, limits: tuple[int, int], digest: hashlib.blake2b | None = None
) -> Iterator[files.Pairs]:
    """Pairs in chunks within the limits of `Job.limits`; the last one may hold problems alone.

    ``digest`` is at each chunk that of all rows up to its end.
    """
    chunk = files.Pairs()
    several = len(job.inputs) > 1
    for line in lines:
        path, number, row = line
        if isinstance(row, dict) and chunk.ends_before(row[job.source_column], *limits):
            yield chunk
            chunk = files.Pairs()
        if digest is not None:
            digest.update(line.encoded())
        where = f"{path} line {number}" if several else f"line {number}"
        if isinstance(row, str):
            chunk.problems.append(f"{where}: {row}")
            continue
        if several:
            files.check_names(row, [f"{job.prefix}file"], where)
        chunk.add(number, row[job.source_column], row[job.summary_column], further(job, path, row))
    if len(chunk) or chunk.problems:
        yield chunk


def fingerprint(path: Path) -> list[Any] | None:
    """Size, digest (above 4 MB of 64 blocks) and time of the last change of a file; ``None`` for no
    plain file.
    """
    if not path.is_file():
        return None
    size = path.stat().st_size
    taken = hashlib.blake2b(digest_size=16)
    with path.open("rb") as stream:
        for number in range(_BLOCKS):
            stream.seek(
                max(size - _BLOCK, 0) * number // (_BLOCKS - 1) if size > WHOLE else number * _BLOCK
            )
            taken.update(stream.read(_BLOCK))
    return [size, taken.hexdigest(), path.stat().st_mtime_ns]

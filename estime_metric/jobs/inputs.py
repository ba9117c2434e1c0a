"""The files that a job reads: their names, their lines, and whether they are still the same."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from estime_metric import files
from estime_metric.jobs.job import Job

#: Blocks of a large input that are looked at to see whether it is still the same, bytes of each,
#: and of a file that is looked at whole.
_BLOCKS, _BLOCK = 64, 1 << 16
WHOLE = _BLOCKS * _BLOCK


def expand(names: Iterable[str | Path]) -> tuple[Path, ...]:
    """Names of files, and patterns such as ``data/*.jsonl.gz``, as paths; the files of a pattern
    are sorted.

    Raises ValueError for a pattern that no file matches, or for a file twice.
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
        raise ValueError(f"Expected every input file only once, but got {str(twice[0])!r} twice.")
    return tuple(found)


def job_lines(job: Job, *paths: Path) -> Iterator[files.Line]:
    """The lines of some inputs, or of all, in their order."""
    for path in paths or job.inputs:
        yield from files.read_lines(path, job.layout)


def first_pairs(job: Job) -> list[files.Line]:
    """The first pair of each input except standard input and pipes, which are read once; ValueError
    if there is none.
    """
    found: list[files.Line] = []
    problem = ""
    kept = [path for path in job.inputs if not files.is_standard(path) and not path.is_fifo()]
    for path in kept:
        for line in job_lines(job, path):
            if not line.problem:
                found.append(line)
                break
            problem = problem or f" (line {line.number}: {line.problem})"
    if not found and len(kept) == len(job.inputs):
        raise ValueError(
            f"Expected pairs in {', '.join(map(str, job.inputs))}, but got none{problem}."
        )
    return found


def count_pairs(job: Job) -> int | None:
    """The number of pairs in all inputs; ``None`` if one is standard input or not a plain file."""
    if not all(path.is_file() for path in job.inputs):
        return None
    return sum(not line.problem for line in job_lines(job))


@dataclass(frozen=True)
class Fingerprint:
    """What shows whether a file is still the same: its ``size``, a ``digest`` (above 4 MB of 64
    blocks), and the time of its last change, ``modified``.
    """

    size: int
    digest: str
    modified: int

    def is_same_content(self, other: Fingerprint) -> bool:
        """Whether all that was looked at is equal."""
        return (self.size, self.digest) == (other.size, other.digest)

    def __str__(self) -> str:
        return f"{self.size} bytes, digest {self.digest[:8]}"


def fingerprint(path: Path) -> Fingerprint | None:
    """The fingerprint of a file; ``None`` if it is not a plain file."""
    if not path.is_file():
        return None
    size = path.stat().st_size
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as stream:
        for number in range(_BLOCKS):
            stream.seek(
                max(size - _BLOCK, 0) * number // (_BLOCKS - 1) if size > WHOLE else number * _BLOCK
            )
            digest.update(stream.read(_BLOCK))
    return Fingerprint(size, digest.hexdigest(), path.stat().st_mtime_ns)

"""Input files -> chunks of pairs, whose boundaries depend on the input alone."""

from __future__ import annotations

import glob
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from estime_metric import files
from estime_metric.jobs.job import Job

#: Characters of text in a chunk, but for its last pair: bounds the memory where texts are books.
_CHARACTERS = 32_000_000

#: Blocks of a large input that are looked at to see whether it is still the same, and bytes of each.
_BLOCKS, _BLOCK = 64, 1 << 16

#: Bytes of an input up to which all of it is looked at.
WHOLE = _BLOCKS * _BLOCK


def expand(names: Iterable[str | Path]) -> tuple[Path, ...]:
    """Names of files, and patterns such as ``data/*.jsonl.gz``, as paths; those of a pattern are sorted.

    Raises:
        ValueError: a pattern that no file matches, or a file twice.
    """
    found: list[Path] = []
    for name in map(str, names):
        if glob.has_magic(name) and not Path(name).exists():
            matches = sorted(glob.glob(name, recursive=True))
            if not matches:
                raise ValueError(f"Expected the pattern {name!r} to match a file, but it matches none.")
            found += map(Path, matches)
        else:
            found.append(Path(name))
    twice = [path for path in dict.fromkeys(found) if found.count(path) > 1]
    if twice:
        raise ValueError(f"Expected each input once, but got {str(twice[0])!r} twice.")
    return tuple(found)


def first_rows(job: Job) -> list[tuple[Path, int, files.Row]]:
    """The first pair of each input, with its line; what cannot be read is said before anything is scored.

    Standard input and pipes are left alone, since what is read from them is gone.

    Raises:
        OSError, ImportError: an input cannot be read.
        ValueError: as `files.iterate_pairs`; or no input holds a pair.
    """
    found: list[tuple[Path, int, files.Row]] = []
    problem = ""
    for path in job.inputs:
        if _is_stream(path):
            continue
        for line, row in files.iterate_pairs(path, job.source_column, job.summary_column):
            if isinstance(row, dict):
                found.append((path, line, row))
                break
            problem = problem or f" (line {line}: {row})"
    if not found and not any(map(_is_stream, job.inputs)):
        raise ValueError(f"There is no pair in {', '.join(map(str, job.inputs))}{problem}.")
    return found


def _is_stream(path: Path) -> bool:
    return files.is_standard(path) or path.is_fifo()


def check_names(row: files.Row, ours: Sequence[str], where: str) -> None:
    """Refuses a row that has a column of one of our names.

    Raises:
        ValueError: it has; the message says how to name ours differently.
    """
    for name in ours:
        if name in row:
            raise ValueError(
                f"Expected the input to have no column named as ours are, but {where} has {name!r}: "
                "name ours differently with --prefix."
            )


def read_chunks(job: Job) -> Iterator[files.Pairs]:
    """The pairs of all inputs in their order, in chunks.

    A chunk ends after ``look_ahead`` pairs where the next pair has another source, after twice as many, or where it
    holds much text. The last chunk may be empty but for its problems.
    """
    chunk, characters = files.Pairs(), 0
    for path in job.inputs:
        origin = f"{path} " if len(job.inputs) > 1 else ""
        for line, row in files.iterate_pairs(path, job.source_column, job.summary_column):
            if isinstance(row, str):
                chunk.problems.append(f"{origin}line {line}: {row}")
                continue
            source, summary = row[job.source_column], row[job.summary_column]
            if chunk.ends_before(source, job.look_ahead) or characters > _CHARACTERS:
                yield chunk
                chunk, characters = files.Pairs(), 0
            if not job.keep_texts:
                del row[job.source_column]
                row.pop(job.summary_column, None)  # one column may hold both
            if origin:
                check_names(row, [f"{job.prefix}file"], f"{origin}line {line}")
                row = {f"{job.prefix}file": str(path), **row}
            chunk.add(line, source, summary, row)
            characters += len(source) + len(summary)
    yield chunk


def fingerprint(path: Path) -> list[Any] | None:
    """Size and digest of a file, and when it was changed last; ``None`` for what is no plain file.

    The digest is that of all bytes up to 4 MB; of a larger file it is that of 64 blocks from its head to its tail, so
    that it costs the same however large the file is.
    """
    if not path.is_file():
        return None
    size = path.stat().st_size
    taken = hashlib.blake2b(digest_size=16)
    with path.open("rb") as stream:
        for number in range(_BLOCKS):
            stream.seek(max(size - _BLOCK, 0) * number // (_BLOCKS - 1) if size > WHOLE else number * _BLOCK)
            taken.update(stream.read(_BLOCK))
    return [size, taken.hexdigest(), path.stat().st_mtime_ns]


class Digest:
    """A running digest of the pairs that were read, to see later whether the input is still the same."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=16)

    def add(self, chunk: files.Pairs) -> str:
        """Takes a chunk in; the digest of all so far."""
        content: list[Any] = [chunk.lines, chunk.sources, chunk.summaries, chunk.others, chunk.problems]
        self._hash.update(json.dumps(content, default=str).encode("utf-8"))
        return self._hash.hexdigest()


def count_pairs(job: Job) -> int | None:
    """The number of pairs in all inputs; ``None`` where one is standard input or not a plain file."""
    if not all(path.is_file() for path in job.inputs):
        return None
    return sum(
        isinstance(row, dict)
        for path in job.inputs
        for _, row in files.iterate_pairs(path, job.source_column, job.summary_column)
    )

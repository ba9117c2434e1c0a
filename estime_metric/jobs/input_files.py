"""The files that a job reads: their names and their lines."""

from __future__ import annotations

import glob
import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from estime_metric import files
from estime_metric.jobs.job import Job
from estime_metric.jobs.rows_file import rows_path

Place = tuple[str, int]  # the file of a pair and its line there


def expand(names: Iterable[str | Path], output: Path | None = None) -> tuple[Path, ...]:
    """Names of files, and patterns such as ``data/*.jsonl.gz``, as paths; the files of a pattern
    are sorted. An output into which one of them was scored is left out, and so are its record and its
    unfinished rows, unless nothing else is named.

    Raises ValueError for a pattern that no file matches, or for a file twice.
    """
    paths: list[Path] = []
    for name in map(str, names):
        matches = [Path(name)]
        if glob.has_magic(name) and not Path(name).exists():
            matches = list(map(Path, sorted(glob.glob(name, recursive=True))))
            if not matches:
                raise ValueError(
                    f"Expected the pattern {name!r} to match a file, but it matches none."
                )
        paths += matches
    twice = [path for path in paths if paths.count(path) > 1]
    if twice:
        raise ValueError(f"Expected every input file only once, but got {str(twice[0])!r} twice.")
    if output is not None:
        # Names too, not only the files of patterns: the shell expands a pattern without quotes.
        paths = [path for path in paths if not _is_written_by_job(path, output, paths)] or paths
    return tuple(paths)


def _is_written_by_job(path: Path, output: Path, inputs: Sequence[Path]) -> bool:
    """Whether a job with this output has written a file: the output, if one of the ``inputs`` was
    scored into it, its metadata, its rows or its lock.
    """
    path = path.resolve()
    if path == output.resolve():
        record = files.read_meta(output) if path.exists() else {}
        return "finished" in record and not set(record["inputs"]).isdisjoint(map(str, inputs))
    others = (files.meta_path(output), rows_path(output), files.lock_path(output))
    return path in [other.resolve() for other in others]


def job_lines(job: Job, added: Collection[str] = ()) -> Iterator[files.Line]:
    """The lines of all inputs, in their order; one with a column of the same name as one of the
    ``added`` columns of the output is invalid.
    """
    for path in job.inputs:
        for line in files.read_lines(path, job.layout):
            problem = clash_problem(line, job, added)
            yield replace(line, row={}, problem=problem) if problem else line


def clash_problem(line: files.Line, job: Job, added: Collection[str]) -> str:
    """What is wrong with a line that has an ``added`` column, as the end of a sentence; empty if it
    has none.
    """
    kept = kept_columns(line.row, job)
    column = next((name for name in added if name in kept), None)
    if column is None:
        return ""
    return (
        f"has a column {column!r}, which is also the name of an output column; rename the output "
        "columns with `prefix`"
    )


def kept_columns(row: files.Row, job: Job) -> files.Row:
    """The columns of a pair that are kept with its scores: those of the output, if there is one, and
    texts that cannot be read again.
    """
    has_texts = job.keep_texts or not job.can_read_again
    if job.output is None:
        return {name: row[name] for name in job.text_columns if has_texts and name in row}
    return row if has_texts else files.other_columns(row, job.layout)


def first_pairs(job: Job) -> list[files.Line]:
    """The first pair of each input except standard input and pipes, which are read once; ValueError
    if there is none.
    """
    pairs: list[files.Line] = []
    problem = ""
    kept = [path for path in job.inputs if not files.is_standard(path) and not path.is_fifo()]
    for path in kept:
        for line in files.read_lines(path, job.layout):
            if not line.problem:
                pairs.append(line)
                break
            problem = problem or f" (line {line.number}: {line.problem})"
    if not pairs and len(kept) == len(job.inputs):
        problem = problem or files.header_hint(*kept)
        raise ValueError(
            f"Expected pairs in {', '.join(map(str, job.inputs))}, but got none{problem}."
        )
    return pairs


def read_texts(job: Job, places: Collection[Place]) -> dict[Place, tuple[str, str]]:
    """The source and the summary of the pairs at some places, read again; nothing if the inputs can
    be read only once.
    """
    if not places or not job.can_read_again:
        return {}
    wanted = set(places)
    return {
        (str(line.path), line.number): tuple(line.row[name] for name in job.text_columns)
        for line in job_lines(job)
        if (str(line.path), line.number) in wanted and not line.problem
    }


class Digest:
    """A digest of lines, which shows later whether they are still the same."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=16)

    def add(self, line: files.Line) -> None:
        """Adds the line that follows."""
        content = [line.number, line.problem or line.row]
        self._hash.update(json.dumps(content, default=str).encode("utf-8"))

    def __str__(self) -> str:
        return self._hash.hexdigest()


def count_pairs(job: Job) -> int | None:
    """The number of pairs in all inputs; ``None`` if one is standard input or not a plain file."""
    if not all(path.is_file() for path in job.inputs):
        return None
    return sum(not line.problem for line in job_lines(job))

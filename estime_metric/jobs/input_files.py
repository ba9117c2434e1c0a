"""The files that a job reads: their names and their lines."""

from __future__ import annotations

import glob
import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from estime_metric.jobs.job import Job, own_files, rows_path
from estime_metric.table.output import is_standard
from estime_metric.table.rows import Line, Row, header_hint, other_columns, read_lines
from estime_metric.table.table import record_of

Place = tuple[str, int]  # the file of a pair and its line there


def expand(names: Iterable[str | Path], output: Path | None = None) -> tuple[Path, ...]:
    """Names of files, and patterns such as ``data/*.jsonl.gz``, as paths; the files of a pattern
    are sorted. An ``output`` that a job has written is left out, and so are its record, its rows and
    its lock, unless nothing else is named.

    Raises ValueError for a pattern that no file matches, or for a file twice.
    """
    paths: list[Path] = []
    for name in map(str, names):
        matches = [name]
        if glob.has_magic(name) and not Path(name).exists():
            matches = sorted(glob.glob(name, recursive=True))
            if not matches:
                raise ValueError(
                    f"Expected the pattern {name!r} to match a file, but it matches none."
                )
        paths += map(Path, matches)
    twice = [path for path in paths if paths.count(path) > 1]
    if twice:
        raise ValueError(f"Expected every input file only once, but got {str(twice[0])!r} twice.")
    own = () if output is None else own_files(output)
    if output is not None and _is_of_job(output):
        own = (*own, output.resolve())
    # Names too, not only the files of patterns: the shell expands a pattern without quotes.
    others = [path for path in paths if path.resolve() not in own]
    return tuple(others or paths)


def _is_of_job(output: Path) -> bool:
    """Whether a job has written or begun an output, so that it is not a file of the user's."""
    if not output.exists() or is_standard(output):
        return False
    try:
        return rows_path(output).exists() or bool(record_of(output))
    except ValueError:  # the record is damaged
        return True


def job_lines(job: Job) -> Iterator[Line]:
    """The lines of all inputs, in their order."""
    for path in job.inputs:
        yield from read_lines(path, job.layout)


def until_first_pair(job: Job, lines: Iterator[Line]) -> list[Line]:
    """The lines up to the first pair, which is the last of them.

    Raises ValueError if there is none, OSError if any input is missing.
    """
    for path in job.inputs:
        if not is_standard(path):
            path.stat()  # now, not when the files before it are scored
    head: list[Line] = []
    for line in lines:
        head.append(line)
        if not line.problem:
            return head
    names = ["standard input" if is_standard(path) else str(path) for path in job.inputs]
    problem = header_hint(*job.inputs)
    if head:
        problem = f" (line {head[0].number}: {head[0].problem})"
    raise ValueError(f"Expected pairs in {', '.join(names)}, but got none{problem}.")


def clash_problem(line: Line, job: Job, added: Collection[str]) -> str:
    """What is wrong with a line that has a column of the same name as one of the ``added`` columns
    of the output, as the end of a sentence; empty if nothing is.
    """
    kept = kept_columns(line.row, job)
    column = next((name for name in added if name in kept), None)
    if column is None:
        return ""
    return (
        f"has a column {column!r}, which is also the name of an output column; rename the output "
        "columns with `prefix`"
    )


def kept_columns(row: Row, job: Job) -> Row:
    """The columns of a pair that are kept with its scores: those of the output, if there is one, and
    texts that are shown and cannot be read again.
    """
    if job.output is None:
        return {name: row[name] for name in job.layout.text_columns if name in row}
    has_texts = job.keep_texts or not job.can_read_again
    return row if has_texts else other_columns(row, job.layout)


def read_texts(job: Job, places: Collection[Place]) -> dict[Place, tuple[str, str]]:
    """The source and the summary of the pairs at some places, read again; nothing if the inputs can
    be read only once.
    """
    if not places or not job.can_read_again:
        return {}
    source, summary = job.layout.text_columns
    return {
        (str(line.path), line.number): (line.row[source], line.row[summary])
        for line in job_lines(job)
        if (str(line.path), line.number) in places and not line.problem
    }


class Digest:
    """A digest of lines, which shows later whether they are still the same."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=16)

    def add(self, line: Line) -> None:
        """Adds the line that follows."""
        content = [line.number, line.problem or line.row]
        self._hash.update(json.dumps(content, default=str).encode("utf-8"))

    def __str__(self) -> str:
        return self._hash.hexdigest()

"""Lines of a job -> chunks of pairs, whose boundaries depend on the input and the job alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from estime_metric import files
from estime_metric.jobs.job import Job

DIGEST_BYTES = 16


@dataclass
class JobPairs(files.Pairs):
    """Pairs of a job, with the columns that the output keeps.

    Attributes:
        paths: the input of each pair, whatever columns its row has.
    """

    paths: list[Path] = field(default_factory=list)

    def add_line(self, line: files.Line, job: Job) -> None:
        """Appends the pair of a line, or the line's problem."""
        if line.problem:
            self.problems.append(f"{place(line, job)}: {line.problem}")
            return
        self.add(
            line=line.number,
            source=line.row[job.layout.source_column],
            summary=line.row[job.layout.summary_column],
            others=kept_columns(line, job),
        )
        self.paths.append(line.path)


@dataclass(frozen=True)
class Chunk:
    """Pairs that are scored and committed together.

    Attributes:
        pairs: the pairs, and the problems between them.
        digest: digest of all lines of the job up to the end of the chunk.
    """

    pairs: JobPairs
    digest: str


class Digest:
    """A digest of lines, which shows later whether they are still the same."""

    def __init__(self) -> None:
        self._taken = hashlib.blake2b(digest_size=DIGEST_BYTES)

    def add(self, line: files.Line) -> None:
        """Adds the line that follows."""
        content = [line.number, line.problem or line.row]
        self._taken.update(json.dumps(content, default=str).encode("utf-8"))

    def __str__(self) -> str:
        return self._taken.hexdigest()


def cut_chunks(
    lines: Iterable[files.Line], job: Job, limits: files.ChunkLimits, digest: Digest
) -> Iterator[Chunk]:
    """Chunks within the limits, see `files.cut`; ``digest`` is the digest of the lines before."""
    for part in files.cut(lines, job.layout, limits):
        pairs = JobPairs()
        for line in part:
            digest.add(line)
            pairs.add_line(line, job)
        yield Chunk(pairs, str(digest))


def place(line: files.Line, job: Job) -> str:
    """Where a line is, for messages."""
    where = f"line {line.number}"
    return f"{line.path} {where}" if job.has_several_inputs else where


def kept_columns(line: files.Line, job: Job) -> files.Row:
    """The columns of a pair that the output keeps, and the file if there are several."""
    kept = line.row if job.keep_texts else files.other_columns(line.row, job.layout)
    return {file_column(job): str(line.path), **kept} if job.has_several_inputs else kept


def file_column(job: Job) -> str:
    """The column of the output that names the file of a row."""
    return f"{job.prefix}file"


def refuse_clashes(
    lines: Iterable[files.Line], job: Job, added: Collection[str]
) -> Iterator[files.Line]:
    """The lines; one that has a column of the same name as one of the ``added`` columns is
    invalid.
    """
    names = [file_column(job), *added] if job.has_several_inputs else list(added)
    for line in lines:
        kept = line.row if job.keep_texts else files.other_columns(line.row, job.layout)
        column = files.clash(kept, names)
        if column is None:
            yield line
        else:
            yield replace(line, row={}, problem=files.clash_problem(column))


def refuse_further_columns(
    lines: Iterable[files.Line], job: Job, columns: Collection[str]
) -> Iterator[files.Line]:
    """The lines; a line with other columns than the ``columns`` of the output is invalid, because
    columns cannot be added to a CSV file that is already begun.
    """
    known = set(columns)
    for line in lines:
        kept = {} if line.problem else kept_columns(line, job)
        unknown = next((name for name in kept if name not in known), None)
        if unknown is None:
            yield line
        else:
            problem = (
                f"has a column {unknown!r}, which the first rows do not have and CSV cannot add; "
                "write .jsonl or .parquet instead"
            )
            yield replace(line, row={}, problem=problem)

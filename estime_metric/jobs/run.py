"""A job from its first chunk to its last."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

from estime_metric.checks import check_choice, check_one_layer
from estime_metric.jobs.input_files import (
    Digest,
    clash_problem,
    job_lines,
    kept_columns,
    until_first_pair,
)
from estime_metric.jobs.job import Job, chunk_limits, rows_path
from estime_metric.jobs.job_record import NotResumableError, finished_meta, start_record
from estime_metric.jobs.pairs import Pairs, cut, rows_with
from estime_metric.jobs.report import Report
from estime_metric.jobs.rows_file import EXISTING, Chunk, RowsFile, is_finished, opened_rows
from estime_metric.table.output import is_standard, write_standard_output
from estime_metric.table.rows import Line, Row, other_columns, read_rows
from estime_metric.table.table import (
    FILE,
    FLAG,
    LINE,
    SOURCE_ID,
    encode_json_lines,
    measure_columns,
    measure_values,
    record_of,
    write,
)

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult
    from estime_metric.scorer import EstimeScorer


class Progress:
    """What a job tells while it runs; this one ignores it."""

    def start(self, resumed: int) -> None:
        """Called when the encoder is loaded, with the number of pairs that an earlier run has
        scored.
        """

    def expect(self, pairs: int) -> None:
        """Called before each chunk with about the number of pairs of all inputs, if it is known."""

    def advance(self, pairs: int) -> None:
        """Called after each forward pass with the number of pairs that it has completed, about."""

    def keep(self, pairs: int, problems: Sequence[str]) -> None:
        """Called after each chunk with the number of pairs that are kept now, those of an earlier
        run included, and with a sentence for each invalid line of the chunk.
        """


def score_files(
    job: Job,
    scorer: EstimeScorer,
    *,
    existing: str = "refuse",
    worst: int = 0,
    progress: Progress | None = None,
) -> Report:
    """Scores files into a file, at constant memory, and resumably.

    Rows are appended to a file of JSON Lines, chunk by chunk; the output is made of them in the
    end. A process that is killed loses the current chunk and nothing else: with
    ``existing="resume"`` the next run resumes there, and the output is byte for byte that of a run
    that was not killed.

    Each input is opened once, and once more if its worst summaries are asked for and their texts
    are not in the output.

    Args:
        job, scorer: what is scored into what, and what scores it.
        existing: what is done with an output that exists: ``refuse``, ``overwrite``, or ``resume``
            if there is one. Of a finished output, ``resume`` compares the record and reports its
            numbers.
        worst: how many of the worst summaries the report has.
        progress: is told how far the job is.

    Raises:
        NotResumableError: the output cannot be resumed, because something has changed.
        ValueError, OSError: the input or the output cannot be used; the message says why. What is
            scored is on disk.
    """
    check_choice("existing", existing, EXISTING)
    progress = progress or Progress()
    lines = job_lines(job)
    needs_input = existing != "resume" or not is_finished(job.output)
    head = until_first_pair(job, lines) if needs_input else []
    config = scorer.resolved_config  # loads the encoder, which layers and signature depend on
    if job.threshold is not None:
        check_one_layer(config.layers, " with `threshold`")
    added = _added_columns(job, measure_columns(config.reported_measures, config.layer_tuple))
    for line in head[-1:]:  # the first pair: later ones are skipped
        if problem := clash_problem(line, job, added):
            raise ValueError(f"{line.path.name} line {line.number} {problem}.")
    record = start_record(job, config)
    report = Report(job, config, worst)
    with opened_rows(job, record, existing) as rows:
        began = perf_counter()
        if rows is None:
            _restore(report, job)
        else:
            report.resumed = rows.pairs
            progress.start(rows.pairs)
            digest = _score(
                _without_clashes(chain(head, lines), job, added), rows, job, scorer, progress
            )
            for chunk in rows.chunks():
                report.add(chunk.rows)
            report.skipped = rows.skipped
            if job.output is not None and not is_standard(job.output):
                meta = {**finished_meta(record), **report.to_dict(), "digest": digest}
                write(job.output, _OutputRows(rows, job), meta)
                rows_path(job.output).unlink()
        report.read_texts()
        report.seconds = perf_counter() - began
    return report


def _added_columns(job: Job, names: Sequence[str]) -> list[str]:
    """The columns that the output adds to those of the input; none without an output, which has a
    place for every row.
    """
    if job.output is None:
        return []
    columns = [LINE, *names, SOURCE_ID]
    columns += [FLAG] if job.threshold is not None else []
    columns += [FILE] if job.has_several_inputs else []
    return [f"{job.prefix}{name}" for name in columns]


def _without_clashes(lines: Iterable[Line], job: Job, added: Sequence[str]) -> Iterator[Line]:
    """The lines; one with a column of the same name as one of the ``added`` ones is invalid."""
    for line in lines:
        problem = clash_problem(line, job, added)
        yield replace(line, row={}, problem=problem) if problem else line


def _score(
    lines: Iterator[Line], rows: RowsFile, job: Job, scorer: EstimeScorer, progress: Progress
) -> str:
    """Scores the lines that are not kept yet, and keeps them; gives the digest of all lines."""
    digest = Digest()
    for line in islice(lines, rows.pairs + rows.skipped):
        digest.add(line)
    if rows.digest not in ("", str(digest)):
        raise NotResumableError(
            "Expected the rows scored by the earlier run to be unchanged, but they have changed. "
            "Use `overwrite` to start again."
        )
    # Now: inputs that are read may be moved away.
    sizes = [path.stat().st_size for path in job.inputs] if job.can_read_again else []
    concerned: Counter[str] = Counter()  # warning -> pairs of the chunks that it is about
    for part in cut(lines, job.layout, **chunk_limits(job, scorer)):
        pairs, problems = _pairs_of(part, job)
        expected = _expected_pairs(job, sizes, part[-1], rows.pairs + len(pairs))
        if expected is not None:
            progress.expect(expected)
        result = scorer.score_checked(pairs.summaries, pairs.sources, progress.advance)
        for text in result.input_warnings:  # said once, at the end
            concerned[text] += len(pairs)
        for line in part:
            digest.add(line)
        chunk = Chunk(_rows(pairs, result, job), len(problems), str(digest))
        rows.append(chunk)
        if job.output is not None and is_standard(job.output):
            write_standard_output(encode_json_lines(_output_rows([chunk], job)))
        progress.keep(rows.pairs, problems)
    for text, number in concerned.items():
        warnings.warn(
            f"{text} This concerns {number} of {rows.pairs} pairs.", RuntimeWarning, stacklevel=3
        )
    return str(digest)


def _expected_pairs(job: Job, sizes: Sequence[int], last: Line, pairs: int) -> int | None:
    """About how many pairs all inputs have, if there are ``pairs`` up to the ``last`` line that was
    read: by their ``sizes`` in bytes. ``None`` if these are not known.
    """
    if not sizes:
        return None
    index = job.inputs.index(last.path)
    read = sum(sizes[:index]) + last.share * sizes[index]
    return max(round(pairs * sum(sizes) / read), pairs) if read else None


def _restore(report: Report, job: Job) -> None:
    """Has the report of a finished output."""
    assert job.output is not None
    rows = (line.row for line in read_rows(job.output))
    try:
        report.restore(record_of(job.output), rows)
    except (AttributeError, KeyError, TypeError) as error:
        raise NotResumableError(
            f"The record of {job.output} is damaged. Use `overwrite` to start again."
        ) from error


def _pairs_of(part: Sequence[Line], job: Job) -> tuple[Pairs, list[str]]:
    """The pairs of some lines, with the columns that the rows have, and a sentence for each line
    without a pair.
    """
    pairs, problems = Pairs(), []
    source, summary = job.layout.text_columns
    for line in part:
        if line.problem:
            file = f"{line.path} " if job.has_several_inputs else ""
            problems.append(f"{file}line {line.number}: {line.problem}")
            continue
        file_column = {f"{job.prefix}{FILE}": str(line.path)}
        pairs.add(
            line=line.number,
            source=line.row[source],
            summary=line.row[summary],
            others={
                **(file_column if job.has_several_inputs else {}),
                **kept_columns(line.row, job),
            },
        )
    return pairs, problems


def _rows(pairs: Pairs, result: EstimeResult, job: Job) -> list[Row]:
    from estime_metric.table.intervals import source_id  # imports numpy: slow

    columns: dict[str, Sequence[Any]] = dict(measure_values(result.columns()))
    if job.threshold is not None:
        columns[FLAG] = result.flags(job.threshold).int().tolist()
    columns[SOURCE_ID] = [source_id(source) for source in pairs.sources]
    return rows_with(pairs, columns, job.prefix)


def _output_rows(chunks: Iterable[Chunk], job: Job) -> Iterator[Row]:
    """The rows of the output: as they were kept, without the texts unless it has them."""
    has_texts = job.keep_texts or job.can_read_again  # as the output does
    for chunk in chunks:
        for row in chunk.rows:
            yield row if has_texts else other_columns(row, job.layout)


@dataclass(frozen=True)
class _OutputRows:
    """The rows of the output, as often as they are iterated over."""

    rows: RowsFile
    job: Job

    def __iter__(self) -> Iterator[Row]:
        return _output_rows(self.rows.chunks(), self.job)

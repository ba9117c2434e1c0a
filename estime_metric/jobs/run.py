"""A job from its first chunk to its last, or to the signal that stops it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

from estime_metric import files
from estime_metric.jobs.input_files import (
    Digest,
    clash_problem,
    first_pairs,
    job_lines,
    kept_columns,
)
from estime_metric.jobs.job import Job, chunk_limits
from estime_metric.jobs.job_record import NotResumableError, finished_meta, start_record
from estime_metric.jobs.report import Report
from estime_metric.jobs.rows_file import EXISTING, Chunk, RowsFile, opened_rows, rows_path
from estime_metric.measures import RECOMMENDED
from estime_metric.validation import check_choice, check_one_layer

if TYPE_CHECKING:
    from pathlib import Path

    from estime_metric.result import EstimeResult
    from estime_metric.scorer import EstimeScorer

_TOGETHER = 256  # rows of a finished output that are read together


class Progress:
    """What a job tells while it runs; this one ignores it."""

    def start(self, resumed: int) -> None:
        """Called before the first chunk with the number of pairs that an earlier run has scored."""

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
    stop: Callable[[], bool] = lambda: False,
) -> Report:
    """Scores files into a file, at constant memory, and resumably.

    Rows are appended to a file of JSON Lines, chunk by chunk; the output is made of them in the
    end. A process that is killed loses the current chunk and nothing else: with
    ``existing="resume"`` the next run resumes there, and the output is byte for byte that of a run
    that was not killed.

    Args:
        job, scorer: what is scored into what, and what scores it.
        existing: what is done with an output that exists: ``refuse``, ``overwrite``, or ``resume``
            if there is one.
        worst: how many of the worst summaries the report has.
        progress: is told how far the job is.
        stop: called after each chunk; if it returns true, the run ends.

    Raises:
        NotResumableError: the output cannot be resumed, because something has changed.
        ValueError, OSError: the input or the output cannot be used; the message says why. What is
            scored is on disk.
    """
    check_choice("existing", existing, EXISTING)
    progress = progress or Progress()
    first = first_pairs(job)
    config = scorer.resolved_config  # loads the encoder, which layers and signature depend on
    if job.threshold is not None:
        check_one_layer(config.layers, " with `threshold`")
    names = files.measure_columns(config.reported_measures, config.layer_tuple)
    added = _added_columns(job, names)
    for line in first:
        problem = clash_problem(line, job, added)
        if problem:
            raise ValueError(f"{line.path.name} line {line.number} {problem}.")
    record = start_record(job, config)
    report = Report(job, config, record["threshold"].get(RECOMMENDED), worst)
    lines, digest = job_lines(job, added), Digest()
    with opened_rows(job, record, existing) as rows:
        began = perf_counter()
        if rows is None:
            assert job.output is not None
            _read_finished(job.output, lines, digest, report)
        else:
            report.resumed = rows.pairs
            progress.start(rows.pairs)
            unscored = _after_kept(lines, rows, digest)
            for part in files.cut(unscored, job.layout, chunk_limits(job, scorer)):
                pairs, problems = _pairs_of(part, job)
                result = scorer.score(pairs.summaries, pairs.sources, progress=progress.advance)
                for line in part:
                    digest.add(line)
                chunk = Chunk(_rows(pairs, result, job), len(problems), str(digest))
                rows.append(chunk)
                if job.output is not None and files.is_standard(job.output):
                    files.write_standard_output(files.encode_json_lines(_output_rows([chunk], job)))
                progress.keep(rows.pairs, problems)
                if stop():
                    report.totals.pairs, report.totals.skipped = rows.pairs, rows.skipped
                    return report
            for chunk in rows.chunks():
                report.add(chunk.rows)
            report.totals.skipped = rows.skipped
            if job.output is not None and not files.is_standard(job.output):
                meta = {**finished_meta(record), **report.to_dict(), "digest": str(digest)}
                files.replace_table(job.output, lambda: _output_rows(rows.chunks(), job), meta)
                rows_path(job.output).unlink()
        report.read_texts()
        report.done, report.seconds = True, perf_counter() - began
    return report


def _added_columns(job: Job, names: Sequence[str]) -> list[str]:
    """The columns that the output adds to those of the input; none without an output, which has a
    place for every row.
    """
    if job.output is None:
        return []
    columns = [files.LINE, *names, files.SOURCE_ID]
    columns += [files.FLAG] if job.threshold is not None else []
    columns += [files.FILE] if job.has_several_inputs else []
    return [f"{job.prefix}{name}" for name in columns]


def _after_kept(
    lines: Iterator[files.Line], rows: RowsFile, digest: Digest
) -> Iterator[files.Line]:
    """The lines that are not scored yet; NotResumableError if those before them have changed."""
    for line in islice(lines, rows.pairs + rows.skipped):
        digest.add(line)
    if rows.digest not in ("", str(digest)):
        raise NotResumableError(
            "Expected the rows scored by the earlier run to be unchanged, but they have changed. "
            "Use `overwrite` to start again."
        )
    return lines


def _read_finished(
    output: Path, lines: Iterable[files.Line], digest: Digest, report: Report
) -> None:
    """Adds the rows of a finished output to the report; NotResumableError if they or the input were
    changed.
    """
    meta = files.read_meta(output)
    for line in lines:
        digest.add(line)
    if str(digest) != meta["digest"]:
        raise NotResumableError(
            f"Expected the input that {output} was made from, but its lines have changed. Use "
            "`overwrite` to start again."
        )
    rows = (line.row for line in files.read_rows(output))
    while block := list(islice(rows, _TOGETHER)):
        report.add(block)
    report.totals.skipped = meta["skipped"]
    report.resumed = report.totals.pairs
    now = json.loads(json.dumps(report.to_dict()))
    if any(meta.get(name) != value for name, value in now.items()):
        raise NotResumableError(
            f"Expected {output} to have the rows that the earlier run wrote, but they were "
            "changed. Use `overwrite` to start again."
        )


def _pairs_of(part: Sequence[files.Line], job: Job) -> tuple[files.Pairs, list[str]]:
    """The pairs of some lines, with the columns that the rows have, and a sentence for each line
    without a pair.
    """
    pairs, problems = files.Pairs(), []
    source, summary = job.text_columns
    for line in part:
        if line.problem:
            file = f"{line.path} " if job.has_several_inputs else ""
            problems.append(f"{file}line {line.number}: {line.problem}")
            continue
        file_column = {f"{job.prefix}{files.FILE}": str(line.path)}
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


def _rows(pairs: files.Pairs, result: EstimeResult, job: Job) -> list[files.Row]:
    from estime_metric.stats.bootstrap import source_id  # imports numpy: slow

    columns: dict[str, Sequence[Any]] = dict(files.measure_values(result.columns()))
    if job.threshold is not None:
        columns[files.FLAG] = result.flags(job.threshold).int().tolist()
    columns[files.SOURCE_ID] = [source_id(source) for source in pairs.sources]
    return files.rows_with(pairs, columns, job.prefix)


def _output_rows(chunks: Iterable[Chunk], job: Job) -> Iterator[files.Row]:
    """The rows of the output: as they were kept, without the texts unless it has them."""
    has_texts = job.keep_texts or job.can_read_again  # as the output does
    for chunk in chunks:
        for row in chunk.rows:
            yield row if has_texts else files.other_columns(row, job.layout)

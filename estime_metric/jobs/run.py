"""A job from its first chunk to its last, or to the signal that stops it."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

from estime_metric import files
from estime_metric.config import EstimeConfig
from estime_metric.jobs.inputs import (
    Digest,
    clash_problem,
    first_pairs,
    job_lines,
    kept_columns,
    read_texts,
)
from estime_metric.jobs.job import Job, chunk_limits
from estime_metric.jobs.record import NotResumableError, Record
from estime_metric.jobs.rows import EXISTING, Chunk, RowsFile, opened_rows, rows_path
from estime_metric.jobs.summary import MEASURES_BY_FILE, ScoredPair, Summary, Totals, Wanted
from estime_metric.measures import RECOMMENDED, reported_name
from estime_metric.signature import Signature
from estime_metric.stats.intervals import Interval
from estime_metric.validation import check_choice

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult
    from estime_metric.scorer import EstimeScorer

_TOGETHER = 256  # rows of a finished output that are read together
_NOTHING = Wanted()


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


@dataclass(frozen=True)
class Report:
    """How a run ended.

    Attributes:
        totals: totals of all scored pairs, including earlier runs; only ``pairs`` and ``skipped``
            if the input is not scored to its end.
        done: whether the whole input is scored; otherwise what follows is empty.
        resumed: pairs that an earlier run had scored.
        config: the fully resolved configuration.
        seconds: duration of this run, without loading the encoder.
        means: for each measure (``alarms``, or ``alarms_layer12`` if there are several layers) the
            mean of all pairs with its 95% interval by source.
        few_sources: as `BootstrapMeans.few_sources`.
        by_file: file -> measure -> its mean, see `Summary`.
        worst, first: the pairs that were `Wanted`, with their texts if they can be read again.
        values: the ``inconsistency`` of all pairs, if wanted.
        encoded, repeated: how many sources were encoded, and how many of them again, because they
            are in an earlier chunk too.
        without_pairs: the inputs in which no row is a pair.
        flagged_from: the threshold of the flags, if any.
    """

    totals: Totals
    done: bool
    resumed: int
    config: EstimeConfig
    seconds: float = 0.0
    means: Mapping[str, Interval] = field(default_factory=dict)
    few_sources: int | None = None
    by_file: Mapping[str, Mapping[str, Interval]] = field(default_factory=dict)
    worst: Sequence[ScoredPair] = ()
    first: Sequence[ScoredPair] = ()
    values: array[float] | None = None
    encoded: int = 0
    repeated: int = 0
    without_pairs: tuple[Path, ...] = ()
    flagged_from: float | None = None

    @property
    def signature(self) -> Signature:
        """The signature of the scores."""
        return self.config.signature()

    def interval(self, measure: str, layer: int | None = None) -> Interval:
        """The mean of a measure with its 95% interval by source.

        ``layer`` is one of several layers. ValueError: the job does not have the measure or the
        layer, or it is not done.
        """
        layers = self.config.layer_tuple
        name = measure if layer is None else reported_name(measure, layer, layers)
        check_choice("measure", name, tuple(self.means))
        return self.means[name]

    def to_dict(self) -> dict[str, Any]:
        """Everything about the whole job as plain numbers and strings, for JSON: as
        `EstimeResult.to_dict`, with ``skipped`` (invalid rows), ``seconds``, with a threshold
        ``flagged`` (summaries) and ``threshold``, and with several files ``files``, the means of
        each.
        """
        totals = self.totals
        flags = {"flagged": totals.flagged, "threshold": self.flagged_from}
        by_file = {
            file: {name: mean.to_dict() for name, mean in means.items()}
            for file, means in self.by_file.items()
        }
        return {
            "pairs": totals.pairs,
            "skipped": totals.skipped,
            "blank": totals.blank,
            "unchecked": totals.unchecked,
            **({} if self.flagged_from is None else flags),
            "measures": {name: mean.to_dict() for name, mean in self.means.items()},
            **({"files": by_file} if by_file else {}),
            "seconds": round(self.seconds, 3),
            "signature": str(self.signature),
            "short_signature": self.signature.short,
        }


def score_files(
    job: Job,
    scorer: EstimeScorer,
    *,
    existing: str = "refuse",
    wanted: Wanted = _NOTHING,
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
        wanted: what the report has of single pairs.
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
    empty = scorer.score([], [])  # loads the encoder, which layers and signature depend on
    config = empty.config
    if job.threshold is not None and len(config.layer_tuple) > 1:
        layers = ", ".join(map(str, config.layer_tuple))
        raise ValueError(
            f"Expected one layer with argument `threshold`, but got the layers {layers}."
        )
    names = files.measure_columns(empty.measures, empty.layers)
    added = _added_columns(job, names)
    for line in first:
        problem = clash_problem(line, job, added)
        if problem:
            raise ValueError(f"{line.path.name} line {line.number} {problem}.")
    summary = Summary(job, names, empty.layers, wanted)
    with opened_rows(job, Record.start(job, config), existing) as rows:
        began = perf_counter()
        if isinstance(rows, Record):
            return _report_of_finished(job, rows, config, summary)
        resumed = rows.pairs
        progress.start(resumed)
        digest = Digest()
        lines = _after_kept(job_lines(job, added), rows, digest)
        for part in files.cut(lines, job.layout, chunk_limits(job, scorer)):
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
                totals = Totals(pairs=rows.pairs, skipped=rows.skipped)
                return Report(totals, done=False, resumed=resumed, config=config)
        for chunk in rows.chunks():
            summary.add(chunk.rows)
        summary.totals.skipped = rows.skipped
        report = _report(job, rows.record, config, summary, resumed)
        if job.output is not None and not files.is_standard(job.output):
            meta = {**rows.record.to_meta(), **_counted(report)}
            files.replace_table(job.output, lambda: _output_rows(rows.chunks(), job), meta)
            rows_path(job.output).unlink()
    return replace(report, seconds=perf_counter() - began)


@contextmanager
def scored_table(
    path: Path,
    scorer: EstimeScorer,
    *,
    layout: files.Layout = files.TABLES,
    progress: Progress | None = None,
) -> Iterator[Path]:
    """A file of pairs as a temporary table of their scores, as ``estime score -o scores.jsonl``
    writes it, with the other columns and without the texts. Errors as of `score_files`.
    """
    with TemporaryDirectory() as folder:
        output = Path(folder) / "scores.jsonl"
        score_files(Job(inputs=(path,), output=output, layout=layout), scorer, progress=progress)
        yield output


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

    columns: dict[str, Sequence[Any]] = dict(files.measure_values(result))
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


def _report(
    job: Job, record: Record, config: EstimeConfig, summary: Summary, resumed: int
) -> Report:
    shown = [*summary.worst, *summary.first]
    texts = read_texts(job, [pair.place for pair in shown if pair.texts is None])

    def with_texts(pairs: Sequence[ScoredPair]) -> tuple[ScoredPair, ...]:
        return tuple(replace(pair, texts=pair.texts or texts.get(pair.place)) for pair in pairs)

    return Report(
        totals=summary.totals,
        done=True,
        resumed=resumed,
        config=config,
        means={name: summary.means.interval(name) for name in summary.means.names},
        few_sources=summary.means.few_sources,
        by_file={
            file: {name: means.interval(name) for name in MEASURES_BY_FILE}
            for file, means in summary.by_file.items()
        },
        worst=with_texts(summary.worst),
        first=with_texts(summary.first),
        values=summary.values,
        encoded=summary.encoded,
        repeated=summary.repeated,
        without_pairs=tuple(path for path in job.inputs if str(path) not in summary.files),
        flagged_from=record.threshold.get(RECOMMENDED),
    )


def _report_of_finished(job: Job, record: Record, config: EstimeConfig, summary: Summary) -> Report:
    """The report of an output that is finished; NotResumableError if its rows were changed."""
    assert job.output is not None
    lines = files.read_rows(job.output)
    while rows := [line.row for line in islice(lines, _TOGETHER)]:
        summary.add(rows)
    meta = files.read_meta(job.output)
    summary.totals.skipped = meta["totals"]["skipped"]
    report = _report(job, record, config, summary, summary.totals.pairs)
    if json.loads(json.dumps(_counted(report))) != {name: meta[name] for name in _counted(report)}:
        raise NotResumableError(
            f"Expected {job.output} to have the rows that the earlier run wrote, but they were "
            "changed. Use `overwrite` to start again."
        )
    return report


def _counted(report: Report) -> dict[str, Any]:
    """What the metadata of the output says of its rows."""
    return {
        "totals": report.totals.to_json(),
        "measures": {name: mean.to_dict() for name, mean in report.means.items()},
        "few_sources": report.few_sources,
    }

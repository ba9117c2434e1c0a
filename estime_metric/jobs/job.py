"""A job: files are scored into a file, from the first chunk to the last."""

from __future__ import annotations

import json
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

from estime_metric._progress import Bar
from estime_metric.checks import check_choice, check_one_layer
from estime_metric.config import EstimeConfig
from estime_metric.jobs.journal import (
    BYTES,
    Chunk,
    Journal,
    Limits,
    NotResumableError,
    OutputRows,
    check_same_job,
    cut,
    digests,
    is_begun,
    journal_path,
    versions,
)
from estime_metric.jobs.report import Report, ScoresTable
from estime_metric.measures import RECOMMENDED, check_threshold
from estime_metric.signature import Signature
from estime_metric.table.output import (
    check_different,
    check_writable,
    is_standard,
    lock_path,
    locked,
    record_path,
    remove_unfinished,
    resolved,
    write_standard_output,
)
from estime_metric.table.rows import TABLES, Layout, Line, Row, no_pairs, read_lines, read_rows
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
    from estime_metric.scorer import EstimeScorer

HEAD = 10_000  # lines in which a pair is looked for before the encoder is loaded
EXISTING = ("refuse", "overwrite", "resume")  # what may be done with an output that exists


@dataclass(frozen=True, kw_only=True)
class Job:
    """Which files are scored into which file: everything that decides what the output contains,
    except the options of the metric.

    Attributes:
        inputs: Files in the formats of `read_lines`. What an earlier run of the job has written is left
            out, so that ``*.jsonl`` can be repeated.
        layout: The columns or lines of the texts in the inputs.
        output: Write scores to a .jsonl, .csv or .parquet file; '-' for standard output. If it is a
            link, to its target.
        keep_texts: Also write the sources and summaries to the output.
        prefix: Prefix of the output columns, such as estime_.
        threshold: Flag summaries with an inconsistency of at least VALUE: in the column 'flag' of
            the output and the table, and in a list of the worst with their words. 'estime
            calibrate' chooses a threshold for your texts.

    Raises:
        ValueError: the output cannot be written; it, its record or its journal is one of the inputs;
            a file is named twice; ``threshold`` is not from 0 to 1.
        OSError: the folder of the output cannot be written to.
        ImportError: the output is Parquet, and pyarrow is not installed.
    """

    inputs: tuple[Path, ...]
    layout: Layout = TABLES
    output: Path | None = None
    keep_texts: bool = False
    prefix: str = ""
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.threshold is not None:
            check_threshold(self.threshold, RECOMMENDED)
        check_different(self.inputs)
        if self.output is None:
            return
        output = resolved(self.output)
        own = {Path(os.path.realpath(path)) for path in _own_files(output)}
        others = tuple(path for path in self.inputs if path.resolve() not in own)
        object.__setattr__(self, "output", output)
        object.__setattr__(self, "inputs", others or self.inputs)
        check_writable(output, self.read_files)
        for path in self.read_files:
            if path.resolve() in own:
                raise ValueError(
                    f"Expected the inputs to be other files than those that belong to {output}, but "
                    f"got {str(path)!r}."
                )

    @property
    def read_files(self) -> tuple[Path, ...]:
        """All files that the job reads: the inputs, and the text file of sources if there is one."""
        sources = self.layout.source_file
        return self.inputs if sources is None else (*self.inputs, sources)

    @property
    def has_several_inputs(self) -> bool:
        """Whether rows of the output name their file."""
        return len(self.inputs) > 1

    def record(self, config: EstimeConfig) -> dict[str, Any]:
        """What the job is of, as JSON data: ``signature``, ``inputs`` (the files), ``options`` (of the
        job, and the requested measures), ``config`` (the options of the metric), ``threshold`` (the
        measure and the value from which on ``flag`` is 1; empty without flags), and ``versions`` of the
        packages that compute.
        """
        layout = {field.name: getattr(self.layout, field.name) for field in fields(Layout)}
        record = {
            "signature": config.signature(),
            "inputs": list(map(str, self.read_files)),
            "options": {
                **layout,
                "prefix": self.prefix,
                "keep_texts": self.keep_texts,
                "measures": config.measures,
            },
            "config": {name: value for name, value in vars(config).items() if value is not None},
            "threshold": {} if self.threshold is None else {RECOMMENDED: self.threshold},
            "versions": versions(),
        }
        as_json: dict[str, Any] = json.loads(json.dumps(record, default=_to_json))
        return as_json


def _own_files(output: Path) -> Iterator[Path]:
    """What a job writes: the record, the journal and the lock of its output, and the output itself if
    a job has written or begun it, so that it is not a file of the user's.
    """
    if is_standard(output):
        return
    yield from (record_path(output), journal_path(output), lock_path(output))
    if output.exists():
        try:
            is_of_job = journal_path(output).exists() or bool(record_of(output))
        except ValueError:  # the record is damaged, or the output is no Parquet
            is_of_job = record_path(output).exists()
        if is_of_job:
            yield output


def _to_json(value: Any) -> Any:
    """A value of an option that JSON does not have: a set of tags, a function or a path."""
    return (
        sorted(value)
        if isinstance(value, frozenset)
        else getattr(value, "__qualname__", str(value))
    )


def score_files(
    job: Job,
    scorer: EstimeScorer,
    *,
    existing: str = "refuse",
    worst: int = 0,
    progress: bool = False,
    on_problem: Callable[[str], None] | None = None,
) -> Report:
    """Scores files into a file, and resumably. Memory does not grow with the size of the rows: the
    numbers of all pairs are in memory, about 200 bytes a pair.

    What is scored is kept in a journal, chunk by chunk; the output is made of it in the end. A process
    that is killed loses the current chunk and nothing else: with ``existing="resume"`` the next run
    resumes there, and the output is byte for byte that of a run that was not killed.

    Each input is opened once.

    Args:
        job, scorer: what is scored into what, and what scores it.
        existing: what is done with an output that exists: ``refuse``, ``overwrite``, or ``resume``
            if there is one. Of a finished output, ``resume`` compares the record and reports its
            numbers.
        worst: how many of the worst summaries the report has.
        progress: shows a bar on stderr.
        on_problem: is called with a sentence for each invalid line, when its chunk is kept.

    Raises:
        NotResumableError: the output cannot be resumed, because something has changed.
        ValueError, OSError: the input or the output cannot be used; the message says why. What is
            scored is on disk, and a note of the exception says how to go on.
    """
    check_choice("existing", existing, EXISTING)
    lines = chain.from_iterable(read_lines(path, job.layout) for path in job.inputs)
    # An input that cannot be used is found before the encoder is loaded.
    is_needed = existing != "resume" or not _is_finished(job)
    head = _until_first_pair(job, lines) if is_needed else []
    config = scorer.resolved_config  # loads the encoder, which layers and signature depend on
    if job.threshold is not None:
        check_one_layer(config.layers, " with `threshold`")
    measures = measure_columns(config.reported_measures, config.layer_tuple)
    added = _added_columns(job, measures)
    for line in head[-1:]:  # the first pair: later ones are skipped
        if problem := _clash_problem(line, added):
            raise ValueError(f"{line.path.name} line {line.number} {problem}.")
    record = job.record(config)
    names = [*measures, *([] if job.threshold is None else [FLAG])]
    kept = _Kept(ScoresTable(job.inputs, job.prefix, names))
    with _opened_journal(job, record, scorer, existing) as journal, _hint_at_resuming(job):
        began = perf_counter()
        if journal is None:
            assert job.output is not None
            kept.skipped = record_of(job.output)["skipped"]
            try:
                kept.scores.add(line.row for line in read_rows(job.output))
            except (KeyError, ValueError) as error:
                raise NotResumableError(
                    f"The rows of {job.output} are damaged. Use `overwrite` to start again."
                ) from error
        else:
            valid = _without_clashes(chain(head, lines), added)
            with Bar(disable=not progress) as bar:
                _score(valid, journal, job, scorer, kept, bar, on_problem)
            if not kept.scores:
                if job.output is not None and not is_standard(job.output):
                    journal_path(job.output).unlink()
                raise no_pairs(job.inputs, job.layout, head[0].sentence)
        table = kept.scores.frame()
        report = Report(
            job.inputs,
            config,
            table,
            skipped=kept.skipped,
            resumed=len(table) if journal is None else kept.resumed,
            was_complete=journal is None,
            threshold=job.threshold,
            number_of_worst=worst,
        )
        if journal is not None:
            _show_texts(report, journal, job.layout)
            if job.output is not None and not is_standard(job.output):
                rows = OutputRows(journal, job.layout, job.keep_texts)
                write(job.output, rows, _finished_record(record, report))
                journal_path(job.output).unlink()
        report.seconds = perf_counter() - began
    for text, number in kept.warnings.items():
        message = f"{text} This concerns {number} of {report.pairs} pairs."
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return report


@dataclass
class _Kept:
    """What the chunks of a journal have.

    Attributes:
        scores: the numbers of their pairs.
        skipped: how many lines are invalid.
        resumed: how many pairs an earlier run has scored.
        warnings: what there is to warn of -> the number of pairs that it is about.
    """

    scores: ScoresTable
    skipped: int = 0
    resumed: int = 0
    warnings: Counter[str] = field(default_factory=Counter)

    def add(self, chunk: Chunk) -> None:
        self.scores.add(chunk.rows)
        self.skipped += chunk.skipped
        self.warnings.update(chunk.warnings)


def _score(
    lines: Iterator[Line],
    journal: Journal,
    job: Job,
    scorer: EstimeScorer,
    kept: _Kept,
    bar: Bar,
    on_problem: Callable[[str], None] | None,
) -> None:
    """Scores the lines that are not in the journal yet, and keeps them there."""
    # Now: inputs that are read may be moved away.
    are_plain = all(path.is_file() for path in job.inputs)
    sizes = [path.stat().st_size for path in job.inputs] if are_plain else []
    number_of_earlier, earlier = journal.earlier_chunks()
    number = -1
    for number, part in enumerate(cut(lines, job.layout, journal.limits)):
        if number < number_of_earlier:
            chunk = next(earlier)
            known = chunk.lines_in(part)
            kept.add(chunk)
            kept.resumed = bar.initial = bar.n = len(kept.scores)
            part = part[known:]
            # The input may have ended with the last chunk, and have become longer.
            if not known or (part and number + 1 < number_of_earlier):
                raise _changed()
            if not part:
                continue
        pairs = len(kept.scores) + sum(not line.problem for line in part)
        bar.total = _expected_pairs(job, sizes, part[-1], pairs)
        chunk, problems = _scored(part, job, scorer, bar)
        journal.append(chunk)
        kept.add(chunk)
        if job.output is not None and is_standard(job.output):
            rows = OutputRows([chunk], job.layout, job.keep_texts)
            write_standard_output(encode_json_lines(rows))
        if on_problem is not None:
            for problem in problems:
                on_problem(problem)
    if number + 1 < number_of_earlier:
        raise _changed()
    bar.total = len(kept.scores)


def _changed() -> NotResumableError:
    return NotResumableError(
        "Expected the rows scored by the earlier run to be unchanged, but they have changed. Use "
        "`overwrite` to start again."
    )


def _expected_pairs(job: Job, sizes: Sequence[int], last: Line, pairs: int) -> int | None:
    """About how many pairs all inputs have, if there are ``pairs`` up to the ``last`` line that was
    read: by their ``sizes`` in bytes. ``None`` if these are not known.
    """
    if not sizes:
        return None
    index = job.inputs.index(last.path)
    read = sum(sizes[:index]) + last.share * sizes[index]
    return max(round(pairs * sum(sizes) / read), pairs) if read else None


def _scored(
    part: Sequence[Line], job: Job, scorer: EstimeScorer, bar: Bar
) -> tuple[Chunk, list[str]]:
    """The chunk of some lines, and a sentence for each line without a pair."""
    from estime_metric.table.intervals import source_id  # imports numpy: slow

    pairs = [line for line in part if not line.problem]
    sources, summaries = ([line.row[name] for line in pairs] for name in job.layout.text_columns)
    result = scorer.score_checked(summaries, sources, bar.update)
    columns: dict[str, Sequence[Any]] = dict(measure_values(result.columns()))
    if job.threshold is not None:
        columns[FLAG] = result.flags(job.threshold).int().tolist()
    columns[SOURCE_ID] = [source_id(source) for source in sources]
    rows = []
    for index, line in enumerate(pairs):
        row: Row = {f"{job.prefix}{LINE}": line.number}
        if job.has_several_inputs:
            row[f"{job.prefix}{FILE}"] = str(line.path)
        # Without an output nobody sees the other columns, which may have any name.
        texts = {name: line.row[name] for name in job.layout.text_columns}
        row |= texts if job.output is None else line.row
        row |= {f"{job.prefix}{name}": values[index] for name, values in columns.items()}
        rows.append(row)
    problems = [
        f"{f'{line.path} ' if job.has_several_inputs else ''}{line.sentence}"
        for line in part
        if line.problem
    ]
    *_, digest = digests(part)
    return Chunk(digest, rows, len(problems), result.input_warnings), problems


def _until_first_pair(job: Job, lines: Iterator[Line]) -> list[Line]:
    """The lines up to the first pair, which is the last of them, or up to `HEAD` lines or their bytes.

    Raises ValueError if there is no line or no pair, OSError if any input is missing.
    """
    for path in job.inputs:
        if not is_standard(path):
            path.stat()  # now, not when the files before it are scored
    head: list[Line] = []
    size = 0
    for line in lines:
        head.append(line)
        size += line.size
        if not line.problem or len(head) == HEAD or size > BYTES:
            return head
    raise no_pairs(job.inputs, job.layout, head[0].sentence if head else "")


def _added_columns(job: Job, measures: Sequence[str]) -> list[str]:
    """The columns that the output adds to those of the input; none without an output, which has a
    place for every row.
    """
    if job.output is None:
        return []
    columns = [LINE, *measures, SOURCE_ID]
    columns += [FLAG] if job.threshold is not None else []
    columns += [FILE] if job.has_several_inputs else []
    return [f"{job.prefix}{name}" for name in columns]


def _clash_problem(line: Line, added: Sequence[str]) -> str:
    """What is wrong with a line that has a column of the same name as one of the ``added`` columns
    of the output, as the end of a sentence; empty if nothing is.
    """
    column = next((name for name in added if name in line.row), None)
    if column is None:
        return ""
    return (
        f"has a column {column!r}, which is also the name of an output column; rename the output "
        "columns with `prefix`"
    )


def _without_clashes(lines: Iterable[Line], added: Sequence[str]) -> Iterator[Line]:
    """The lines; one with a column of the same name as one of the ``added`` ones is invalid."""
    for line in lines:
        problem = _clash_problem(line, added)
        yield replace(line, row={}, problem=problem) if problem else line


def _is_finished(job: Job) -> bool:
    """Whether there is an output that no run has begun to write again."""
    if job.output is None or is_standard(job.output) or is_begun(journal_path(job.output)):
        return False
    return job.output.exists() and job.output.stat().st_size > 0


def _finished_record(record: dict[str, Any], report: Report) -> dict[str, Any]:
    """The record of a finished output: also the date, the short form of the signature, and the totals
    and means.
    """
    return {
        **record,
        "finished": True,
        "short_signature": Signature(record["signature"]).short,
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%MZ}",
        **report.to_dict(),
    }


def _show_texts(report: Report, journal: Journal, layout: Layout) -> None:
    """Gives the report the texts of the pairs that it lists."""
    wanted = set(report.listed)
    if not wanted:
        return
    rows = islice(OutputRows(journal, layout, keep_texts=True), max(wanted) + 1)
    source, summary = layout.text_columns
    report.texts = {
        position: (row[source], row[summary])
        for position, row in enumerate(rows)
        if position in wanted
    }


@contextmanager
def _hint_at_resuming(job: Job) -> Iterator[None]:
    """Adds to errors of a run how to go on."""
    try:
        yield
    except NotResumableError:
        raise
    except BaseException as error:
        if job.output is None:
            error.add_note("Nothing is kept. To be able to resume, name a file with `output`.")
        elif not is_standard(job.output) and is_begun(journal_path(job.output)):
            error.add_note(
                f"What was scored for {job.output} is kept. Run it again with `resume` to continue."
            )
        raise


@contextmanager
def _opened_journal(
    job: Job, record: dict[str, Any], scorer: EstimeScorer, existing: str
) -> Iterator[Journal | None]:
    """The journal of a job, which no other run can write to meanwhile (BlockingIOError); ``None`` if
    the output is finished and is resumed.

    Without a file as output, it is a temporary one.

    Raises FileExistsError if the output exists and ``existing`` is ``"refuse"``, NotResumableError if
    it cannot be resumed or is of another job, OSError if it cannot be written.
    """
    if job.output is None or is_standard(job.output):
        with TemporaryDirectory() as folder:
            yield Journal(Path(folder) / "journal.jsonl", record, Limits.of(scorer))
        return
    path = journal_path(job.output)
    with locked(job.output):
        for written in (job.output, record_path(job.output)):
            remove_unfinished(written)
        if existing == "refuse" and is_begun(path):
            raise FileExistsError(
                f"{job.output} is unfinished. Use `resume` to continue it, or `overwrite` to start "
                "again."
            )
        check_writable(job.output, overwrite=existing != "refuse")
        if existing == "resume" and _is_finished(job):
            _check_finished(job.output, record)
            yield None
            return
        if existing == "overwrite":
            path.unlink(missing_ok=True)
        yield Journal(path, record, Limits.of(scorer))


def _check_finished(output: Path, record: dict[str, Any]) -> None:
    try:
        earlier = record_of(output)
    except ValueError:  # it is damaged
        earlier = {}
    if not earlier.get("finished") or not isinstance(earlier.get("skipped"), int):
        raise NotResumableError(
            f"Expected {output} to have the record of a run, but it has none that can be read. Use "
            "`overwrite` to replace it."
        )
    check_same_job(record, earlier)

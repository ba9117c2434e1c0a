"""A job: files are scored into a file, from the first chunk to the last."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
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
    LINES,
    Chunk,
    InputDigest,
    Journal,
    NotResumableError,
    OutputRows,
    check_same_job,
    check_same_lines,
    cut,
    is_begun,
    journal_path,
    most_text,
    recorded,
    versions,
)
from estime_metric.jobs.report import LISTED, Report, Scores, report_of
from estime_metric.measures import RECOMMENDED, check_threshold
from estime_metric.passages import joined
from estime_metric.table.formats import WRITABLE, Line, Row, encode_json_lines
from estime_metric.table.output import (
    GZIP,
    STANDARD,
    check_absent,
    check_different,
    check_writable,
    is_standard,
    lock_path,
    locked,
    record_path,
    remove_unfinished,
    replaced,
    resolved,
    write_standard_output,
)
from estime_metric.table.pairs import no_pairs, read_lines
from estime_metric.table.rows import TABLES, Layout, read_rows
from estime_metric.table.table import (
    DIGESTS,
    FILE,
    FLAG,
    LINE,
    SOURCE_ID,
    measure_columns,
    measure_values,
    record_of,
    row_digests,
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
        inputs: Files in the formats of `read_lines`. The output of an earlier run is left out if all
            inputs of that run are among the others, so that ``*.jsonl`` can be repeated.
        layout: The columns or lines of the texts in the inputs.
        output: A .jsonl, .csv or .parquet file for the scores; '-' for standard output. If it is a
            link, its target.
        keep_texts: Whether the output also has the sources and summaries.
        prefix: Prefix of the output columns, such as estime_.
        threshold: The inconsistency from which on summaries are flagged, in a column 'flag' of the
            output and the table.

    Raises:
        ValueError: the output cannot be written; it, its record or its journal is one of the inputs, and
            the inputs that it was made of are not; a file is named twice; ``threshold`` is not from 0 to 1.
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
        if self.output is not None:
            object.__setattr__(self, "output", resolved(self.output))
            object.__setattr__(self, "inputs", self._foreign_inputs())
            check_writable(resolved(self.output), self.read_files, endings=WRITABLE)

    def _foreign_inputs(self) -> tuple[Path, ...]:
        """The inputs without the files of an earlier run. ValueError for such a file if it has content
        that the others may not have.
        """
        if self.file is None:
            return self.inputs
        own = set(map(_real, _files_of(self.file)))
        others = tuple(path for path in self.inputs if _real(path) not in own)
        if len(others) == len(self.inputs):
            return self.inputs
        earlier = _earlier_inputs(self.file)
        is_repeated = bool(earlier) and earlier <= {*map(_real, self.read_files)} - own
        for path in self.inputs:
            is_empty = path.exists() and not path.stat().st_size
            if path not in others and not (others and (is_repeated or is_empty)):
                if _real(path) == _real(self.file) and path.exists():
                    return self.inputs  # which `check_writable` refuses
                raise ValueError(
                    f"Expected the output to differ from the inputs, but {str(path)!r} belongs to it. It is "
                    "left out only if all files that the output was made of are inputs, too."
                )
        return others

    @property
    def file(self) -> Path | None:
        """The output if it is a file."""
        return None if self.output is None or is_standard(self.output) else self.output

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


def _files_of(output: Path) -> tuple[Path, ...]:
    """What a job writes."""
    return (output, record_path(output), journal_path(output), lock_path(output))


def _real(path: Path) -> str:
    return os.path.realpath(path)


def _earlier_inputs(output: Path) -> set[str]:
    """The inputs of the runs that have written or begun an output."""
    records = [recorded(journal_path(output))]
    if output.exists():
        with suppress(ValueError):  # the record is damaged, or the output is not Parquet
            records.append(record_of(output))
    return {_real(Path(name)) for record in records for name in record.get("inputs", ())}


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
    resumes there. If the inputs have not changed, the output is byte for byte that of a run that was
    not killed; lines that were appended to the last input are scored too.

    Each input is opened once, except that plain files after the first are looked at before anything is
    scored.

    Args:
        job, scorer: what is scored into what, and what scores it.
        existing: what is done with an output that exists: ``refuse``, ``overwrite``, or ``resume``
            if there is one. If the output is finished, ``resume`` compares the inputs and the record,
            scores lines that were appended to the last input, and reports all numbers.
        worst: how many of the worst summaries the report has.
        progress: shows a bar on stderr.
        on_problem: is called with a sentence for each invalid line, when its chunk is kept.

    Raises:
        NotResumableError: the output cannot be resumed, because something has changed.
        ValueError, OSError: the input or the output cannot be used; the message says why. What is
            scored is on disk, and a note of the exception says how to go on.
    """
    check_choice("existing", existing, EXISTING)
    is_complete = existing == "resume" and _is_finished(job.file)
    if not is_complete:
        _check_inputs(job)
    lines, appended = _lines(job), 0
    with _opened(job, existing) as path:
        if is_complete:
            report, finished = _report_of_finished(job, lines, scorer, worst)
            appended = 0 if report.uncompared else sum(1 for _ in lines)
            if not appended:
                return report
            _reopen(job, path, finished, scorer.resolved_config)
            lines = _lines(job)
        head = _until_first_pair(job, lines)
        config = scorer.resolved_config  # loads the encoder, which layers and signature depend on
        names = _score_columns(job, config)
        added = _added_columns(job, names)
        if problem := _clash_problem(head[-1], added):  # the first pair: later ones are skipped
            raise ValueError(f"{head[-1].path.name} line {head[-1].number} {problem}.")
        began = perf_counter()
        record = job.record(config)
        journal = Journal(path, record, restart=existing == "overwrite")
        lines = chain(head, lines)
        digest = InputDigest()
        scores = Scores(job.inputs, job.prefix, names)
        for chunk in journal:
            digest.add(islice(lines, chunk.lines - digest.lines))
            check_same_lines(digest, chunk)
            scores.add(chunk)
        resumed = len(scores)
        sizes = _sizes(job.inputs)
        with Bar(disable=not progress, initial=resumed) as bar:
            for part in cut(lines, job.layout, most_text(scorer)):
                digest.add(part)
                pairs, problems = _checked(part, added, job)
                bar.total = _expected_pairs(job, sizes, part[-1], len(scores) + len(pairs))
                rows, concerned = _scored_rows(pairs, job, scorer, bar)
                chunk = Chunk(digest.lines, digest.text(), rows, len(problems), concerned)
                journal.append(chunk)
                scores.add(chunk)
                if job.output is not None and job.file is None:
                    written = OutputRows([chunk], job.layout, job.keep_texts)
                    write_standard_output(encode_json_lines(written))
                if on_problem is not None:
                    for problem in problems:
                        on_problem(problem)
            bar.total = len(scores)
        if not scores:
            path.unlink()
            raise no_pairs(job.inputs, job.layout, head[0].sentence)
        report = report_of(scores, config, worst)
        texts = _texts(journal, job.layout, report)
        if job.file is not None:
            is_text = job.file.suffix.lower() != STANDARD
            written = OutputRows(journal, job.layout, job.keep_texts, joins_passages=is_text)
            record |= _results(report, digest)
            write(
                job.file, written, {**record, DIGESTS: " ".join(row_digests(report.table, record))}
            )
            path.unlink()
    for text, number in scores.warnings.items():
        message = f"{text} This concerns {number} of {len(scores)} pairs."
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return replace(
        report, resumed=resumed, appended=appended, texts=texts, seconds=perf_counter() - began
    )


def _lines(job: Job) -> Iterator[Line]:
    """The lines of all inputs."""
    return chain.from_iterable(read_lines(path, job.layout) for path in job.inputs)


def _is_finished(output: Path | None) -> bool:
    """Whether there is an output that no run has begun to write again."""
    return (
        output is not None
        and output.exists()
        and output.stat().st_size > 0
        and not journal_path(output).exists()
    )


def _check_inputs(job: Job) -> None:
    """Raises ValueError or OSError if an input cannot be read: now, not when those before it are scored.
    The first lines of plain files are read; of text files, all lines are counted, unless compressed.
    """
    for path in job.read_files:
        if not is_standard(path):
            path.stat()
    sources = job.layout.source_file
    for path in job.inputs[1:]:
        read = [path] if sources is None else [path, sources]
        is_counted = sources is not None and any(file.suffix.lower() == GZIP for file in read)
        if path.is_dir() or (all(map(Path.is_file, read)) and not is_counted):
            next(read_lines(path, job.layout), None)


@contextmanager
def _opened(job: Job, existing: str) -> Iterator[Path]:
    """The path of the journal, which no other run can write to meanwhile (BlockingIOError); a temporary
    one if the output is not a file.

    Raises FileExistsError if the output exists and ``existing`` is ``"refuse"``.
    """
    if job.file is None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "journal.jsonl"
            with _hint_at_resuming(job, path):
                yield path
        return
    path = journal_path(job.file)
    with locked(job.file), _hint_at_resuming(job, path):
        for written in (job.file, record_path(job.file), path):
            remove_unfinished(written)
        if existing == "refuse" and is_begun(path):
            raise FileExistsError(
                f"{job.file} is unfinished. Use `resume` to continue it, or `overwrite` to start "
                "again."
            )
        is_new = not (is_begun(path) or job.file.exists())
        if existing == "refuse" or (existing == "resume" and is_new):
            check_absent(job.file)
        if existing == "overwrite":
            path.touch()  # from now on, the old output is not a finished one
        try:
            yield path
        finally:
            if path.exists() and not path.stat().st_size:  # nothing was begun
                path.unlink()


@contextmanager
def _hint_at_resuming(job: Job, path: Path) -> Iterator[None]:
    """Adds to errors of a run that has begun its journal how to go on."""
    try:
        yield
    except (NotResumableError, FileExistsError):  # their advice is in the message
        raise
    except BaseException as error:
        if is_begun(path):
            if job.file is not None:
                error.add_note(
                    f"What was scored for {job.file} is kept. Run it again with `resume` to continue."
                )
            elif job.output is None:
                error.add_note("Nothing is kept. To be able to resume, name a file with `output`.")
        raise


def _report_of_finished(
    job: Job, lines: Iterator[Line], scorer: EstimeScorer, worst: int
) -> tuple[Report, Chunk]:
    """The report on an output that an earlier run has finished, and the output as a chunk. ``lines`` then
    begin with those that were appended to the inputs.

    Raises NotResumableError if its record, its rows or the inputs are not those of the earlier run.
    """
    assert job.file is not None
    try:
        record = record_of(job.file)
    except ValueError:  # it is damaged
        record = {}
    if not record.get("finished") or not isinstance(record.get("skipped"), int):
        raise NotResumableError(
            f"Expected {job.file} to have the record of a run, but it has none that can be read. Use "
            "`overwrite` to replace it."
        )
    config = scorer.resolved_config
    check_same_job(job.record(config), record)
    began = perf_counter()
    rows = (line.row for line in read_rows(job.file))
    finished = Chunk(
        record.get("input_lines", 0), record.get("input_digest", ""), rows, record["skipped"], {}
    )
    uncompared = _why_uncompared(job, finished)
    if not uncompared:
        digest = InputDigest()
        digest.add(islice(lines, finished.lines))
        check_same_lines(digest, finished)
    scores = Scores(job.inputs, job.prefix, _score_columns(job, config))
    try:
        scores.add(finished)
    except (KeyError, ValueError) as error:
        raise NotResumableError(
            f"The rows of {job.file} are damaged. Use `overwrite` to start again."
        ) from error
    if len(scores) != record.get("pairs"):
        raise NotResumableError(
            f"Expected {job.file} to have {record.get('pairs')} rows, as its record says, but it has "
            f"{len(scores)}. Use `overwrite` to start again."
        )
    report = report_of(scores, config, worst)
    if DIGESTS in record and record[DIGESTS].split() != row_digests(report.table, record):
        raise NotResumableError(
            f"Expected {job.file} to have the rows that its record is of, in their order, but they have "
            "changed. Use `overwrite` to start again."
        )
    report = replace(
        report,
        resumed=len(scores),
        was_complete=True,
        uncompared=uncompared,
        seconds=perf_counter() - began,
    )
    return report, finished


def _reopen(job: Job, journal: Path, finished: Chunk, config: EstimeConfig) -> None:
    """Makes the journal of a finished output, which then can be continued. NotResumableError if packages
    that compute have other versions now.
    """
    assert job.file is not None
    record = job.record(config)
    check_same_job(record, {**record_of(job.file), "finished": False})
    rows = (line.row for line in read_rows(job.file))
    with replaced(journal) as unfinished:
        continued = Journal(unfinished, record)
        continued.append(replace(finished, rows=[]))
        while group := list(islice(rows, LINES)):
            continued.append(replace(finished, rows=group, skipped=0))


def _why_uncompared(job: Job, finished: Chunk) -> str:
    """Why the inputs cannot be compared with those that a finished output was made of; empty if they
    can.
    """
    if not finished.digest:
        return "the record has no digest of them"
    for path in job.read_files:
        if is_standard(path):
            return "standard input cannot be read again"
        if not path.is_file():
            return f"{path} is gone" if not path.exists() else f"{path} cannot be read again"
    return ""


def _until_first_pair(job: Job, lines: Iterator[Line]) -> list[Line]:
    """The lines up to the first pair, which is the last of them, or `HEAD` lines, which have no rows then.

    Raises ValueError if there is no line or no pair.
    """
    head: list[Line] = []
    for line in lines:
        head.append(line)
        if not line.problem or len(head) == HEAD:
            return head
    raise no_pairs(job.inputs, job.layout, head[0].sentence if head else "")


def _score_columns(job: Job, config: EstimeConfig) -> list[str]:
    """The columns of the measures, and of the flag if there is a threshold; ValueError if several
    layers cannot have one.
    """
    columns = measure_columns(config.reported_measures, config.layer_tuple)
    if job.threshold is None:
        return columns
    check_one_layer(config.layers, " with `threshold`")
    return [*columns, FLAG]


def _added_columns(job: Job, names: Sequence[str]) -> list[str]:
    """The columns that the output adds to those of the input; none without an output, which has a
    place for every row.
    """
    if job.output is None:
        return []
    files = [FILE] if job.has_several_inputs else []
    return [f"{job.prefix}{name}" for name in (LINE, *names, SOURCE_ID, *files)]


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


def _sizes(paths: Collection[Path]) -> list[int]:
    """The bytes of the inputs, taken before any is moved away; none if one is not a plain file."""
    return [path.stat().st_size for path in paths] if all(map(Path.is_file, paths)) else []


def _checked(lines: Iterable[Line], added: Sequence[str], job: Job) -> tuple[list[Line], list[str]]:
    """The lines with a pair that can be written, and a sentence for each other one."""
    pairs, problems = [], []
    for line in lines:
        if problem := line.problem or _clash_problem(line, added):
            file = f"{line.path} " if job.has_several_inputs else ""
            problems.append(f"{file}line {line.number}: {problem}")
        else:
            pairs.append(line)
    return pairs, problems


def _expected_pairs(job: Job, sizes: Sequence[int], last: Line, pairs: int) -> int | None:
    """About how many pairs all inputs have, if there are ``pairs`` up to the ``last`` line that was
    read: by their ``sizes`` in bytes. ``None`` if these are not known.
    """
    if not sizes:
        return None
    index = job.inputs.index(last.path)
    read = sum(sizes[:index]) + last.share * sizes[index]
    return max(round(pairs * sum(sizes) / read), pairs) if read else None


def _scored_rows(
    pairs: Sequence[Line], job: Job, scorer: EstimeScorer, bar: Bar
) -> tuple[list[Row], dict[str, int]]:
    """The rows of some pairs, and what there is to warn of -> the number of pairs that it is about."""
    from estime_metric.table.intervals import source_id  # imports numpy: slow

    source_column, summary_column = job.layout.text_columns
    sources = [joined(line.row[source_column]) for line in pairs]
    result = scorer.score_checked([line.row[summary_column] for line in pairs], sources, bar.update)
    columns: dict[str, Sequence[Any]] = dict(measure_values(result.columns()))
    if job.threshold is not None:
        columns[FLAG] = result.flags(job.threshold).int().tolist()
    columns[SOURCE_ID] = [source_id(source) for source in sources]
    names = [f"{job.prefix}{name}" for name in columns]
    rows: list[Row] = []
    for line, *values in zip(pairs, *columns.values(), strict=True):
        place = {f"{job.prefix}{LINE}": line.number}
        if job.has_several_inputs:
            place[f"{job.prefix}{FILE}"] = str(line.path)
        own = line.row
        if job.output is None:  # nobody sees the other columns, which may have any name
            own = {name: own[name] for name in job.layout.text_columns}
        rows.append({**place, **own, **dict(zip(names, values, strict=True))})
    return rows, result.input_warnings


def _texts(journal: Journal, layout: Layout, report: Report) -> dict[int, tuple[str, str]]:
    """The texts of the pairs that a report lists, by their positions."""
    pairs = report.summary.pairs
    wanted = {*report.worst, *(range(pairs) if pairs <= LISTED else ())}
    rows = islice(OutputRows(journal, layout, keep_texts=True), max(wanted, default=-1) + 1)
    source, summary = layout.text_columns
    return {
        position: (joined(row[source]), row[summary])
        for position, row in enumerate(rows)
        if position in wanted
        and {source, summary} <= row.keys()  # those of a finished output may lack
    }


def _results(report: Report, digest: InputDigest) -> dict[str, Any]:
    """What the record of a finished output has in addition: the digest of the inputs, the short form of
    the signature, the date, and the totals and means.
    """
    return {
        "finished": True,
        "input_lines": digest.lines,
        "input_digest": digest.text(),
        "short_signature": report.config.signature().short,
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%MZ}",
        **report.to_dict(),
    }

"""A job: files are scored into a file, from the first chunk to the last."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from estime_metric._progress import Bar
from estime_metric.checks import check_choice, check_one_layer
from estime_metric.config import EstimeConfig
from estime_metric.jobs.journal import (
    Chunk,
    FinishedOutput,
    InputDigest,
    Journal,
    OutputRows,
    begin_journal,
    check_same_job,
    check_same_lines,
    check_same_versions,
    cut,
    earlier_run,
    held,
    most_text,
    other_rows,
    versions,
)
from estime_metric.jobs.report import LISTED, Report, Tally, report_of
from estime_metric.measures import RECOMMENDED, check_threshold
from estime_metric.passages import joined
from estime_metric.table.formats import WRITABLE, Line, Row, encode_json_lines
from estime_metric.table.output import (
    STANDARD,
    check_different,
    check_writable,
    is_standard,
    resolved,
    write_standard_output,
)
from estime_metric.table.pairs import Pair, check_readable, no_pairs, read_pairs
from estime_metric.table.rows import TABLES, Layout
from estime_metric.table.table import (
    DIGESTS,
    FILE,
    FLAG,
    LINE,
    SOURCE_ID,
    measure_columns,
    measure_values,
    row_digests,
    write,
)

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer

EXISTING = ("refuse", "overwrite", "resume")  # what may be done with an output that exists


@dataclass(frozen=True, kw_only=True)
class Job:
    """Which files are scored into which file: everything that decides what the output contains,
    except the options of the metric.

    Attributes:
        inputs: Files in the formats of `read_pairs`.
        layout: The columns or lines of the texts in the inputs.
        output: A .jsonl, .csv or .parquet file for the scores; '-' for standard output. If it is a
            link, its target.
        keep_texts: Whether the output also has the sources and summaries.
        prefix: Prefix of the output columns, such as estime_.
        threshold: The inconsistency from which on summaries are flagged, in a column 'flag' of the
            output and the table.

    Raises:
        ValueError: the output cannot be written; it, its record or its journal is one of the inputs; a
            file is named twice; ``threshold`` is not from 0 to 1.
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
            check_writable(self.output, self.read_files, endings=WRITABLE)

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


def _to_json(value: Any) -> Any:
    """A value of an option that JSON does not have: a function or a path."""
    return getattr(value, "__qualname__", str(value))


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
    not killed; lines that were appended to the last input are scored too, also if the output was finished.

    Each input is opened once, except that plain files after the first are looked at before anything is
    scored.

    Args:
        job, scorer: what is scored into what, and what scores it.
        existing: what is done with an output that exists: ``refuse``, ``overwrite``, or ``resume``
            if there is one, also a finished one.
        worst: how many of the worst summaries the report has.
        progress: shows a bar on stderr.
        on_problem: is called with a sentence for each invalid line, when its chunk is kept.

    Raises:
        NotResumableError: the output cannot be resumed, because something has changed.
        ValueError, OSError: the input or the output cannot be used; the message says why. What is
            scored is on disk, and a note of the exception says how to go on.
    """
    check_choice("existing", existing, EXISTING)
    check_readable(job.inputs, job.layout)
    with held(job.output, existing) as path:
        earlier = earlier_run(job.file, path) if existing == "resume" else None
        run = _Run(job, scorer)
        if earlier is not None:
            run.take_up(earlier)
        was_finished = isinstance(earlier, FinishedOutput)
        resumed, resumed_lines = len(run.tally), run.digest.lines
        was_complete = was_finished and not run.has_further_lines()
        if earlier is not None and was_complete:
            report = run.report(earlier, worst)
        else:
            journal = run.journal(path, earlier)
            run.score(journal, progress=progress, on_problem=on_problem)
            report = run.report(journal, worst)
            run.write(journal, report)
            path.unlink()
    for text, number in run.tally.warnings.items():
        message = f"{text} This concerns {number} of {len(run.tally)} pairs."
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return replace(
        report,
        resumed=resumed,
        appended=run.digest.lines - resumed_lines if was_finished else 0,
        was_complete=was_complete,
        seconds=perf_counter() - run.began,
    )


class _Run:
    """A job that is being done: the lines that are left, and the scores of those before.

    Raises ValueError if no line is a pair, or if the first pair has a column of the output.
    """

    def __init__(self, job: Job, scorer: EstimeScorer) -> None:
        self.job, self.scorer = job, scorer
        lines = chain.from_iterable(read_pairs(path, job.layout) for path in job.inputs)
        head = _until_first_pair(job, lines)
        self._lines = chain(head, lines)
        # Loads the encoder, which layers and signature depend on.
        self.config = scorer.resolved_config
        self.began = perf_counter()
        self.record = job.record(self.config)
        names = _score_columns(job, self.config)
        self._added = _added_columns(job, names)
        first = head[-1]  # the first pair: later ones are skipped
        if problem := _clash_problem(first, self._added):
            raise ValueError(f"{first.path.name} line {first.number} {problem}.")
        self.digest = InputDigest()
        self.tally = Tally(job.inputs, job.prefix, names)

    def take_up(self, earlier: Journal | FinishedOutput) -> None:
        """Adds what an earlier run has scored. NotResumableError if its options, its rows or the inputs are
        not those of this run.
        """
        check_same_job(self.record, earlier.record)
        for chunk in earlier:
            self.digest.add(islice(self._lines, chunk.lines - self.digest.lines))
            check_same_lines(self.digest, chunk)
            self.tally.add(chunk)
        digests = earlier.record.get(DIGESTS)
        if digests and digests.split() != row_digests(self.tally.frame(), earlier.record):
            raise other_rows(self.job.file)

    def has_further_lines(self) -> bool:
        """Whether the inputs have lines that were not scored."""
        further = list(islice(self._lines, 1))
        self._lines = chain(further, self._lines)
        return bool(further)

    def journal(self, path: Path, earlier: Journal | FinishedOutput | None) -> Journal:
        """The journal with what an earlier run has scored. NotResumableError if packages that compute had
        other versions.
        """
        if earlier is not None:
            check_same_versions(self.record, earlier.record)
        if isinstance(earlier, Journal):
            return earlier
        return begin_journal(path, self.record, earlier or ())

    def score(
        self, journal: Journal, *, progress: bool, on_problem: Callable[[str], None] | None
    ) -> None:
        """Scores the lines that are left, chunk by chunk."""
        job, tally = self.job, self.tally
        sizes = _sizes(job.inputs)
        with Bar(disable=not progress, initial=len(tally)) as bar:
            for part in cut(self._lines, most_text(self.scorer)):
                self.digest.add(part)
                pairs, problems = _checked(part, self._added, job)
                bar.total = _expected_pairs(job, sizes, part[-1], len(tally) + len(pairs))
                rows, concerned = _scored_rows(pairs, job, self.scorer, bar)
                chunk = Chunk(self.digest.lines, self.digest.text(), rows, len(problems), concerned)
                journal.append(chunk)
                tally.add(chunk)
                if job.output is not None and job.file is None:
                    written = OutputRows([chunk], job.layout, job.keep_texts)
                    write_standard_output(encode_json_lines(written))
                if on_problem is not None:
                    for problem in problems:
                        on_problem(problem)
            bar.total = len(tally)

    def report(self, chunks: Iterable[Chunk], worst: int) -> Report:
        """The report on all pairs, with the texts that it shows."""
        report = report_of(self.tally, self.config, self.record, worst)
        return replace(report, texts=_texts(chunks, self.job.layout, report))

    def write(self, journal: Journal, report: Report) -> None:
        """Writes the output with its record, if it is a file."""
        job = self.job
        if job.file is None:
            return
        is_text = job.file.suffix.lower() != STANDARD
        rows = OutputRows(journal, job.layout, job.keep_texts, joins_passages=is_text)
        record = self.record | _results(report, self.digest)
        write(
            job.file, rows, {**record, DIGESTS: " ".join(row_digests(report.scores.frame, record))}
        )


def _until_first_pair(job: Job, lines: Iterator[Pair]) -> list[Pair]:
    """The lines up to the first pair, which is the last of them. ValueError if there is none."""
    head: list[Pair] = []
    for line in lines:
        head.append(line)
        if not line.problem:
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


def _checked(lines: Iterable[Pair], added: Sequence[str], job: Job) -> tuple[list[Pair], list[str]]:
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
    pairs: Sequence[Pair], job: Job, scorer: EstimeScorer, bar: Bar
) -> tuple[list[Row], dict[str, int]]:
    """The rows of some pairs, and what there is to warn of -> the number of pairs that it is about."""
    from estime_metric.table.intervals import source_id  # imports numpy: slow

    sources = [joined(pair.source) for pair in pairs]
    result = scorer.score_checked([pair.summary for pair in pairs], sources, bar.update)
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


def _texts(chunks: Iterable[Chunk], layout: Layout, report: Report) -> dict[int, tuple[str, str]]:
    """The texts of the pairs that a report lists, by their positions."""
    pairs = report.summary.pairs
    wanted = {*report.worst, *(range(pairs) if pairs <= LISTED else ())}
    rows = islice(OutputRows(chunks, layout, keep_texts=True), max(wanted, default=-1) + 1)
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

"""A job from its first chunk to its last, or to the signal that stops it."""

from __future__ import annotations

import hashlib
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from estime_metric import files
from estime_metric.config import EstimeConfig
from estime_metric.inputs import check_choice
from estime_metric.jobs.inputs import chunks, first_pairs, further, read_lines
from estime_metric.jobs.job import Job, Totals
from estime_metric.jobs.output import EXISTING, Output, Record
from estime_metric.jobs.team import Workers
from estime_metric.measures import RECOMMENDED

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult
    from estime_metric.scorer import EstimeScorer

_HEAD = 256  # rows of the input from which the columns of CSV are taken


@dataclass(frozen=True)
class Report:
    """How a run ended.

    Attributes:
        totals: those of all pairs that are scored, in earlier runs too.
        done: whether the whole input is.
        resumed: pairs that an earlier run had scored.
        config: the configuration with nothing left open.
        flagged_from: the threshold of the flags, if any.
    """

    totals: Totals
    done: bool
    resumed: int
    config: EstimeConfig
    flagged_from: float | None = None

    @property
    def signature(self) -> str:
        """That of the scores."""
        return self.config.signature()


def score_files(
    job: Job,
    scorer: EstimeScorer,
    *,
    existing: str = "refuse",
    on_chunk: Callable[[files.Pairs, EstimeResult], None] | None = None,
    on_start: Callable[[int], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
    workers: Workers | None = None,
) -> Report:
    """Scores files into a file, at constant memory, and resumably.

    A process that is killed loses the current chunk and nothing else: with ``existing="resume"``
    the next run resumes there, and the output is byte for byte that of a run that was not killed.

    Args:
        job, scorer: what is scored into what, and what scores it.
        existing: what is done with an output that exists: ``refuse``, ``overwrite``, or ``resume``
            where there is one.
        on_chunk: called with each chunk that is scored and its scores.
        on_start: called before the first chunk with the number of pairs that an earlier run has
            scored.
        stop: asked after each chunk whether to end here.
        workers: the processes of a `Team`, each of which calls this, or Ray's actors; by default
            this process alone.

    Raises:
        ValueError, OSError: the input or the output cannot be used; the message says why. What is
            scored is on disk.
    """
    check_choice("existing", existing, EXISTING)
    workers = workers or Workers()
    heads = first_pairs(job)
    blank = scorer.score([""], [""])  # loads the encoder, which tells layers and signature
    config = blank.config
    (row,) = _rows(job, files.Pairs([0], [""], [""], [{}]), blank)
    for path, line, found in heads if job.output is not None else ():
        if isinstance(found, dict):
            files.check_names(further(job, path, found), row, f"{path.name} line {line}")
    with ExitStack() as held:
        output: Output | None = None

        def start() -> Record:
            nonlocal output
            output = held.enter_context(Output(job, Record.start(job, config), existing))
            return output.record

        record = workers.share(start)
        totals = Totals(**record.totals)
        report = Report(
            totals, record.finished, totals.pairs, config, record.threshold.get(RECOMMENDED)
        )
        if on_start is not None and output is not None:
            on_start(report.resumed)
        tasks = _unscored(job, record, job.limits(scorer), list(row))
        if report.done:
            if next(tasks, None) is not None:
                raise ValueError(
                    f"{job.output} is done, but its input has grown since: replace it with --overwrite."
                )
            return report
        for task, result, data, added in workers.run(
            tasks, partial(_score, job=job, scorer=scorer), stop
        ):
            assert output is not None  # the results go to the first process
            totals.add(added)
            output.record.columns = task.columns
            output.commit(data, task.digest, totals)
            if on_chunk is not None:
                on_chunk(task.pairs, result)
            if stop():
                break
        done = not stop()
        if output is not None and done:
            output.finish()
        return replace(report, done=done)


class _Task(NamedTuple):
    pairs: files.Pairs
    first: bool
    digest: str  # of all rows to its end
    columns: list[str]  # of CSV


#: A chunk that is scored, and its rows as they are written.
_Scored = tuple[_Task, "EstimeResult", bytes, Totals]


def _score(task: _Task, *, job: Job, scorer: EstimeScorer) -> _Scored:
    result = scorer.score(task.pairs.summaries, task.pairs.sources)
    data = b""
    if job.output is not None:
        data = files.encode_rows(
            _rows(job, task.pairs, result), job.ending, task.columns, header=task.first
        )
    return task, result, data, Totals.of(task.pairs, result, job.threshold)


def _rows(job: Job, pairs: files.Pairs, result: EstimeResult) -> list[files.Row]:
    flags = None if job.threshold is None else result.flags(job.threshold).int().tolist()
    return files.score_rows(pairs, result, job.prefix, flags=flags, signature=job.with_signature)


def _unscored(
    job: Job, record: Record, limits: tuple[int, int], ours: list[str]
) -> Iterator[_Task]:
    """The chunks that are not committed yet; ValueError where the committed part of the input has
    changed.
    """
    lines, digest = read_lines(job), hashlib.blake2b(digest_size=16)
    done = Totals(**record.totals)
    for line in islice(lines, done.pairs + done.skipped):
        digest.update(line.encoded())
    if record.digest not in ("", digest.hexdigest()):
        wanted = "the rows that the earlier run has scored, to resume it"
        raise ValueError(f"Expected {wanted}, but they have changed: start again with --overwrite.")
    columns = record.columns
    if job.ending == ".csv" and not columns:
        head = list(islice(lines, _HEAD))
        found = [further(job, line.path, line.row) for line in head if isinstance(line.row, dict)]
        columns = [ours[0], *dict.fromkeys(name for row in found for name in row), *ours[1:]]
        lines = chain(head, lines)
    for number, chunk in enumerate(chunks(lines, job, limits, digest)):
        yield _Task(chunk, not number and not record.digest, digest.hexdigest(), columns)


class Stop:
    """Within ``with Stop() as stop`` the first signal, Ctrl-C or SIGTERM, sets ``stop.signal``,
    which was 0, and calls ``said``; a second Ctrl-C interrupts at once.
    """

    def __init__(self, said: Callable[[], None] = lambda: None) -> None:
        self.signal, self._said = 0, said
        self._before: dict[int, Any] = {}

    @property
    def asked(self) -> bool:
        """Whether a signal came."""
        return self.signal != 0

    def __enter__(self) -> Stop:
        if (
            threading.current_thread() is threading.main_thread()
        ):  # elsewhere Python takes no handlers
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        if not self.asked:
            self.signal = number
            self._said()

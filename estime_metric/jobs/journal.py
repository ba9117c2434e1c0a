"""The journal of a job: what it has scored, chunk by chunk, and how the input is cut into chunks.

A journal is a file of JSON Lines, whatever the format of the output is. Its first line is the record of
the job. Each further line is a chunk: how many lines of the input there are up to its end and a digest of
them, its rows, the number of its invalid lines, and what there is to warn of in its texts. Each line also
has a check of its content. The first line that a killed run has left half, that was damaged, or that does
not begin where the chunk before it ends is cut off with all that follow it, and their pairs are scored again.

A job that is resumed reads as many lines of its input as each chunk has, and compares the digests.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from estime_metric._version import __version__
from estime_metric.passages import joined
from estime_metric.table.formats import Line, Row, encode_json_lines
from estime_metric.table.output import (
    check_absent,
    is_standard,
    journal_path,
    locked,
    named,
    record_path,
    remove_unfinished,
    replaced,
)
from estime_metric.table.pairs import Pair, other_columns
from estime_metric.table.rows import Layout, read_rows
from estime_metric.table.table import record_of

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer

LINES = 256  # in a chunk, at most

#: Work of a chunk, in floating-point operations of the encoder: about ten seconds of two cores of
#: a server, and how many times as much on a GPU. It is a constant and not a measured speed.
WORK, _FASTER = 2e12, 100

BYTES = 8_000_000  # of whole rows in a chunk, at most: bounds the memory
_TOKEN = 4  # bytes of text that make a token, about

_CHECK = ', "check": '  # of the other entries of a line, which it ends

_DECISIVE = ("signature", "inputs", "threshold")  # for resuming, in addition to all options
_PACKAGES = ("torch", "transformers", "tokenizers", "regex", "nltk")


class NotResumableError(ValueError):
    """An earlier run cannot be resumed, because its output, its input or its options have changed."""


def most_text(scorer: EstimeScorer) -> int:
    """The most bytes of text in a chunk for an encoder on its device, with identical sources counted
    once; loads the encoder.
    """
    config, encoder = scorer.resolved_config, scorer.encoder
    # A token is in `distance` windows, and needs 12 products of width by width in each block,
    # two operations each.
    blocks = max(*config.layer_tuple, 1)
    token = config.schedule["distance"] * blocks * 24 * encoder.info.width**2
    work = WORK if encoder.device.type == "cpu" else _FASTER * WORK
    return min(max(int(_TOKEN * work / token), 1), BYTES)


def cut(lines: Iterable[Pair], most_text: int) -> Iterator[list[Pair]]:
    """Lines in chunks of at most `LINES` lines, ``most_text`` bytes of text and `BYTES` of whole rows.

    While the source is the same, a chunk continues to twice the number of lines or bytes of text; if a
    source alone has more bytes than the limit, until its summaries have as many as it has.
    """
    chunk: list[Pair] = []
    sources: set[str] = set()
    text, size, last = 0, 0, ""
    for line in lines:
        source = joined(line.source)
        source_bytes = len(source.encode())
        is_full = len(chunk) >= LINES or text >= most_text
        is_overfull = (
            len(chunk) >= 2 * LINES
            or text >= 2 * max(most_text, source_bytes)
            or size + line.size > BYTES
        )
        if chunk and (is_overfull or (is_full and source != last)):
            yield chunk
            chunk, sources, text, size = [], set(), 0, 0
        text += len(line.summary.encode()) + (0 if source in sources else source_bytes)
        size += line.size
        sources.add(source)
        last = source
        chunk.append(line)
    if chunk:
        yield chunk


@dataclass(frozen=True)
class Chunk:
    """Lines that were scored together.

    Attributes:
        lines: how many lines the inputs have up to the end of the chunk.
        digest: the `InputDigest` of these lines; empty in a chunk of a finished output that is not the last.
        rows: a row for each of its pairs: the columns of the output, and the texts.
        skipped: how many lines of the chunk are invalid.
        warnings: what there is to warn of in its texts -> the number of pairs that it is about.
    """

    lines: int
    digest: str
    rows: Sequence[Row]
    skipped: int
    warnings: Mapping[str, int]

    @property
    def first(self) -> int:
        """How many lines the inputs have before the chunk: each of its lines is a row or was skipped."""
        return self.lines - len(self.rows) - self.skipped


class InputDigest:
    """A digest of the lines of all inputs, which shows later whether they are still the same.

    Attributes:
        lines: how many lines were added.
    """

    def __init__(self) -> None:
        self.lines = 0
        self._digest = hashlib.blake2b(digest_size=16)

    def add(self, lines: Iterable[Line]) -> None:
        """Adds the next lines."""
        for line in lines:
            content = [str(line.path), line.number, line.problem or line.row]
            self._digest.update(json.dumps(content, default=str).encode("utf-8"))
            self.lines += 1

    def text(self) -> str:
        """The digest of all lines up to now."""
        return self._digest.hexdigest()


class Journal:
    """A journal that has begun, to which chunks are appended after the last one that can be read.

    Args:
        path: the file.

    Attributes:
        record: the record of the job, JSON data.

    Raises:
        NotResumableError: the record is damaged.
        OSError: the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb+") as stream:
            self.record = _content(stream.readline())
            if not self.record:
                raise _damaged()
            kept, lines = stream.tell(), 0
            for line in filter(bytes.strip, stream):
                chunk = _chunk(line)
                if chunk is None or chunk.first != lines:
                    break
                lines = chunk.lines
                if chunk.digest:
                    kept = stream.tell()
            stream.truncate(kept)

    def append(self, chunk: Chunk) -> None:
        """Keeps a chunk; once this returns, it is on disk."""
        _append(self._path, vars(chunk))

    def __iter__(self) -> Iterator[Chunk]:
        """The chunks, in order."""
        with self._path.open("rb") as stream:
            for line in islice(stream, 1, None):
                if chunk := _chunk(line):
                    yield chunk


def begin_journal(path: Path, record: Mapping[str, Any], chunks: Iterable[Chunk]) -> Journal:
    """A new journal with some chunks, which is there once it is whole."""
    with replaced(path) as unfinished:
        _append(unfinished, record)
        for chunk in chunks:
            _append(unfinished, vars(chunk))
    return Journal(path)


class FinishedOutput:
    """An output that a run has finished, as the chunks of a journal.

    Attributes:
        record: the record of the job and its results, JSON data.

    Raises:
        NotResumableError: there is no record of a finished run.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.record: dict[str, Any] = {}
        with suppress(ValueError):  # it is damaged
            self.record = record_of(path)
        if not self.record.get("finished") or not isinstance(self.record.get("skipped"), int):
            raise NotResumableError(
                f"Expected {path} to have the record of a run, but it has none that can be read. Use "
                "`overwrite` to replace it."
            )

    def __iter__(self) -> Iterator[Chunk]:
        """The chunks, the first with all skipped lines. NotResumableError if rows are missing."""
        lines = skipped = self.record["skipped"]
        rows = (line.row for line in read_rows(self._path))
        while group := list(islice(rows, LINES)):
            lines += len(group)
            is_last = lines == self.record.get("input_lines")
            digest = self.record.get("input_digest", "") if is_last else ""
            yield Chunk(lines, digest, group, skipped, {})
            skipped = 0
        if lines != self.record.get("input_lines"):
            raise other_rows(self._path)


def earlier_run(output: Path | None, journal: Path) -> Journal | FinishedOutput | None:
    """What an earlier run has left of an output; ``None`` if there is nothing, or if an old output is being
    overwritten.
    """
    if is_begun(journal):
        return Journal(journal)
    has_output = output is not None and output.exists() and output.stat().st_size > 0
    return FinishedOutput(output) if output and has_output and not journal.exists() else None


def _append(path: Path, content: Mapping[str, Any]) -> None:
    body = encode_json_lines([dict(content)]).removesuffix(b"}\n")
    with named(path), path.open("ab") as stream:
        stream.write(body + _end(body))
        stream.flush()
        os.fsync(stream.fileno())


def _end(body: bytes) -> bytes:
    """The end of a line: its last entry, a digest of what is before it."""
    digest = hashlib.blake2b(body, digest_size=16).hexdigest()
    return f'{_CHECK}"{digest}"}}\n'.encode()


def _content(line: bytes) -> dict[str, Any]:
    """What a line contains; nothing if it is blank, half or damaged."""
    body, *end = line.rpartition(_CHECK.encode())
    if b"".join(end) != _end(body):
        return {}
    content: dict[str, Any] = json.loads(body + b"}")
    return content


def _chunk(line: bytes) -> Chunk | None:
    content = _content(line)
    return Chunk(**content) if content else None


@dataclass(frozen=True)
class OutputRows:
    """The rows of the output that chunks make, as often as they are iterated over.

    Attributes:
        chunks: the chunks, for example a journal.
        layout: which columns are the texts.
        keep_texts: whether the output has them.
        joins_passages: whether a source that is a list is written as one text.
    """

    chunks: Iterable[Chunk]
    layout: Layout
    keep_texts: bool
    joins_passages: bool = False

    def __iter__(self) -> Iterator[Row]:
        for chunk in self.chunks:
            for row in chunk.rows:
                kept = row if self.keep_texts else other_columns(row, self.layout)
                source = self.layout.source_column
                if self.joins_passages and source in kept:
                    kept = {**kept, source: joined(kept[source])}
                yield kept


@contextmanager
def held(output: Path | None, existing: str) -> Iterator[Path]:
    """The path of the journal of an output, to which no other run can write meanwhile (BlockingIOError); a
    temporary one if the output is not a file. An error once it has begun says how to go on.

    Raises FileExistsError if the output exists and ``existing`` is ``"refuse"``.
    """
    if output is None or is_standard(output):
        hint = "" if output else "Nothing is kept. To be able to resume, name a file with `output`."
        with TemporaryDirectory() as folder, _hinting(Path(folder) / "journal.jsonl", hint) as path:
            yield path
        return
    path = journal_path(output)
    with locked(output):
        for written in (output, record_path(output), path):
            remove_unfinished(written)
        if existing == "refuse" and is_begun(path):
            raise FileExistsError(
                f"{output} is unfinished. Use `resume` to continue it, or `overwrite` to start again."
            )
        is_new = not (is_begun(path) or output.exists())
        if existing == "refuse" or (existing == "resume" and is_new):
            check_absent(output)
        if existing == "overwrite":
            path.touch()  # from now on, the old output is not a finished one
        again = "Run it again" if existing == "resume" else "Run it again with `resume`"
        hint = f"What was scored for {output} is kept. {again} to continue."
        try:
            with _hinting(path, hint):
                yield path
        finally:
            if path.exists() and not path.stat().st_size:  # nothing was begun
                path.unlink()


@contextmanager
def _hinting(journal: Path, hint: str) -> Iterator[Path]:
    """Adds a hint, if there is one, to the errors of a run that has begun its journal."""
    try:
        yield journal
    except NotResumableError:  # its advice is in the message
        raise
    except BaseException as error:
        if hint and is_begun(journal):
            error.add_note(hint)
        raise


def is_begun(journal: Path) -> bool:
    """Whether there is a journal with its first line."""
    if not journal.exists():
        return False
    with journal.open("rb") as stream:
        return stream.readline().endswith(b"\n")


def check_same_job(new: Mapping[str, Any], earlier: Mapping[str, Any]) -> None:
    """Refuses to resume a run of another signature, or with other inputs or options: whatever decides a
    column or a value (NotResumableError).
    """
    try:
        then = {**earlier["options"], **{name: earlier[name] for name in _DECISIVE}}
    except (KeyError, TypeError) as error:
        raise _damaged() from error
    now = {**new["options"], **{name: new[name] for name in _DECISIVE}}
    for name, value in now.items():
        _check_same(name, value, then.get(name))


def check_same_versions(new: Mapping[str, Any], earlier: Mapping[str, Any]) -> None:
    """Refuses to continue what other versions of packages have computed (NotResumableError)."""
    _check_same("versions", new["versions"], earlier.get("versions"))


def _check_same(name: str, now: object, then: object) -> None:
    if now != then:
        raise NotResumableError(
            f"Expected the same {name} as in the earlier run:\n"
            f"  earlier: {then}\n  now:     {now}\nUse `overwrite` to start again."
        )


def _damaged() -> NotResumableError:
    return NotResumableError(
        "The record of the earlier run is damaged or was written by another version. Use `overwrite` to "
        "start again."
    )


def check_same_lines(digest: InputDigest, chunk: Chunk) -> None:
    """Refuses lines that are not those up to the end of an earlier chunk (NotResumableError)."""
    if digest.lines != chunk.lines or (chunk.digest and digest.text() != chunk.digest):
        raise NotResumableError(
            "Expected the rows scored by the earlier run to be unchanged, but they have changed. Use "
            "`overwrite` to start again."
        )


def other_rows(path: Path | None) -> NotResumableError:
    """The error for an output that has other rows than those that it was written with."""
    return NotResumableError(
        f"Expected {path} to have the rows that its record is of, in their order, but they have changed. Use "
        "`overwrite` to start again."
    )


def versions() -> dict[str, str]:
    """The versions of the packages that compute."""
    installed = {"estime-metric": __version__}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            installed[name] = version(name)
    return installed

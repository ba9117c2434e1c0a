"""The journal of a job: what it has scored, chunk by chunk, and how the input is cut into chunks.

A journal is a file of JSON Lines, whatever the format of the output is. Its first line is the record of
the job. Each further line is a chunk: how many lines of the input there are up to its end and a digest of
them, its rows, the number of its invalid lines, and what there is to warn of in its texts. Each line also
has a check of its content. The first line that a killed run has left half, or that was damaged, is cut off
with all that follow it, and their pairs are scored again.

A job that is resumed reads as many lines of its input as each chunk has, and compares the digests.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from estime_metric._version import __version__
from estime_metric.passages import joined
from estime_metric.table.formats import Line, Row, encode_json_lines
from estime_metric.table.output import named, sync_folder
from estime_metric.table.pairs import other_columns
from estime_metric.table.rows import Layout

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer

LINES = 256  # in a chunk, at most

#: Work of a chunk, in floating-point operations of the encoder: about ten seconds of two cores of
#: a server, and how many times as much on a GPU. It is a constant and not a measured speed.
WORK, _FASTER = 2e12, 100

BYTES = 8_000_000  # of whole rows in a chunk, at most: bounds the memory
_TOKEN = 4  # bytes of text that make a token, about

_CHECK = "check"  # of the other entries of a line

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


def cut(lines: Iterable[Line], layout: Layout, most_text: int) -> Iterator[list[Line]]:
    """Lines in chunks of at most `LINES` lines, ``most_text`` bytes of text and `BYTES` of whole rows.

    While the source is the same, a chunk continues to twice the number of lines or bytes of text; if a
    source alone has more bytes than the limit, until its summaries have as many as it has.
    """
    chunk: list[Line] = []
    sources: set[str] = set()
    text, size, last = 0, 0, ""
    for line in lines:
        source, summary = (joined(line.row.get(column, "")) for column in layout.text_columns)
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
        text += len(summary.encode()) + (0 if source in sources else source_bytes)
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
        digest: the `InputDigest` of these lines.
        rows: a row for each of its pairs: the columns of the output, and the texts.
        skipped: how many lines of the chunk are invalid.
        warnings: what there is to warn of in its texts -> the number of pairs that it is about.
    """

    lines: int
    digest: str
    rows: Iterable[Row]
    skipped: int
    warnings: Mapping[str, int]


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
    """A journal, to which chunks are appended.

    Args:
        path: the file. If it has begun, it is continued after the last chunk that can be read.
        record: the record of the job, JSON data.
        restart: whether what the file has is deleted instead.

    Raises:
        NotResumableError: the record of an existing journal is damaged, or it is of another job.
        OSError: the file cannot be written.
    """

    def __init__(self, path: Path, record: Mapping[str, Any], *, restart: bool = False) -> None:
        self._path = path
        if is_begun(path) and not restart:
            check_same_job(record, recorded(path))
            with path.open("rb+") as stream:
                stream.truncate(sum(map(len, takewhile(_is_whole, stream))))
        else:
            path.write_bytes(b"")
            sync_folder(path.parent)
            self._append(record)

    def append(self, chunk: Chunk) -> None:
        """Keeps a chunk; once this returns, it is on disk."""
        self._append(vars(chunk))

    def __iter__(self) -> Iterator[Chunk]:
        """The chunks, in order."""
        with self._path.open("rb") as stream:
            for line in islice(stream, 1, None):
                if content := _content(line):
                    yield Chunk(**content)

    def _append(self, content: Mapping[str, Any]) -> None:
        with named(self._path), self._path.open("ab") as stream:
            stream.write(encode_json_lines([{**content, _CHECK: _check(content)}]))
            stream.flush()
            os.fsync(stream.fileno())


def _check(content: Mapping[str, Any]) -> str:
    """A digest of the content of a line."""
    return hashlib.blake2b(encode_json_lines([dict(content)]), digest_size=16).hexdigest()


def _content(line: bytes) -> dict[str, Any]:
    """What a line contains; nothing if it is blank, half or damaged."""
    try:
        content: dict[str, Any] = json.loads(line)
        check = content.pop(_CHECK)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return {}
    return content if line.endswith(b"\n") and check == _check(content) else {}


def _is_whole(line: bytes) -> bool:
    return not line.strip() or bool(_content(line))


def recorded(journal: Path) -> dict[str, Any]:
    """The record in a journal; empty if there is none, or if it is damaged."""
    if not journal.exists():
        return {}
    with journal.open("rb") as stream:
        return _content(stream.readline())


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


def journal_path(output: Path) -> Path:
    """The journal of an output that is not finished."""
    return output.parent / f"{output.name}.rows.jsonl"


def is_begun(journal: Path) -> bool:
    """Whether there is a journal with its first line."""
    if not journal.exists():
        return False
    with journal.open("rb") as stream:
        return stream.readline().endswith(b"\n")


def check_same_job(new: Mapping[str, Any], earlier: Any) -> None:
    """Refuses to resume a run that is damaged, or of another signature, or with other inputs or
    options (NotResumableError): whatever decides a column or a value. The versions of packages are
    compared unless the earlier run is finished, because nothing is computed then.
    """
    try:
        names = [*_DECISIVE, *([] if earlier.get("finished") else ["versions"])]
        then = {**earlier["options"], **{name: earlier[name] for name in names}}
    except (AttributeError, KeyError, TypeError) as error:
        raise NotResumableError(
            "The record of the earlier run is damaged or was written by another version. Use "
            "`overwrite` to start again."
        ) from error
    now = {**new["options"], **{name: new[name] for name in names}}
    for name, value in now.items():
        if value != then.get(name):
            raise NotResumableError(
                f"Expected the same {name} as in the earlier run:\n"
                f"  earlier: {then.get(name)}\n  now:     {value}\nUse `overwrite` to start again."
            )


def check_same_lines(digest: InputDigest, chunk: Chunk) -> None:
    """Refuses lines that are not those up to the end of an earlier chunk (NotResumableError)."""
    if (digest.lines, digest.text()) != (chunk.lines, chunk.digest):
        raise NotResumableError(
            "Expected the rows scored by the earlier run to be unchanged, but they have changed. Use "
            "`overwrite` to start again."
        )


def versions() -> dict[str, str]:
    """The versions of the packages that compute."""
    installed = {"estime-metric": __version__}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            installed[name] = version(name)
    return installed

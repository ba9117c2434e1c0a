"""The journal of a job: what it has scored, chunk by chunk, and how the input is cut into chunks.

A journal is a file of JSON Lines, whatever the format of the output is. Its first line is the record of
the job, with the limits of a chunk. Each further line is a chunk: a digest of its input lines, its rows,
the number of its invalid lines, and what there is to warn of in its texts. A line without a line break is
what a killed run has left of a chunk, and is cut off.

A job that is resumed cuts its input again with the limits of the journal, and compares the digests.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from estime_metric._version import __version__
from estime_metric.table.output import named
from estime_metric.table.rows import Layout, Line, Row, other_columns
from estime_metric.table.table import encode_json_lines

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer

LINES = 256  # in a chunk, at most

#: Work of a chunk, in floating-point operations of the encoder: about ten seconds of two cores of
#: a server, and how many times as much on a GPU. It is a constant and not a measured speed.
WORK, _FASTER = 2e12, 100

BYTES = 8_000_000  # of whole rows in a chunk, at most: bounds the memory
_TOKEN = 4  # bytes of text that make a token, about

_DECISIVE = ("signature", "inputs", "threshold")  # for resuming, in addition to all options
_PACKAGES = ("torch", "transformers", "tokenizers", "regex", "nltk")


class NotResumableError(ValueError):
    """An earlier run cannot be resumed, because its output, its input or its options have changed."""


@dataclass(frozen=True)
class Limits:
    """How large a chunk is.

    Attributes:
        lines: the most lines.
        text: the most bytes of text, with identical sources counted once.
        size: the most bytes of whole rows.
    """

    lines: int
    text: int
    size: int

    @classmethod
    def of(cls, scorer: EstimeScorer) -> Limits:
        """The limits for an encoder on its device; loads the encoder."""
        config, encoder = scorer.resolved_config, scorer.encoder
        # A token is in `distance` windows, and needs 12 products of width by width in each block,
        # two operations each.
        blocks = max(*config.layer_tuple, 1)
        token = config.schedule["distance"] * blocks * 24 * encoder.info.width**2
        work = WORK if encoder.device.type == "cpu" else _FASTER * WORK
        return cls(LINES, min(max(int(_TOKEN * work / token), 1), BYTES), BYTES)


def cut(lines: Iterable[Line], layout: Layout, limits: Limits) -> Iterator[list[Line]]:
    """Lines in chunks, each as long as its limits allow. The boundaries depend on the lines alone,
    invalid ones included.

    While the source is the same, a chunk continues to twice the number of lines or bytes of text; if a
    source alone has more bytes than the limit, until its summaries have as many as it has.
    """
    chunk: list[Line] = []
    sources: set[str] = set()
    text, size, last = 0, 0, ""
    for line in lines:
        source, summary = (line.row.get(column, "") for column in layout.text_columns)
        source_bytes = len(source.encode())
        is_full = len(chunk) >= limits.lines or text >= limits.text
        is_overfull = (
            len(chunk) >= 2 * limits.lines
            or text >= 2 * max(limits.text, source_bytes)
            or size + line.size > limits.size
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
        digest: `digests` of the lines.
        rows: a row for each pair: the columns of the output, and the texts.
        skipped: how many lines are invalid.
        warnings: what there is to warn of in its texts -> the number of pairs that it is about.
    """

    digest: str
    rows: Sequence[Row]
    skipped: int
    warnings: Mapping[str, int]

    def lines_in(self, lines: Iterable[Line]) -> int:
        """How many of some lines, from the first one on, are those of the chunk; 0 if none are."""
        numbered = enumerate(digests(lines), start=1)
        return next((number for number, digest in numbered if digest == self.digest), 0)


def digests(lines: Iterable[Line]) -> Iterator[str]:
    """A digest of the lines up to each one, which shows later whether they are still the same."""
    digest = hashlib.blake2b(digest_size=16)
    for line in lines:
        content = [line.number, line.problem or line.row]
        digest.update(json.dumps(content, default=str).encode("utf-8"))
        yield digest.hexdigest()


class Journal:
    """A journal, to which chunks are appended.

    Args:
        path: the file. If it exists, it is continued.
        record: the record of the job, JSON data.
        limits: the limits of a chunk, unless the journal exists and has its own.

    Attributes:
        limits: the limits of a chunk.

    Raises:
        NotResumableError: an existing journal is damaged or of another job.
        OSError: the file cannot be written.
    """

    def __init__(self, path: Path, record: Mapping[str, Any], limits: Limits) -> None:
        self._path = path
        self.limits = limits
        self._earlier = 0
        if is_begun(path):
            begun = next(self._contents())
            check_same_job(record, begun)
            try:
                self.limits = Limits(**begun["limits"])
            except (KeyError, TypeError) as error:
                raise _damaged(path) from error
            with path.open("rb+") as stream:  # cuts off half a line
                sizes = [len(line) for line in stream if line.endswith(b"\n")]
                stream.truncate(sum(sizes))
            self._earlier = len(sizes) - 1
        else:
            path.write_bytes(b"")
            self._append({**record, "limits": vars(limits)})

    def append(self, chunk: Chunk) -> None:
        """Keeps a chunk; once this returns, it is on disk."""
        self._append(vars(chunk))

    def earlier_chunks(self) -> tuple[int, Iterator[Chunk]]:
        """How many chunks an earlier run has kept, and these chunks."""
        return self._earlier, islice(self, self._earlier)

    def __iter__(self) -> Iterator[Chunk]:
        """The chunks, in order."""
        for content in islice(self._contents(), 1, None):
            try:
                yield Chunk(**content)
            except TypeError as error:
                raise _damaged(self._path) from error

    def _append(self, content: Mapping[str, Any]) -> None:
        with named(self._path), self._path.open("ab") as stream:
            stream.write(encode_json_lines([dict(content)]))
            stream.flush()
            os.fsync(stream.fileno())

    def _contents(self) -> Iterator[Any]:
        """The record and the chunks, as JSON data."""
        with self._path.open("rb") as stream:
            for line in stream:
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise _damaged(self._path) from error


@dataclass(frozen=True)
class OutputRows:
    """The rows of the output that chunks make, as often as they are iterated over.

    Attributes:
        chunks: the chunks, for example a journal.
        layout: which columns are the texts.
        keep_texts: whether the output has them.
    """

    chunks: Iterable[Chunk]
    layout: Layout
    keep_texts: bool

    def __iter__(self) -> Iterator[Row]:
        for chunk in self.chunks:
            for row in chunk.rows:
                yield row if self.keep_texts else other_columns(row, self.layout)


def journal_path(output: Path) -> Path:
    """The journal of an output that is not finished."""
    return output.parent / f"{output.name}.rows.jsonl"


def is_begun(journal: Path) -> bool:
    """Whether there is a journal with its first line."""
    if not journal.exists():
        return False
    with journal.open("rb") as stream:
        return stream.readline().endswith(b"\n")


def _damaged(path: Path) -> NotResumableError:
    return NotResumableError(f"{path} is damaged. Use `overwrite` to start again.")


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


def versions() -> dict[str, str]:
    """The versions of the packages that compute."""
    installed = {"estime-metric": __version__}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            installed[name] = version(name)
    return installed

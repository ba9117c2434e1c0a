"""Files of pairs: read, scored a pair at a time, written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from estime_metric import files
from estime_metric.demo.encoders import Encoders, Setting
from estime_metric.demo.limits import Clock, RefusedError


@dataclass
class Progress:
    """How far a file has come.

    Attributes:
        pairs: how many pairs it holds.
        rows: one for each pair scored so far, as ``estime score --output`` writes them.
        lines, summaries: where each of these pairs stands in the file, and its summary.
        problems: one sentence for each row that is not scored, with its line.
        late: whether the time ended before the file did.
        done: whether nothing more is to come.
    """

    pairs: int
    rows: list[files.Row] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    late: bool = False
    done: bool = False


def read(path: Path, source_column: str, summary_column: str, encoders: Encoders) -> files.Pairs:
    """The pairs of a file; a row that is no pair, or too long, is among the problems.

    Raises:
        RefusedError: the file is too large or of another kind, or holds no pair or too many.
    """
    limits = encoders.limits
    if path.suffix.lower() not in files.WRITABLE:
        raise RefusedError(f"The demo reads files that end in {' or '.join(files.WRITABLE)}.")
    size = path.stat().st_size
    if size > limits.file_bytes:
        raise RefusedError(
            f"The file has {size / 1e6:.1f} MB; the demo takes up to {limits.file_bytes / 1e6:g} MB. "
            f"For more, run `estime score` on your own machine."
        )
    pairs = files.read_pairs(path, source_column.strip() or "source", summary_column.strip() or "summary")
    if len(pairs) > limits.rows:
        raise RefusedError(
            f"The file has {len(pairs):,} pairs; the demo takes up to {limits.rows:,}. "
            f"For more, run `estime score` on your own machine."
        )
    if not len(pairs):
        first = f" The first problem: {pairs.problems[0]}." if pairs.problems else ""
        raise RefusedError(f"There is no pair in the file.{first}")
    return pairs


def score(pairs: files.Pairs, encoders: Encoders, setting: Setting) -> Iterator[Progress]:
    """Scores the pairs one after another and tells after each how far it has come.

    A pair with a text that is too long is among the problems. Once the time is over, no further pair is begun.

    Raises:
        RefusedError: the encoder cannot be had.
    """
    scorer = encoders.one_layer(setting)
    scorer.encoder  # noqa: B018  (loads it, before the time begins)
    progress = Progress(len(pairs), problems=list(pairs.problems))
    clock = Clock(encoders.limits.seconds)
    for pair in pairs.chunks(1):
        if clock.out:
            progress.late = True
            break
        source, summary = pair.sources[0], pair.summaries[0]
        try:
            encoders.limits.check_pair(source, summary)
            encoders.check_tokens("source", source, setting)
            encoders.check_tokens("summary", summary, setting)
            result = scorer.score([summary], [source])
        except ValueError as error:
            progress.problems.append(f"line {pair.lines[0]}: {error}")
            continue
        progress.rows += files.score_rows(pair, result)
        progress.lines += pair.lines
        progress.summaries += pair.summaries
        yield progress
    progress.done = True
    yield progress

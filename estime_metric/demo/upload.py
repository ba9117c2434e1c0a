"""Files of pairs: read, scored a pair at a time, written."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from estime_metric import files
from estime_metric.demo.encoders import Encoders, Setting
from estime_metric.demo.limits import RefusedError, refuse
from estime_metric.measures import BASE_MEASURES, RECOMMENDED


class Scored(NamedTuple):
    """A pair as the page lists it: its line in the file, its summary, its measures."""

    line: int
    summary: str
    alarms: float
    recommended: float
    coverage: float


@dataclass
class Progress:
    """How far the scoring of a file has come.

    Attributes:
        rows_in_file: rows of the file, also invalid ones.
        scored: the pairs scored so far.
        rows: as ``estime score --output`` writes them; new columns begin with ``estime_`` if the file has their names.
        problems: one sentence for each row that is not scored, with its line.
        late: whether the time ended before the file did.
        done: whether nothing more is to come.
        signature: of all scores.
    """

    rows_in_file: int
    scored: list[Scored] = field(default_factory=list)
    rows: list[files.Row] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    late: bool = False
    done: bool = False
    signature: str = ""


def read(path: Path, source_column: str, summary_column: str, encoders: Encoders) -> files.Pairs:
    """The pairs of a file, and its invalid rows among the problems.

    Raises:
        RefusedError: the file is too large or of another kind, or holds no pair or too many.
    """
    limits = encoders.limits
    if path.suffix.lower() not in files.WRITABLE:
        raise RefusedError(f"This page reads files that end in {' or '.join(files.WRITABLE)}.")
    size = path.stat().st_size
    if size > limits.max_file_bytes:
        most = f"{limits.max_file_bytes / 1e6:g} MB"
        refuse(f"The file has {size / 1e6:.1f} MB; this page takes up to {most}.", "max-file-bytes")
    pairs = files.read_pairs(path, source_column.strip() or "source", summary_column.strip() or "summary")
    if len(pairs) > limits.max_pairs:
        refuse(f"The file has {len(pairs):,} pairs; this page takes up to {limits.max_pairs:,}.", "max-pairs")
    if not len(pairs):
        first = f" The first problem: {pairs.problems[0]}." if pairs.problems else ""
        raise RefusedError(f"There is no pair in the file.{first}")
    return pairs


def score(pairs: files.Pairs, encoders: Encoders, setting: Setting) -> Iterator[Progress]:
    """Scores one pair after another and yields after each how far it has come.

    A pair with a text that is too long is a problem. Once the time is over, no further pair is begun.

    Raises:
        RefusedError: the encoder cannot be loaded.
    """
    scorer = encoders.one_layer(setting)
    progress = Progress(len(pairs) + len(pairs.problems), problems=list(pairs.problems), signature=scorer.signature)
    ours = files.score_columns(BASE_MEASURES, (setting.layer,))
    prefix = "estime_" if any(not others.keys().isdisjoint(ours) for others in pairs.others) else ""
    end = time.monotonic() + encoders.limits.max_seconds
    for pair in pairs.chunks(1):
        if time.monotonic() >= end:
            progress.late = True
            break
        source, summary = pair.sources[0], pair.summaries[0]
        try:
            encoders.limits.check_pair(source, summary)
            encoders.check_tokens(scorer, source, summary)
            result = scorer.score([summary], [source])
        except ValueError as error:
            progress.problems.append(f"line {pair.lines[0]}: {error}")
            continue
        values = (float(result.values(measure)[0]) for measure in ("alarms", RECOMMENDED, "coverage"))
        progress.scored.append(Scored(pair.lines[0], summary, *values))
        progress.rows += files.score_rows(pair, result, prefix)
        yield progress
    progress.done = True
    yield progress

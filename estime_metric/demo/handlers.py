"""The requests of a visitor: texts and settings in, HTML out. Knows nothing of Gradio."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pandas import DataFrame

from estime_metric import files
from estime_metric.comparison import DEFAULT_MEASURES, compare_scores, sentences
from estime_metric.demo import page
from estime_metric.demo.encoders import Encoders, Setting
from estime_metric.demo.limits import RefusedError, refuse
from estime_metric.explain.html import comparison, fragment
from estime_metric.explanation import Explanation
from estime_metric.measures import BASE_MEASURES

#: The ending of an uploaded file -> the ending of the file of its scores.
UPLOADS = {".jsonl": ".jsonl", ".csv": ".csv", ".tsv": ".csv"}

#: The boxes of the page in which the columns of a file are named.
BOXES = {"source_column": "Source column", "summary_column": "Summary column"}


_LOG = logging.getLogger(__name__)


class Step(NamedTuple):
    """What the page shows while a file is scored, and at the end.

    Attributes:
        html: how far it has come, or the scores.
        scores: the file of scores, once it is written.
        pairs: source and summary of each listed row.
    """

    html: str
    scores: Path | None = None
    pairs: Sequence[tuple[str, str]] = ()


class Handlers:
    """Explains, compares and scores with the encoders on offer.

    An error becomes a message for the page; the log gets its type and no text.
    """

    def __init__(self, encoders: Encoders) -> None:
        self.encoders = encoders

    def explain(self, setting: Setting, source: str, summary: str) -> str:
        """The explanation of one pair, or a message."""
        try:
            if not source.strip():
                raise RefusedError("Paste a source and its summary, or pick an example.")
            (explanation,) = self.encoders.explain([summary], source, setting)
            return page.renamed(fragment(explanation, key="estime-explained"))
        except Exception as error:
            return _message(error)

    def compare(self, setting: Setting, source: str, first: str, second: str) -> str:
        """A sentence on two summaries of one source and their explanations, or a message."""
        try:
            if not source.strip() or not first.strip() or not second.strip():
                raise RefusedError("Paste a source and two summaries of it, or pick an example.")
            explanations = self.encoders.explain([first, second], source, setting)
            drawn = comparison(explanations, ["Summary A", "Summary B"], key="estime-compared")
            return page.renamed(page.verdict(_sentence(*explanations)) + drawn)
        except Exception as error:
            return _message(error)

    def score_file(
        self,
        setting: Setting,
        path: str | None,
        source_column: str,
        summary_column: str,
        folder: Path,
    ) -> Iterator[Step]:
        """Scores a file; yields what the page shows and, at the end, the file of scores, in
        ``folder``.
        """
        try:
            if path is None:
                raise RefusedError("Choose a file first.")
            yield Step(page.READING)
            pairs = self.read(Path(path), source_column, summary_column)
            for progress in self.score(pairs, setting):
                scores, shown = None, page.scored(progress)
                if progress.done and progress.rows:
                    scores = folder / f"scores{UPLOADS[Path(path).suffix.lower()]}"
                    files.write_rows(scores, progress.rows)
                yield Step(shown, scores, [(pair.source, pair.summary) for pair in progress.listed])
        except Exception as error:
            yield Step(_message(error))

    def read(self, path: Path, source_column: str, summary_column: str) -> files.Pairs:
        """The pairs of a file, its invalid rows among the problems. A file that is too large, is of
        another kind, or contains no pair or too many pairs raises RefusedError."""
        limits = self.encoders.limits
        if path.suffix.lower() not in UPLOADS:
            raise RefusedError(f"This page reads files that end in {', '.join(UPLOADS)}.")
        size = path.stat().st_size
        if size > limits.max_file_bytes:
            most = f"{limits.max_file_bytes / 1e6:g} MB"
            refuse(
                f"The file has {size / 1e6:.1f} MB; the limit of this page is {most}.",
                "score",
            )
        layout = files.Layout(
            source_column=source_column.strip() or "source",
            summary_column=summary_column.strip() or "summary",
        )
        pairs = files.Pairs()
        try:
            for rows, line in enumerate(files.read_lines(path, layout), start=1):
                if rows > limits.max_pairs:
                    most = f"{limits.max_pairs:,}"
                    refuse(f"The file has more than {most} rows, the most for this page.", "score")
                pairs.add_row(line, layout)
        except files.ColumnError as error:
            raise RefusedError(
                f"The file has no column `{error.column}`; its columns are "
                f"{', '.join(error.columns)}. Write the name of the right one in the box "
                f"\u201c{BOXES[error.argument]}\u201d."
            ) from error
        if not len(pairs):
            first = f" The first problem: {pairs.problems[0]}." if pairs.problems else ""
            raise RefusedError(f"There is no pair in the file.{first}")
        return pairs

    def score(self, pairs: files.Pairs, setting: Setting) -> Iterator[page.Progress]:
        """Scores one pair after another and yields after each how far it has come.

        A pair with a text that is too long is a problem. Once the time is over, no further pair is
        begun.
        """
        limits = self.encoders.limits
        scorer = self.encoders.scorer(setting)
        progress = page.Progress(
            len(pairs) + len(pairs.problems), list(pairs.problems), scorer.signature
        )
        added = files.score_columns(BASE_MEASURES, scorer.resolved_config.layer_tuple)
        has_clash = any(not others.keys().isdisjoint(added) for others in pairs.others)
        end = time.monotonic() + limits.max_seconds
        for index, (line, source, summary) in enumerate(
            zip(pairs.lines, pairs.sources, pairs.summaries, strict=True)
        ):
            if time.monotonic() >= end:
                progress.late = True
                break
            try:
                limits.check_pair(source, summary)
                self.encoders.check(scorer, source, summary)
                result = scorer.score([summary], [source])
            except ValueError as error:
                progress.problems.append(f"line {line}: {error}")
                continue
            (values,) = result
            progress.scored.append(page.Scored(line, source, summary, values))
            progress.rows += files.score_rows(
                pairs.select([index]),
                result.columns(),
                result.signature,
                "estime_" if has_clash else "",
            )
            yield progress
        progress.done = True
        yield progress


def _sentence(first: Explanation, second: Explanation) -> str:
    """What ``estime compare`` says of two systems with one summary each."""
    tables = {
        system: DataFrame(
            [
                {
                    **{
                        name: explanation.value(name)
                        for name in (*DEFAULT_MEASURES, "tokens", "coverage")
                    },
                    files.SIGNATURE: explanation.signature,
                    "source": explanation.source,
                }
            ]
        )
        for system, explanation in (("A", first), ("B", second))
    }
    return sentences(compare_scores(tables), *tables)[0]


def _message(error: Exception) -> str:
    """The message for the visitor; the log contains no text of theirs."""
    if isinstance(error, RefusedError):
        return page.notice(str(error))
    _LOG.error("a request failed with %s", type(error).__name__)
    if isinstance(error, ValueError):
        return page.notice(f"This cannot be scored: {error}")
    return page.notice(f"Something went wrong ({type(error).__name__}). Please try again.")

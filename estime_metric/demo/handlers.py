"""The requests of a visitor: texts and settings in, HTML out. Knows nothing of Gradio."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from estime_metric import files
from estime_metric.demo import page
from estime_metric.demo.encoders import Encoders, Setting
from estime_metric.demo.limits import RefusedError, refuse
from estime_metric.explain import plot_alarms
from estime_metric.explain.html import comparison, fragment
from estime_metric.explanation import Explanation
from estime_metric.measures import BASE_MEASURES, RECOMMENDED

#: The ending of an uploaded file -> the ending of the file of its scores.
UPLOADS = {".jsonl": ".jsonl", ".csv": ".csv", ".tsv": ".csv"}

#: The boxes of the page in which the columns of a file are named.
BOXES = {"source_column": "Source column", "summary_column": "Summary column"}

_LOG = logging.getLogger(__name__)


class Handlers:
    """Explains, compares and scores with the encoders on offer.

    An error becomes a message for the page; the log gets its type and no text.
    """

    def __init__(self, encoders: Encoders) -> None:
        self.encoders = encoders
        self._drawing = threading.Lock()  # matplotlib draws one figure at a time

    def explain(self, source: str, summary: str, setting: Setting) -> tuple[str, bool]:
        """The explanation of one pair, or a message; and whether there is something for `draw` to
        draw.
        """
        try:
            if not source.strip() and not summary.strip():
                raise RefusedError("Paste a source and its summary, or pick an example.")
            (explanation,) = self.encoders.explain([summary], source, setting)
            return page.renamed(fragment(explanation, key="estime-explained")), _has_match(
                explanation
            )
        except Exception as error:
            return _message(error), False

    def draw(self, source: str, summary: str, setting: Setting) -> str:
        """The plot of one pair, or a message; nothing if there is no match."""
        try:
            (explanation,) = self.encoders.explain([summary], source, setting)
            if not _has_match(explanation):
                return ""
            with self._drawing:
                return page.picture(plot_alarms(explanation), explanation)
        except Exception as error:
            return _message(error)

    def compare(self, source: str, first: str, second: str, setting: Setting) -> tuple[str, str]:
        """A sentence on two summaries of one source, and their explanations; or a message and
        nothing.
        """
        try:
            if not source.strip() or not first.strip() or not second.strip():
                raise RefusedError("Paste a source and two summaries of it, or pick an example.")
            found = self.encoders.explain([first, second], source, setting)
            drawn = comparison(found, ["Summary A", "Summary B"], key="estime-compared")
            return page.verdict(found), page.renamed(drawn)
        except Exception as error:
            return _message(error), ""

    def score_file(
        self,
        path: str | None,
        source_column: str,
        summary_column: str,
        setting: Setting,
        folder: Path,
    ) -> Iterator[tuple[str, Path | None]]:
        """Scores a file; yields HTML for the page and, at the end, the file of scores, in
        ``folder``.
        """
        try:
            if path is None:
                raise RefusedError("Choose a file first.")
            yield page.READING, None
            pairs = self.read(Path(path), source_column, summary_column)
            for progress in self.score(pairs, setting):
                scores = None
                if progress.done and progress.rows:
                    scores = folder / f"scores{UPLOADS[Path(path).suffix.lower()]}"
                    files.write_rows(scores, progress.rows)
                yield page.scored(progress), scores
        except Exception as error:
            yield _message(error), None

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
                "max-file-bytes",
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
                    refuse(
                        f"The file has more than {most} rows, the most for this page.", "max-pairs"
                    )
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
        rows = len(pairs) + len(pairs.problems)
        progress = page.Progress(rows, problems=list(pairs.problems), signature=scorer.signature)
        ours = files.score_columns(BASE_MEASURES, scorer.resolved_config.layer_tuple)
        prefix = (
            "estime_" if any(not others.keys().isdisjoint(ours) for others in pairs.others) else ""
        )
        end = time.monotonic() + limits.max_seconds
        for index in range(len(pairs)):
            pair = pairs.select([index])
            if time.monotonic() >= end:
                progress.late = True
                break
            source, summary = pair.sources[0], pair.summaries[0]
            try:
                limits.check_pair(source, summary)
                self.encoders.check(scorer, source, summary)
                result = scorer.score([summary], [source])
            except ValueError as error:
                progress.problems.append(f"line {pair.lines[0]}: {error}")
                continue
            scored = page.Scored(
                line=pair.lines[0],
                summary=summary,
                alarms=float(result["alarms"][0]),
                recommended=float(result[RECOMMENDED][0]),
                coverage=float(result["coverage"][0]),
            )
            progress.scored.append(scored)
            progress.rows += files.score_rows(pair, result, prefix)
            yield progress
        progress.done = True
        yield progress


def _has_match(explanation: Explanation) -> bool:
    return any(word.best is not None for word in explanation.words)


def _message(error: Exception) -> str:
    """The message for the visitor; the log contains no text of theirs."""
    if isinstance(error, RefusedError):
        return page.notice(str(error))
    _LOG.error("a request failed with %s", type(error).__name__)
    if isinstance(error, ValueError):
        return page.notice(f"This cannot be scored: {error}")
    return page.notice(f"Something went wrong ({type(error).__name__}). Please try again.")

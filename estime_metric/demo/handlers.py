"""The requests of a visitor: texts and settings in, HTML out. Knows nothing of Gradio."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path

from estime_metric import files
from estime_metric.demo import page, upload
from estime_metric.demo.encoders import Encoders, Setting
from estime_metric.demo.limits import RefusedError
from estime_metric.explain import plot_alarms
from estime_metric.explanation import Explanation

_LOG = logging.getLogger(__name__)


class Handlers:
    """Explains, compares and scores with the encoders on offer.

    An error becomes a message for the page; the log gets its type and no text.
    """

    def __init__(self, encoders: Encoders) -> None:
        self.encoders = encoders
        self._drawing = threading.Lock()  # matplotlib draws one figure at a time

    def explain(self, source: str, summary: str, setting: Setting) -> tuple[str, bool]:
        """The explanation of one pair, or a message; and whether there is something for `draw` to draw."""
        try:
            if not source.strip() and not summary.strip():
                raise RefusedError("Paste a source and its summary, or pick an example.")
            (explanation,) = self.encoders.explain([summary], source, setting)
            return page.explained(explanation, "estime-explained"), _has_match(explanation)
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
        """A sentence on two summaries of one source, and their explanations; or a message and nothing."""
        try:
            if not source.strip() or not first.strip() or not second.strip():
                raise RefusedError("Paste a source and two summaries of it, or pick an example.")
            found = self.encoders.explain([first, second], source, setting)
            return page.verdict(found), page.compared(found, "estime-compared")
        except Exception as error:
            return _message(error), ""

    def score_file(
        self, path: str | None, source_column: str, summary_column: str, setting: Setting, folder: Path
    ) -> Iterator[tuple[str, Path | None]]:
        """Scores a file; yields HTML for the page and, at the end, the file of scores, in ``folder``."""
        try:
            if path is None:
                raise RefusedError("Choose a file first.")
            yield page.waiting(), None
            pairs = upload.read(Path(path), source_column, summary_column, self.encoders)
            for progress in upload.score(pairs, self.encoders, setting):
                scores = None
                if progress.done and progress.rows:
                    scores = folder / f"scores{Path(path).suffix.lower()}"
                    files.write_rows(scores, progress.rows)
                yield page.scored(progress), scores
        except Exception as error:
            yield _message(error), None


def _has_match(explanation: Explanation) -> bool:
    return any(word.best is not None for word in explanation.words)


def _message(error: Exception) -> str:
    """The message for the visitor; what is logged holds no text of theirs."""
    if isinstance(error, RefusedError):
        return page.notice(str(error))
    _LOG.error("a request failed with %s", type(error).__name__)
    if isinstance(error, ValueError):
        return page.notice(f"This cannot be scored: {error}")
    return page.notice(f"Something went wrong ({type(error).__name__}). Please try again.")

"""The requests of a visitor: texts and settings in, HTML or data out. Knows nothing of Gradio."""

from __future__ import annotations

import logging
from typing import Any

from estime_metric.demo import page
from estime_metric.demo.encoders import Encoders, Setting
from estime_metric.demo.limits import RefusedError
from estime_metric.show.html import comparison, fragment

_LOG = logging.getLogger(__name__)

#: The measures that `Handlers.describe` returns.
DESCRIBED = ("inconsistency", "alarms", "new_words", "copied_density")


class Handlers:
    """Explains a summary, or two of one source, with the encoders on offer."""

    def __init__(self, encoders: Encoders) -> None:
        self.encoders = encoders

    def draw(self, setting: Setting, source: str, summary: str, other: str) -> str:
        """The explanation of one summary, or of two if ``other`` is not blank, as HTML. An error becomes a
        message for the page; the log gets its type and no text.
        """
        try:
            if not source.strip():
                raise RefusedError("Paste a source and its summary, or pick an example.")
            summaries = [summary, other] if other.strip() else [summary]
            explained = self.encoders.explain(summaries, source, setting)
            names = ["Summary", "Second summary"][: len(summaries)]
            inconsistencies = {
                name: explanation.inconsistency
                for name, explanation in zip(names, explained.explanations, strict=True)
            }
            scale = page.scale(inconsistencies, explained.examples)
            above = [page.notice(warning) for warning in explained.warnings]
            if len(summaries) == 1:
                drawn = fragment(explained.explanations[0])
            else:
                above.append(page.verdict(*explained.explanations))
                drawn = comparison(explained.explanations, names)
            return page.renamed("".join([*above, scale, drawn]))
        except RefusedError as error:
            return page.notice(str(error))
        except Exception as error:
            _LOG.error("a request failed with %s", type(error).__name__)
            if isinstance(error, ValueError):
                return page.notice(f"This cannot be scored: {error}")
            return page.notice(f"Something went wrong ({type(error).__name__}). Please try again.")

    def describe(self, source: str, summary: str) -> dict[str, Any]:
        """The explanation of a pair by the first encoder on offer, as plain data.

        Raises ValueError if a text is blank or too long; the message is for the caller.
        """
        if not source.strip() or not summary.strip():
            raise RefusedError("Expected a source and a summary that are not blank.")
        explained = self.encoders.explain([summary], source, Setting(self.encoders.names[0]))
        (explanation,) = explained.explanations
        words = []
        for word in explanation.surest_words():
            best = word.best
            words.append(
                {
                    "word": summary[word.start : word.end],
                    "start": word.start,
                    "end": word.end,
                    "kind": explanation.kind(word),
                    "source_has": None if best is None else source[best.start : best.end],
                    "margin": word.margin,
                }
            )
        return {
            **{measure: explanation.value(measure) for measure in DESCRIBED},
            "words": words,
            "warnings": explained.warnings,
            "signature": explanation.signature,
        }

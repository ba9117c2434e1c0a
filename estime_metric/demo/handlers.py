"""The requests of a visitor: texts in, HTML or data out. Knows nothing of Gradio."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from estime_metric.checks import check_text, has_words
from estime_metric.config import EMBEDDED_MODEL
from estime_metric.demo import page
from estime_metric.engine.units import units_of
from estime_metric.examples import PATH
from estime_metric.explanation import Explanation
from estime_metric.measures import RECOMMENDED
from estime_metric.scorer import SWAPPED, EstimeScorer
from estime_metric.show.html import of_one_source
from estime_metric.table.pairs import read_pairs

_LOG = logging.getLogger(__name__)

#: The measures that `Handlers.describe` returns.
DESCRIBED = ("inconsistency", "alarms", "new_words", "copied_density")

#: Longest text of one request, in characters, so that other visitors are served too.
CHARACTERS = {"source": 20_000, "summary": 5_000}

#: Work of about a minute on two CPU cores for one source: tokens times blocks times width squared.
WORK = 20_000_000_000

#: Longest text in tokens; for large encoders, fewer: `most_tokens`.
TOKENS = 4_000

#: Bytes of source embeddings kept in memory, so that a source is not encoded again for another summary.
CACHE_BYTES = 400_000_000

#: What a visitor reads of texts whose scores may not be reliable.
EMPTY_HERE = "The summary is empty, so there was nothing to check. It has the worst value, 1."
SWAPPED_HERE = "The summary is longer than the source. Have you swapped them?"
FOREIGN_HERE = (
    "The texts do not seem to be in English, the only language that this page reads, so the result is "
    "not reliable."
)

#: The bundled pairs: four sources, each with a faithful and an unfaithful summary.
EXAMPLES: list[dict[str, str]] = [line.row for line in read_pairs(PATH)]


class RefusedError(ValueError):
    """A request that the demo refuses; the message is for the visitor and contains no text of theirs."""


def most_tokens(blocks: int, width: int) -> int:
    """Most tokens of a text for an encoder of this size.

    Example:
        >>> [most_tokens(blocks, width) for blocks, width in ((6, 384), (12, 768), (24, 1024))]
        [4000, 2825, 794]
    """
    return min(TOKENS, WORK // (blocks * width**2))


class Handlers:
    """Explains a summary, or two of one source. Source embeddings are cached under hashes; no text is
    kept.

    Args:
        model: the encoder, as `EstimeConfig.model`.

    Raises:
        EncoderUnavailableError: the encoder cannot be loaded.
    """

    def __init__(self, model: str = EMBEDDED_MODEL) -> None:
        self.scorer = EstimeScorer(model=model, cache=CACHE_BYTES)
        result = self.scorer.score(
            [row["summary"] for row in EXAMPLES], [row["source"] for row in EXAMPLES]
        )
        verdicts = [row["verdict"] for row in EXAMPLES]
        #: The verdict on each bundled pair, and its inconsistency.
        self.examples = list(zip(verdicts, result.values(RECOMMENDED).tolist(), strict=True))

    def draw(self, source: str, summary: str, other: str) -> str:
        """The explanation of one summary, or of two if ``other`` is not blank, as HTML. An error becomes a
        message for the page; the log gets its type and no text.
        """
        try:
            if not source.strip() and not summary.strip():
                raise RefusedError("Paste a source and its summary, or pick an example.")
            if not source.strip():
                raise RefusedError("The source is missing: paste the text that was summarized.")
            summaries = [summary, other] if other.strip() else [summary]
            explanations, warnings = self._explain(summaries, source)
            names = ["Summary", "Second summary"][: len(summaries)]
            inconsistencies = {
                name: explanation.inconsistency
                for name, explanation in zip(names, explanations, strict=True)
            }
            if not summary.strip():
                warnings = [EMPTY_HERE, *warnings]
            parts = [page.notice(warning) for warning in warnings]
            if len(summaries) > 1:
                parts.append(page.verdict(*explanations))
            parts += [
                page.scale(inconsistencies, self.examples),
                of_one_source(explanations, names),
            ]
            return page.renamed("".join(parts))
        except RefusedError as error:
            return page.notice(str(error))
        except Exception as error:
            _LOG.error("a request failed with %s", type(error).__name__)
            return page.notice(f"Something went wrong ({type(error).__name__}). Please try again.")

    def describe(self, source: str, summary: str) -> dict[str, Any]:
        """The explanation of a pair as plain data.

        Raises ValueError if a text is blank or too long; the message is for the caller.
        """
        if not source.strip() or not summary.strip():
            raise RefusedError(f"The {'summary' if source.strip() else 'source'} is blank.")
        (explanation,), warnings = self._explain([summary], source)
        words = [
            {
                "word": word.text,
                "start": word.start,
                "end": word.end,
                "kind": word.kind,
                "source_has": word.best_text,
                "margin": word.margin,
            }
            for word in explanation.surest_words()
        ]
        return {
            **{measure: explanation.value(measure) for measure in DESCRIBED},
            "words": words,
            "warnings": warnings,
            "signature": explanation.signature,
        }

    def _explain(
        self, summaries: Sequence[str], source: str
    ) -> tuple[list[Explanation], list[str]]:
        """The explanations of some summaries of one source, and why the numbers may not be reliable.

        Raises:
            RefusedError: a text is too long or has a lone surrogate, or the source has no words.
        """
        self._check("source", source)
        if not has_words(source):
            raise RefusedError("The source has no word and no number to compare a summary with.")
        for summary in summaries:
            self._check("summary", summary)
        explanations, warnings = self.scorer.explain_checked(
            list(summaries), [source] * len(summaries)
        )
        return explanations, [
            SWAPPED_HERE if warning == SWAPPED else FOREIGN_HERE for warning in warnings
        ]

    def _check(self, name: str, text: str) -> None:
        """Refuses a text that is too long, and names the command that has no limit, or that is not
        Unicode (RefusedError).
        """
        try:
            check_text(name, text)
        except ValueError:
            raise RefusedError(
                f"The {name} has half of a character (a lone surrogate). Please paste it again."
            ) from None
        most, length, unit = CHARACTERS[name], len(text), "characters"
        if length <= most:
            encoder, config = self.scorer.encoder, self.scorer.resolved_config
            most = most_tokens(encoder.info.blocks, encoder.info.width)
            length, unit = len(units_of([text], config, encoder.tokenizer)[0].tokens), "tokens"
        if length > most:
            raise RefusedError(
                f"The {name} has {length:,} {unit}; the limit of this page is {most:,}. The command "
                "`estime explain` has no limit."
            )

"""The pieces of HTML that the demo puts on its page."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from html import escape
from importlib.resources import files
from statistics import fmean
from typing import Any, NamedTuple

from markupsafe import Markup

from estime_metric._wording import shortened
from estime_metric.config import LOW_COVERAGE
from estime_metric.explain import html
from estime_metric.explain.wording import share
from estime_metric.files import Row
from estime_metric.measures import RECOMMENDED


def asset(name: str) -> str:
    """The text of a file of this package."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


#: HTML for the page's head. It contains the style too, because Gradio's option for styles does not support
#: ``@container``.
HEAD = f"<style>{html.STYLE}{asset('demo.css')}</style><script>{html.SCRIPT}</script>"

#: A progress bar until the first pair of a file is scored.
READING = '<div class="demo-progress" role="status"><p>Reading the file \u2026</p><progress></progress></div>'

#: Rows of a file that are listed on the page.
LISTED = 100


class Scored(NamedTuple):
    """A pair of a file with its line and its measures."""

    line: int
    source: str
    summary: str
    values: dict[str, float]


@dataclass
class Progress:
    """How far the scoring of a file has come.

    Attributes:
        rows_in_file: rows of the file, also invalid ones.
        problems: one sentence for each row that is not scored, with its line.
        signature: of all scores.
        scored: the pairs scored so far.
        rows: as ``estime score --output`` writes them; new columns begin with ``estime_`` if the
            file has their names.
        late: whether the time ended before the file did.
        done: whether nothing more is to come.
    """

    rows_in_file: int
    problems: list[str]
    signature: str
    scored: list[Scored] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    late: bool = False
    done: bool = False

    @property
    def listed(self) -> list[Scored]:
        """The pairs that the page lists."""
        return self.scored[:LISTED]

    def mean(self, measure: str) -> float:
        """The mean of a measure over the pairs scored so far."""
        return fmean(pair.values[measure] for pair in self.scored)


def renamed(inner: str) -> str:
    """A result in an element whose name depends on its content: Gradio then replaces the old result
    whole, so that nothing selected in it stays."""
    name = f"estime-{sha256(inner.encode()).hexdigest()[:12]}"
    return f"<{name}>{inner}</{name}>"


def verdict(sentence: str) -> str:
    """What the comparison of two summaries says."""
    return (
        f'<p class="demo-verdict" role="status">{escape(sentence[0].upper() + sentence[1:])}.</p>'
    )


def notice(message: str) -> str:
    """A message in place of a result. Text between backticks is set as code; nothing is read as
    HTML.
    """
    return f'<p class="demo-notice" role="alert" dir="auto">{with_code(message)}</p>'


def scored(progress: Progress) -> str:
    """How far a file has come and, once it is done, its scores."""
    finished = len(progress.scored) + len(progress.problems)
    return render(
        "scored",
        progress=progress,
        count=f"{len(progress.scored):,} of {progress.rows_in_file:,} rows scored",
        done=finished / max(1, progress.rows_in_file),
        low=LOW_COVERAGE,
        recommended=RECOMMENDED,
        share=share,
        beginning=partial(shortened, length=160),
        code=lambda text: Markup(with_code(text)),
    )


def render(template: str, **values: Any) -> str:
    """One of the templates."""
    return html.templates(__package__).get_template(f"{template}.html.jinja").render(values)


def with_code(text: str) -> str:
    """A text as HTML, with text between backticks set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))

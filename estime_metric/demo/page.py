"""The pieces of HTML that the demo puts on its page."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from markupsafe import Markup

from estime_metric.config import LOW_COVERAGE
from estime_metric.explain import html
from estime_metric.explain.wording import share
from estime_metric.explanation import Explanation
from estime_metric.files import Row
from estime_metric.measures import RECOMMENDED

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        rows: as ``estime score --output`` writes them; new columns begin with ``estime_`` if the
            file has their names.
        problems: one sentence for each row that is not scored, with its line.
        late: whether the time ended before the file did.
        done: whether nothing more is to come.
        signature: of all scores.
    """

    rows_in_file: int
    scored: list[Scored] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    late: bool = False
    done: bool = False
    signature: str = ""


def renamed(inner: str) -> str:
    """A result in an element whose name depends on its content: Gradio then replaces the old result
    whole, so that nothing selected in it stays."""
    name = f"estime-{sha256(inner.encode()).hexdigest()[:12]}"
    return f"<{name}>{inner}</{name}>"


def picture(figure: Figure, explanation: Explanation) -> str:
    """A figure as an image without background; the style inverts it on a dark page."""
    drawn = BytesIO()
    figure.savefig(drawn, format="svg", transparent=True)
    description = f"Positions in the source of the best matches of {len(explanation.words)} words"
    code = b64encode(drawn.getvalue()).decode("ascii")
    return f'<img class="demo-picture" alt="{description}" src="data:image/svg+xml;base64,{code}">'


def verdict(explanations: Sequence[Explanation]) -> str:
    """Which of two summaries is the more consistent one, or why that cannot be said."""
    unit = explanations[0].unit
    named = dict(zip("AB", explanations, strict=True))
    values = {name: explanation.value(RECOMMENDED) for name, explanation in named.items()}
    low = {
        name: shown for name, shown in named.items() if not shown.value("coverage") >= LOW_COVERAGE
    }
    if low:
        reasons = [
            f"only {shown.overlap} of {shown.tokens} {unit}s of {name}"
            for name, shown in low.items()
        ]
        text = (
            f"<b>No winner:</b> {' and '.join(reasons)} occur in the source, too few to judge by."
        )
    elif values["A"] == values["B"]:
        text = f"Both have an {RECOMMENDED} of {share(values['A'])}."
    else:
        better, worse = sorted(values, key=values.__getitem__)
        text = (
            f"<b>{better}</b> is the more consistent one: {RECOMMENDED} {share(values[better])} against "
            f"{share(values[worse])} for <b>{worse}</b>."
        )
    return f'<p class="demo-verdict" role="status">{text}</p>'


def notice(message: str) -> str:
    """A message in place of a result. Text between backticks is set as code; nothing is read as
    HTML.
    """
    return f'<p class="demo-notice" role="alert" dir="auto">{with_code(message)}</p>'


def scored(progress: Progress) -> str:
    """How far a file has come and, once it is done, its scores."""
    pairs = progress.scored
    return render(
        "scored",
        progress=progress,
        count=f"{len(pairs):,} of {progress.rows_in_file:,} rows scored",
        done=(len(pairs) + len(progress.problems)) / max(1, progress.rows_in_file),
        mean=_mean(pairs) if pairs else None,
        listed=LISTED,
        low=LOW_COVERAGE,
        recommended=RECOMMENDED,
        share=share,
        beginning=_beginning,
        code=lambda text: Markup(with_code(text)),
    )


def _mean(pairs: Sequence[Scored]) -> Scored:
    """The mean of each measure, of no line and no summary."""
    return Scored(
        line=0,
        summary="",
        alarms=float(np.mean([pair.alarms for pair in pairs])),
        recommended=float(np.mean([pair.recommended for pair in pairs])),
        coverage=float(np.mean([pair.coverage for pair in pairs])),
    )


def render(template: str, **values: Any) -> str:
    """One of the templates."""
    return html.templates(__package__).get_template(f"{template}.html.jinja").render(values)


def _beginning(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[:400].split())
    return line[:160] + ("\u2026" if len(line) > 160 or len(text) > 400 else "")


def with_code(text: str) -> str:
    """A text as HTML, with text between backticks set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))

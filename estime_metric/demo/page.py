"""The pieces of HTML that the demo puts on its page."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from io import BytesIO
from math import isnan, nan
from typing import TYPE_CHECKING

from estime_metric.config import LOW_COVERAGE
from estime_metric.demo.limits import Limits
from estime_metric.demo.upload import Progress, Scored
from estime_metric.explain import html
from estime_metric.explain.wording import share
from estime_metric.explanation import Explanation
from estime_metric.measures import RECOMMENDED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: HTML for the page's head. It holds the style too, since Gradio's own option for styles does not know ``@container``.
HEAD = (
    f"<style>{html.STYLE}{files(__package__).joinpath('demo.css').read_text(encoding='utf-8')}</style>"
    f"<script>{html.SCRIPT}</script>"
)

HEADER = """
<header class="demo-header">
  <h1>ESTIME</h1>
  <p>How consistent is a summary with its source? ESTIME masks each word and embeds the masked position with an
  encoder. If the most similar position in the source holds <em>another</em> word, it raises an
  <strong>alarm</strong>.</p>
</header>
"""

HELP = """
<div class="demo-help">
<ul>
<li><b>Alarm</b>: the word occurs in the source, but the most similar position there holds another word. Point
at it or tap it to see that position. <em>Forty</em> seals for <em>three</em> years, or the other way round?</li>
<li><b>The number of alarms is the paper's score</b>, lower is better. No threshold separates good from bad, and a
faithful summary has alarms too.</li>
<li><b>Compare summaries by the inconsistency</b>, with one setting: words that the source lacks and, with a lower
weight, alarms, as a share of all words. Lower is better; an empty summary has 1, the worst value. It does not grow with
length. Copying the source is not penalized.</li>
<li><b>Coverage</b> is the share of the summary that occurs in the source and is checked. A wrong name that does not
occur in the source raises no alarm, so few alarms mean little if coverage is low.</li>
<li><b>Layer</b>: the depth in the encoder at which embeddings are compared. <b>Unit</b>: the paper counts the
encoder's tokens, the authors' code whole words.</li>
<li>Negation, errors across sentences and true paraphrase may be missed, or raise a false alarm. The encoders know
English.</li>
</ul>
<p>Vasilyev &amp; Bohannon, <a href="https://aclanthology.org/2021.eval4nlp-1.10">ESTIME: Estimation of
Summary-to-Text Inconsistency by Mismatched Embeddings</a>, 2021. Your texts are neither logged nor kept; uploaded files
are deleted within the hour.</p>
</div>
"""

#: Rows of a file that are listed on the page.
LISTED = 100


def explained(explanation: Explanation, key: str) -> str:
    """One explanation."""
    return _renamed(html.fragment(explanation, key=key))


def compared(explanations: Sequence[Explanation], key: str) -> str:
    """Two summaries of one source: their counts, the summaries, and the source."""
    return _renamed(html.comparison(explanations, [f"Summary {name}" for name in "AB"], key=key))


def _renamed(inner: str) -> str:
    """A result in an element whose name depends on its content.

    Gradio updates a page element by element; only another name makes it replace the old result whole, so that nothing
    selected in the old one stays.
    """
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
    """Which of two summaries is the more consistent one, in a sentence; or why that cannot be said."""
    unit = explanations[0].unit
    named = dict(zip("AB", explanations, strict=True))
    values = {name: explanation.value(RECOMMENDED) for name, explanation in named.items()}
    low = {name: shown for name, shown in named.items() if not shown.value("coverage") >= LOW_COVERAGE}
    if low:
        reasons = " and ".join(
            f"only {shown.overlap} of {shown.tokens} {unit}s of {name}" for name, shown in low.items()
        )
        text = f"<b>No winner:</b> {reasons} occur in the source, too few to judge by."
    elif values["A"] == values["B"]:
        text = f"Both have an {RECOMMENDED} of {share(values['A'])}."
    else:
        better, worse = sorted(values, key=lambda name: values[name])
        text = (
            f"<b>{better}</b> is the more consistent one: {RECOMMENDED} {share(values[better])} against "
            f"{share(values[worse])} for <b>{worse}</b>."
        )
    return f'<p class="demo-verdict" role="status">{text}</p>'


def empty_file(limits: Limits) -> str:
    """A note on the format and the limits, before a file is scored."""
    return (
        '<div class="demo-empty"><p><b>Each row is a pair:</b> a column with the source, a column with the summary. '
        "Further columns are kept.</p>"
        '<pre tabindex="0"><code>{"source": "A cat slept while two dogs ran.", "summary": "Two cats slept."}\n'
        '{"source": "A cat slept while two dogs ran.", "summary": "A cat slept."}</code></pre>'
        "<p>The scores can be downloaded in the format of the file: CSV or JSON Lines, a row for each pair.</p>"
        f"<p>Up to {limits.max_pairs:,} pairs, {limits.max_file_bytes / 1e6:g} MB and {limits.max_seconds / 60:g} "
        "minutes. For more, run <code>estime score pairs.jsonl</code> on your own machine.</p></div>"
    )


def waiting() -> str:
    """A progress bar until the first pair is scored."""
    return '<div class="demo-progress" role="status"><p>Reading the file \u2026</p><progress></progress></div>'


def stopped() -> str:
    """The message after a visitor has stopped the scoring."""
    return notice("Stopped.")


def notice(message: str) -> str:
    """A message in place of a result. Text between backticks is set as code; nothing is read as HTML."""
    return f'<p class="demo-notice" role="alert" dir="auto">{with_code(message)}</p>'


def scored(progress: Progress) -> str:
    """How far a file has come and, once it is done, its scores."""
    count = f"{len(progress.scored):,} of {progress.rows_in_file:,} rows scored"
    if not progress.done:
        done = (len(progress.scored) + len(progress.problems)) / max(1, progress.rows_in_file)
        return (
            f'<div class="demo-progress" role="status"><p>{count}</p>'
            f'<progress value="{done:.3f}" aria-label="{count}"></progress></div>'
        )
    return "".join(["<div>", *_report(progress, count), "</div>"])


def _report(progress: Progress, count: str) -> Iterator[str]:
    if progress.late:
        yield notice(f"The time for one file is over: {count}. The rest is not in the download.")
    if progress.problems:
        count += f", {len(progress.problems):,} skipped"
    pairs = progress.scored
    if pairs:
        alarms, value, coverage = (
            _mean(getattr(pair, name) for pair in pairs) for name in ("alarms", "recommended", "coverage")
        )
        caution = (
            " Coverage is low: most of these summaries does not occur in the source and raises no alarm."
            if coverage < LOW_COVERAGE
            else ""
        )
        yield (
            f'<p class="demo-verdict" role="status">{count}. Mean {RECOMMENDED} <b>{share(value)}</b> (lower is '
            f"better; compare by this), {alarms:.2f} alarms a summary, coverage {share(coverage)}.{caution}</p>"
        )
        yield _table(pairs)
        if len(pairs) > LISTED:
            yield f"<p>The first {LISTED} are shown; the download has all {len(pairs):,}.</p>"
        yield f'<p class="demo-signature">{escape(progress.signature)}</p>'
    if progress.problems:
        shown = "".join(f'<li dir="auto">{with_code(_beginning(text))}</li>' for text in progress.problems[:20])
        more = f"<li>and {len(progress.problems) - 20:,} more</li>" if len(progress.problems) > 20 else ""
        yield f'<p class="demo-problems">Rows that were not scored:</p><ul class="demo-problems">{shown}{more}</ul>'


def _table(pairs: Sequence[Scored]) -> str:
    cells = "".join(
        f"<tr><td>{pair.line}</td><td>{share(pair.recommended)}</td>"
        f'<td class="{"demo-alarms" if pair.alarms else ""}">{pair.alarms:.0f}</td>'
        f'<td>{share(pair.coverage)}</td><td dir="auto" class="demo-text">{escape(_beginning(pair.summary))}</td></tr>'
        for pair in pairs[:LISTED]
    )
    heads = ("line", RECOMMENDED, "alarms", "coverage", "summary")
    names = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return (
        '<div class="demo-table" tabindex="0" role="region" aria-label="Scores">'
        f"<table><thead><tr>{names}</tr></thead><tbody>{cells}</tbody></table></div>"
    )


def _mean(values: Iterable[float]) -> float:
    """The mean of those that are defined; NaN where none is."""
    defined = [value for value in values if not isnan(value)]
    return sum(defined) / len(defined) if defined else nan


def _beginning(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[:400].split())
    return line[:160] + ("\u2026" if len(line) > 160 or len(text) > 400 else "")


def with_code(text: str) -> str:
    """A text as HTML, with text between backticks set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))

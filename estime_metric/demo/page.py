"""The pieces of HTML that the demo puts on its page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING

from estime_metric.demo.limits import Limits
from estime_metric.demo.upload import Progress
from estime_metric.explain import html
from estime_metric.explanation import Explanation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What goes into the page's head. The style stands here, since Gradio's own place for it knows no ``@container``.
HEAD = (
    f"<style>{html.STYLE}{files(__package__).joinpath('demo.css').read_text(encoding='utf-8')}</style>"
    f"<script>{html.SCRIPT}</script>"
)

HEADER = """
<header class="demo-header">
  <h1>ESTIME</h1>
  <p>How consistent is a summary with its source? An encoder looks at the gap that each word leaves. Where the most
  similar gap in the source belongs to <em>another</em> word, that is an <strong>alarm</strong>.</p>
</header>
"""

HELP = """
<div class="demo-help">
<ul>
<li><b>Alarm</b>: the word stands in the source, but the place that looks most like its own holds another word. Point at
it or tap it to see that place. <em>Forty</em> seals for <em>three</em> years, or the other way round?</li>
<li><b>The number of alarms is the score</b>, lower is better. No threshold separates good from bad, and a faithful
summary has alarms too: compare summaries of one source, with one setting.</li>
<li><b>Not checked</b> are words that the source lacks. A wrong name that does not occur in the source raises no
alarm.</li>
<li><b>Layer</b>: how deep in the encoder the gaps are compared. <b>Unit</b>: the paper counts the encoder's tokens, the
authors' code whole words.</li>
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


def explained(explanation: Explanation, key: str, heading: str = "") -> str:
    """One explanation.

    It stands in an element whose name goes with its content: Gradio changes what is on the page element by element, and
    only another name makes it take the new one whole, so that nothing chosen in the old one stays.
    """
    inner = html.fragment(explanation, key=key, heading=heading)
    name = f"estime-{sha256(inner.encode()).hexdigest()[:12]}"
    return f"<{name}>{inner}</{name}>"


def picture(figure: Figure, explanation: Explanation) -> str:
    """A figure as an image."""
    drawn = BytesIO()
    figure.savefig(drawn, format="svg")
    told = f"Places in the source of the best matches of {len(explanation.words)} words"
    code = b64encode(drawn.getvalue()).decode("ascii")
    return f'<img class="demo-picture" alt="{told}" src="data:image/svg+xml;base64,{code}">'


def compared(explanations: Sequence[Explanation]) -> str:
    """What two explanations say beside each other, in a sentence."""
    first, second = (explanation.alarms for explanation in explanations)
    units = f"{explanations[0].unit}s"
    if not all(explanation.overlap for explanation in explanations):
        verdict = "One of them has nothing that could be checked, so they cannot be compared."
    elif first == second:
        verdict = f"Both raise {_alarms(first)}."
    else:
        fewer, more = ("A", "B") if first < second else ("B", "A")
        verdict = (
            f"<b>{fewer}</b> raises {_alarms(min(first, second))}, <b>{more}</b> {max(first, second)}: "
            f"by this count {fewer} is the more consistent one."
        )
    lengths = [explanation.tokens for explanation in explanations]
    if max(lengths) > 1.25 * min(lengths):
        verdict += f" Mind the lengths, {lengths[0]} and {lengths[1]} {units}: the alarm rate takes them into account."
    return f'<p class="demo-verdict" role="status">{verdict}</p>'


def empty_file(limits: Limits) -> str:
    """What stands where the scores of a file will."""
    return (
        '<div class="demo-empty"><p><b>Each row is a pair:</b> a column with the source, a column with the summary. '
        "Further columns are kept.</p>"
        '<pre tabindex="0"><code>{"source": "A cat slept while two dogs ran.", "summary": "Two cats slept."}\n'
        '{"source": "A cat slept while two dogs ran.", "summary": "A cat slept."}</code></pre>'
        "<p>The scores can be downloaded in the form of the file: CSV or JSON Lines, a row for each pair.</p>"
        f"<p>Up to {limits.rows:,} pairs, {limits.file_bytes / 1e6:g} MB and {limits.seconds / 60:g} minutes. "
        "For more, run <code>estime score pairs.jsonl</code> on your own machine.</p></div>"
    )


def stopped() -> str:
    """What stands there once a visitor has stopped it."""
    return notice("Stopped.")


def notice(message: str) -> str:
    """A message in place of a result; nothing in it is read as HTML."""
    return f'<p class="demo-notice" role="alert" dir="auto">{escape(message)}</p>'


def scored(progress: Progress) -> str:
    """How far a file has come and, once it is done, its scores."""
    count = f"{len(progress.rows):,} of {progress.pairs:,} pairs scored"
    if not progress.done:
        share = len(progress.rows) / max(1, progress.pairs)
        return (
            f'<div class="demo-progress" role="status"><p>{count}</p>'
            f'<progress value="{share:.3f}" aria-label="{count}"></progress></div>'
        )
    return "".join(["<div>", *_report(progress, count), "</div>"])


def _report(progress: Progress, count: str) -> Iterator[str]:
    if progress.late:
        yield notice(f"The time for one file is over: {count}. The rest is not in the download.")
    rows = progress.rows
    if rows:
        mean = sum(row["alarms"] for row in rows) / len(rows)
        yield f'<p class="demo-verdict" role="status">{count}, {mean:.2f} alarms a summary (lower is better).</p>'
        yield _table(progress)
        if len(rows) > LISTED:
            yield f"<p>The first {LISTED} are shown; the download has all {len(rows):,}.</p>"
        yield f'<p class="demo-signature">{escape(rows[0]["signature"])}</p>'
    if progress.problems:
        shown = "".join(f'<li dir="auto">{_text(problem)}</li>' for problem in progress.problems[:20])
        more = f"<li>and {len(progress.problems) - 20:,} more</li>" if len(progress.problems) > 20 else ""
        yield f'<p class="demo-problems">Rows that were not scored:</p><ul class="demo-problems">{shown}{more}</ul>'


def _table(progress: Progress) -> str:
    listed = zip(progress.lines, progress.rows, progress.summaries, strict=True)
    cells = "".join(
        f'<tr><td>{line}</td><td class="demo-alarms">{row["alarms"]}</td><td>{row["overlap"]}</td>'
        f'<td>{_rate(row["alarm_rate"])}</td><td dir="auto" class="demo-text">{_text(summary)}</td></tr>'
        for line, row, summary in islice(listed, LISTED)
    )
    names = "".join(f'<th scope="col">{name}</th>' for name in ("line", "alarms", "checked", "rate", "summary"))
    return (
        '<div class="demo-table" tabindex="0" role="region" aria-label="Scores">'
        f"<table><thead><tr>{names}</tr></thead><tbody>{cells}</tbody></table></div>"
    )


def _rate(value: float | None) -> str:
    """A rate of nothing is none."""
    return "\u2013" if value is None else f"{value:.3f}"


def _text(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[:400].split())
    return escape(line[:160] + ("\u2026" if len(line) > 160 or len(text) > 400 else ""))


def _alarms(count: int) -> str:
    return "1 alarm" if count == 1 else f"{count} alarms" if count else "no alarm"

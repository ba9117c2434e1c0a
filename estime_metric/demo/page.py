"""The pieces of HTML that the demo puts on its page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING

from estime_metric.show import html
from estime_metric.show.captions import counts

if TYPE_CHECKING:
    from estime_metric.explanation import Explanation


#: HTML above the texts, and how to read a result.
HEADER = html.asset(__package__, "header.html")
HELP = html.asset(__package__, "help.html")

#: HTML for the page's head. It contains the style too, because Gradio's option for styles does not support
#: ``@container``.
HEAD = f"<style>{html.STYLE}{html.asset(__package__, 'demo.css')}</style><script>{html.SCRIPT}</script>"

#: The counts in which two summaries are compared.
COMPARED = ("inconsistency", "alarms", "new words", "copied density")

#: The numbers below the scale.
TICKS = (0, 0.05, 0.1, 0.2, 0.4, 0.7, 1)


def renamed(inner: str) -> str:
    """A result in an element whose name depends on its content: Gradio then replaces the old result
    whole, so that nothing selected in it stays."""
    name = f"estime-{sha256(inner.encode()).hexdigest()[:12]}"
    return f"<{name}>{inner}</{name}>"


def verdict(first: Explanation, second: Explanation) -> str:
    """What two summaries of one source differ in, as measured."""
    differences = [
        f"{count.name} {count.value} and {other.value}"
        for count, other in zip(counts(first), counts(second), strict=True)
        if count.name in COMPARED
    ]
    lower, higher = first.inconsistency, second.inconsistency
    names = ["first", "second"] if lower < higher else ["second", "first"]
    if f"{lower:.3f}" == f"{higher:.3f}":
        sentence = "The two summaries have the same inconsistency"
    else:
        sentence = f"The {names[0]} summary has a lower inconsistency than the {names[1]}"
    return (
        f'<p class="demo-verdict" role="status"><b>{sentence}</b>: {", ".join(differences)}. One source does not '
        "show which system is better; <code>estime compare</code> needs many.</p>"
    )


def notice(message: str) -> str:
    """A message in place of a result, or above it. Text between backticks is set as code; nothing is
    read as HTML.
    """
    shown = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(message))
    return f'<p class="demo-notice" role="alert" dir="auto">{shown}</p>'


def scale(summaries: Mapping[str, float], examples: Sequence[tuple[str, float]]) -> str:
    """A line from 0 to 1 with the inconsistency of the summaries, among the values of the examples.

    Args:
        summaries: the name of each summary -> its inconsistency.
        examples: verdict and inconsistency of each.
    """
    template = html.templates(__package__).get_template("scale.html.jinja")
    return template.render(summaries=summaries, examples=examples, ticks=TICKS)

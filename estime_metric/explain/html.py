"""Explanations as HTML: a page that stands alone, or a fragment to put into another page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import pairwise

from estime_metric.explain import wording
from estime_metric.explanation import Evidence, Explanation, UnitVerdict


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


#: CSS for all fragments of a page, scoped under ``.estime``; colours and fonts are variables, named ``--estime-...``.
STYLE = _asset("estime.css")

#: JavaScript for all fragments of a page: it shows a unit's evidence at hover, focus or click. To be run once; running
#: it again changes nothing. Without it the page shows the verdicts alone.
SCRIPT = _asset("estime.js")

_HINT = "Point at a word of the summary, tap it or go to it with Tab: its evidence shows here."

_LEGEND = (
    ("estime-alarm", "word", "alarm; the deeper, the wider its margin"),
    ("estime-absent", "word", "not in the source, so not checked"),
    ("estime-best", "word", "best match"),
    ("estime-same", "word", "best place of the same word"),
)

#: Characters that HTML cannot hold, or not as they are.
_SIGNS = {0: "\ufffd", 13: "&#13;", **dict.fromkeys(range(0xD800, 0xE000), "\ufffd")}


def to_html(
    explanations: Explanation | Sequence[Explanation],
    *,
    standalone: bool = True,
    title: str = "ESTIME: alarms and their evidence",
    headings: Sequence[str] | None = None,
) -> str:
    """Draws one explanation or several: the summary with its verdicts beside the source with their evidence.

    Texts are shown as they are; nothing in them is read as HTML.

    Args:
        explanations: what is shown, in this order; none give a page that says so.
        standalone: a whole page, with style and script inside, that loads nothing from anywhere; else `fragment` of
            each, for a page that has ``STYLE`` and ``SCRIPT``.
        title: of the page.
        headings: one line above each explanation; the default is its number, where there are several.

    Raises:
        ValueError: ``headings`` is of another length.
    """
    shown = [explanations] if isinstance(explanations, Explanation) else list(explanations)
    if headings is None:
        headings = [f"Pair {number}" for number in range(1, len(shown) + 1)] if len(shown) > 1 else [""] * len(shown)
    if len(headings) != len(shown):
        raise ValueError(
            f"Expected argument `headings` to have one line for each of the {len(shown)} explanations, "
            f"but got {len(headings)}."
        )
    parts = [
        fragment(explanation, key=f"estime-{number}", heading=heading)
        for number, (explanation, heading) in enumerate(zip(shown, headings, strict=True), start=1)
    ]
    if not standalone:
        return "\n".join(parts)
    contents = _contents(shown) if len(shown) > 1 else "" if shown else "<p>There is no pair to show.</p>"
    return _page(title, contents, parts)


def fragment(explanation: Explanation, *, key: str = "estime", heading: str = "") -> str:
    """One explanation as ``<div class="estime">...</div>``, without style and script.

    Each unit of the summary is an ``.estime-unit``, with its verdict as a class (``estime-alarm``) and the places of
    its evidence in the source as ``data-best`` and ``data-same`` (``"12-17"``, in characters). The source is cut into
    spans with ``data-start`` and ``data-end`` wherever evidence begins or ends.

    Args:
        explanation: what is shown.
        key: id of the element; different for each on a page.
        heading: a line above it.
    """
    remark = wording.remark(explanation)
    return "\n".join(
        [
            f'<div class="estime" id="{_escape(key)}">',
            *([f"<h2>{_escape(heading)}</h2>"] if heading else []),
            _counts(explanation),
            *([f'<p class="estime-remark">{_escape(remark)}</p>'] if remark else []),
            '<div class="estime-panes">',
            _pane("Summary", "", explanation.prediction, _summary(explanation)),
            _pane("Source", _hint(), explanation.source, _source(explanation)),
            "</div>",
            _legend(),
            f'<p class="estime-signature">{_escape(explanation.signature)}</p>',
            "</div>",
        ]
    )


def _page(title: str, contents: str, parts: Sequence[str]) -> str:
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{_escape(title)}</title>",
            f"<style>{STYLE}</style>",
            "</head>",
            '<body class="estime-page">',
            "<main>",
            f'<h1 dir="auto">{_escape(title)}</h1>',
            contents,
            *parts,
            "</main>",
            f"<script>{SCRIPT}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _contents(explanations: Sequence[Explanation]) -> str:
    """Links to all explanations, with their alarms and the beginnings of their summaries."""
    items = [
        f'<li><a href="#estime-{number}"><b>{shown.alarms} of {shown.overlap}</b>'
        f'<span dir="auto">{_escape(" ".join(shown.prediction[:300].split()) or "(empty)")}</span></a></li>'
        for number, shown in enumerate(explanations, start=1)
    ]
    return f'<nav aria-label="Pairs"><p>Alarms of what was checked, for each pair:</p><ol>{"".join(items)}</ol></nav>'


def _counts(explanation: Explanation) -> str:
    items = [
        f'<div class="estime-count"><dt>{_escape(count.name)}</dt><dd class="estime-number">{_escape(count.shown)}</dd>'
        f'<dd class="estime-meaning">{_escape(count.meaning)}</dd></div>'
        for count in wording.counts(explanation)
    ]
    return f'<dl class="estime-counts">{"".join(items)}</dl>'


def _hint() -> str:
    return f'<p class="estime-note" aria-live="polite" dir="auto" data-hint="{_HINT}">{_HINT}</p>'


def _pane(name: str, head: str, text: str, inner: str) -> str:
    if text.strip():
        body = f'<div class="estime-text" dir="auto" tabindex="0" role="region" aria-label="{name}">{inner}</div>'
    else:
        body = f'<p class="estime-blank">The {name.lower()} is empty.</p>'
    return f'<section class="estime-pane estime-{name.lower()}"><h3>{name}</h3>{head}{body}</section>'


def _summary(explanation: Explanation) -> str:
    """The summary, each unit in an element, what lies between them as it is."""
    parts, cursor = [], 0
    for unit in explanation.words:
        parts.append(_escape(explanation.prediction[cursor : unit.start]))
        parts.append(_unit(explanation, unit))
        cursor = unit.end
    return "".join([*parts, _escape(explanation.prediction[cursor:])])


def _unit(explanation: Explanation, unit: UnitVerdict) -> str:
    attributes = {
        "class": f"estime-unit estime-{unit.verdict}",
        "role": "button",
        "tabindex": "0" if unit.verdict == "alarm" else "-1",
        "aria-label": wording.note(explanation, unit),
        **_place("best", unit.best),
        **_place("same", unit.same),
    }
    if unit.verdict == "alarm":
        attributes["style"] = f"--estime-strength:{wording.strength(unit):.2f}"
    written = " ".join(f'{name}="{_escape(value)}"' for name, value in attributes.items())
    return f"<span {written}>{_escape(explanation.prediction[unit.start : unit.end])}</span>"


def _place(name: str, evidence: Evidence | None) -> dict[str, str]:
    return {} if evidence is None else {f"data-{name}": f"{evidence.start}-{evidence.end}"}


def _source(explanation: Explanation) -> str:
    """The source, cut wherever evidence begins or ends."""
    text = explanation.source
    edges = sorted({0, len(text), *(edge for place in _evidence(explanation) for edge in (place.start, place.end))})
    return "".join(
        f'<span data-start="{start}" data-end="{end}">{_escape(text[start:end])}</span>'
        for start, end in pairwise(edges)
    )


def _evidence(explanation: Explanation) -> Iterator[Evidence]:
    for unit in explanation.words:
        yield from (place for place in (unit.best, unit.same) if place is not None)


def _legend() -> str:
    items = [
        f'<li><span class="estime-sample {name}">{sample}</span>{meaning}</li>' for name, sample, meaning in _LEGEND
    ]
    return f'<ul class="estime-legend" aria-label="Legend">{"".join(items)}</ul>'


def _escape(text: str) -> str:
    return escape(text, quote=True).translate(_SIGNS)

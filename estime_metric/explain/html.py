"""Explanations as HTML: a page that stands alone, or a fragment to put into another page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise

import jinja2
from markupsafe import Markup, escape

from estime_metric.explain import wording
from estime_metric.explanation import Explanation, UnitVerdict


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


#: CSS for all fragments of a page, scoped under ``.estime``; colours and fonts are variables, named ``--estime-...``.
STYLE = _asset("estime.css")

#: JavaScript for all fragments of a page: it shows a unit's evidence at hover, focus or click. To be run once; running
#: it again changes nothing. Without it the page shows the verdicts alone.
SCRIPT = _asset("estime.js")

_HINT = "Point at a word of the summary, tap it or go to it with Tab: its evidence shows here."

#: Class of the sample -> what it means.
_LEGEND = {
    "estime-alarm": "alarm; the deeper, the wider its margin",
    "estime-absent": "not in the source, so not checked",
    "estime-best": "best match",
    "estime-same": "best place of the same word",
}

#: Characters that HTML cannot hold, or not as they are.
_CHARS = {0: "\ufffd", 13: "&#13;", **dict.fromkeys(range(0xD800, 0xE000), "\ufffd")}


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
    keyed = {f"estime-{number}": explanation for number, explanation in enumerate(shown, start=1)}
    parts = [
        fragment(explanation, key=key, heading=heading)
        for (key, explanation), heading in zip(keyed.items(), headings, strict=True)
    ]
    if not standalone:
        return "\n".join(parts)
    return _templates().get_template("page.html.jinja").render(
        title=title,
        index=list(keyed.items()) if len(keyed) > 1 else [],
        fragments=[Markup(part) for part in parts],
        style=Markup(STYLE),
        script=Markup(SCRIPT),
        script_digest=Markup(base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()),
    )


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
    return _templates().get_template("fragment.html.jinja").render(
        explanation=explanation,
        key=key,
        heading=heading,
        counts=wording.counts(explanation),
        remark=wording.remark(explanation),
        summary=list(_summary(explanation)),
        source=list(_source(explanation)),
        hint=_HINT,
        legend=_LEGEND.items(),
    )


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader(__package__),
        autoescape=True,
        finalize=_displayable,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _displayable(value: object) -> Markup:
    """What a template prints, escaped, without the characters that HTML cannot hold."""
    return value if isinstance(value, Markup) else Markup(str(escape(value)).translate(_CHARS))


def _summary(explanation: Explanation) -> Iterator[tuple[str, dict[str, str]]]:
    """The summary in pieces: each unit with the attributes of its element, what lies between them with none."""
    cursor = 0
    for unit in explanation.words:
        yield explanation.prediction[cursor : unit.start], {}
        yield explanation.prediction[unit.start : unit.end], _attributes(explanation, unit)
        cursor = unit.end
    yield explanation.prediction[cursor:], {}


def _attributes(explanation: Explanation, unit: UnitVerdict) -> dict[str, str]:
    attributes = {
        "class": f"estime-unit estime-{unit.verdict}",
        "role": "button",
        "tabindex": "0" if unit.verdict == "alarm" else "-1",
        "aria-label": wording.note(explanation, unit),
    }
    for name, evidence in (("data-best", unit.best), ("data-same", unit.same)):
        if evidence is not None:
            attributes[name] = f"{evidence.start}-{evidence.end}"
    if unit.verdict == "alarm":
        attributes["style"] = f"--estime-strength:{wording.strength(unit):.2f}"
    return attributes


def _source(explanation: Explanation) -> Iterator[tuple[int, int, str]]:
    """The source, cut wherever evidence begins or ends: start, end, text."""
    edges = {0, len(explanation.source)}
    for unit in explanation.words:
        edges.update(edge for evidence in (unit.best, unit.same) if evidence for edge in (evidence.start, evidence.end))
    for start, end in pairwise(sorted(edges)):
        yield start, end, explanation.source[start:end]

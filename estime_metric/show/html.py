"""Explanations as HTML: a self-contained page, or a fragment to insert into another page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain, pairwise
from typing import Any

import jinja2
from markupsafe import Markup, escape

from estime_metric.show import captions
from estime_metric.verdicts import Verdicts, WordVerdict


def asset(package: str, name: str) -> str:
    """The text of a file of a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


#: CSS for all fragments of a page, scoped under ``.estime``; colors and fonts are variables named
#: ``--estime-...``.
STYLE = asset(__package__, "estime.css")

#: JavaScript for all fragments of a page: it shows a unit's evidence at hover, focus or click;
#: idempotent.
SCRIPT = asset(__package__, "estime.js")

#: Title of a page.
TITLE = "ESTIME: alarms and their evidence"

#: Samples of words in the legend: class, strength of the color, meaning.
_SAMPLES = (
    ("estime-absent estime-colored", "1.00", "not in the source"),
    (
        "estime-alarm estime-colored",
        "0.80",
        "alarm: a different word of the source fits better "
        f"(graded alarm over {captions.ALARM_FROM:g})",
    ),
    (
        "estime-match estime-colored",
        "0.30",
        "match, but a different word fits nearly as well "
        f"(graded alarm {captions.LEAST_COLORED:g} to {captions.ALARM_FROM:g})",
    ),
    ("estime-best", None, "best match"),
    ("estime-same", None, "closest occurrence of the same word"),
)
_LEGEND = {"legend": _SAMPLES, "colors": captions.COLORS}

#: Characters that HTML cannot contain, or only in another form.
_CHARS = {0: "\ufffd", 13: "&#13;", **dict.fromkeys(range(0xD800, 0xE000), "\ufffd")}


def to_html(
    explanations: Verdicts | Sequence[Verdicts],
    *,
    title: str = TITLE,
    headings: Sequence[str] | None = None,
    worst_first: bool = True,
) -> str:
    """A page of one explanation or several: each summary with its verdicts next to its source with the
    evidence. Style and script are inside, and it loads nothing from anywhere.

    Nothing in the texts is read as HTML. The first `surest_words` of each summary are listed below it; function
    words and punctuation are behind a switch. Several explanations have an index. What the numbers and colors mean is
    written once above them, folded, and so is the signature if it is the same for all.

    Args:
        explanations: what is shown; an empty list gives a page that says so.
        title: title of the page.
        headings: a line above each explanation, also its name in the index; by default the numbers
            of several.
        worst_first: whether several are shown in the order of their inconsistency, the largest first,
            and not as given.

    Raises:
        ValueError: ``headings`` is of another length.
    """
    shown = list(explanations) if isinstance(explanations, Sequence) else [explanations]
    several = len(shown) > 1
    if headings is None:
        headings = [f"Pair {number}" if several else "" for number in range(1, len(shown) + 1)]
    if len(headings) != len(shown):
        wanted = f"one line for each of the {len(shown)} explanations"
        raise ValueError(f"Expected argument `headings` to have {wanted}, but got {len(headings)}.")
    sections = list(zip(headings, shown, strict=True))
    if worst_first:
        sections.sort(key=lambda section: -section[1].inconsistency)
    is_common = several and len({explanation.signature for explanation in shown}) == 1
    parts = [
        of_one_source(
            [explanation],
            ["Summary"],
            key=f"estime-{number}",
            heading=heading,
            with_key=not several,
            with_signature=not is_common,
        )
        for number, (heading, explanation) in enumerate(sections, start=1)
    ]
    if several:
        counts, signature = captions.counts(shown[0]), shown[0].signature if is_common else ""
        parts.insert(0, _render("key", counts=counts, **_LEGEND, signature=signature))
    return _render(
        "page",
        title=title,
        index=sections if several else [],
        share=captions.share,
        fragments=[Markup(part) for part in parts],
        style=Markup(STYLE),
        script=Markup(SCRIPT),
        script_digest=Markup(base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()),
    )


def fragment(explanation: Verdicts, *, key: str = "estime") -> str:
    """One explanation as ``<div class="estime">...</div>``, without style and script.

    Each unit of the summary is an ``.estime-unit``, with its verdict as a class (``estime-alarm``)
    and the positions of its evidence in the source as ``data-best`` and ``data-same`` (``"12-17"``,
    in characters). The source is cut into spans with ``data-start`` and ``data-end`` wherever
    evidence begins or ends. ``key`` is the id of the element, different for each on a page, which
    needs ``STYLE`` and ``SCRIPT``.
    """
    return of_one_source([explanation], ["Summary"], key=key)


def notebook(explanation: Verdicts) -> str:
    """One explanation with style and script, as a cell of a notebook shows it."""
    shown = fragment(explanation, key=f"estime-{id(explanation)}")
    return f"<style>{STYLE}</style>{shown}<script>{SCRIPT}</script>"


def of_one_source(
    explanations: Sequence[Verdicts],
    names: Sequence[str],
    *,
    key: str = "estime",
    heading: str = "",
    with_key: bool = True,
    with_signature: bool = True,
) -> str:
    """One summary or several above their one source: a `fragment`, with a ``heading`` and with names above
    the summaries. If there are several, their counts are in a table.
    """
    counts = [captions.counts(explanation) for explanation in explanations]
    summaries = [
        {
            "name": name,
            "explanation": explanation,
            "remark": captions.remark(explanation),
            "pieces": list(captions.pieces(explanation)),
            "indices": {word.start: index for index, word in enumerate(explanation.words)},
            "kinds": _by_kind(explanation),
            "more": captions.unlisted(len(explanation.surest_words()) - captions.LISTED),
        }
        for name, explanation in zip(names, explanations, strict=True)
    ]
    return _render(
        "fragment",
        key=key,
        heading=heading,
        summaries=summaries,
        count_rows=list(zip(*counts, strict=True)),
        source=explanations[0].source,
        source_pieces=list(_source_pieces(explanations)),
        passages={passage.start: passage.id for passage in explanations[0].passages},
        hint="Point at a word of the summary, tap it or go to it with Tab: its evidence shows here.",
        attributes=_attributes,
        evidence=_evidence,
        **_LEGEND,
        with_key=with_key,
        signature=explanations[0].signature if with_signature else "",
    )


def _by_kind(explanation: Verdicts) -> dict[str, list[WordVerdict]]:
    """Heading of a kind -> its words that are listed, and function words and punctuation."""
    sure = explanation.surest_words()[: captions.LISTED]
    kinds: dict[str, list[WordVerdict]] = {}
    for word in explanation.surest_words(function_words=True):
        if word.is_minor or word in sure:
            kinds.setdefault(captions.KIND_HEADINGS[word.kind or ""], []).append(word)
    return kinds


def _evidence(word: WordVerdict) -> str:
    """The word that the source has instead of an alarm, and the passage."""
    instead = f"source: {word.best_text or ''}" if word.kind == "alarm" else ""
    return ", ".join(filter(None, [instead, captions.passage(word)]))


def _render(template: str, **values: Any) -> str:
    return templates(__package__).get_template(f"{template}.html.jinja").render(values)


@cache
def templates(package: str) -> jinja2.Environment:
    """The templates of a package; they escape whatever they print."""
    loader = jinja2.PackageLoader(package)
    options: dict[str, Any] = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True}
    return jinja2.Environment(
        loader=loader, finalize=_displayable, undefined=jinja2.StrictUndefined, **options
    )


def _displayable(value: object) -> Markup:
    return value if isinstance(value, Markup) else Markup(str(escape(value)).translate(_CHARS))


def _attributes(word: WordVerdict, unit: str) -> dict[str, str]:
    strength = captions.strength(word)
    classes = ["estime-unit", f"estime-{word.verdict}"]
    if strength:
        classes.append("estime-colored")
    if word.is_minor:
        classes.append("estime-minor")
    attributes = {
        "class": " ".join(classes),
        "role": "button",
        "tabindex": "0" if word.kind and not word.is_minor else "-1",
        "aria-label": captions.note(word, unit),
    }
    for name, evidence in (("data-best", word.best), ("data-same", word.same)):
        if evidence is not None:
            attributes[name] = f"{evidence.start}-{evidence.end}"
    if strength:
        attributes["style"] = f"--estime-strength:{strength:.2f}"
    return attributes


def _source_pieces(explanations: Sequence[Verdicts]) -> Iterator[tuple[int, int, str]]:
    """The source of one or several explanations, cut wherever evidence begins or ends or a passage
    begins: start, end, text.
    """
    source, passages = explanations[0].source, explanations[0].passages
    words = chain.from_iterable(explanation.words for explanation in explanations)
    evidence = [each for word in words for each in (word.best, word.same) if each is not None]
    edges = {0, len(source), *(passage.start for passage in passages)}
    edges.update(edge for each in evidence for edge in (each.start, each.end))
    for start, end in pairwise(sorted(edges)):
        yield start, end, source[start:end]

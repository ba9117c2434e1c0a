"""Bullets, and the numerals of lists, headings and steps, which are told by their structure: they count up."""

from __future__ import annotations

from collections.abc import Iterator

import regex

BULLET = (
    r"[-*+>\u2022\u25cf\u25aa\u25e6\u2023\u2043\u00b7\u2013\u2014\u2460-\u2473\u2776-\u277f]|#{1,6}"
    r"|\d\ufe0f?\u20e3"
)
#: The bullets and the emphasis that a line begins with: "- ", "## **".
_BULLETS = rf"^[ \t]*+(?P<bullets>(?:(?:{BULLET})[ \t]++)*+)[*_]*+"
#: A label of any words: "Key Point ", "Day ".
_LABEL = r"(?P<label>(?:\p{L}[\w'&-]*+[ ]){1,6}+)"
#: A numeral, of which the last part counts up: "2"; "1.2"; "2/9".
_VALUE = r"(?P<before>(?:\d{1,3}\.){0,3})(?P<value>\d{1,3})(?:/\d{1,3})?"
#: A mark behind it: "2. It", "2)it", "**2:** It", "[2] It"; "2 - It".
_MARK = r"(?:[.):\]]+[*_]*(?:[ \t]++(?=\S)|(?=[^\W\d]|$))|[ ]?[-\u2013\u2014/][ ]++(?!\d+\W*$))"
#: No mark, but the begin of a sentence or the end of the line behind it: "Day 2 It", "1.2 It", "#2 It".
_NO_MARK = r"(?:[ \t]++(?=[^\w\s]*\p{Lu})|[ \t]*+$)"

#: The beginning of a line, with a numeral if it has one.
_AT_LINE = regex.compile(
    rf"(?m){_BULLETS}(?:(?:[\[(]?{_LABEL})?(?P<numeral>[\[(]?{_VALUE}{_MARK}"
    rf"|\#{_VALUE}(?:{_MARK}|{_NO_MARK})|(?(label){_VALUE}{_NO_MARK}|(?=\d+\.){_VALUE}[ \t]++(?![\d.,%]+\W*$))))?"
)
#: A numeral within a line: behind a sentence "Step 2: It" and "2. It"; behind a word or a comma "2) it", "2. It".
_IN_LINE = regex.compile(
    r"(?<=[.!?:;] )(?:(?P<label>\p{Lu}\p{L}*+ )(?P<numeral>(?P<value>\d{1,3})[:)] )"
    r"|(?P<numeral>\(?(?P<value>\d{1,3})[.:)](?: (?=\S)|(?<=\))(?=[^\W\d]))))"
    r"|(?<=[,\w\"'\u201d)] )(?P<numeral>\(?(?P<value>\d{1,3})"
    r"(?:\) ?(?=[^\W\d])(?!(?:and|or|to|of)\b)|\. (?=\S)))"
)


def bullets_and_numerals(text: str) -> Iterator[tuple[int, int, str]]:
    """Begin and end of each bullet, and of each of the `counted` numerals, in order; and what replaces it.

    Example:
        >>> list(bullets_and_numerals("- Day 4: It ran.\\n- Day 5: It sat."))
        [(0, 2, ''), (6, 9, ': '), (17, 19, ''), (23, 26, ': ')]
    """
    spans = [(*match.span("bullets"), "") for match in _AT_LINE.finditer(text) if match["bullets"]]
    spans += [(*match.span("numeral"), ": " if match["label"] else "") for match in counted(text)]
    return iter(sorted(spans))


def counted(text: str) -> list[regex.Match[str]]:
    """The numerals that count up from another one of the same label, and these others: at the beginning of lines from any
    number, within a line only behind one at its beginning, or from 1 behind a colon or before a bracket. Groups:
    ``label``, ``numeral`` with its marks, ``value``.

    Example:
        >>> [match["value"] for match in counted("3. It ran 4. It sat.\\nDay 7: It\\nDay 8: It")]
        ['3', '4', '7', '8']
        >>> counted("It ran to 1. It sat on 2. It ran")
        []
    """
    numerals = [line for line in _AT_LINE.finditer(text) if line["numeral"]]
    if numerals or "1)" in text or ": 1" in text:  # which can be the first one within a line
        numerals += _IN_LINE.finditer(text)
    known: dict[tuple[str, int], list[regex.Match[str]]] = {}
    of_lists: dict[int, regex.Match[str]] = {}
    for match in sorted(numerals, key=lambda match: match.span("numeral")):
        start, value = match.start("numeral"), int(match["value"])
        label = (match["label"] or "").casefold()
        begins_line = match.re is _AT_LINE
        if begins_line:
            label += match["before"]
        previous = [
            numeral
            for numeral in known.get((label, value - 1), ())
            if begins_line or ")" in match["numeral"] or "\n" not in text[numeral.start() : start]
        ]
        if previous:
            known[label, value - 1] = previous[-1:]  # the others are done
            of_lists |= {numeral.start("numeral"): numeral for numeral in (*previous, match)}
        if begins_line or previous:
            known.setdefault((label, value), []).append(match)
        elif value == 1 and (")" in match["numeral"] or text.endswith(": ", 0, start)):
            known["", value] = [match]
    return [of_lists[start] for start in sorted(of_lists)]

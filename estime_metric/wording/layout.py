"""What a text says of itself, and its headings and labels."""

from __future__ import annotations

import re
from collections.abc import Iterator

import regex

from estime_metric.wording.english import FUNCTION_WORDS
from estime_metric.wording.lists import BULLET, counted

#: "## Main Points", "<h2>Main Points", "**Main Points**", "TL;DR"
_MARKED = r"\#{1,6}[ \t][^\n]*|<h[1-6][^<>]*>[^<\n]*|\*\*[^*\n]{1,80}\*\*:?[ \t]*$|[*_]*TL;? ?DR\b"
_TITLE_WORD = rf"(?:[\p{{Lu}}\d][^\s:]*|[&\u2013-]|(?:{'|'.join(sorted(FUNCTION_WORDS))}))"
#: A short line in Title Case that begins a paragraph, if the next line has other words: "Main Points of It".
_TITLE = (
    rf"(?=\p{{Lu}})(?<=\A\s*|\n[ \t]*\n|[.!?:][\"\u201d*]*\n)(?:{_TITLE_WORD} ){{0,7}}{_TITLE_WORD}(?<![.!?,;]):?[ \t]*$"
    r"(?=\s*\n[^\n]*\b\p{Ll}+ \p{Ll})"
)
#: "References:" with the lines below it, and "**Sources**: The Post".
_SOURCES = (
    r"[#*_ ]*(?i:references?|sources?|bibliography|works cited|further reading)(?:[*_]*:|(?=[*_]*[ \t]*$))"
    r"[*_ \t]*(?:\n\s*)?(?:[^\n]+\n?|\n+(?=[ \t]*(?:\[|\d{1,3}[.)]|[-*\u2022] )))*+"
)
#: "2. Payment History: It", "- **Anna Berg**: It"
_OF_ITEM = (
    rf"(?:(?:(?:{BULLET})[ \t]++)++(?P<numeral>\*{{0,2}}\(?\d{{1,3}}[.)][ \t]+)?|(?P<numeral>\*{{0,2}}\(?\d{{1,3}}[.)][ \t]+))"
    r"(?P<label>\*{0,2}[^*\n:]{1,80}:?\*\*|(?:[^\s:*]+ ){0,4}[^\s:*]+(?=:\s))"
)
#: "**Anna Berg**: It"
_BOLD = r"(?P<label>\*\*[^*\n:]{1,80}(?::\*\*|\*\*:))"
_HEADING = regex.compile(rf"(?m)^[ \t>]*+(?:{_MARKED}|{_TITLE}|{_SOURCES}|{_OF_ITEM}|{_BOLD})")


def headings(text: str) -> Iterator[tuple[int, int, bool]]:
    """Begin and end of each heading, of the label of each item and numeral, and of each list of sources of a text as it
    was given; and whether it is certain that its capitals name nothing: not those of a label without a number.

    Example:
        >>> text = "## Main Points\\n- **Anna Berg**: She sat.\\nDay 1: Rain.\\nDay 2: Sun.\\n"
        >>> [(text[start:end], is_certain) for start, end, is_certain in headings(text)]
        [('## Main Points', True), ('**Anna Berg**', False), ('Day ', True), ('Day ', True)]
    """
    if not any(mark in text for mark in "\n:#*"):
        return
    for match in _HEADING.finditer(text):
        is_label = match["label"] is not None
        yield *match.span("label" if is_label else 0), not is_label or match["numeral"] is not None
    for match in counted(text):
        if match["label"]:
            yield *match.span("label"), True


_COUNT = r"\d[\d,]{0,9}(?: ?(?:-|\u2013|to|or) ?\d[\d,]{0,9})?[ -]words?\b"
#: What an answer begins with: "Sure! Here is a summary in 79 words:", perhaps behind a heading or a label.
_OPENING = re.compile(
    r"\s*+(?:[^\n:.!]{1,40}(?:[.!:]+\s+|\n\s*)){0,4}"
    rf"(?=[^\n:]{{0,200}}(?i:\bsummar|{_COUNT}))(?:[^\n:.!?]|[.!?](?! +[A-Z])){{0,250}}:(?!(?<=\d:)\d)"
)
#: What is behind a number that is a length.
_LENGTH = re.compile(
    r"(?: ?(?:-|\u2013|to|or) ?[\w,]+)?[ -](?:words?|sentences?|paragraphs?|(?:bullet|key|main) points?)\b",
    re.IGNORECASE,
)


#: What a text says of its length: "(79 words)", "Word count: 79".
_REMARK = regex.compile(r"(?i)(?<=[(\[])\d+ words(?=[)\]])|\bword count\W{1,4}\d+")
#: An ordinal that begins a sentence or an item, or is no number: "Third, it sat"; "a third party".
_ORDINAL = regex.compile(
    r"(?mi)(?<=^|[.!?:;,] |\band )(?:second|third|fourth|fifth|sixth|seventh)(?=,)|\b(?:third|3rd)(?=[ -]part(?:y|ies)\b)"
)


def remarks(text: str) -> list[tuple[int, int]]:
    """Begin and end of what is no number and no name in a text that is `shown`: a remark on its length, and an ordinal that
    counts sentences or items or belongs to "third party".

    Example:
        >>> remarks("Third, the dog sat (79 words).")
        [(20, 28), (0, 5)]
    """
    return [match.span() for pattern in (_REMARK, _ORDINAL) for match in pattern.finditer(text)]


#: A reference to a part of the source: "Table 3", "Fig. 2", "Section 2.1", "Appendix A".
_PART = re.compile(
    r"([TFEAS](?<!\w.)(?:ables?|ig(?:ure)?s?\.?|quations?|qs?\.?|ppendi(?:x|ces)|ections?(?= \d+\.\d))) \(?(\d+(?:\.\d+)*|[A-Z]\b)"
)


def parts(text: str) -> list[tuple[str, re.Match[str]]]:
    """References to parts of a source: the kind, and the match with the word, which names nothing, and the numeral.

    Example:
        >>> [(kind, match[2]) for kind, match in parts("Table 3, Fig. 1 and Section 2")]
        [('ta', '3'), ('fi', '1')]
    """
    return [(match[1][:2].lower(), match) for match in _PART.finditer(text)]


def opening(text: str) -> tuple[int, int]:
    """Begin and end of what may announce a summary at the beginning of a text that is `shown`; 0, 0 if
    nothing does. With a new name, or a number of anything but words, it is not an announcement.

    Example:
        >>> opening("Here is a summary in 9 words: The dog sat.")
        (0, 29)
    """
    match = _OPENING.match(text)
    return match.span() if match else (0, 0)


def counts_length(text: str, end: int) -> bool:
    """Whether a number that ends there is the length of a summary, as in "50 to 60 words".

    Example:
        >>> counts_length("A summary in 3 sentences:", 14), counts_length("2 cities", 1)
        (True, False)
    """
    return _LENGTH.match(text, end) is not None

"""What a text says of itself, and its headings and labels."""

from __future__ import annotations

import re
from collections.abc import Iterator

import regex

from estime_metric.wording.english import FUNCTION_WORDS

_BULLET = r"[-*+\u2022\u25cf\u25aa\u2013\u2014][ \t]+"
_NUMERAL = r"\*{0,2}\(?\d{1,3}[.)][ \t]+"
_TITLE_WORD = rf"(?:[\p{{Lu}}\d][^\s:]*|[&\u2013-]|(?:{'|'.join(sorted(FUNCTION_WORDS))}))"

#: A heading or the label of an item. In Title Case, a short line is a heading if it begins a paragraph and the next
#: line has other words.
_HEADING = regex.compile(
    r"^[ \t>]*+(?:#{1,6}[ \t][^\n]*|<h[1-6][^<>]*>[^<\n]*|[*_]*TL;? ?DR\b|\*\*[^*\n]{1,80}\*\*:?[ \t]*$"
    rf"|(?=\p{{Lu}})(?<=\A\s*|\n[ \t]*\n|[.!?:][\"\u201d*]*\n)(?:{_TITLE_WORD} ){{0,7}}{_TITLE_WORD}(?<![.!?,;]):?[ \t]*$"
    r"(?=\s*\n[^\n]*\b\p{Ll}+ \p{Ll})"
    r"|[#*_ ]*(?i:references?|sources?|bibliography|works cited|further reading)(?:[*_]*:|(?=[*_]*[ \t]*$))"
    r"[*_ \t]*(?:\n\s*)?(?:[^\n]+\n?|\n+(?=[ \t]*(?:\[|\d{1,3}[.)]|[-*\u2022] )))*+"
    rf"|(?:(?:{_BULLET})++(?P<numeral>{_NUMERAL})?|(?P<numeral>{_NUMERAL}))"
    r"(?P<label>\*{0,2}[^*\n:]{1,80}:?\*\*|(?:[^\s:*]+ ){0,4}[^\s:*]+(?=:\s))"
    r"|(?P<label>\*\*[^*\n:]{1,80}(?::\*\*|\*\*:)))",
    regex.MULTILINE,
)


def headings(text: str) -> Iterator[tuple[int, int, bool]]:
    """Begin and end of each heading, of the label of each item, and of each list of sources of a text as it was given;
    and whether it is certain that its capitals name nothing: not those of a label without a number.

    Example:
        >>> text = "## Main Points\\n- **Anna Berg**: She sat.\\n"
        >>> [(text[start:end], is_certain) for start, end, is_certain in headings(text)]
        [('## Main Points', True), ('**Anna Berg**', False)]
    """
    if not any(mark in text for mark in "\n:#*"):
        return
    for match in _HEADING.finditer(text):
        is_label = match["label"] is not None
        yield *match.span("label" if is_label else 0), not is_label or match["numeral"] is not None


#: What counts the steps of a text: "Step 2:"; "Third,".
_STEP = regex.compile(r"(?m)(?<=(?:^|[.!?:;\n] )\p{Lu}\p{L}+ )\d{1,3}(?=:)")
_ORDINAL = regex.compile(
    r"(?mi)(?<=^|[.!?:;,] |\band )(?:first|second|third|fourth|fifth|sixth|seventh)(?=,)"
)


def steps(text: str) -> list[tuple[int, int]]:
    """Begin and end of what counts the steps of a text that is `shown`: "Step 2:" if there is a "Step 1:"; three or
    more of "First,", "Second,", "Third,".

    Example:
        >>> steps("Step 1: The dog sat. Step 2: It ran.")
        [(5, 6), (26, 27)]
    """
    numerals = [match.span() for match in _STEP.finditer(text)]
    ordinals = [match.span() for match in _ORDINAL.finditer(text)]
    are_counted = {"1", "2"} <= {text[start:end] for start, end in numerals}
    return numerals * are_counted + ordinals * (len(ordinals) > 2)


_COUNT = r"\d[\d,]{0,9}(?: ?(?:-|\u2013|to|or) ?\d[\d,]{0,9})?[ -]words?\b"
_OF_LENGTH = (
    r"(?:(?:word|words|count|total|length|summary|text|note|this|the|is|are|has|in|of|at|or|than|a|with|only|just|long"
    r"|exactly|approximately|approx|about|around|roughly|under|over|within|most|least|less|more|fewer)\b[ :.,]*){0,9}"
)

#: What an answer begins with: "Sure! Here is a summary in 79 words:", perhaps behind a heading or a label.
_OPENING = re.compile(
    r"\s*+(?:[^\n:.!]{1,40}(?:[.!:]\s+|\n\s*)){0,4}"
    rf"(?=[^\n:]{{0,200}}(?i:\bsummar|{_COUNT}))(?:[^\n:.!?]|[.!?](?! +[A-Z])){{0,250}}:(?!(?<=\d:)\d)"
)
#: What is behind a number that is a length.
_LENGTH = re.compile(
    r"(?: ?(?:-|\u2013|to|or) ?[\w,]+)?[ -](?:words?|sentences?|paragraphs?|(?:bullet|key|main) points?)\b",
    re.IGNORECASE,
)
#: A remark on the length: "(79 words)", "Word count: 79".
_REMARK = re.compile(
    rf"[(\[]{_OF_LENGTH}~?{_COUNT}[ :.,]*{_OF_LENGTH}[)\]]"
    r"|\bword count:? ?~?\d[\d,]{0,9}|\b(?:total )?words: ?~?\d[\d,]{0,9}|^[ \t]*\d[\d,]{0,9} words[.]?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)


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


def remarks(text: str) -> list[tuple[int, int]]:
    """Begin and end of what a summary, as `shown`, says of its length.

    Example:
        >>> remarks("The dog sat (3 words).")
        [(12, 21)]
    """
    if "word" not in text.lower():
        return []
    return [match.span() for match in _REMARK.finditer(text)]

"""What a text shows a reader, whatever a tokenizer, a web page or a list did to it. Everything else in
`wording` reads this.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from html.entities import html5
from operator import itemgetter

import regex

from estime_metric.wording.tables import FUNCTION_WORDS

#: Begin and end of what is replaced in a text, and by what.
Edit = tuple[int, int, str]
#: What is written for a match.
Replacement = str | Callable[[regex.Match[str]], str]
#: For each edit of a text, in order, its begin and end after it, and before it.
Moves = list[tuple[int, int, int, int]]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a text shows a reader.

    Attributes:
        text: what is shown, in Unicode form NFC: characters instead of entities, line breaks instead of
            separators, no citations, no bullets and no numbers of items, words and numbers as they were
            before a tokenizer split them.
        moves: how the given text became ``text``, step by step.
    """

    text: str
    moves: tuple[Moves, ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Begin and end of ``text[start:end]``, which is not empty, in the text as it was given.

        Example:
            >>> text = "Tom &amp; Ann paid $ 1 , 200 ."
            >>> shown(text).text
            'Tom & Ann paid $1,200.'
            >>> start, end = shown(text).span(16, 21)
            >>> text[start:end]
            '1 , 200'
        """
        last = end - 1
        for moves in reversed(self.moves):
            start, _ = _before(moves, start)
            _, end = _before(moves, last)
            last = end - 1
        return start, end


def shown(text: str) -> Shown:
    """What a text shows a reader: the text itself, unless something that is listed in this module is done
    to it. The time is linear in the length of the text.

    Example:
        >>> shown("1. It &quot;did n&#x27;t&quot; .<br>2. Bob , too .").text
        'It "didn\\'t".\\nBob, too.'
    """
    result = Shown(text)
    if "&" in text and ";" in text:
        result = _edited(result, _entities(text))
    if not result.text.isascii():
        result = _edited(result, _each(_THOUSANDS, result.text, ","))
        result = _edited(result, _characters(result.text))
    if _SIGN.search(result.text):
        for signs, pattern, replacement in _REPLACED:
            if any(sign in result.text for sign in signs):
                result = _edited(result, _each(pattern, result.text, replacement))
    if _CITED.search(result.text):
        result = _edited(result, _each(_CITATION, result.text, _space_between_words))
    if _is_tokenized(result.text):
        result = _edited(result, _each(_joints(result.text), result.text, ""))
    return _edited(result, _items(result.text))


def _edited(before: Shown, edits: Iterable[Edit]) -> Shown:
    """The text with the edits, which are in order and do not overlap, as one more step."""
    pieces: list[str] = []
    moves: Moves = []
    length = stop = 0
    for start, end, replacement in edits:
        pieces += before.text[stop:start], replacement
        length += start - stop
        moves.append((length, length + len(replacement), start, end))
        length += len(replacement)
        stop = end
    if not moves:
        return before
    return Shown("".join(pieces) + before.text[stop:], (*before.moves, moves))


def _before(moves: Moves, position: int) -> tuple[int, int]:
    """Begin and end before a step of what became the character at a position after it."""
    number = bisect_right(moves, position, key=itemgetter(0)) - 1
    if number < 0:
        return position, position + 1
    _, end, start_before, end_before = moves[number]
    if position < end:
        return start_before, end_before
    unchanged = end_before + position - end
    return unchanged, unchanged + 1


def _each(pattern: regex.Pattern[str], text: str, replacement: Replacement) -> Iterator[Edit]:
    for match in pattern.finditer(text):
        yield *match.span(), replacement if isinstance(replacement, str) else replacement(match)


#: A character as web pages write it, escaped twice, or split by a tokenizer.
_ENTITY = regex.compile(
    r"&(?:amp;)*(?P<name>#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z][a-zA-Z\d]{1,30});"
    r"|& (?P<name>amp|quot|apos|lt|gt|nbsp) ;|& ?# ?(?P<code>\d{1,7}) ?;"
)


def _entities(text: str) -> Iterator[Edit]:
    for match in _ENTITY.finditer(text):
        name = f"#{match['code']}" if match["code"] else match["name"]
        character = html.unescape(f"&{name};") if name[0] == "#" else html5.get(f"{name};")
        if character is not None:
            yield *match.span(), character


#: Apostrophes that are typed for want of the right one; two of them are letters in Unicode.
_APOSTROPHES = "\u02bc\u02b9\u00b4\u2032\u201b"
#: Digits below the line.
_LOWERED = "\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089"
#: Ligatures, full-width forms, and letters whose font is a part of the character.
_STYLED = (range(0xFB00, 0xFB07), range(0xFF01, 0xFF5F), range(0x1D400, 0x1D800))

#: A space within a number, at which no line breaks.
_THOUSANDS = regex.compile(r"[\u00a0\u2009\u202f](?=\d{3}(?!\d))(?<=\d.)(?<!\d\d\d\d.)")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
#: Letters of Korean that make a syllable, or a character that is not ASCII, with its marks.
_CHARACTER = regex.compile(r"(?:[\u1100-\u11ff]+|[^\x00-\x7f])\p{M}*")


def _characters(text: str) -> Iterator[Edit]:
    if not any(map(_is_changed, set(_NOT_ASCII.findall(text)))):
        return
    for match in _CHARACTER.finditer(text):
        start, end = match.span()
        if start and unicodedata.category(text[start])[0] == "M":
            start -= 1  # the letter that has the mark
        character = _as_shown(text[start:end])
        if character != text[start:end]:
            yield start, end, character


@lru_cache(maxsize=2**14)
def _is_changed(character: str) -> bool:
    """Whether a character, alone or with others, can be shown as another one."""
    is_part = unicodedata.category(character)[0] == "M" or "\u1100" <= character <= "\u11ff"
    return is_part or _as_shown(character) != character


@lru_cache(maxsize=2**14)
def _as_shown(characters: str) -> str:
    """A character with its marks in Unicode form NFC; nothing for one without width."""
    return unicodedata.normalize("NFC", "".join(map(_unstyled, characters)))


def _unstyled(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    if category == "Zs":
        return " "
    if category == "Nd" or character in _LOWERED:
        return str(unicodedata.digit(character))
    if character in _APOSTROPHES:
        return "\u2019"
    if any(ord(character) in styled for styled in _STYLED):
        return unicodedata.normalize("NFKC", character)
    return character


#: Tags between lines: those of web pages, and what data sets and models put between sentences.
_SEPARATORS = (
    "br|p|div|li|ul|ol|tr|td|th|table|h[1-6]|hr|n|q|t|s|s_sep|sep|cls|pad|bos|eos|eod|eop|doc|para|sent"
    r"|\|endoftext\||\|eot_id\||\|im_end\||end_of_turn|extra_id_\d\d?"
)
#: Tags within a line.
_INLINE = "b|i|u|em|strong|span|a|small|sup|sub|font|mark|code|abbr|cite"
_ATTRIBUTES = r"(?:\s+[\w:-]+\s*=[^<>]{0,500})?"

#: Raised digits are a power behind 10 and a part of the word behind a single letter, otherwise a note.
_RAISED = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
_AS_RAISED = str.maketrans("0123456789", _RAISED)
_NOTE = (
    rf"(?<![{_RAISED}\u207a\u207b])(?<!(?<![\d.,])10)(?<!(?<![\w'\u2019])[^\W\d_])"
    rf"[{_RAISED}]+(?:[,;\u207b\u2013-][{_RAISED}]+)*+"
)
#: A unit of area or volume; if its digit is not raised, m2 is one only behind a number.
_UNIT = r"(?<![^\W\d_])([kcm]?m|ft)(?:(\u00b2)|\u00b3|(?:(?<=[a-z]{2})|(?<=\d ?m)|(?<=per m))(?:(2)|3)\b)"

#: What a citation calls its source.
_LABEL = (
    r"(?i:sources?|doc(?:ument)?s?|citations?|cite|ref(?:erence)?s?|passages?|snippets?|chunks?|(?:foot)?notes?|fn"
    r"|web|search(?: result)?|oaicite)[ .:_#-]{0,2}"
)
_NUMBERS = r"\d{1,3}(?: ?(?:[,;&\u2013\u2014-]|and|to) ?\d{1,3})*+"
_LABELED = rf"{_LABEL}{_NUMBERS}(?: ?(?:[,;&]|and) ?{_LABEL}{_NUMBERS})*+"
_FUNCTION_WORD = rf"(?:{'|'.join(sorted(FUNCTION_WORDS))})\b"

#: A reference to a source, which is no fact of the text. Digits alone are one behind a word or a mark, and behind a
#: space if a mark, a capital, a function word or the end follows: not "[5] children", nor a[3].
_CITATION = regex.compile(
    r"(?<![\w'\u2019])[a-z](?:\[\d+\])++(*SKIP)(*FAIL)| ?(?:"
    rf"\[{{1,2}} ?(?:{_LABELED}|[#^]{_NUMBERS}\^?|{_NUMBERS}\]?\u2020[^\[\]\n]*+) ?\]{{1,2}}"
    rf"|\[\[{_NUMBERS}\]\]"
    r"|\u3010\d{1,3}(?::\d{1,3})?(?:\u2020[^\u3010\u3011\n]*+)?\u3011"
    rf"|\( ?{_LABELED} ?\)|\((?:{_LABEL})?(?: ?[,;]? ?\[ ?{_NUMBERS} ?\])++ ?\)"
    rf"|(?<=[^\s(\[{{\"'\u201c\u2018\u00ab]|[^\s(\[][\"'])\[ ?{_NUMBERS} ?\]"
    rf"|\[ ?{_NUMBERS} ?\](?= ?(?:$|[^\w\s%\u00b0-]|-(?!\w)|\p{{Lu}}|{_FUNCTION_WORD})))",
    regex.MULTILINE,
)
#: What a citation begins with, which is found faster.
_CITED = regex.compile(rf"[\[\u3010] ?[\[^#\d]|[\[(] ?{_LABEL}[\[\d]")


def _area_or_volume(match: regex.Match[str]) -> str:
    return f"{'sq' if match[2] or match[3] else 'cu'} {match[1]}"


def _space_between_words(match: regex.Match[str]) -> str:
    return " " if match.string[match.end() : match.end() + 1].isalnum() else ""


#: What is replaced, and by what, in this order; before it what each has one of, because that is found fast.
_REPLACEMENTS: list[tuple[Iterable[str], str, Replacement]] = [
    # a fence around code, with the word behind it
    (["```", "~~~"], r"(?m)^ {0,3}(?:`{3,}+|~{3,}+)[\w+#.-]*+[ \t]*$\n?", ""),
    ("\\", r"\\(?=[!-/:-@\[-`{-~])", ""),  # before a mark
    (["{,}"], r"(?<=\d)\{,\}(?=\d{3})", ","),
    ("~", r"(?<=\d)~(?=\d{3}(?!\d))", ","),
    # $5$ in LaTeX
    ("$", r"\$(?=\d[\d.,:%]*+\$(?!\d))|(?<=\$\d[\d.,:%]*)\$(?!\d)", ""),
    (
        "<",
        rf"(?i)</?(?:{_SEPARATORS}){_ATTRIBUTES}\s?/?>|< (?:/ )?(?:br|n|q|s|p) (?:/ )?>",
        "\n",
    ),
    (
        ["<sup", "<SUP"],
        rf"(?i)<sup{_ATTRIBUTES}>(?:<a{_ATTRIBUTES}>)?([\d ,;\u2013-]{{1,20}})(?:</a>)?</sup>",
        lambda match: match[1].translate(_AS_RAISED),
    ),
    ("<", rf"(?i)</?(?:{_INLINE}){_ATTRIBUTES}>", ""),
    (["\u00b2", "\u00b3", "m2", "m3", "t2", "t3"], _UNIT, _area_or_volume),
    (_RAISED, _NOTE, ""),
    ("[", r"\[(?:SEP|CLS|PAD)\]", "\n"),
    ("|_", r"\|{5}|NEWLINE_CHAR|story_separator_special_tag", "\n"),
    ("\\", r"(?:\\r)?\\n(?![a-z])", "\n"),  # a line break written out; but not \nu
    ("\r\v\f\x85\u2028\u2029", r"\r\n?|[\v\f\x85\u2028\u2029]", "\n"),
    ("\n", r"\n(?<=[\w,]\n)(?=[a-z])", " "),  # a wrapped line
    (["  ", "\t"], r"[ \t]{2,}|\t", " "),
    # [1](http://...) as [1\u2020], [shown](http://...)
    (
        ["]("],
        rf"(?<=\[(?:{_LABEL}|\^)?\d{{1,3}}\]?)\]\((?=[^()\s]*[:#/.])[^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+\)",
        "\u2020]",
    ),
    ("]", r"\[(?=[^\[\]\n]{1,300}\]\(http)|\]\(https?:[^\s()<>]*+\)", ""),
    ("*", r"(?<![\w*])\*++(?=\S)|(?<![\s*])\*++(?!\w)", ""),  # **strong**, but not f**k
    ("_", r"(?<![^\W_])_+|(?<!_)_++(?!\w)", ""),  # _emphasis_
    (["RB-", "CB-", "rb-", "cb-"], "(?i)-L[RC]B-", "("),
    (["RB-", "CB-", "rb-", "cb-"], "(?i)-R[RC]B-", ")"),
    (["SB-", "sb-"], "(?i)-LSB-", "["),
    (["SB-", "sb-"], "(?i)-RSB-", "]"),
    ("`", "`` ?", '"'),
    (["''"], " ?''", '"'),
    ("@", r" @(?=[-/,.:]@ )|(?<= @[-/,.:])@ ", ""),  # 28 @-@ year @-@ old
    ("@#", r"(?<=\w)(?:@@ | ##)(?=\w)", ""),  # pieces of words
]
_REPLACED = [
    (signs, regex.compile(pattern), replacement) for signs, pattern, replacement in _REPLACEMENTS
]
_SIGN = re.compile("|".join({re.escape(sign) for signs, _, _ in _REPLACED for sign in signs}))

#: A comma or a period behind a word, or an ending such as ``n't``: with a space before it, and without.
_APART = re.compile(
    r" [.,n'\u2019](?:(?<=[.,])(?!\S)|(?<=n)['\u2019]t\b|(?<=['\u2019]) ?(?:s|t|re|ve|ll|d|m)\b)"
)
_ATTACHED = re.compile(r"[.,'\u2019](?:(?<=\S[.,])(?!\S)|(?<=\w['\u2019])(?:s|t|re|ve|ll|d|m)\b)")


def _is_tokenized(text: str) -> bool:
    """Whether most commas, periods and endings have a space before them."""
    apart = len(_APART.findall(text))
    return apart > 0 and apart > len(_ATTACHED.findall(text))


_ENDING = r"(?i:s|t|re|ve|ll|d|m)\b"
_APOSTROPHE = "['\u2019]"
_HYPHEN = "[-/\u2010\u2011]"
_LETTER = r"[^\W\d_]"

#: What is before and behind a space that a tokenizer put in.
_SPLIT = [
    ("", r"[.,;:!?%)\]}\u2026]++(?![^\s'\"\u2019\u201d)])"),
    (r"[(\[{$\u00a3\u20ac\u00a5]", r"\S"),
    (r"[\w.]", rf"(?:(?i:n){_APOSTROPHE}(?i:t)\b|{_APOSTROPHE}{_ENDING})"),  # did n't, L.A. 's
    (r"\w", rf"{_APOSTROPHE} {_ENDING}"),  # don ' t
    (rf"\w {_APOSTROPHE}", _ENDING),
    (r"\b[odlODL]", rf"{_APOSTROPHE} ?{_LETTER}{_LETTER}"),  # O ' Brien
    (rf"\b[odlODL] {_APOSTROPHE}", rf"{_LETTER}{_LETTER}"),
    (rf"{_APOSTROPHE}\d0", r"s\b"),  # '90 s
    (r"\b\d\d\d0", r"s\b"),
    (rf"(?<!\w){_APOSTROPHE}", r"\d0 ?s\b"),
    (rf"\b{_LETTER} \.", rf"{_LETTER} ?\.(?!\w)"),  # u . s .
    (r"(?<!\S)`", r"\w"),
]
#: The same within numbers and times: 235 , 000; 10 : 30; 122 . 5, but not "2015 . 20 people", "20 . 46-year-old".
_SPLIT_NUMBERS = [
    (r"(?<!\d\d\d)\d ,", r"\d{3}(?!\d)"),
    (r"(?<!\n)(?<!\b19\d)(?<!\b20\d)\d \.", r"\d++(?!-)"),
]
_SPLIT_TIMES = [(r"(?<!\d\d)\d :", r"\d\d(?!\d)")]
#: The same within words: twenty - one, F - 16, km / s.
_SPLIT_WORDS = [(r"\w", rf"{_HYPHEN} \w"), (rf"\w {_HYPHEN}", r"\w")]

#: A mark within a number, a time and a word, with spaces around it or without.
_IN_NUMBER = re.compile(r"[.,](?:(?<=\d.)\d|(?<=\d .) \d)")
_IN_TIME = re.compile(r":(?:(?<=\d.)\d|(?<=\d .) \d)")
_IN_WORD = re.compile(rf"{_HYPHEN}(?:(?<=\w.)\w|(?<=\w .) \w)")


def _joints(text: str) -> regex.Pattern[str]:
    """The spaces that a tokenizer put into a text. It separates each kind of mark always or never."""
    return _spaces(*(_are_apart(mark, text) for mark in (_IN_NUMBER, _IN_TIME, _IN_WORD)))


def _are_apart(mark: re.Pattern[str], text: str) -> bool:
    marks = mark.findall(text)
    apart = sum(" " in written for written in marks)
    return apart > 0.9 * len(marks)


@cache
def _spaces(in_numbers: bool, in_times: bool, in_words: bool) -> regex.Pattern[str]:
    split = _SPLIT + in_numbers * _SPLIT_NUMBERS + in_times * _SPLIT_TIMES
    split += in_words * _SPLIT_WORDS
    joints = "|".join(f"(?<={before} )(?={behind})" for before, behind in split)
    return regex.compile(rf" (?:(?=\W)|(?<=\W )|(?=s\b|n['\u2019]))(?:{joints})")


_BULLET = (
    r"[-*+>\u2022\u25cf\u25aa\u25e6\u2023\u2043\u00b7\u2013\u2014\u2460-\u2473\u2776-\u277f]|#{1,6}"
    r"|\d\ufe0f?\u20e3"
)
_BULLETS = rf"(?:(?:{_BULLET})[ \t]++)++"
_NUMBER = r"(?P<number>\(?(?P<value>\d{1,3})(?:[.)] ++(?=\S)|[.):] ?(?=[^\W\d])))"

#: Bullets and the number of an item, at the beginning of a line or behind a sentence.
_ITEM = regex.compile(
    rf"(?P<line>^[ \t]*+)(?:(?P<bullets>{_BULLETS}){_NUMBER}?|{_NUMBER})|(?<=[.!?:;] ){_NUMBER}",
    regex.MULTILINE,
)

#: What begins a line with an item, and the second item within a line, which are found faster.
_FIRST = re.compile(rf"\n[ \t]*(?:\(?\d{{1,3}}[.):]|(?:{_BULLET})[ \t])")
_SECOND = re.compile(r"2[.):]")


def _items(text: str) -> Iterator[Edit]:
    """Bullets, and the numbers of lists that count up from 1, are not a part of the text."""
    if not (_FIRST.search(f"\n{text}") or _SECOND.search(text)):
        return
    items = list(_ITEM.finditer(text))
    second = any(item["line"] is None and item["value"] == "2" for item in items)
    following = {1}
    for item in items:
        if item["bullets"]:
            yield *item.span("bullets"), ""
        is_listed = second or item["line"] is not None
        if item["number"] and is_listed and int(item["value"]) in following:
            following.add(int(item["value"]) + 1)
            yield *item.span("number"), ""


_COUNT = r"\d[\d,]{0,9}(?: ?(?:-|\u2013|to|or) ?\d[\d,]{0,9})?[ -]words?\b"
_OF_LENGTH = (
    r"(?:(?:word|words|count|total|length|summary|text|note|this|the|is|are|has|in|of|at|or|than|a|with|only|just|long"
    r"|exactly|approximately|approx|about|around|roughly|under|over|within|most|least|less|more|fewer)\b[ :.,]*){0,9}"
)

#: What an answer begins with: "Sure! Here is a summary in 79 words:".
_OPENING = re.compile(
    r"\s*+(?:[^\n:.!]{1,40}[.!]\s+)?"
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

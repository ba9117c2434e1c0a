"""What a text shows a reader, whatever a tokenizer, a web page or a list did to it. Everything else in
`wording` reads this.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from html.entities import html5
from itertools import chain

import regex

from estime_metric.wording.english import CARDINALS, CLITICS, FUNCTION_WORDS, TENS
from estime_metric.wording.lists import bullets_and_numerals

#: Begin and end of what is replaced in a text, and by what.
Edit = tuple[int, int, str]


@dataclass(frozen=True)
class Shown:
    """What a text shows a reader.

    Attributes:
        given: the text as it was given.
        text: what is shown, in Unicode form NFC: characters instead of entities, apostrophes and hyphens as they
            are typed, line breaks instead of separators, no citations, no bullets and no numbers of items, words and numbers as they were
            before a tokenizer split them.
        steps: the edits that made ``text`` of ``given``, step by step.
        other: what else it can be read as, as further lines: glued words apart, words that a line break divides with
            a hyphen, and the text with the numbers of items within lines, if it has such.
    """

    given: str
    text: str
    steps: tuple[list[Edit], ...] = ()
    other: str = ""

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
        return self._origins[start][0], self._origins[end - 1][1]

    @cached_property
    def _origins(self) -> list[tuple[int, int]]:
        """Begin and end of each character of ``text`` in the text as it was given."""
        origins = [(start, start + 1) for start in range(len(self.given))]
        for edits in self.steps:
            before, origins, stop = origins, [], 0
            for start, end, replacement in edits:
                origins += before[stop:start]
                origins += [(before[start][0], before[end - 1][1])] * len(replacement)
                stop = end
            origins += before[stop:]
        return origins


def shown(text: str, known: Set[str] = frozenset()) -> Shown:
    """What a text shows a reader: the text itself, unless something that is listed in this module is done
    to it. The time is linear in the length of the text.

    Args:
        text: the text.
        known: the words of a source, which decide whether glued words, and words that a line break divides,
            are read as two.

    Example:
        >>> shown("1. It &quot;did n&#x27;t&quot; .<br>2. Bob , too .").text
        'It "didn\\'t".\\nBob, too.'
    """
    result = Shown(text, text)
    if ("&" in text and ";" in text) or "\\" in text:
        result = _edited(result, _entities(text))
    if not result.text.isascii():
        result = _edited(result, _characters(result.text))
    if _SIGN.search(result.text):
        for signs, pattern, replacement in _REPLACED:
            if any(map(result.text.__contains__, signs)):
                result = _replaced(result, pattern, replacement)
    others = [] if known else list(_also_read(result.text))
    if _MAY_DIVIDE.search(result.text):
        apart = _DIVIDED.sub("\0", result.text)
        others += [part.replace("\0", " ") for part in apart.split(". ") if "\0" in part]
        result = _edited(result, _rejoined(result.text, known))
    if known:
        result = _edited(result, _joined(result.text, known))
    for is_tokenized in [True, False] if _are_apart(_END, result.text, 0.5) else [False]:
        edits = list(bullets_and_numerals(result.text))
        others += [result.text[start:end] for start, end, _ in edits]
        result = _edited(result, edits)
        if is_tokenized:
            result = _replaced(result, _joints(result.text), "")
    return replace(result, other="\n".join(others))


def _edited(before: Shown, edits: Iterable[Edit]) -> Shown:
    """The text with the edits, which are in order and do not overlap, as one more step."""
    step = list(edits)
    if not step:
        return before
    pieces: list[str] = []
    stop = 0
    for start, end, replacement in step:
        pieces += before.text[stop:start], replacement
        stop = end
    text = "".join(pieces) + before.text[stop:]
    return replace(before, text=text, steps=(*before.steps, step))


def _replaced(
    before: Shown, pattern: re.Pattern[str] | regex.Pattern[str], replacement: str
) -> Shown:
    return _edited(
        before, ((*match.span(), replacement) for match in pattern.finditer(before.text))
    )


#: A character as JSON and web pages write it, escaped twice, or split by a tokenizer.
_ENTITY = regex.compile(
    r"\\(?:u(?P<hex>[\da-fA-F]{4})|x(?P<hex>[89a-fA-F][\da-fA-F]))|&(?:amp;)*(?P<name>#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z][a-zA-Z\d]{1,30});"
    r"|& (?P<name>amp|quot|apos|lt|gt|nbsp) ;|& ?# ?(?P<code>\d{1,7}) ?;"
)


def _entities(text: str) -> Iterator[Edit]:
    for match in _ENTITY.finditer(text):
        code = f"x{match['hex']}" if match["hex"] else match["code"]
        name = f"#{code}" if code else match["name"]
        character = html.unescape(f"&{name};") if name[0] == "#" else html5.get(f"{name};")
        if character is not None:
            yield *match.span(), character


#: Apostrophes, of which some are letters in Unicode, hyphens, and digits below the line, as they are typed.
_TYPED = str.maketrans(
    "\u2018\u2019\u201b\u02bc\u02b9\u00b4\u2032\u2010\u2011\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089",
    "'''''''--0123456789",
    "\u02bb\u02be\u02bf",  # letters like apostrophes, which are mostly left out: Hawai\u02bbi
)
#: Ligatures, full-width forms, and letters whose font is a part of the character.
_STYLED = (range(0xFB00, 0xFB07), range(0xFF01, 0xFF5F), range(0x1D400, 0x1D800))

#: A space within a number, at which no line breaks; letters of Korean that make a syllable, or a character that is not
#: ASCII, with its marks.
_CHARACTER = regex.compile(
    r"(?P<thousands>[\u00a0\u2009\u202f](?=\d{3}(?!\d))(?<=\d.)(?<!\d\d\d\d.))|(?:[\u1100-\u11ff]+|[^\x00-\x7f])\p{M}*"
)


def _characters(text: str) -> Iterator[Edit]:
    for match in _CHARACTER.finditer(text):
        start, end = match.span()
        if start and unicodedata.category(text[start])[0] == "M":
            start -= 1  # the letter that has the mark
        character = "," if match["thousands"] else _as_shown(text[start:end])
        if character != text[start:end]:
            yield start, end, character


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
    if category == "Nd":
        return str(unicodedata.digit(character))
    if any(ord(character) in styled for styled in _STYLED):
        return unicodedata.normalize("NFKC", character)
    return character.translate(_TYPED)


#: Tags between lines: those of web pages, and what data sets and models put between sentences.
_SEPARATORS = (
    "br|p|div|li|ul|ol|tr|td|th|table|h[1-6]|hr|n|q|t|s|s_sep|sep|cls|pad|bos|eos|eod|eop|doc|para|sent"
    r"|\|endoftext\||\|eot_id\||\|im_end\||end_of_turn|extra_id_\d\d?"
)
#: Tags within a line.
_INLINE = "b|i|u|em|strong|span|a|small|sup|sub|font|mark|code|abbr|cite"
_ATTRIBUTES = r"(?:\s+[\w:-]+\s*=[^<>]{0,500})?"

#: A letter that is a word, but not a unit.
_SINGLE = r"(?<![\w.'])(?!m)[^\W\d_]"
_RAISED = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
#: Raised digits, unless they are a power, behind 10, or a part of the word, behind a single letter. Behind a unit,
#: they and other digits are left out too, like "sq", because units are not compared.
_NOTE = (
    rf"(?<![\u2070-\u207b\xb2\xb3\xb9])(?<!(?<![\d.,])10)(?<!{_SINGLE})"
    r"[\u2070-\u2079\xb2\xb3\xb9]+(?:[,;\u2013-]?[\u2070-\u207b\xb2\xb3\xb9]+)*+"
    r"|(?<=(?<![^\W\d_])(?:[kcm]m|ft|(?:\d ?|per )m))[23]\b|\bsq\.? (?=(?:[kcm]?m|ft)\b)"
)

#: Before digits in brackets that are values: "ages: [34, 57]", "its values are [12, 34]", "95% CI [12, 34]", "lie in [0, 1]".
_BEFORE_VALUES = r"(?:[:=%]|\d\.\d+|\bCI|\b(?:is|are|was|were|be)|\b(?:lie|lay|lying|rang|fall|fell)\w*[ ]in)[ ]?"

#: A reference to a source, which is no fact of the text: [1], [2, 3]; [^1]; [[4]](#n); 【5†L1-L9】; ([6]). Digits alone
#: are one behind a word or a mark, and behind a space if a mark, a capital, a function word or the end follows: not
#: "[5] children", nor a[3]. With a label, which [1, p. 31], (Source 3), (lines 1-3) and (Smith et al., 2019) have, it
#: is at the end of a sentence or before the next one: not "in (Note 7) of it".
_CITATION = r"""(?xm)
    (?=\[)(?<=(?<![\w'])[a-z]|BEFORE_VALUES)(?:\[[\d ,;\u2013-]+\])++(*SKIP)(*FAIL)
    |(?=[(\[\u3010])(?:
        \[{1,2}[ ]?(?:[\#^](?&numbers)\^?|(?&numbers)\u2020[^\[\]\n]*+)[ ]?\]{1,2}(?&address)?
        |\[(?:(?&numbers)|\[(?&numbers)\])\](?&address)
        |\[\[(?&numbers)\](?&address)?\]
        |\u3010\d{1,3}(?::\d{1,3})?(?:\u2020[^\u3010\u3011\n]*+)?\u3011
        |\([ ]?(?&label)?(?:[ ]?[,;]?[ ]?\[[ ]?(?&numbers)[ ]?\])++[ ]?\)
        |(?:(?<=(?:^|[.!?]["'\u201d)]?)[ ]?)(?&labelled)|(?&labelled)(?=(?:[ ]?(?&labelled))*+[ ]?(?:[.!?]+(?!\w)|$)))
        |(?<=[^\s(\[{"'\u201c\u00ab]|[^\s(\[]["'])\[[ ]?(?&numbers)[ ]?\]
        |(?<!\S)\[[ ]?(?&numbers)[ ]?\](?=[ ]?(?:$|[^\w\s%\u00b0-]|-(?!\w)|\p{Lu}|(?:FUNCTION_WORDS)\b))
    )
    (?(DEFINE)
        (?P<label>(?i:(?:see[ ])?(?:sources?|doc(?:ument)?s?|citations?|cite|ref(?:erence)?s?|passages?|snippets?|chunks?
            |(?:foot)?notes?|fn|web|search(?:[ ]result)?|oaicite|contexts?|id|pp?|pages?|ll?|lines?|art(?:icle)?s?))[ .:_\#-]{0,2})
        (?P<numbers>\d{1,3}(?:[ ]?(?:[,;&\u2013\u2014-]|and|to)[ ]?\d{1,3})*+)
        (?P<named>(?:(?&numbers),[ ])?(?&label)(?&numbers)(?:[ ]?(?:[,;&]|and)[ ]?(?&label)(?&numbers))*+)
        (?P<labelled>(?:\[[ ]?(?&named)[ ]?\](?&address)?|\([ ]?(?:(?&named)|[^()\n]{1,60}[ ]et[ ]al\.?,?[ ]\d{4}[a-z]?)[ ]?\)))
        (?P<address>\((?=[^()\s]*[:\#/.])[^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+\))
    )""".replace("FUNCTION_WORDS", "|".join(sorted(FUNCTION_WORDS))).replace(
    "BEFORE_VALUES", _BEFORE_VALUES
)

#: The label of a reference that only several of a kind are: "It ran [S1]. It sat [S2]."
_LETTERED = (
    r"\[(\p{Lu})\d{1,3}\](?:(?=(?s:.){0,2000}?\[\1\d)|(?<=\[\1\d(?s:.){0,2000}\[\1\d{1,3}\]))"
)

#: What is replaced, and by what, in this order; before it what each has one of, because that is found fast. A
#: citation is a mark without width until the space at it is known.
_REPLACED = [
    (signs, regex.compile(pattern), replacement)
    for signs, pattern, replacement in [
        # a fence around code, with the word behind it
        (["```"], r"(?m)^ {0,3}`{3,}+[\w+#.-]*+[ \t]*$\n?", ""),
        ("\\", r"\\(?=[!-/:-@\[-`{-~])", ""),  # before a mark
        (["{,}", "~"], r"(?<=\d)(?:\{,\}|~)(?=\d{3}(?!\d))", ","),
        ("$", r"\b(?:US|U\.S\.|AU|CA|HK|NZ|SG|[ACRS])(?=\$ ?\d)", ""),
        ("\u00b7", rf"(?<=\d)\u00b7(?=\d)(?!10[\^{_RAISED}])", "."),
        # what else is in 2024-05-03T14:30:00.000+02:00
        (
            ["T0", "T1", "T2"],
            r"(?<=T\d\d:\d\d(?::\d\d)?)(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)\b",
            "",
        ),
        (["T0", "T1", "T2"], r"(?<=\d{4}-\d\d-\d\d)T(?=[0-2]\d:[0-5]\d)", " "),
        # $5$ in LaTeX
        ("$", r"\$(?=\d[\d.,:%]*+\$(?!\d))|(?<=\$\d[\d.,:%]*)\$(?!\d)", ""),
        (
            "<",
            rf"(?i)</?(?:{_SEPARATORS}){_ATTRIBUTES}\s?/?>|< (?:/ )?(?:br|n|q|s|p) (?:/ )?>",
            "\n",
        ),
        (["<sup", "<SUP"], rf"(?i)(?<=(?<![\d.,])10)<sup{_ATTRIBUTES}>(?=[\u2212-]?\d)", "^"),
        (
            ["<sup", "<SUP", "<cit"],
            rf"(?i)(?<!{_SINGLE})<(sup|cite){_ATTRIBUTES}>(?:<a{_ATTRIBUTES}>)?[\d ,;\u2013-]{{1,20}}(?:</a>)?</\1>",
            "",
        ),
        ("<", rf"(?i)</?(?:{_INLINE}){_ATTRIBUTES}>", ""),
        ("\u00b2", rf"(?<={_SINGLE})\u00b2", "2"),  # a square and a cube: x2
        ("\u00b3", rf"(?<={_SINGLE})\u00b3", "3"),
        ([*_RAISED, "m2", "m3", "sq ", "sq."], _NOTE, ""),
        ("[|_", r"\[(?:SEP|CLS|PAD)\]|\|{5}|NEWLINE_CHAR|story_separator_special_tag", "\n"),
        ("\\", r"(?:\\r)?\\n(?![a-z])", "\n"),  # a line break written out; but not \nu
        ("\\", r"\\t(?![a-z])", " "),
        ("\r\v\f\x85\u2028\u2029", r"\r\n?|[\v\f\x85\u2028\u2029]", "\n"),
        (
            ["-\n", "- "],
            rf"(?i)(?<=\b(?:{'|'.join(TENS)}))-\s+(?=(?:{'|'.join([*CARDINALS][1:10])})\b)",
            "-",
        ),
        (["\n>"], r"(?m)^(?:> ?)++", ""),  # a quotation
        ("\n", r"\n(?<=[\w,]\n)(?=[a-z])", " "),  # a wrapped line
        (["  ", "\t"], r"[ \t]{2,}|\t", " "),
        ("[(\u3010", _CITATION, "\u2060"),
        ("[", _LETTERED, "\u2060"),
        (["[0", "[1", "[2"], r"(?m)^[ \t]*\[\d{1,2}:\d\d(?::\d\d)?\]", ""),  # a time before a line
        ("\u2060", r"(?<=\S)\u2060++(?=\w)", " "),
        ("\u2060", r" ?\u2060++(?!\w)|\u2060++", ""),
        # [shown](http://...)
        ("]", r"\[(?=[^\[\]\n]{1,300}\]\(http)|\]\(https?:[^\s()<>]*+\)", ""),
        # **strong**, _emphasis_, but not f**k
        (
            "*_",
            r"(?<![\w*])\*++(?=\S)|(?<![\s*])\*++(?!\w)|(?<![^\W_])_+|(?<!_)_++(?!\w)",
            "",
        ),
        (["B-", "b-"], "(?i)-L[RSC]B-", "("),
        (["B-", "b-"], "(?i)-R[RSC]B-", ")"),
        (["`", "''"], "`` ?| ?''", '"'),
        ("@", r" @(?=[-/,.:]@ )|(?<= @[-/,.:])@ ", ""),  # 28 @-@ year @-@ old
        ("@#", r"(?<=\w)(?:@@ | ##)(?=\w)", ""),  # pieces of words
    ]
]
_SIGN = re.compile("|".join({re.escape(sign) for signs, _, _ in _REPLACED for sign in signs}))

#: What may divide two words: nothing but a capital, a "_", or a hyphen at the end of a line.
_DIVIDED = regex.compile(
    r"(?=[A-Z_-])(?:(?<=(?<!\w)(?P<behind>\w{0,50}(?P<first>[A-Z]?\p{Ll}{2,50}|\d{1,50})))(?<!\b(?:Mac|Van|Fitz))"
    r"(?=(?P<ahead>(?P<second>[A-Z]\p{Ll}+)\w{0,50}))"
    r"|(?=_)(?<=(?<!\w)(?P<behind>\w{0,50}(?<![^\W_])(?P<first>[^\W_]{1,50})))_(?=(?P<ahead>(?P<second>[^\W_]+)\w{0,50}))"
    r"|(?=-)(?<=\b(?P<behind>(?P<first>\p{L}{2,50})))-(?: |[ \t]*\n[ \t]*)(?!(?:and|or|to)\b)(?=(?P<ahead>(?P<second>\p{Ll}{2,}))))"
    r"|(?=\d|x\d)(?<=(?<!\w)(?P<behind>(?P<first>\p{L}{0,50}\p{Ll}{3}|May|FY|\d{1,50})))x?(?<!\d)(?=(?P<ahead>(?P<second>\d+))(?![\p{L}\p{N}_]))"
)
#: The same, less exactly and found faster.
_MAY_DIVIDE = re.compile(
    r"[A-Z\d_-](?:(?<=[a-z\d][A-Z])[a-z]|(?<=_)|(?<=[a-z]-)\s|(?<=[a-z]{3}\d)|(?<=May\d)|(?<=\bFY\d)|(?<=\dx\d))"
)


def _rejoined(text: str, known: Set[str]) -> Iterator[Edit]:
    """Words are two only if the known words have both and not the one."""
    for match in _DIVIDED.finditer(text):
        is_hyphen = match[0].startswith("-")
        whole = match["behind"] + match[0] * (not is_hyphen) + match["ahead"]
        parts = {match["first"].lower(), match["second"].lower()}
        are_two = whole.lower() not in known and parts <= known
        if are_two or is_hyphen:
            yield *match.span(), ("-" if is_hyphen else " ") if are_two else ""


#: A word with a hyphen or a slash: Wal-Mart, AC/DC, GPT-4o.
_COMPOUND = re.compile(r"(?<!\w)[^\W\d_]\w*(?:[-/]\w+)+")
_MARK_OF_COMPOUND = re.compile("[-/]")


def _joined(text: str, known: Set[str]) -> Iterator[Edit]:
    """A word with a hyphen is one without it only if the known words have this and not the parts."""
    for match in _COMPOUND.finditer(text):
        parts = _MARK_OF_COMPOUND.split(match[0].lower())
        if "".join(parts) in known and not {*parts} <= known:
            for mark in _MARK_OF_COMPOUND.finditer(text, *match.span()):
                yield *mark.span(), ""


#: The fields of a row: 850,900,1800; 2021-02-25,0.09; but not 1,234 and 1,00,000.
_FIELDS = re.compile(
    r"\d(?<![\w.,].)(?!\d{0,2}(?:,\d\d\d?)*,\d{3}(?!,?\d))[\d.:/-]*(?:,[\d.:/-]*\d)+"
)
#: A number that a tokenizer split: 1 , 200; 11 : 00; twenty - five.
_SPLIT_NUMBER = re.compile(r"(?<!\w)(?:\d++(?: [.,:] ?\d+)+|\w++ [-/] \w+)")


def _also_read(text: str) -> Iterator[str]:
    """What a source has in another form too: words without their hyphens, the fields of a row, numbers with spaces in them and
    without.
    """
    for word in text.split():
        if "-" in word or "/" in word:  # which is found faster
            yield from (_MARK_OF_COMPOUND.sub("", compound) for compound in _COMPOUND.findall(word))
    yield from (row.replace(",", " ") for row in _FIELDS.findall(text))
    for number in _SPLIT_NUMBER.findall(text):
        yield from (number, number.replace(" ", ""))


_ENDING = rf"(?i:{CLITICS})\b"
_LETTER = r"[^\W\d_]"

#: What is before and behind a space that a tokenizer put in.
_SPLIT = [
    ("", r"[.,;:!?%)\]}\u2026]++(?![^\s'\"\u201d)])"),
    (r"[(\[{$\u00a3\u20ac\u00a5]", r"\S"),
    (r"[\w.]", rf"(?:(?i:n)'(?i:t)\b|'{_ENDING})"),  # did n't, L.A. 's
    (r"\w", rf"' {_ENDING}"),  # don ' t
    (r"\w '", _ENDING),
    (r"\b[odlODL]", rf"' ?{_LETTER}{_LETTER}"),  # O ' Brien
    (r"\b[odlODL] '", rf"{_LETTER}{_LETTER}"),
    (r"'\d0", r"s\b"),  # '90 s
    (r"\b\d\d\d0", r"s\b"),
    (r"(?<!\w)'", r"\d0 ?s\b"),
    (rf"\b{_LETTER} \.", rf"{_LETTER} ?\.(?!\w)"),  # u . s .
    (r"(?<!\S)`", r"\w"),
]


def _within(side: str, mark: str) -> re.Pattern[str]:
    """A mark between two sides, with spaces around it or without."""
    return re.compile(rf"{mark}(?:(?<={side}.){side}|(?<={side} .) {side})")


#: The same within numbers, times and words, if most of their marks have spaces around them: 235 , 000; 122 . 5, but not
#: "2015 . 20 people", "20 . 46-year-old"; 10 : 30; twenty - one, F - 16, km / s.
_SPLIT_WITHIN = [
    (
        _within(r"\d", "[.,]"),
        [
            (r"(?<!\d\d\d)\d ,", r"\d{3}(?!\d)"),
            (r"(?<!\n)(?<!\b19\d)(?<!\b20\d)\d \.", r"\d++(?![-)])"),
        ],
    ),
    (_within(r"\d", ":"), [(r"(?<!\d\d)\d :", r"\d\d(?!\d)")]),
    (_within(r"\w", "[-/]"), [(r"\w", r"[-/] \w"), (r"\w [-/]", r"\w")]),
]

#: A comma or a period behind a word, or an ending such as ``'s``; the group is what is before it, a space or not.
_END = re.compile(rf"[.,'](?<=([ \S]).)(?:(?<!')(?!\S)|(?<=[ \w]') ?(?:{CLITICS})\b(?<! n't))")


def _are_apart(mark: re.Pattern[str], text: str, share: float) -> bool:
    """Whether more than a share of the marks have a space."""
    marks = mark.findall(text)
    return sum(" " in written for written in marks) > share * len(marks)


def _joints(text: str) -> re.Pattern[str]:
    """The spaces that a tokenizer put into a text. It separates each kind of mark always or never."""
    within = (split for mark, split in _SPLIT_WITHIN if _are_apart(mark, text, 0.9))
    return _spaces(*chain.from_iterable(within))


@cache
def _spaces(*within: tuple[str, str]) -> re.Pattern[str]:
    joints = "|".join(f"(?<={before} )(?={behind})" for before, behind in [*_SPLIT, *within])
    return re.compile(rf" (?:(?=\W)|(?<=\W )|(?=s\b|n'))(?:{joints})")

"""What a text shows, whatever a tokenizer, a web page or a list did to it."""

from __future__ import annotations

import html
import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric import novelty
from estime_metric.wording.source import SourceWording
from estime_metric.wording.text import shown

SOURCE = (
    "On Monday, 235,000 people didn't go to L'Oreal's plant in the U.S. It's 3,800 km away, Bob O'Brien said.\n"
    'At 10:30, the F-16 cost $1.8 million (or 122.5 thousand per man) in the 1990s. "We don\'t," he told Anna Miller.\n'
    "Nicol\u00e1s, 28 years old, saw twenty-one men of A&E there: 4% of them in Cura\u00e7ao."
)

#: Forms of `SOURCE`, written by hand; lines that are not listed stay as they are.
FORMS = {
    "every mark apart": (
        "On Monday , 235 , 000 people didn ' t go to L ' Oreal ' s plant in the U . S . It ' s 3 , 800 km away , "
        "Bob O ' Brien said .\nAt 10 : 30 , the F - 16 cost $ 1 . 8 million ( or 122 . 5 thousand per man ) in the "
        '1990s . " We don \' t , " he told Anna Miller .\nNicol\u00e1s , 28 years old , saw twenty - one men of '
        "A & E there : 4 % of them in Cura\u00e7ao ."
    ),
    "Penn Treebank": (
        "On Monday , 235,000 people did n't go to L'Oreal 's plant in the U.S . It 's 3,800 km away , Bob O'Brien "
        "said .\nAt 10:30 , the F-16 cost $ 1.8 million -LRB- or 122.5 thousand per man -RRB- in the 1990s . `` We "
        "do n't , '' he told Anna Miller .\nNicol\u00e1s , 28 years old , saw twenty-one men of A & E there : 4 % of "
        "them in Cura\u00e7ao ."
    ),
    "Moses": (
        "On Monday , 235,000 people didn &apos;t go to L &apos;Oreal &apos;s plant in the U.S. It &apos;s 3,800 km "
        "away , Bob O &apos;Brien said .\nAt 10 : 30 , the F @-@ 16 cost $ 1.8 million ( or 122.5 thousand per man ) in "
        "the 1990s . &quot; We don &apos;t , &quot; he told Anna Miller .\nNicol\u00e1s , 28 years old , saw twenty "
        "@-@ one men of A &amp; E there : 4 % of them in Cura\u00e7ao ."
    ),
    "entities": html.escape(SOURCE).replace("\u00e1", "&aacute;").replace(" 28", "&nbsp;28"),
    "escaped twice": html.escape(html.escape(SOURCE)),
    "separators": SOURCE.replace("\n", " <n> "),
    "tags": f"<p>{SOURCE}</p>".replace("\n", '<br/><a href="x">').replace("Bob", "<b>Bob</b>"),
    "written out": SOURCE.replace("\n", "\\n"),
    "numbered": "1. " + SOURCE.replace("\nAt", "\n2. At").replace("\nNic", "\n3. Nic"),
    "bullets": "\u2022 **1)** "
    + SOURCE.replace("\nAt", "\n- 2) At").replace("\nNic", "\n  - 3) Nic"),
    "numbered in a line": "1. " + SOURCE.replace("\nAt", " 2. At").replace("\nNic", " 3. Nic"),
    "without width": SOURCE.replace(" ", " \u200b").replace("people", "peo\u00adple"),
    "spaces": SOURCE.replace(" ", "\u00a0").replace("\n", "\r\n"),
    "wrapped": SOURCE.replace(" million", "\nmillion").replace(" in the", "\nin the"),
    "decomposed": unicodedata.normalize("NFD", SOURCE),
    "Arabic digits": SOURCE.translate({48 + digit: 0x660 + digit for digit in range(10)}),
    "full width": SOURCE.translate({code: code + 0xFEE0 for code in range(0x30, 0x7F)}),
    "emphasis": SOURCE.replace("Anna", "**Anna**")
    .replace("Miller", "_Miller_")
    .replace("Bob", "*Bob*"),
    "citations": "[1] "
    + SOURCE.replace(".\n", " [4-6].\n")
    .replace(" away", "[2][3] away")
    .replace("235,000", "235,000[1, 3]"),
    "named citations": SOURCE.replace(".\n", " [doc1].\n(Source 2) ").replace(
        "1990s", "1990s\u30104:0\u2020source\u3011"
    ),
    "linked citations": SOURCE.replace("km", "km[1](https://a.org/b_(c))").replace(
        ".\n", "[[2]](#x).\n"
    ),
    "notes": SOURCE.replace(" km", "<sup>1</sup> km")
    .replace("Miller", 'Miller<sup><a href="#2">2</a></sup>')
    .replace("1990s", "1990s\u00b9,\u00b2"),
    "escaped": re.sub(r"(?=[-.$(&])", r"\\", SOURCE),
    "code": f"```markdown\n{SOURCE}\n```",
    "LaTeX": re.sub(r"\b(\d+)\b", r"$\1$", SOURCE).replace("$,$", "{,}"),
    "thousands": SOURCE.replace(",000", "~000").replace(",800", "~800"),
    "apostrophes": SOURCE.replace("'", "\u02bc"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("side", ["summary", "source"])
def test_a_form_of_one_side_changes_nothing(form: str, side: str) -> None:
    texts = [FORMS[form], SOURCE] if side == "summary" else [SOURCE, FORMS[form]]
    values = novelty(texts[:1], texts[1:])
    new = {name: value for name, [value] in values.items() if name.startswith("new")}
    assert new == dict.fromkeys(new, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u . s . troops , the '90 s and 1990 s , ' 80s", "u.s. troops, the '90s and 1990s, '80s"),
        (
            "in 2015 . 20 men of 2 , 3 or 1 , 20 . 46-year-old",
            "in 2015. 20 men of 2, 3 or 1, 20. 46-year-old",
        ),
        (
            "It is 2.5 , in 2015 , 200 men . Of 7 . 5 left .",
            "It is 2.5, in 2015, 200 men. Of 7. 5 left.",
        ),
        ("well-known men - or boys , 5 of them .", "well-known men - or boys, 5 of them."),
        ("a 'legend of the game ' , he said .", "a 'legend of the game ', he said."),
        ("1. a\n1) b\n2) c\n2. d\n500. e\n2015.\nf", "a\nb\nc\nd\n500. e\n2015.\nf"),
        ("He was No. 1. He won 2.5 of 3.\nNo. 3. So", "He was No. 1. He won 2.5 of 3.\nNo. 3. So"),
        ("[text](https://a.org/b_c) f***ing a_b", "text f***ing a_b"),
        ("un ##believ ##able be@@ lief", "unbelievable belief"),
        ("&lt;n&gt; &foo; &amp &nbsp", "\n &foo; &amp &nbsp"),
        ("10\u00a0000 men, 1\u202f200", "10,000 men, 1,200"),
    ],
)
def test_shown_by_hand(text: str, expected: str) -> None:
    assert shown(text).text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[1] The dog[2][3] sat [4]. It [5] and he [6]\nran [1] [2], [3].",
            " The dog sat. It and he\nran,.",
        ),
        (
            "red [1, 3], blue [1-3]; it's[^1] so [[1]] \u201cso\u201d[1] **he**[2]",
            "red, blue; it's so \u201cso\u201d he",
        ),
        ("red [ 1 ] . The man ( Source 3 ) .", "red. The man."),
        (
            "A [doc1]. b [Source 1]. [citation:1] C (see Source 3).\nE (Doc 3, Doc 4)",
            "A. b. C.\nE",
        ),
        (
            "A [S1]. b [S2]. C (p. 11). D (lines 1-3). E [1, p. 31]. F (Smith et al., 2019). He<cite>1</cite>.",
            "A. b. C. D. E. F. He.",
        ),
        ("a red\u30101\u2020source\u3011 b [7\u2020L1-L5] c [web:2][oaicite:1]", "a red b c"),
        (
            "red [1](https://a.org/b_(c)) b [[2]](#n) c \\[3\\]. ([4], [5]) [6]Red red[7]b",
            "red b c. Red red b",
        ),
        (
            "1945\u00b9 and 1945<sup>1</sup>, $5<sup>99</sup>, so<sup>[2]</sup>\u00b2\u02d2 it's\u00b3",
            "1945 and 1945, $5, so\u02d2 it's",
        ),
        (
            "10<sup>6</sup>, 10<sup>12</sup>, x<sup>2</sup>, y\u00b3, 1<sup>st</sup>, CO\u2082",
            "10^6, 10^12, x2, y3, 1st, CO2",
        ),
        (
            "5 km\u00b2, 5 km2, 5 m3, per ft<sup>2</sup>, the m2",
            "5 km, 5 km, 5 m, per ft, the m2",
        ),
    ],
)
def test_no_fact_of_the_text_by_hand(text: str, expected: str) -> None:
    assert shown(text).text == expected


@pytest.mark.parametrize(
    "text",
    [
        SOURCE,
        "The [5] children of a[3], a[3][4] and \u201c[5] children\u201d, [5]-year-old, [5]%.",
        "Section (1) of (2024), [2024] or [sic], (note that 5) and (1990 to 1995).",
        "In (Note 7) of (ID 7) it is 7-6 (3), aged (34), (2-1) (April 9).",
        "The ages: [34, 57], values are [12, 34], 95% CI [1, 2], in 3.5 [1, 4]; they lie in [0, 100].",
        "Wait ... .5 mg, and 'so' it went. In a < b and c > d, 5 * 3 - 2 is R&D; \u201cyes\u201d \u2013 no.",
        "\u5317\u4eac2008\u5e74\u3002 10\u00b2 \u00bd \U0001f600",
    ],
)
def test_other_texts_are_shown_as_they_are(text: str) -> None:
    assert shown(text).text == text
    assert shown(text).span(3, 5) == (3, 5)


PIECES = [
    "&#39;",
    "&amp;",
    "<br>",
    " ",
    "\n",
    "1. ",
    "a",
    "B",
    "e\u0301",
    "\ufb01",
    "\u200b",
    ".",
    " ,",
    " 's",
    "- ",
    "5",
    "**",
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_spans_are_those_of_the_same_characters(text: str) -> None:
    """What is shown of a span, without what is around it, are the same letters and digits."""
    result = shown(text)
    end_before = 0
    for position, character in enumerate(result.text):
        start, end = result.span(position, position + 1)
        assert start < end
        if result.text[position - 1 : position + 1] != "fi":  # both of one ligature
            assert end_before <= start
        if character.isalnum():
            assert character in unicodedata.normalize("NFKC", text[start:end])
        end_before = end
    assert result.steps or result.text == text


def test_facts_are_found_where_they_are_written() -> None:
    summary = "1. Then in the U . S . , 1 , 200 men saw &laquo;young Anna Jos\u0065\u0301&raquo; there later today at 10 : 30 .<n>2. Nobody went ."
    wording = SourceWording(
        "then men at 10:30 in the US saw young nobody there; later today they went"
    )
    read = wording.read(summary)
    facts = [summary[fact.start : fact.end] for fact in read.facts]
    assert facts == ["1 , 200", "Anna Jos\u0065\u0301"]
    words = [summary[start:end] for start, end in read.new_words]
    assert words == ["1", "200", "Anna", "Jos\u0065\u0301"]  # "U . S ." and "10 : 30" are written


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ("Here is a summary in 79 words:\nthe dog sat there (3 words)", []),
        ("- Sure!\n- Here's the summary within 50-60 words :\n- the dog sat", []),
        ("SURE! HERE'S THE SUMMARY IN 79 WORDS: the dog sat there, and it sat", []),
        ("**Summary (79 words):** the dog sat there\n\n**Word count:** 79", []),
        ("Here is a summary in two sentences and about 79 words: the dog sat", []),
        ("the dog sat there, so it did [Word count: 79]", []),
        ("In summary, 500 people died in the old mill at 10:30.", ["500", "10:30"]),
        ("In summary, five hundred people said: the dog sat", ["five hundred"]),
        ("the dog (which killed 500 and left 2 words on the wall)", ["500", "2"]),
        ("Here is a summary of Miller in 79 words: the dog sat there", ["Miller", "79"]),
        ("500. the mayor sat there\n502. the dog", ["500", "502"]),
    ],
)
def test_what_a_summary_says_of_itself_is_not_new(summary: str, expected: list[str]) -> None:
    facts = SourceWording("the dog sat").read(summary).facts
    assert [summary[fact.start : fact.end] for fact in facts] == expected


@pytest.mark.parametrize(
    ("form", "other"),
    [
        ("They like OutdoorSeating now", "They like Outdoor Seating now"),
        ("They saw OutdoorSeatingArea now", "They saw Outdoor Seating Area now"),
        ("The ISBN_NUMBER is 5", "The ISBN NUMBER is 5"),
        ("On #BlackFriday he ran", "On Black Friday he ran"),
        ("We met Alan_Bean there", "We met Alan Bean there"),
        ("At Box 826880Sacramento it is", "At Box 826880, Sacramento it is"),
        ("They like LendingClub now", "They like Lending Club now"),
        ("They like lendingclub now", "They like LendingClub now"),
        ("They are in Johan-\nnesburg now", "They are in Johannesburg now"),
        ("They are in Johan- nesburg now", "They are in Johannesburg now"),
        ("> They saw twenty-\n> five men", "They saw twenty-five men"),
        ("They are well-\nknown now", "They are well-known now"),
    ],
)
def test_glued_and_divided_words_are_the_same_in_both_directions(form: str, other: str) -> None:
    for summary, source in ((form, other), (other, form), (form, form)):
        values = novelty([summary], [source])
        assert values["new_words"] == values["new_numbers"] == [0]
        assert not values["new_names"][0] > 0  # undefined without capitals


@pytest.mark.parametrize(
    ("summary", "source", "expected"),
    [
        ("They like Indoor Seating", "They like OutdoorSeating now", ["Indoor"]),
        ("They met Alan Shepard", "They met Alan_Bean there", ["Shepard"]),
        ("They met DiCaprio", "They met Di Caprio there", ["DiCaprio"]),
        ("They met MacDonald", "They met Mac Donald there", ["MacDonald"]),
    ],
)
def test_other_parts_are_new(summary: str, source: str, expected: list[str]) -> None:
    facts = SourceWording(source).read(summary).facts
    assert [summary[fact.start : fact.end] for fact in facts] == expected

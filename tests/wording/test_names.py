"""Which names of a summary are new, and where capitals say something."""

from __future__ import annotations

import math

import pytest

from estime_metric import novelty
from estime_metric.wording.english import FULL_NAMES
from estime_metric.wording.source import NEW_NAME, SourceWording

#: Two texts that name the same; each has to be known from the other.
_SAME = """
    # marks, points, spaces
    Nicolas spoke = Nicol\u00e1s spoke
    troops of the U.S. left = troops of the US left
    troops of the U. S. left = troops of the U.S. left
    the author J. K. Rowling = the author J.K. Rowling
    the author J. K. Rowling = the author JK Rowling
    a Ph.D. program = a PhD program
    with S\u00f8ren Kj\u00e6r = with Soren Kjaer
    in \u0141\u00f3d\u017a = in Lodz
    the \u0110or\u0111e and \u00de\u00f3r = the Dorde and Thor
    to \u0126amrun, Y\u0131ld\u0131z = to Hamrun, Yildiz
    the \u0152uvre = the Oeuvre
    the Qur'an = the Quran
    the Bob O\u2019Brien = the Bob OBrien
    in Hawai\u02bbi = in Hawaii
    on 2024-06-03 = on June 3, 2024
    on 3.6.2024 = on the 3rd of June 2024
    for US$5 = for $5
    # initials
    the World Health Organization = the WHO
    the Department of Justice = the DoJ
    the National Aeronautics and Space Administration = the Nasa
    about John F. Kennedy = about JFK
    about J.K. Rowling = about JKR
    in World War II = in WWII
    in World War I = in WWI
    in World War Two = in World War II
    in the Second World War = in WWII
    the First World War = in WWI
    the Second World War = in World War II
    for USD 5 = for $5
    with GANs = with a GAN
    all MPs = one MP
    QPR at Portman Road = QPR there, and Portman Road
    # full names in the table
    the United States = the US
    the United States of America = the USA
    from the U.S. = from the USA
    from the EU = from the European Union
    Springfield, MA = Springfield in Massachusetts
    the prime minister = the PM
    on television = on TV
    the American Pharmacists Association = the APhA
    the Labour Party = the Labor Party
    the LGBT group = the LGBTQ group
    # abbreviations
    on Jan. 5 = on 5 January
    Mt. Everest = the Mount Everest
    St. Louis = in Saint Louis
    Main St. = in Main Street
    Ford Co. = the Ford Company
    # peoples, in the singular and the plural
    to Russia = two Russians
    to Israel = two Israelis
    to Venezuela = the Venezuelan troops
    to England = the English
    to Serbia = two Serbs
    to Scotland = a Scotsman
    to France = two Frenchmen
    to Ireland = an Irishwoman
    to New Zealand = two New Zealanders
    the Russians = a Russian
    of Islam = an Islamist
    of Islam = two Muslims
    of Judaism = the Jews
    to the United Kingdom = the British
    to the U.S. = the American
    # plurals and followers
    the Kennedy family = the Kennedys
    of Freud = a Freudian
    a Democrat = the Democratic one
    # hyphens and slashes, umlauts, escapes
    at Wal-Mart = at Walmart
    on Wi-Fi = on WiFi
    of AC/DC = of ACDC
    the GPT-4o = the GPT4o
    with M\u00fcller = with Mueller
    in Z\\u00fcrich = in Z\u00fcrich
    with Ren\\xe9e = with Ren\u00e9e
    with O\\u2019Brien = with O\u2019Brien
    # lower case is no other name
    the us, the un and the who met = the US, the UN and the WHO met
    the world health organization met = the WHO met
"""
SAME = [line.strip().split(" = ") for line in _SAME.splitlines() if " = " in line]


def new_names(source: str, summary: str) -> list[str]:
    return [
        summary[fact.start : fact.end]
        for fact in SourceWording(source).read(summary).facts
        if fact.kind == NEW_NAME
    ]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_name_in_another_form_is_not_new(one: str, other: str) -> None:
    for source, summary in ((one, other), (other, one)):
        assert new_names(f"{source}, they said so.", f"then as they said so {summary}") == []


def test_a_full_name_at_the_end_of_a_text_is_its_initialism() -> None:
    for name, initialisms in FULL_NAMES.items():
        for initialism in initialisms:
            source = f"then they spoke of {initialism.upper()}, as they said."
            summary = f"later they spoke of {name.title()}"
            assert new_names(source, summary) == []
            assert SourceWording(source).read(summary).new_words == ((0, len("later")),)


@pytest.mark.parametrize(
    ("source", "summary", "expected"),
    [
        ("then Johnson spoke", "later on Johnston spoke at length", ["Johnston"]),
        ("then Julia spoke", "later on Julian spoke at length", ["Julian"]),
        ("then Maria and Ali spoke", "later on Marian and Alian spoke", ["Marian", "Alian"]),
        ("in Washington, D.C.", "they met David Cameron there", ["David Cameron"]),
        ("in the US", "they met Umar Said there", ["Umar Said"]),
        ("they met Umar Said", "it was in the US as they say", ["US"]),
        ("then McCain spoke", "they met Miley Cyrus there", ["Miley Cyrus"]),
        ("at BestInsuranceABC", "it was at BetterInsuranceABC", ["BetterInsuranceABC"]),
        ("fans of QPR left", "fans of QPR at Portman Road left", ["Portman Road"]),
        ("it was in WWI", "it was in World War II as they say", ["World War II"]),
        ("in Massachusetts", "there they met Jack Ma as they say", ["Jack Ma"]),
        ("Those who know", "the report of the WHO said something", ["WHO"]),
        ("They told us", "the report of the US said something", ["US"]),
        ("to Niger", "it was a Nigerian who left", ["Nigerian"]),
        ("a Roman", "it was a Romanian who left", ["Romanian"]),
        ("on 2024-05-03", "it was on June 3", ["June"]),
        (
            "a 5/3 ratio, 24/7, 3-5 and 3.5.24",
            "it was in May or in March or in July as they say",
            ["May", "March", "July"],
        ),
        ("with diabetic peripheral neuropathy", "it was the DPN that they had", []),
        ("two randomised controlled trials", "it was about the RCTs as they say", []),
        ("They had a diabetic, peripheral neuropathy", "it was the DPN that they had", ["DPN"]),
        (
            "with Smith",
            "as they say it was then Prime Minister Smith and Dr. Smith, or else Sir Bob Smith",
            ["Bob"],
        ),
        ("with Smith", "it was President Jones who said so", ["President Jones"]),
        ("with Ren\\xe9e", "it was Ron\u00e9e who said so", ["Ron\u00e9e"]),
        ("Lunch.\\tAnna\\t12", "it was with Anna as they say", []),
        ("C:\\temp\\new\\Anna", "it was C:\\temp\\new\\Anna as they say", []),
        # a plural or a longer name of the source, perhaps
        ("by Robert in New Mexico", "it was by Roberts in Mexico", []),
        ("then he left", "he went to New York with Peter and New York", ["New York", "Peter"]),
        ("then he left", "he went to **New** **York** with him", ["New** **York"]),
        # a sentence, a line, a quotation and an item begin with any word
        ("then he left", 'so he said. Bob left, and then "Carl left". Dora left', []),
        ("then he left", "he left!\nBob left, and: Carl left (he left.) Dora left", []),
        ("then he left", "1) Bob left\n2) Carl left and saw Dora there", ["Dora"]),
        ("then he left", "so J. Smith left, and Mr. Miller left them", ["Smith", "Miller"]),
        ("then he left", "in Main Street. Bob left, and on television. Carl left", ["Main Street"]),
        # these are no names wherever they stand
        ("then he left", "he left However he left Despite it Both left Meanwhile he left", []),
        ("then he left", "he left Additionally he left Officials left Prior to it", []),
    ],
)
def test_new_names_by_hand(source: str, summary: str, expected: list[str]) -> None:
    assert new_names(source, summary) == expected


SOURCE = "Last year Anna Smith and Bob Miller met an old friend in Paris, where dogs bark at night."


@pytest.mark.parametrize(
    ("summary", "names"),
    [
        ("", 0),
        ("Anna and Bob met Carl.", 1),
        ("Then Anna met Carl Brown, an old friend, at night.", 1),
        ("Anna Smith met Bob Miller and Carl Brown", 1),  # mostly names
        ("An old friend met dogs. They bark.", 0),  # capitals at beginnings of sentences alone
        ("then anna met carl, an old friend, at night.", math.nan),
        ("Then anna met bob miller in paris. An old friend met carl.", math.nan),
        ("Old Friend Anna Met Carl Brown at Night", math.nan),
        ("THEN ANNA MET CARL BROWN AT NIGHT", math.nan),
        # of other words than the source
        ("then we saw Zoe and some cats", 1),
        ("Zoe Sees Some Cats", math.nan),
    ],
)
def test_names_are_counted_if_capitals_say_something(summary: str, names: float) -> None:
    assert novelty([summary], [SOURCE])["new_names"] == pytest.approx([names], nan_ok=True)


@pytest.mark.parametrize("form", [str.lower, str.upper, str.title])
def test_the_capitals_of_a_source_in_one_case_decide_nothing(form: type[str]) -> None:
    summary = "Then Anna Smith met Carl Brown, an old friend, at night."
    assert novelty([summary], [form(SOURCE)])["new_names"] == [1]


def test_a_negation_is_not_a_name_and_don_is() -> None:
    source = "They left on Monday, and she stayed."
    summary = "On Monday they left (Don't ask), and she Didn\u2019t; Don stayed."
    assert new_names(source, summary) == ["Don"]

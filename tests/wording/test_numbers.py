"""Numbers in their written forms: which of a summary are new."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.wording.source import NEW_NUMBER, SourceWording


def new_numbers(source: str, summary: str) -> list[str]:
    facts = SourceWording(f"It was {source} there.").read(f"It was {summary} there.").facts
    return [
        f"It was {summary} there."[fact.start : fact.end]
        for fact in facts
        if fact.kind == NEW_NUMBER
    ]


_SAME = """
    a cost of $4.5bn, 5m people = 4,500,000,000 dollars for 5 million people
    on 2015-04-03, 10-12 men = in 2015, on the 3rd or the 4th, 10 to 12 men
    0.5% = .5%
    .300 = 0.300
    a .5 mg dose = a 0.5 mg dose
    7.30 P.M. = 7:30 pm
    7pm = 7:00 pm
    7 p.m. = 7:00
    at 4.15 = at 4:15
    at 19:30 = 7.30pm
    at 7 o'clock = at 7:00
    from 7 to 9 pm = from 7:00 to 9:00
    7-9pm = 7:00-9:00 pm
    at seven = at 7:00 am
    at 10.30am = at 10:30
    the third quarter = q3 of
    the third-quarter results = 3Q results
    the third and fourth quarters = Q3 and Q4
    Q3 of 2022 = third quarter of fiscal 2022
    fiscal 2022 = FY22
    fiscal year 2022 = FY 2022
    fiscal '22 = FY22
    Q3 2022 = Q3'22
    Q3 FY22 = Q3FY22
    first half of 2022 = 1H22
    the second half = H2
    \u00a312million = 12,000,000
    $1.5B = 1,500,000,000
    $2T = $2 trillion
    \u00a35 bn = 5 billion
    USD5m = 5,000,000
    EUR 5m = 5 million euros
    8.2 million = 8,200,000
    5.3 billion to 5.5 billion = 5.3 - 5.5 billion
    between $5 and $7 billion = $5 billion and $7 billion
    $5m-$7m = $5-7 million
    5 to 7 thousand = 5,000 to 7,000
    10, 000 = 10,000
    it is 5\u00bd miles = it is 5.5 miles
    it is 5 \u00bd miles = it is 5.5 miles
    it is 5 1/2 miles = it is 5.5 miles
    it is 5-1/2 miles = it is 5\u00bd miles
    two and a half million = 2.5 million
    two and a half years = 2.5 years
    five and a half hours = 5\u00bd hours
    one and a half million = 1.5 million
    half a million = 500,000
    a half-million = 0.5 million
    a quarter of a million = 250,000
    three quarters of a million = 750,000
    half a dozen = six
    half a percent = 0.5%
    two thirds = 2/3
    one-third = 1/3
    a third = 1/3
    the hundredth time = the 100th time
    the two hundredth time = the 200th time
    nineteen eighty-four = 1984
    twenty fifteen = 2015
    twenty twenty-one = 2021
    nineteen hundred = 1900
    one hundred and twenty-three million four hundred and fifty-six thousand seven hundred and eighty-nine = 123,456,789
    F-16 = F16
    the '90s = the 1990s
    the nineties = the 1990s
    the nineteen sixties = the 1960s
    1995-96 = 1995-1996
    2014/15 = 2014-15
    2014/15 = 2014-2015
    in '96 = in 1996
    won 3-0 = won 3\u20130
    two lakh = 200,000
    5 crore = 50 million
    a 16-year-old = a 16yo
    aged sixteen = aged 16
    the twenty-first century = the 21st century
    the 101st = the one hundred and first
    $5MM = $5 million
    1,200 people and 4.50 dollars = about 1200 people with just 4.5 dollars
    # shares
    a share of 0.22 = 22%
    a quarter of it = 25%
    1 in 4 = 25%
    one in four = 25 percent
    # hyphens, "fold", abbreviations, spaces
    three-and-a-half = 3.5
    half-a-million = 500,000
    nineteen-ninety = 1990
    tenfold = 10x
    100 mil. = 100 million
    10 000 men = 10,000 men
    v2.1 = version 2.1
    # ambiguous words that count
    one person = 1 person
    the second goal = the 2nd goal
    type one = type 1
    twelve men and fifty-one women = 12 men and 51 women
    100 cars or 2,500 boats = one hundred cars or two thousand five hundred boats
    10\u00a0000 men, 1\u202f200 women = 10,000 men and 1200 women
    the twenty-second floor = the 22nd floor
    \u5317\u4eac2008\u5e74 = the year 2008
    a dozen men, two dozen women = 12 men and 24 women
    # dates in digits
    on 2024-05-03 = on May 3, 2024
    on 2024/06/03 = on 3 June 2024
    on 5/3/2024 = on May 3, 2024
    on 5/3/2024 = on March 5, 2024
    on 03.05.2024 = on the 3rd of May 2024
    on 25/12/2023 = on Dec. 25, 2023
    on 06-03-24 = on June 3, 2024
    in 06/2024 = in June 2024
    from 6/3/2024-7/4/2024 = from June 3 to July 4, 2024
    2024-06-03T14:30:00Z = June 3, 2024, 14:30
    at 14:30:00 = at 2:30 pm
    # decimals, scales
    two point five percent = 2.5%
    one hundred point three = 100.3
    one point three million = 1.3 million
    two point five crore = 25 million
    1,00,000 = 100,000
    1\u00b72 = 1.2
    US$1.2 billion = $1.2 billion
    20m = 20 metres
    210 m = | length | 210 |
    20m = 20 million
    a 10k race = a 10 km race
    version 2.10 = v 2.10
    # centuries
    the 19th century = the 1800s
    the 19th and 20th centuries = the 1800s and the nineteen hundreds
    WWI = World War 1
    Henry V = Henry 5
    Malcolm X = Malcolm 10
    the First World War = WW1
"""
SAME = [line.strip().split(" = ") for line in _SAME.splitlines() if " = " in line]


@pytest.mark.parametrize(("form", "other_form"), SAME)
def test_a_number_in_another_written_form_is_not_new(form: str, other_form: str) -> None:
    assert new_numbers(form, other_form) == []
    assert new_numbers(other_form, form) == []


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        ("in 1995", "the '90s"),
        ("in 1995", "the mid-1990s"),
        ("in 1995", "the nineties"),
        ("a 63-year-old man", "a man in his 60s"),
        ("a thing", "a third party"),
        ("a thing", "third parties"),
        ("a thing", "third-party"),
        ("the noon deadline", "12 pm"),
        ("12:00", "noon"),
        # rows, glued words, scales of a table
        ("2021-02-25,0.09", "February 25, 2021"),
        ("12,2021-02-25,123", "on 25 February"),
        ("2022-01-23,183.437", "183.437"),
        ("1,234,5", "234"),
        ("850,900,1800", "900"),
        ("period3", "the third period"),
        ("December31,2016", "December 31, 2016"),
        ("FY2018", "FY 2018"),
        ("1440x3200", "1440 by 3200"),
        ("iPhone12", "iPhone 12"),
        ("iPhone 12", "iPhone12"),
        ("(In millions) 24,873", "$24,873 million or $24.873 billion"),
        ("(Dollars in thousands) 24,873", "$24,873 thousand"),
        ("$ in 000s: 24,873", "24.873 million"),
        ("Population (millions): 67", "67 million"),
        ("\\u20ac\\u2009274.55", "274.55"),
        # right to the last digit
        ("55.8928", "55.89, 55.9 or 56"),
        ("1,198,453", "1.2 million"),
        ("0.2234", "22%"),
        ("two thirds of it", "67%"),
        # what a tokenizer did to a part of a text
        ("11 : 00 a.m. , or so", "11 : 00 a.m., or so"),
        ("1 , 200 men, or so", "1,200 men"),
        ("1 , 200 men , or so", "1 , 200 men, or so"),
        # values in brackets
        ('"ages": [34, 57]', "34 and 57"),
        ("95% CI [12, 34]", "12 to 34"),
        ("said to lie in [0, 100]", "100"),
        ("3/5/24", "2024"),
        ("1855", "the 19th century"),
    ],
)
def test_a_number_that_follows_from_the_source_is_not_new(source: str, summary: str) -> None:
    assert new_numbers(source, summary) == []


@pytest.mark.parametrize(
    ("source", "summary", "new"),
    [
        ("5 mg", ".5 mg", [".5"]),
        ("10:30", "10:00", ["10:00"]),
        ("3:30", "30 dead", ["30"]),
        ("1990s", "1990", ["1990"]),
        ("1990s", "90 men", ["90"]),
        ("'90s", "90 men", ["90"]),
        ("nineties", "90 men", ["90"]),
        ("\u00a35", "\u00a35 bn", ["5 bn"]),
        ("$5", "$5B", ["5B"]),
        ("\u00a35", "\u00a35m", ["5m"]),
        ("5 million", "5", ["5"]),
        ("Q3", "Q4", ["Q4"]),
        ("Q3", "3 men", ["3"]),
        ("the second quarter", "a 2-0 win", ["2", "0"]),
        ("from 1.62% to 1.60%", "from 1.62% to 1.64%", ["1.64"]),
        ("third quarter", "Q2", ["Q2"]),
        ("Q3", "second quarter", ["second quarter"]),
        ("FY22", "FY23", ["FY23"]),
        ("FY2022", "22 men", ["22"]),
        ("1890s", "1990s", ["1990s"]),
        ("1995", "1980s", ["1980s"]),
        ("1990s", "1995", ["1995"]),
        ("F-16", "F-15", ["15"]),
        ("5", "5\xbd", ["5\xbd"]),
        ("two million", "two and a half million", ["two and a half million"]),
        ("5.3 - 5.5 billion", "5.4 billion", ["5.4 billion"]),
        ("two thirds", "three quarters", ["three quarters"]),
        ("a thing", "the third", ["third"]),
        ("a thing", "hundredth", ["hundredth"]),
        ("1984", "nineteen eighty-five", ["nineteen eighty-five"]),
        ("7pm", "8:00 pm", ["8:00 pm"]),
        ("7:30 pm", "7pm", ["7pm"]),
        ("10,000", "10, 500", ["10", "500"]),
        ("1995-96", "1997", ["1997"]),
        ("12 million", "12 billion or 12,000 or maybe 12,000,000", ["12 billion", "12,000"]),
        ("1.2", "12 or 1.20", ["12"]),
        ("12 men", "fifteen men, 13 women, 15 dogs, the two of them", ["fifteen", "13"]),
        ("World War II", "World War III, and then World War 4", ["4"]),
        ("1990s", "the 80s, or 1.5 of 10 cases", ["80s", "1.5", "10"]),
        ("F-16", "the F-15 or a F15", ["15"]),
        ("half", "two thirds", ["two thirds"]),
        ("3 PM", "at 15:30", ["15:30"]),
        ("on 2024-05-03", "on May 4", ["4"]),
        ("on May 3, 2024", "on 2024-06-03", ["06"]),
        ("on May 3", "in 5 places", ["5"]),
        ("one point three million", "3 million", ["3 million"]),
        ("at one point six men", "1.6 men", ["1.6"]),
        ("20m", "20k", ["20k"]),
        ("version 2.1", "version 2.10", ["2.10"]),
        ("19th century", "1900s", ["1900s"]),
        ("Henry V", "Henry X", ["X"]),
        ("seven men", "2 men", ["2"]),
        ("1,200 dollars", "1 of 200 dollars", ["1", "200"]),
        ("0.22", "22 men, 2.2% and 23%", ["22", "2.2", "23"]),
        ("the third", "33% of it", ["33"]),
        ("1 in 4", "1 in 5", ["5"]),
        ("55.8928", "55.8 or 55.99", ["55.8", "55.99"]),
        ("1,198,453", "1.3 million", ["1.3 million"]),
        ("24,873", "25,000", ["25,000"]),
        ("in 2015", "2 thousand", ["2 thousand"]),
        ("the 28th", "the 4th", ["4th"]),
        ("(Dollars in thousands) 24,873", "24,873 million", ["24,873 million"]),
        ("(In millions) 2015", "2015 million", ["2015 million"]),
        ("paid by millions. 24,873", "24,873 million", ["24,873 million"]),
        ("period3", "fourth period", ["fourth"]),
        ("IL-6 and G20", "IL-8 of 20 men", ["8", "20"]),
        ("5 people", "5m people", ["5m"]),
        ("5m people", "5 people", ["5"]),
        ("it", "its values [12, 34], which are [12, 35]", ["12", "35"]),
    ],
)
def test_another_number_is_new(source: str, summary: str, new: list[str]) -> None:
    assert new_numbers(source, summary) == new


PIECES = "1 10 1990 s 's ' :30 . , - / \u00bd half a and third quarters Q3 FY22 th pm $ m two nineteen eighty million"


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from([*PIECES.split(), " "]), max_size=12).map("".join))
def test_a_text_has_its_own_numbers(text: str) -> None:
    assert new_numbers(text, text) == []

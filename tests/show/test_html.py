"""Explanations as HTML: texts are shown as they are, and all evidence that is pointed to is there."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from estime_metric import Explanation
from estime_metric.passages import Passage
from estime_metric.show import html
from estime_metric.show.captions import ALARM_FROM, LEAST_COLORED, counts
from estime_metric.show.html import fragment, of_one_source, to_html
from estime_metric.verdicts import Evidence, UnitVerdict
from tests.explanations import explained

VOID = {"meta", "img", "br", "hr", "input", "link"}


class Page(HTMLParser):
    """The elements of a page, each with its attributes, its text, and the classes of the elements
    around it.
    """

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[dict] = []
        self.open: list[dict] = []
        self.feed(markup)
        self.close()
        assert not self.open, [element["tag"] for element in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute occurs twice: {attrs}"
        element = {"tag": tag, "text": "", **dict(attrs)}
        element["within"] = [
            name for outer in self.open for name in (outer.get("class") or "").split()
        ]
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()["tag"] == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element["text"] += data

    def with_class(self, name: str, within: str = "estime") -> list[dict]:
        inside = [element for element in self.elements if within in element["within"]]
        return [element for element in inside if name in (element.get("class") or "").split()]

    def texts(self, *tags: str) -> list[str]:
        return [element["text"] for element in self.elements if element["tag"] in tags]

    def texts_with_class(self, name: str, within: str = "estime") -> list[str]:
        return [element["text"] for element in self.with_class(name, within)]

    def pane(self, name: str) -> str:
        (text,) = self.texts_with_class("estime-text", within=name)
        return text


def cut(page: Page) -> list[tuple[int, int, str]]:
    """Start, end and text of the parts of the source."""
    return [
        (int(part["data-start"]), int(part["data-end"]), part["text"])
        for part in page.elements
        if "data-start" in part and "estime-source" in part["within"]
    ]


def test_both_texts_are_shown_and_each_word_has_its_evidence(
    example: Explanation, hostile: Explanation
) -> None:
    for shown in (example, hostile):
        page = Page(to_html(shown))
        assert page.pane("estime-summary") == shown.prediction
        assert page.pane("estime-source") == shown.source
        parts = cut(page)
        for unit, word in zip(page.with_class("estime-unit"), shown.words, strict=True):
            assert unit["text"] == word.text == shown.prediction[word.start : word.end]
            assert f"estime-{word.verdict}" in unit["class"].split()
            for name, evidence in (("data-best", word.best), ("data-same", word.same)):
                assert (name in unit) == (evidence is not None)
                if evidence is not None:
                    start, end = map(int, unit[name].split("-"))
                    marked = [text for at, to, text in parts if start <= at and to <= end]
                    assert "".join(marked) == shown.source[evidence.start : evidence.end]


def test_passages_are_named_in_the_source_and_with_their_words(hostile: Explanation) -> None:
    source, middle = hostile.source, hostile.source.index("said")
    ids = ['<b>"1', 2]
    passages = (Passage(ids[0], 0, middle), Passage(ids[1], middle, len(source)))
    page = Page(to_html(replace(hostile, passages=passages)))
    begins = {
        part["data-start"]: part.get("data-passage")
        for part in page.elements
        if "data-start" in part
    }
    assert {start: name for start, name in begins.items() if name} == {
        "0": ids[0],
        f"{middle}": "2",
    }
    assert page.pane("estime-source") == source
    for unit in page.with_class("estime-unit"):
        start = int(unit["data-best"].split("-")[0])
        assert f"in passage {ids[start >= middle]}" in unit["aria-label"]
    assert "passage" not in Page(to_html(hostile)).texts("main")[0]


def test_alarms_are_told_to_screen_readers(example: Explanation) -> None:
    units = Page(fragment(example)).with_class("estime-unit")
    assert {unit["role"] for unit in units} == {"button"}
    (february,) = [unit for unit in units if unit["text"] == "February"]
    sentence = (
        "“February” is an alarm: its best match in the source is “March” "
        "\\(margin \u2212\\d+.*, graded alarm [01]\\.\\d\\d\\)\\."
    )
    assert re.fullmatch(sentence, re.sub("[\u2068\u2069]", "", february["aria-label"]))


def test_the_color_of_a_word_is_its_graded_alarm(example: Explanation) -> None:
    units = Page(fragment(example)).with_class("estime-unit")
    colored = 0
    for unit, word in zip(units, example.words, strict=True):
        is_lacking = word.is_new or (word.verdict == "absent" and not word.is_written)
        expected = 1.0 if is_lacking else word.graded_alarm
        assert ("estime-colored" in unit["class"]) == ("style" in unit)
        if "style" not in unit:
            assert expected < LEAST_COLORED
            continue
        colored += 1
        strength = float(unit["style"].removeprefix("--estime-strength:"))
        assert strength == pytest.approx(expected, abs=0.005)
        assert (strength > ALARM_FROM) == (is_lacking or word.verdict == "alarm")
    assert colored >= example.alarms > 0


def test_the_surest_words_are_listed_and_the_others_are_behind_a_switch(
    example: Explanation,
) -> None:
    page = Page(fragment(example))
    units = page.with_class("estime-unit")
    buttons = [element for element in page.elements if "data-unit" in element]
    listed = [units[int(button["data-unit"])]["text"] for button in buttons]
    sure, every = example.surest_words(), example.surest_words(function_words=True)
    minor = [word for word in every if word.is_minor]
    assert len(sure) > 10
    assert len(every) == len(sure) + len(minor)
    assert sorted(listed) == sorted(word.text for word in [*sure[:10], *minor])
    shown = [button["text"] for button in buttons if "estime-minor" not in button.get("class", "")]
    assert len(shown) == 10
    assert shown[:3] == ["eighteen million", "after", "twelve source: four"]
    assert f"and {len(sure) - 10} more, marked in the summary" in page.texts_with_class(
        "estime-none"
    )
    assert len(page.with_class("estime-switch")) == 1


def test_a_word_that_the_source_lacks_is_colored_even_if_its_pieces_match() -> None:
    piece = UnitVerdict(0, 3, "match", Evidence(0, 3, 9.0), Evidence(0, 3, 9.0), 5.0)
    units = (piece, replace(piece, start=3, end=6))
    (unit,) = Page(fragment(explained("Karson", "Kar and son", units))).with_class("estime-unit")
    assert "estime-colored" in unit["class"]
    assert "is not in the source, although parts of it are" in unit["aria-label"]


def test_nothing_in_a_text_becomes_markup(hostile: Explanation) -> None:
    title, heading = "<script>alert(3)</script>", '"><img src=x onerror=alert(4)>'
    page = Page(to_html([hostile, hostile], title=title, headings=[heading, heading]))
    assert page.texts("img", "i") == []
    assert page.texts("script") == [html.SCRIPT]
    assert not [name for element in page.elements for name in element if name.startswith("on")]
    assert page.texts("title", "h1", "h2") == [title, title, heading, heading]
    assert page.texts_with_class("estime-signature") == [hostile.signature]
    # What HTML cannot contain is replaced, char by char.
    markup = to_html(explained("a\x00b\ud800c\r", "\x00", ()))
    assert Page(markup).pane("estime-summary") == "a\ufffdb\ufffdc\r"
    markup.encode("utf-8")


def test_the_page_loads_nothing_and_a_fragment_brings_no_script(example: Explanation) -> None:
    page = Page(to_html(example))
    assert not [element for element in page.elements if {"src", "srcset", "data"} & set(element)]
    assert "url(" not in html.STYLE
    assert "@import" not in html.STYLE
    (policy,) = [element["content"] for element in page.elements if element.get("http-equiv")]
    assert policy.startswith("default-src 'none'; ")
    assert page.texts("nav", "h2") == []  # a single pair needs no index
    assert (
        Page(fragment(example)).texts("script", "style", "link", "meta", "html", "body", "iframe")
        == []
    )


def test_several_pairs_are_on_one_page_under_an_index_with_one_legend(
    examples: list[Explanation],
) -> None:
    good, bad = examples
    shown = [*examples, explained("", "A cat.", (), signature=good.signature)]
    page = Page(to_html(shown, headings=["line 3", "line 7", "line 8"]))
    assert page.texts("h2") == ["line 8", "line 7", "line 3"]  # the worst first, a blank one is
    links = [element["href"] for element in page.elements if element["tag"] == "a"]
    assert links == ["#estime-1", "#estime-2", "#estime-3"]
    meanings = [count.meaning for count in counts(bad)]
    assert [text for text in page.texts("dd") if text in meanings] == meanings  # once
    with pytest.raises(ValueError, match="one line for each of the 3 explanations, but got 1"):
        to_html(shown, headings=["x"])
    other = replace(bad, signature="ESTIME|other")
    for second, signatures in ((bad, [good.signature]), (other, ["ESTIME|other", good.signature])):
        assert Page(to_html([good, second])).texts_with_class("estime-signature") == signatures


def test_a_comparison_shows_the_source_once_with_the_evidence_of_each_summary(
    examples: list[Explanation],
) -> None:
    page = Page(of_one_source(examples, ["Summary A", "Summary B"]))
    assert page.pane("estime-source") == examples[0].source
    summaries = page.texts_with_class("estime-text", within="estime-summary")
    assert summaries == [explanation.prediction for explanation in examples]
    assert len(page.with_class("estime-legend")) == len(page.with_class("estime-signature")) == 1
    edges = {start for start, *_ in cut(page)}
    for explanation in examples:
        assert {word.best.start for word in explanation.words if word.best} <= edges
    assert page.texts("tr")[0] == "Summary ASummary B"


def units_of(*verdicts: str) -> list[UnitVerdict]:
    """Verdicts on words of one letter each."""
    return [
        UnitVerdict(2 * number, 2 * number + 1, verdict, None, None, None)
        for number, verdict in enumerate(verdicts)
    ]


@pytest.mark.parametrize(
    ("verdicts", "unit", "remark"),
    [
        (("absent", "absent", "absent", "match"), "token", "The source has only 1 of the 4 tokens"),
        (("absent",), "word", "The summary shares no word"),
        (("absent",), "token", "The summary shares no token"),
        (("absent", "match"), "token", None),
    ],
)
def test_little_coverage_is_said(verdicts: tuple[str, ...], unit: str, remark: str | None) -> None:
    page = Page(fragment(explained("a b c d", "d and more", units_of(*verdicts), unit=unit)))
    remarks = page.texts_with_class("estime-remark")
    assert len(remarks) == (remark is not None)
    assert all(text.startswith(remark) for text in remarks)


def test_it_is_said_that_missing_tokens_count() -> None:
    whole = explained("A b c", "A", units_of("match", "absent", "absent"))
    short = replace(whole, statistics={**whole.statistics, "missing": 6.0})
    assert short.inconsistency > whole.inconsistency
    (remark,) = Page(fragment(short)).texts_with_class("estime-remark")
    assert "only 1 of the 3 tokens" in remark
    assert "The summary has 3 tokens, 6 fewer than min_tokens." in remark


def test_emptiness(empty: Explanation) -> None:
    page = Page(to_html(empty))
    (remark,) = page.texts_with_class("estime-remark")
    assert ("is empty" if not empty.tokens else "nothing was checked") in remark
    texts = {"The summary is empty.": empty.prediction, "The source is empty.": empty.source}
    assert page.texts_with_class("estime-blank") == [
        sentence for sentence, text in texts.items() if not text.strip()
    ]
    assert "There is no pair to show." in to_html([])

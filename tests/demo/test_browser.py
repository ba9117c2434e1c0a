"""What a reader sees in a real browser: of a page of explanations, and of the demo on a desk and on a
phone. That the HTML says what it should is tested in tests/show/test_html.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeScorer, Explanation
from estime_metric.examples import PATH as EXAMPLES
from estime_metric.show import to_html
from tests.browser import IN_SIGHT, chromium, problems_of
from tests.command import json_rows
from tests.demo.buttons import served
from tests.show.conftest import HOSTILE_SOURCE, HOSTILE_SUMMARY, example, examples, hostile

__all__ = ["example", "examples", "hostile"]  # fixtures

if find_spec("gradio") is None:  # which takes seconds to import
    pytest.skip("there is no gradio", allow_module_level=True)
expect = pytest.importorskip("playwright.sync_api").expect
expect.set_options(timeout=30_000)
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
ROWS = json_rows(EXAMPLES)
SOURCE = "A grey cat sat on the mat while two dogs slept behind the house. In the evening the cat went out to hunt mice."
SUMMARY = "Two cats slept on the mat. In the evening the dogs went out."
DESK, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}
SHOWN = "#result .estime-summary .estime-text"

Opener = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as launched:
        yield launched


@pytest.fixture
def opened(browser: Any) -> Iterator[Opener]:
    """Opens an address; at the end nothing may have gone wrong on the page, and no other host may have
    been asked.
    """
    contexts, problems = [], []

    def open_page(address: str, **options: Any) -> Any:
        options = {"viewport": DESK, "reduced_motion": "reduce", **options}
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        problems.append(problems_of(page, address.partition("?")[0], "data:", "blob:"))
        page.goto(address)
        expect(page.locator(".estime-alarm").first).to_be_visible()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not any(problems), problems


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of ``estime demo`` without network; at the end it must have printed no text of a
    visitor.
    """
    folder = tmp_path_factory.mktemp("demo")
    printed = folder / "printed.txt"
    command = [sys.executable, "-m", "estime_metric", "demo", "--no-browser"]
    command += ["--model", "embedded-small"]
    with served(command, folder, printed, PYTHONPATH=str(ROOT)) as url:
        yield url
    for text in (SUMMARY, "grey cat sat", "alert('x')", "zebrafinch"):
        assert text not in printed.read_text()


def evidence(page: Any) -> tuple[str, str]:
    """The texts that are marked in the source: the best match and the closest occurrence of the
    same word.
    """
    source = page.locator(".estime-source .estime-text")
    best, same = (
        source.locator(name).all_text_contents() for name in (".estime-best", ".estime-same")
    )
    return "".join(best), "".join(same)


def explain(page: Any, source: str, summary: str, other: str = "") -> None:
    for name, text in (("source", source), ("summary", summary), ("second-summary", other)):
        page.locator(f"#{name} textarea").fill(text)
    page.locator("#explain").click()


def test_a_reader_of_a_page_sees_the_evidence_of_each_word(
    opened: Opener, example: Explanation, hostile: Explanation, tmp_path: Path
) -> None:
    page_file = tmp_path / "page.html"
    page_file.write_text(to_html(example), encoding="utf-8", newline="")
    page = opened(page_file.as_uri())

    def alarm(text: str) -> Any:
        return page.locator(".estime-text .estime-alarm", has_text=text).first

    # The mouse: hovering shows, a click keeps, Escape and a click elsewhere let go.
    alarm("twelve").hover()
    assert evidence(page) == ("four", "twelve")
    page.mouse.move(5, 5)
    assert evidence(page) == ("", "")
    alarm("February").click()
    alarm("twelve").hover()
    page.mouse.move(5, 5)
    assert evidence(page) == ("March", "February")
    expect(page.locator(".estime-note")).to_contain_text("is an alarm: its best match")
    page.keyboard.press("Escape")
    assert evidence(page) == ("", "")
    page.locator(".estime-summary .estime-absent", has_text="after").first.click()
    assert evidence(page)[0]
    page.locator(".estime-signature").click()
    assert evidence(page) == ("", "")

    # The keyboard reaches the surest words in order, and from there each word.
    page.locator(".estime-summary .estime-text").focus()
    surest = example.surest_words()
    for word in [word for word in example.words if word in surest]:
        page.keyboard.press("Tab")
        active = page.evaluate("document.activeElement.textContent")
        assert active == example.prediction[word.start : word.end]
        assert evidence(page)[0] == example.source[word.best.start : word.best.end]
    alarm("twelve").focus()
    for key, expected in (("ArrowRight", "of"), ("ArrowLeft", "twelve"), ("Enter", "twelve")):
        page.keyboard.press(key)
        assert page.locator(".estime-active").all_text_contents() == [expected]

    # The list below the summary.
    shown = page.locator(".estime-surest button:visible")
    shown.filter(has_text="twelve source").click()
    assert evidence(page) == ("four", "twelve")
    page.locator(".estime-switch").check()
    minor = len(example.surest_words(function_words=True)) - len(surest)
    assert shown.count() == 10 + minor > 10

    # Several pairs, each with its own evidence, and texts that would do harm.
    page_file.write_text(to_html([example, hostile]), encoding="utf-8", newline="")
    page.reload()
    alarm("February").click()
    pairs = [page.locator(f"#estime-{number} .estime-text .estime-best") for number in (1, 2)]
    assert sorted(pair.all_text_contents() for pair in pairs) == [[], ["March"]]
    for unit in page.locator(".estime-unit").all():
        unit.dispatch_event("click")


def test_a_visitor_explains_and_compares(opened: Opener, demo: str) -> None:
    page = opened(demo)
    shown, notice = page.locator(SHOWN), page.locator("#result .demo-notice")
    expect(shown).to_have_text(ROWS[3]["summary"])  # it opens with an example explained
    page.get_by_text("How to read this").click()
    expect(page.get_by_text("No threshold separates good from bad")).to_be_visible()
    page.get_by_text("Compare: Morgenrot").click()
    expect(shown).to_have_text([ROWS[4]["summary"], ROWS[5]["summary"]])
    for summary in range(2):  # both point into the one source
        page.locator("#result .estime-summary").nth(summary).locator(".estime-unit").nth(1).click()
        expect(page.locator("#result .estime-active")).to_have_count(1)
        expect(page.locator("#result .estime-source .estime-best")).to_have_count(1)

    explain(page, SOURCE, SUMMARY)
    expect(shown).to_have_text([SUMMARY])
    expect(page.locator("#result .estime-active")).to_have_count(0)  # nothing chosen stays
    explanation = EstimeScorer(model="embedded-small").explain(SUMMARY, SOURCE)
    mark = f"Summary {explanation.inconsistency:.3f}"
    expect(page.locator("#result .demo-mark")).to_have_text(mark)
    expect(page.locator("#result .estime-signature")).to_have_text(explanation.signature)

    explain(page, HOSTILE_SOURCE, HOSTILE_SUMMARY, HOSTILE_SUMMARY)
    expect(shown).to_have_count(2)
    expect(shown.first).to_have_text(HOSTILE_SUMMARY.replace("\r", ""))
    explain(page, "zebrafinch " * 2000, SUMMARY)
    expect(page.locator("#result")).to_contain_text("the limit of this page is 20,000")
    explain(page, SOURCE, SUMMARY)
    expect(shown).to_have_text([SUMMARY])
    page.locator("#summary textarea").evaluate(
        """element => { element.value = "zebrafinch \\ud800"; element.dispatchEvent(new Event("input")); }"""
    )
    page.locator("#explain").click()
    expect(notice).to_contain_text("lone surrogate")

    client = pytest.importorskip("gradio_client").Client(demo, verbose=False)
    endpoints = client.view_api(print_info=False, return_format="dict")["named_endpoints"]
    assert list(endpoints) == ["/explain"]
    parameters = endpoints["/explain"]["parameters"]
    assert [parameter["parameter_name"] for parameter in parameters] == ["source", "summary"]
    answer = client.predict(SOURCE, SUMMARY, api_name="/explain")
    assert answer["inconsistency"] == pytest.approx(explanation.inconsistency)
    with pytest.raises(Exception, match="is blank"):
        client.predict(SOURCE, " ", api_name="/explain")


def test_on_a_phone_it_fits_and_evidence_far_down_a_source_is_brought_to_sight(
    opened: Opener, demo: str
) -> None:
    page = opened(f"{demo}?__theme=dark", viewport=PHONE, has_touch=True)
    source = " ".join(ROWS[index]["source"] for index in (5, 1, 7))
    summary = ROWS[7]["summary"]
    explain(page, source, summary)
    expect(page.locator(SHOWN)).to_have_text([summary])
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    explanation = EstimeScorer(model="embedded-small").explain(summary, source)
    alarms = [word for word in explanation.words if word.verdict == "alarm"]
    index, alarm = next(
        (number, word) for number, word in enumerate(alarms) if word.best.start > len(source) - 500
    )
    page.locator("#result .estime-unit.estime-alarm").nth(index).tap()
    best = "#result .estime-source .estime-best"
    expect(page.locator(best)).to_have_text(source[alarm.best.start : alarm.best.end])
    page.wait_for_function(IN_SIGHT, arg=best)
    page.wait_for_function(IN_SIGHT, arg="#result .estime-source .estime-text")


def test_a_long_request_can_be_stopped(opened: Opener, demo: str) -> None:
    page = opened(demo)
    before = page.locator(SHOWN).text_content()
    waiting = page.locator("#result > .translucent")
    for number in range(3):
        towns = " ".join(f"Town {number}-{town} has a bridge." for town in range(400))
        with page.expect_response("**/queue/data?*"):
            explain(page, towns, SUMMARY)
        expect(waiting).to_contain_text("processing")
        page.locator("#stop").click()
        expect(waiting).to_have_count(0)
        expect(page.locator(SHOWN)).to_have_text(before)
    explain(page, SOURCE, SUMMARY)
    expect(page.locator(SHOWN)).to_have_text(SUMMARY)

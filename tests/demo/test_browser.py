"""The demo in a real browser, as its visitors meet it."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from estime_metric import EstimeScorer
from estime_metric.examples import PATH as EXAMPLES
from tests.browser import CONTRASTS, IN_SIGHT, STICKING_OUT, chromium, problems_of
from tests.command import json_rows
from tests.demo.buttons import served

if find_spec("gradio") is None:  # which takes seconds to import
    pytest.skip("there is no gradio", allow_module_level=True)
expect = pytest.importorskip("playwright.sync_api").expect
expect.set_options(timeout=30_000)
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
ROWS = json_rows(EXAMPLES)
SOURCE = "A grey cat sat on the mat while two dogs slept behind the house. In the evening the cat went out to hunt mice."
SUMMARY = "Two cats slept on the mat. In the evening the dogs went out."
DESK, PHONE = (1280, 860), (390, 844)
HOSTILE = (
    "A cat sat on the mat. <script>window.hit = 1</script> <img src=x onerror='window.hit = 2'> {{constructor}} "
    '${window.hit = 3} `${window.hit = 4}` </div></textarea> <b onmouseover="window.hit = 5">dog</b> & &lt; @children'
)
#: No text of a visitor may show up in what the demo prints; each test's texts are among these.
SECRETS = [SUMMARY, "grey cat sat", "window.hit", "Morgenrot", "zebrafinch"]
SHOWN = "#result .estime-summary .estime-text"

Opener = Callable[..., Any]


class Demo(NamedTuple):
    """Where a demo is served, the file that has what it prints, and what a browser keeps of its
    page.
    """

    url: str
    printed: Path
    context: Any


@pytest.fixture(scope="module")
def scorer() -> EstimeScorer:
    return EstimeScorer(model="embedded-small")


@pytest.fixture(scope="module")
def demo(bert_folder: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """``estime demo`` with a second encoder, without network; at the end it must have printed no
    text of a visitor.
    """
    folder = tmp_path_factory.mktemp("demo")
    printed = folder / "printed.txt"
    command = [sys.executable, "-m", "estime_metric", "demo", "--no-browser"]
    command += ["--model", "embedded-small", "--model", bert_folder]
    with chromium() as browser, served(command, folder, printed, PYTHONPATH=str(ROOT)) as url:
        yield Demo(url, printed, browser.new_context())
    assert not [secret for secret in SECRETS if secret in printed.read_text()]


@pytest.fixture
def opened(demo: Demo) -> Iterator[Opener]:
    """Opens the page; at the end nothing may have gone wrong in it, and no other host may have been
    asked.
    """
    pages: list[Any] = []
    problems: list[list[str]] = []

    def open_page(size: tuple[int, int] = DESK, theme: str = "light") -> Any:
        # The first page has the scripts from the cache; another visitor has separate connections.
        page = (demo.context.browser.new_context() if pages else demo.context).new_page()
        pages.append(page)
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.set_default_timeout(30_000)
        problems.append(problems_of(page, demo.url, "data:", "blob:"))
        page.goto(f"{demo.url}?__theme={theme}")
        expect(page.locator("#result .estime-alarm").first).to_be_visible()
        return page

    yield open_page
    for page in pages:
        page.close()
    assert not any(problems), problems


@pytest.fixture
def page(opened: Opener) -> Any:
    return opened()


def fill(page: Any, source: str, summary: str, other: str = "") -> None:
    for name, text in (("source", source), ("summary", summary), ("second-summary", other)):
        page.locator(f"#{name} textarea").fill(text)
    page.locator("#explain").click()


def alarms(page: Any) -> int:
    named = page.locator("dt", has_text=re.compile("^alarms$"))
    number = page.locator("#result .estime-count").filter(has=named).locator(".estime-number")
    expect(number).to_have_text(re.compile(r"^\s*\d+\s*$"), use_inner_text=True)  # drawn anew
    return int(number.inner_text())


def open_settings(page: Any) -> None:
    page.get_by_role("button", name=re.compile("^Settings for experts")).click()
    expect(page.locator("#unit")).to_be_visible()


def choose_model(page: Any, name: str | re.Pattern[str]) -> None:
    page.locator("#model input").click()
    page.get_by_role("option", name=name, exact=isinstance(name, str)).click()


def read_well(page: Any, width: int) -> None:
    """Nothing runs out of the page to the side, and every text stands out from its ground."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(STICKING_OUT) == []
    contrasts = page.evaluate(
        CONTRASTS,
        "h1, h3, h4, p, li, th, td, dt, dd, figcaption, label > span, .demo-line span, button:not(#explain, footer *), "
        ".estime-text, .estime-unit, .estime-best, .estime-same",
    )
    assert len(contrasts) > 20
    assert not [(text, contrast) for text, contrast in contrasts if contrast < 4.5]


def test_it_opens_with_an_example_explained_and_explains_another_and_ones_own(
    page: Any, scorer: EstimeScorer
) -> None:
    assert page.title() == "ESTIME"
    summary, source = (
        page.locator(f"#{name} textarea").input_value() for name in ("summary", "source")
    )
    assert {"source": source, "summary": summary}.items() <= ROWS[3].items()
    assert alarms(page) == scorer.explain(summary, source).alarms > 0
    expect(page.locator("#result .estime-signature")).to_have_text(scorer.signature)
    page.get_by_text("How to read this").click()
    expect(page.get_by_text("No threshold separates good from bad")).to_be_visible()

    page.get_by_text("Explain: Morgenrot").click()
    expect(page.locator(SHOWN)).to_have_text(ROWS[5]["summary"])
    assert alarms(page) == scorer.explain(ROWS[5]["summary"], ROWS[5]["source"]).alarms

    fill(page, SOURCE, SUMMARY)
    expect(page.locator(SHOWN)).to_have_text(SUMMARY)
    shown = scorer.explain(SUMMARY, SOURCE)
    assert alarms(page) == shown.alarms
    marked = page.locator("#result .estime-unit.estime-alarm").all_inner_texts()
    assert marked == [
        SUMMARY[word.start : word.end] for word in shown.words if word.verdict == "alarm"
    ]
    listed = page.locator("#result .estime-surest button:visible")
    first = shown.surest_words()[0]
    expect(listed.first).to_contain_text(SUMMARY[first.start : first.end])
    expect(page.locator("#result .demo-mark")).to_have_text(f"Summary {shown.inconsistency:.3f}")


@pytest.mark.parametrize(
    ("size", "theme"), [(DESK, "light"), (PHONE, "dark")], ids=["desktop-light", "phone-dark"]
)
def test_it_fits_and_can_be_read_and_a_clicked_alarm_shows_its_evidence(
    opened: Opener, scorer: EstimeScorer, size: tuple[int, int], theme: str
) -> None:
    page = opened(size, theme)
    page.add_style_tag(content="* { transition: none !important; }")  # colors would fade in
    assert page.evaluate("document.body.classList.contains('dark')") == (theme == "dark")
    page.locator("#result .estime-unit.estime-alarm").first.click()
    page.get_by_text("How to read this").click()
    open_settings(page)
    read_well(page, size[0])
    page.get_by_text("Compare: Morgenrot").click()
    expect(page.locator(SHOWN)).to_have_text([ROWS[4]["summary"], ROWS[5]["summary"]])
    read_well(page, size[0])
    source, summary = (
        ROWS[5]["source"] + " " + ROWS[1]["source"] + " " + ROWS[7]["source"],
        ROWS[7]["summary"],
    )
    fill(
        page, source, summary
    )  # the evidence is at the end of a long source, out of sight at first
    expect(page.locator(SHOWN)).to_have_text([summary])
    alarmed = [word for word in scorer.explain(summary, source).words if word.verdict == "alarm"]
    index, alarm = next(
        (n, word) for n, word in enumerate(alarmed) if word.best.start > len(source) - 500
    )
    clicked = page.locator("#result .estime-alarm.estime-unit").nth(index)
    expect(clicked).to_have_text(summary[alarm.start : alarm.end])
    clicked.scroll_into_view_if_needed()
    clicked.click()
    best = "#result .estime-source .estime-best"
    expect(page.locator(best)).to_have_text(source[alarm.best.start : alarm.best.end])
    page.wait_for_function(IN_SIGHT, arg=best)  # it is scrolled to
    if size == PHONE:  # the source is docked to the lower edge
        assert page.locator("#result .estime-source").bounding_box()["height"] < 300
        assert page.evaluate(IN_SIGHT, "#result .estime-source .estime-text")
    expect(page.locator("#result .estime-note")).to_contain_text("is an alarm")


def test_unit_layer_and_encoder_change_the_result_and_nothing_chosen_stays(
    page: Any, bert_folder: str, tmp_path: Path
) -> None:
    pair = ROWS[3]["summary"], ROWS[3]["source"]
    signature = page.locator("#result .estime-signature")
    open_settings(page)
    page.locator("#result .estime-unit.estime-alarm").first.click()
    page.mouse.move(1, 1)
    expect(page.locator("#result .estime-active")).to_have_count(1)
    page.locator("#unit").get_by_text("words").click()
    words = EstimeScorer(model="embedded-small", unit="word")
    expect(signature).to_have_text(words.signature)
    assert alarms(page) == words.explain(*pair).alarms
    page.locator("#result .estime-unit.estime-match").first.hover()
    page.mouse.move(1, 1)
    expect(page.locator("#result .estime-active")).to_have_count(0)
    number, slider = (page.locator(f"#layer input[type={kind}]") for kind in ("number", "range"))
    number.fill("2")
    number.press("Tab")
    second = EstimeScorer(model="embedded-small", unit="word", layers=2)
    expect(signature).to_have_text(second.signature)
    assert alarms(page) == second.explain(*pair).alarms != words.explain(*pair).alarms
    slider.focus()
    slider.press("ArrowRight")
    expect(signature).to_have_text(
        EstimeScorer(model="embedded-small", unit="word", layers=3).signature
    )

    page.locator("#unit").get_by_text("tokens").click()
    choose_model(page, Path(bert_folder).name)
    other = EstimeScorer(model=bert_folder)
    expect(signature).to_have_text(other.signature)
    assert alarms(page) == other.explain(*pair).alarms
    expect(slider).to_have_attribute("max", str(other.encoder.info.blocks))
    number.fill("1")
    number.press("Tab")
    expect(signature).to_contain_text("|layers:1|")
    notice = page.locator("#result .demo-notice")
    choose_model(page, re.compile("bert-large-uncased-whole-word-masking"))
    expect(notice).to_contain_text("cannot be loaded: it is not in the local cache")

    # Any encoder may be typed in.
    copy = shutil.copytree(bert_folder, tmp_path / "mine")
    page.locator("#model input").fill(str(copy))
    page.locator("#model input").press("Enter")
    expect(signature).to_have_text(EstimeScorer(model=str(copy)).signature)
    page.locator("#model input").fill("/no/such/<b>encoder</b>")
    page.locator("#model input").press("Enter")
    expect(notice).to_contain_text("The encoder /no/such/<b>encoder</b> cannot be loaded:")


def test_hostile_long_and_empty_texts_and_other_scripts(page: Any, demo: Demo) -> None:
    """That no text is printed is seen where the server ends."""
    emoji = "\U0001f469\u200d\U0001f680 \U0001f1e9\U0001f1f0"
    source = (
        f"\u05d4\u05d7\u05ea\u05d5\u05dc \u05d9\u05e9\u05df. The cat {emoji} sleeps, cafe\u0301!"
    )
    fill(page, source, source)
    text = page.locator(SHOWN)
    expect(text).to_have_text(source)
    assert text.evaluate("element => element.textContent") == source
    assert text.evaluate("element => getComputedStyle(element).direction") == "rtl"
    fill(page, HOSTILE, HOSTILE)
    for side in ("summary", "source"):
        text = page.locator(f"#result .estime-{side} .estime-text")
        expect(text).to_have_text(HOSTILE)
        assert text.evaluate("element => element.textContent") == HOSTILE
        assert text.locator("script, img, b").count() == 0
    page.locator("#result .estime-unit").nth(3).hover()
    page.locator("#result .estime-unit").nth(3).click()
    fill(page, HOSTILE, HOSTILE, HOSTILE)
    expect(page.locator(SHOWN)).to_have_text([HOSTILE, HOSTILE])
    assert page.evaluate("window.hit") is None

    notice = page.locator("#result .demo-notice")
    fill(page, "zebrafinch " * 2000, SUMMARY)
    expect(notice).to_contain_text(
        "The source has 22,000 characters; the limit of this page is 20,000."
    )
    fill(page, "a " * 4500, SUMMARY)
    shown = "The source has 4,500 tokens of embedded-small (small, in the package); the limit of this page is 4,000."
    expect(notice).to_contain_text(shown)
    fill(page, SOURCE, " ")
    expect(page.locator("#result .estime-remark")).to_contain_text("The summary is empty")
    assert alarms(page) == 0
    page.locator("#summary textarea").evaluate(
        """element => { element.value = "zebrafinch \\ud800"; element.dispatchEvent(new Event("input")); }"""
    )
    page.locator("#explain").click()
    expect(notice).to_contain_text("lone surrogate")
    assert "a request failed with" in demo.printed.read_text()
    fill(page, SUMMARY, SOURCE)
    expect(notice).to_contain_text("swapped")
    fill(page, SOURCE, SUMMARY)
    expect(page.locator(SHOWN)).to_have_text(SUMMARY)
    expect(notice).to_have_count(0)

    # While a new result is computed, the old one is hidden: Gradio then marks it, here again and
    # again.
    ghost = page.locator("#result .estime-counts")
    expect(ghost).to_be_visible()
    page.locator("#result > [data-testid=status-tracker]").evaluate(
        "element => { setInterval(() => element.classList.add('translucent'), 50); }"
    )
    expect(ghost).to_be_hidden()


def test_two_summaries_are_compared(page: Any, scorer: EstimeScorer) -> None:
    fill(page, SOURCE, SUMMARY, SOURCE[:64])
    expect(page.locator(SHOWN)).to_have_text([SUMMARY, SOURCE[:64]])
    result = scorer.score_candidates([SUMMARY, SOURCE[:64]], SOURCE)
    rows = page.locator("#result tbody tr")
    # The text before its meaning is the measure's name.
    names = rows.locator("th").evaluate_all("all => all.map((one) => one.firstChild.data.trim())")
    assert {"alarms", "inconsistency"} <= set(names)
    for index, name in enumerate(names):
        shown = [float(number) for number in rows.nth(index).locator("td").all_inner_texts()]
        values = result.values(name.replace(" ", "_")).tolist()
        assert shown == pytest.approx(values, abs=0.005), name
    assert result.values("inconsistency")[1] < result.values("inconsistency")[0]
    expect(page.locator("#result .demo-verdict")).to_contain_text(
        "The second summary has a lower inconsistency than the first"
    )
    expect(page.locator("#result .demo-mark")).to_have_count(2)
    for part in (".estime-source", ".estime-legend", ".estime-signature"):
        expect(page.locator(f"#result {part}")).to_have_count(1)
    for summary in range(2):  # both point into the one source
        page.locator("#result .estime-summary").nth(summary).locator(".estime-unit").nth(1).click()
        expect(page.locator("#result .estime-active")).to_have_count(1)
        expect(page.locator("#result .estime-source .estime-best")).to_have_count(1)


def test_one_endpoint_is_public_typed_and_documented(demo: Demo, scorer: EstimeScorer) -> None:
    client = pytest.importorskip("gradio_client").Client(demo.url, verbose=False)
    endpoints = client.view_api(print_info=False, return_format="dict")["named_endpoints"]
    assert list(endpoints) == ["/explain"]
    parameters = endpoints["/explain"]["parameters"]
    assert [parameter["parameter_name"] for parameter in parameters] == ["source", "summary"]
    assert [parameter["python_type"]["type"] for parameter in parameters] == ["str", "str"]
    assert "lower is better" in endpoints["/explain"]["description"]
    answer = client.predict(SOURCE, SUMMARY, api_name="/explain")
    assert answer["inconsistency"] == pytest.approx(scorer.explain(SUMMARY, SOURCE).inconsistency)
    with pytest.raises(Exception, match="not blank"):
        client.predict(SOURCE, " ", api_name="/explain")

"""The page in a real browser: evidence is shown at hover, focus, click and tap, and hostile texts
stay texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from estime_metric import Explanation
from estime_metric.explanation import Evidence
from estime_metric.show import to_html
from estime_metric.show.html import SCRIPT
from tests.browser import IN_SIGHT, STICKING_OUT, chromium, problems_of

WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 780}

Opened = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as launched:
        yield launched


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Opened]:
    """Writes explanations to a page and opens it; at the end there may be no error, no dialog and
    no request.
    """
    contexts, problems = [], []

    def open_page(shown: Explanation | list[Explanation], **options: Any) -> Any:
        path = tmp_path / "page.html"
        path.write_text(to_html(shown), encoding="utf-8", newline="")
        context = browser.new_context(reduced_motion="reduce", **{"viewport": WIDE, **options})
        contexts.append(context)
        page = context.new_page()
        page_problems = problems_of(page, "file:")
        page.on("console", lambda message: page_problems.append(message.text))  # whatever its kind
        problems.append(page_problems)
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not any(problems), problems


def alarm(page: Any, text: str) -> Any:
    return page.locator(".estime-alarm", has_text=text).first


def evidence(page: Any) -> tuple[str, str]:
    """The texts that are marked in the source: the best match and the closest occurrence of the
    same word.
    """
    source = page.locator(".estime-source .estime-text")
    best, same = (
        source.locator(name).all_text_contents() for name in (".estime-best", ".estime-same")
    )
    return "".join(best), "".join(same)


def note(page: Any) -> str:
    return (
        str(page.locator(".estime-note").first.text_content())
        .replace("\u2068", "")
        .replace("\u2069", "")
    )


def test_hovering_shows_the_evidence_a_click_keeps_it_and_escape_lets_go(
    opened: Opened, example: Explanation
) -> None:
    page = opened(example)
    assert evidence(page) == ("", "")
    alarm(page, "twelve").hover()
    assert evidence(page) == ("four", "twelve")
    page.mouse.move(5, 5)
    assert evidence(page) == ("", "")
    assert note(page).startswith("Point at a word")
    alarm(page, "February").click()
    assert note(page).startswith(
        "“February” is an alarm: its best match in the source is “March” (margin \u2212"
    )
    alarm(page, "twelve").hover()
    page.mouse.move(5, 5)
    page.locator(".estime-source .estime-text").click(
        position={"x": 5, "y": 5}
    )  # reading the source loses nothing
    assert evidence(page) == ("March", "February")
    alarm(page, "February").focus()
    page.keyboard.press("Escape")
    assert evidence(page) == ("", "")
    alarm(page, "February").click()
    page.locator(".estime-signature").click()
    assert evidence(page) == ("", "")

    # Words that match or are absent show their evidence too.
    page.locator(".estime-summary .estime-match", has_text="bridge").first.click()
    assert evidence(page) == ("bridge", "bridge")
    assert "is a match" in note(page)
    page.locator(".estime-summary .estime-absent", has_text="after").first.click()
    best, same = evidence(page)
    assert best
    assert not same
    assert "not in the source, so it is not checked" in note(page)


def test_the_keyboard_reaches_every_alarm_in_order(opened: Opened, example: Explanation) -> None:
    page = opened(example)
    page.locator(".estime-summary .estime-text").focus()
    surest = example.surest_words()
    for word in [word for word in example.words if word in surest]:
        page.keyboard.press("Tab")
        active = page.evaluate("document.activeElement.textContent")
        assert active == example.prediction[word.start : word.end]
        assert evidence(page)[0] == example.source[word.best.start : word.best.end]
    alarm(page, "twelve").focus()
    page.evaluate(SCRIPT)  # running it again changes nothing
    for key, expected in (
        ("ArrowRight", "of"),
        ("ArrowRight", "its"),
        ("ArrowLeft", "of"),
        ("Enter", "of"),
    ):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.textContent") == expected
        assert page.locator(".estime-active").all_text_contents() == [expected]


def test_a_listed_word_shows_its_unit_and_evidence_and_a_switch_shows_all(
    opened: Opened, example: Explanation
) -> None:
    page = opened(example)
    listed = page.locator(".estime-surest button", has_text="twelve source")
    listed.click()
    page.mouse.move(5, 5)
    assert page.locator(".estime-active").all_text_contents() == ["twelve"]
    assert evidence(page) == ("four", "twelve")
    minor = page.locator(".estime-text .estime-alarm.estime-minor").first
    line = "(element) => getComputedStyle(element).textDecorationLine"
    shown = page.locator(".estime-surest button:visible")
    before = shown.count()
    assert minor.evaluate(line) == "none"
    page.locator(".estime-switch").check()
    assert minor.evaluate(line) == "underline"
    assert (before, shown.count()) == (
        len(example.surest_words()),
        len(example.surest_words(function_words=True)),
    )


@pytest.mark.parametrize("phone", [False, True])
def test_evidence_far_down_the_source_is_brought_to_sight(
    opened: Opened, example: Explanation, phone: bool
) -> None:
    filling = "Filling words. " * 150

    def moved(evidence: Evidence | None) -> Evidence | None:
        return evidence and replace(
            evidence, start=evidence.start + len(filling), end=evidence.end + len(filling)
        )

    units = tuple(
        replace(word, best=moved(word.best), same=moved(word.same)) for word in example.words
    )
    source = filling + example.source + " " + filling * 3
    shown = Explanation(example.prediction, source, units, "word", 1, "")
    page = opened(shown, viewport=PHONE if phone else WIDE, has_touch=phone)

    def touch(text: str) -> None:
        alarm(page, text).tap() if phone else alarm(page, text).hover()
        assert page.evaluate(IN_SIGHT, ".estime-best")

    touch("Harwick")
    assert evidence(page) == ("town", "Harwick")
    alarm(page, "it").scroll_into_view_if_needed()
    before = page.evaluate("window.scrollY")
    touch("cyclists")
    if not phone:
        assert page.evaluate("window.scrollY") == before


@pytest.mark.parametrize("viewport", [WIDE, PHONE])
def test_hostile_texts_do_nothing_and_fit(
    opened: Opened, hostile: Explanation, viewport: dict[str, int]
) -> None:
    page = opened([hostile, hostile], viewport=viewport)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert page.evaluate(STICKING_OUT) == []
    page.locator(".estime-key .estime-sample").first.click()
    shown = page.locator(".estime-summary .estime-text").first.text_content()
    assert shown == hostile.prediction
    assert page.locator(".estime-source .estime-text").first.text_content() == hostile.source
    for unit in page.locator("#estime-1 .estime-unit").all():
        unit.dispatch_event("click")
    assert page.locator("img").count() == 0


def test_each_pair_shows_its_own_evidence_and_samples_are_whole(
    opened: Opened, examples: list[Explanation]
) -> None:
    page = opened(examples)
    worst = page.locator("#estime-1")
    worst.locator(".estime-alarm", has_text="February").click()
    assert worst.locator(".estime-text .estime-best").all_text_contents() == ["March"]
    assert page.locator("#estime-2 .estime-text .estime-best").count() == 0
    headers = page.locator(".estime-index th")
    assert headers.evaluate_all("all => all.every((one) => one.scrollWidth <= one.clientWidth)")
    spilled = page.locator(".estime-legend").evaluate("""(legend) =>
        [...legend.querySelectorAll(".estime-sample")].map((sample) => {
            const outer = legend.getBoundingClientRect(), own = sample.getBoundingClientRect();
            return Math.max(outer.top - own.top, own.bottom - outer.bottom);
        })""")
    assert len(spilled) >= 4
    assert max(spilled) <= 0.5


def covered(page: Any, selector: str) -> float:
    """How many pixels of an element are beneath the source."""
    script = """(element) => {
        const source = element.closest(".estime").querySelector(".estime-source").getBoundingClientRect();
        return element.getBoundingClientRect().bottom - source.top;
    }"""
    return float(page.locator(selector).first.evaluate(script))


def test_on_a_phone_the_source_covers_neither_summary_nor_word(
    opened: Opened, example: Explanation
) -> None:
    page = opened(example, viewport=PHONE, has_touch=True)
    last = page.locator(".estime-unit.estime-alarm").last
    for _ in range(2):
        assert covered(page, ".estime-summary") <= 0
        last.evaluate("(element) => element.scrollIntoView({block: 'end'})")
        last.tap()
        assert covered(page, ".estime-active") <= 0
        assert page.evaluate(IN_SIGHT, ".estime-best")
        page.keyboard.press("Escape")


def brightness(color: str) -> float:
    """0 to 255, of a color as browsers write it."""
    return sum(map(int, color.removeprefix("rgb(").removesuffix(")").split(","))) / 3


@pytest.mark.parametrize(
    ("system", "hosts"),
    [
        ("light", {"dark": True, "gradio-container": False}),
        ("dark", {"gradio-container": False, "gradio-container dark": True, "": True}),
    ],
)
def test_light_or_dark_as_around_it(
    opened: Opened, example: Explanation, system: str, hosts: dict[str, bool]
) -> None:
    page = opened(example, color_scheme=system)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert brightness(ground) > 200 if system == "light" else brightness(ground) < 60
    move = """(host) => {
        const box = document.createElement("div");
        box.className = host;
        box.append(document.querySelector(".estime"));
        document.body.className = "";
        document.body.append(box);
    }"""
    for host, dark in hosts.items():
        page.evaluate(move, host)
        ink = page.locator(".estime-text").first.evaluate(
            "(element) => getComputedStyle(element).color"
        )
        assert (brightness(ink) > 128) == dark, host

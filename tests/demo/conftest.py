"""The demo, served to a real browser: its fixtures, and what its visitors do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from estime_metric import EstimeScorer
from estime_metric.examples import PATH as EXAMPLES
from tests.browser import chromium, find_browser
from tests.demo.serving import COMMAND, Server, free_port, serving

ROWS = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]
SOURCE = (
    "A grey cat sat on the mat while two dogs slept behind the house. In the evening the cat went out to hunt mice."
)
SUMMARY = "Two cats slept on the mat. In the evening the dogs went out."
DESK, PHONE = (1280, 860), (390, 844)
HOSTILE = (
    "A cat sat on the mat. <script>window.hit = 1</script> <img src=x onerror='window.hit = 2'> {{constructor}} "
    '${window.hit = 3} `${window.hit = 4}` </div></textarea> <b onmouseover="window.hit = 5">dog</b> & &lt; @children'
)
#: No text of a visitor may show up in what the demo prints; each test's texts are among these.
SECRETS: list[str] = [SUMMARY, "grey cat sat", "window.hit", "Morgenrot", "zebrafinch"]


def expected_soon() -> Any:
    """Playwright's ``expect``, patient; tests that ask for it are skipped where the demo or a browser is missing."""
    pytest.importorskip("gradio")
    expect = pytest.importorskip("playwright.sync_api").expect
    expect.set_options(timeout=30_000)
    return expect


@pytest.fixture(scope="module")
def context() -> Iterator[Any]:
    """Of all pages, so that each after the first has the page's scripts from the cache."""
    with chromium() as browser:
        yield browser.new_context()


@pytest.fixture(scope="session")
def server(bert_folder: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """``estime demo`` with a second encoder on offer; at the end it must have printed no text of a visitor."""
    find_browser()
    arguments = [*COMMAND, "--model", "embedded-small", "--model", bert_folder]
    port = free_port()
    with serving([*arguments, "--port", str(port)], tmp_path_factory.mktemp("demo"), port) as server:
        yield server
    printed = server.printed.read_text()
    assert "Running on local URL" in printed
    assert not [secret for secret in SECRETS if secret in printed]


Opener = Callable[..., Any]


@pytest.fixture
def opened(context: Any, server: Server) -> Iterator[Opener]:
    """Opens the page; at the end nothing may have gone wrong in it, and no other host may have been asked."""
    pages: list[Any] = []
    problems: list[str] = []

    def open_page(size: tuple[int, int] = DESK, theme: str = "light") -> Any:
        # Another visitor has a browser of its own, with connections of its own.
        page = (context.browser.new_context() if pages else context).new_page()
        page.set_viewport_size({"width": size[0], "height": size[1]})
        pages.append(page)
        page.set_default_timeout(30_000)
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        own = (server.url, "data:", "blob:")
        page.on("request", lambda request: None if request.url.startswith(own) else problems.append(request.url))
        page.goto(f"{server.url}?__theme={theme}")
        expected_soon()(page.locator("#explained .estime-alarm").first).to_be_visible()
        return page

    yield open_page
    for page in pages:
        page.close()
    assert not problems


@pytest.fixture
def page(opened: Opener) -> Any:
    return opened()


@pytest.fixture(scope="session")
def scorer() -> EstimeScorer:
    return EstimeScorer(model="embedded-small")


def fill(page: Any, source: str, summary: str) -> None:
    page.locator("#source textarea").fill(source)
    page.locator("#summary textarea").fill(summary)
    page.locator("#explain").click()


def alarms(page: Any, where: str = "#explained") -> int:
    number = page.locator(f"{where} .estime-number").first
    expected_soon()(number).to_have_text(re.compile(r"^\s*\d+\s*$"), use_inner_text=True)  # drawn anew
    return int(number.inner_text())


def choose(page: Any, where: str, name: str | re.Pattern[str]) -> None:
    """Picks from a drop-down list."""
    page.locator(f"{where} input").click()
    page.get_by_role("option", name=name, exact=isinstance(name, str)).click()

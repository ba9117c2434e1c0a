"""The demo, served to a real browser: its fixtures, and what its visitors do."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeScorer
from estime_metric.examples import PATH as EXAMPLES
from tests.browser import chromium

ROOT = Path(__file__).resolve().parents[2]
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

Opener = Callable[..., Any]


def expected_soon() -> Any:
    """Playwright's ``expect``, patient; tests that ask for it are skipped where the demo or a browser is missing."""
    if find_spec("gradio") is None:  # which takes seconds to import
        pytest.skip("there is no gradio", allow_module_level=True)
    expect = pytest.importorskip("playwright.sync_api").expect
    expect.set_options(timeout=30_000)
    return expect


@dataclass
class Demo:
    """Where a demo is served, the file that has what it prints, a browser, and what went wrong in its pages."""

    url: str
    printed: Path
    browser: Any
    problems: list[str] = field(default_factory=list)

    def open(self, context: Any, size: tuple[int, int], theme: str) -> Any:
        page = context.new_page()
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.set_default_timeout(30_000)
        page.on("console", lambda message: self.problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", lambda dialog: (self.problems.append(dialog.message), dialog.dismiss()))
        own = (self.url, "data:", "blob:")
        page.on("request", lambda request: None if request.url.startswith(own) else self.problems.append(request.url))
        page.goto(f"{self.url}?__theme={theme}")
        expected_soon()(page.locator("#explained .estime-alarm").first).to_be_visible()
        return page


@pytest.fixture(scope="module")
def demo(bert_folder: str, scorer: EstimeScorer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """``estime demo`` with a second encoder, without network; at the end it must have printed no text of a visitor."""
    folder = tmp_path_factory.mktemp("demo")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    arguments = ["--no-browser", "--port", str(port), "--model", "embedded-small", "--model", bert_folder]
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(folder),
        "GRADIO_TEMP_DIR": str(folder / "files"),
    }
    with chromium() as browser, (folder / "printed.txt").open("wb") as stream:
        command = [sys.executable, "-c", "from estime_metric.cli import app; app()", "demo", *arguments]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=stream, stderr=subprocess.STDOUT)
        demo = Demo(f"http://127.0.0.1:{port}/", folder / "printed.txt", browser)
        try:
            scorer.load()  # while the demo starts
            end = time.monotonic() + 180
            while "Running on local URL" not in demo.printed.read_text():
                assert process.poll() is None and time.monotonic() < end, demo.printed.read_text()  # noqa: PT018
                time.sleep(0.1)
            yield demo
        finally:
            process.terminate()
            process.wait(timeout=30)
    assert not [secret for secret in SECRETS if secret in demo.printed.read_text()]


@pytest.fixture(scope="module")
def context(demo: Demo) -> Any:
    """Of the first page of each test, so that it has the page's scripts from the cache."""
    return demo.browser.new_context()


@pytest.fixture
def opened(demo: Demo, context: Any) -> Iterator[Opener]:
    """Opens the page; at the end nothing may have gone wrong in it, and no other host may have been asked."""
    pages: list[Any] = []

    def open_page(size: tuple[int, int] = DESK, theme: str = "light") -> Any:
        # Another visitor has a browser of its own, with connections of its own.
        pages.append(demo.open(demo.browser.new_context() if pages else context, size, theme))
        return pages[-1]

    yield open_page
    for page in pages:
        page.close()
    problems, demo.problems[:] = [*demo.problems], []
    assert not problems


@pytest.fixture
def page(opened: Opener) -> Any:
    return opened()


@pytest.fixture(scope="module")
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

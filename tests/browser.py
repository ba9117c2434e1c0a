"""A browser for tests of pages: Debian's chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pytest


def find_browser() -> str:
    """Where the browser is. Without one the test is skipped, in CI (where ``CI`` is set) it fails."""
    path = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    if path is None or find_spec("playwright") is None:
        stop = pytest.fail if os.environ.get("CI") else pytest.skip
        stop("there is no browser: install chromium, and playwright from the extra `test`")
    return path


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless browser. While it is open no other can be, and no asyncio loop can run in this
    thread.
    """
    path = find_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def problems_of(page: Any, *own: str) -> list[str]:
    """What goes wrong on a page from now on: errors, dialogs, answers that failed, and requests to
    addresses that begin with none of `own`.
    """
    problems: list[str] = []

    def check(wrong: bool, problem: str) -> None:
        if wrong:
            problems.append(problem)

    page.on("console", lambda message: check(message.type == "error", message.text))
    page.on("pageerror", lambda error: check(True, str(error)))
    page.on("dialog", lambda dialog: (check(True, dialog.message), dialog.dismiss()))
    page.on("request", lambda request: check(not request.url.startswith(own), request.url))
    page.on("response", lambda answer: check(answer.status >= 400, answer.url))
    return problems


#: JavaScript: whether what a selector finds is within the pane around it and within the window.
IN_SIGHT = """
(selector) => {
  const element = document.querySelector(selector), own = element.getBoundingClientRect();
  const pane = element.closest(".estime-text").getBoundingClientRect();
  return own.top >= Math.max(pane.top, 0) && own.bottom <= Math.min(pane.bottom, window.innerHeight)
    && own.left >= Math.max(pane.left, 0) && own.right <= Math.min(pane.right, window.innerWidth);
}
"""

"""Takes docs/images/demo.png: ``python -m tests.demo.picture``."""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

from tests.browser import chromium
from tests.demo.buttons import served

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "images" / "demo.png"
COMMAND = [sys.executable, "-m", "estime_metric", "demo", "--no-browser", "--model", "embedded"]


def main() -> None:
    root = PICTURE.parents[2]
    with served(COMMAND, root, PYTHONPATH=str(root)) as url, chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 1010})
        page.goto(url)
        alarms = page.locator("#result .estime-unit.estime-alarm")
        alarms.first.wait_for()
        alarms.filter(has_text="three").first.click()
        page.mouse.move(1, 1)
        page.locator("#result .estime-best").first.wait_for()
        page.wait_for_timeout(2000)  # until the result has faded in
        page.screenshot(path=PICTURE)
    Image.open(PICTURE).convert("RGB").quantize(256).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()

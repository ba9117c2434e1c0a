"""Serves the demo as it is installed, and presses every button of its page.

    python -m tests.demo.buttons FOLDER COMMAND...

FOLDER is where COMMAND starts the demo; its temporary folder is elsewhere, as on a Space.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.browser import chromium, problems_of
from tests.command import free_port

SECONDS = 120  # to start, and for each press


@contextmanager
def served(
    command: Sequence[str], folder: Path, printed: Path | None = None, **environment: str
) -> Iterator[str]:
    """Starts a demo in a folder, without network; its address. Files outside of that folder and of
    the temporary folder are not Gradio's to serve. `printed` is the file for what it prints.
    """
    port = free_port()
    with TemporaryDirectory() as temporary:
        own = {
            "GRADIO_SERVER_PORT": str(port),
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": f"{temporary}/hub",
            "TMPDIR": temporary,
            **environment,
        }
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GRADIO_", "PYTHON"))
        }
        printed = printed or Path(temporary, "printed.txt")
        with printed.open("wb") as stream:
            process = subprocess.Popen(
                command, cwd=folder, env={**kept, **own}, stdout=stream, stderr=subprocess.STDOUT
            )
        try:
            end = time.monotonic() + SECONDS
            while "Running on local URL" not in printed.read_text():
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"the demo did not start: {printed.read_text()}")
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()
            process.wait(timeout=30)


def press_every_button(url: str) -> None:
    """Presses the button of the page and an example, and waits for what they do; what goes wrong on the
    page, and a button that is not pressed here, is an AssertionError.
    """
    with chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(1000 * SECONDS)
        problems = problems_of(page, url, "data:", "blob:")
        page.goto(url)
        page.locator("#result .estime-alarm").first.wait_for()
        page.locator("#source textarea").fill("A cat slept while two dogs ran.")
        page.locator("#summary textarea").fill("Two cats slept.")
        page.locator("#explain").click()
        page.locator("#result .estime-text").filter(has_text="Two cats slept.").wait_for()
        page.get_by_text("Compare: Morgenrot").click()
        page.locator("#result .demo-verdict").wait_for()
        ids = page.locator("button[id]").evaluate_all("all => all.map((one) => one.id)")
        assert [name for name in ids if not name.startswith("component-") and name] == [
            "explain",
            "stop",
        ]
    assert not problems, "\n".join(problems)


def main() -> None:
    folder, *command = sys.argv[1:]
    with served(command, Path(folder)) as url:
        press_every_button(url)


if __name__ == "__main__":
    main()

"""The code blocks of the documentation: ``python -m tests.pages FOLDER`` writes those of each page as
``FOLDER/PAGE/page.py``, which runs in its folder, without a clone.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "hub_space" / "README.md",
        *(ROOT / "docs").rglob("*.md"),
    ]
)

#: page -> the tests that run its blocks
RUN_BY = {
    "docs/evaluate.md": "tests/integrations/evaluate/test_docs.py",
    "docs/harnesses.md": "tests/integrations/harnesses",
}

#: languages that are run; in others there is output, data or a citation
LANGUAGES = ("bash", "python", "sh")

_BLOCK = re.compile(
    r"(?:^<!-- (?P<note>.+?) -->\n+)?^```(?P<language>\w*).*?\n(?P<code>.*?)^```$", re.M | re.S
)


@dataclass(frozen=True)
class Block:
    """A code block, and what the comment above it says of it."""

    page: str
    language: str
    code: str
    note: str

    @property
    def runs_here(self) -> bool:
        """Whether it is run neither as a doctest nor by a test of its own."""
        is_code = self.language in LANGUAGES and ">>>" not in self.code
        return is_code and not self.note and self.page not in RUN_BY


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(name(page), match["language"], match["code"], match["note"] or "")
        for match in _BLOCK.finditer(text)
    ]


def anchor(heading: str) -> str:
    """The anchor of a heading, where GitHub shows it; .ci/docs checks the site's."""
    return re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-")


def script(page: Path) -> str:
    """The blocks of a page that are run here as one program, which calls ``sh`` for the shell."""
    return "\n\n".join(
        block.code if block.language == "python" else f"sh({block.code!r})"
        for block in blocks(page)
        if block.runs_here
    )


def main() -> None:
    """Writes the programs."""
    start = "import subprocess\n\n\ndef sh(code):\n    subprocess.run(['bash', '-euc', code], check=True)\n\n\n"
    for page in PAGES:
        if code := script(page):
            folder = Path(sys.argv[1]) / name(page).replace("/", "-").removesuffix(".md")
            folder.mkdir(parents=True)
            (folder / "page.py").write_text(start + code, encoding="utf-8")


if __name__ == "__main__":
    main()

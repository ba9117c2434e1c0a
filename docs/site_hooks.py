"""What the site has that a reader of the repository sees in another way: the full reference in place of
its list of names, and pages that are outside of docs/.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]

#: File of the repository -> its page on the site.
OUTSIDE = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "experiments/speed/README.md": "research/speed.md",
    "experiments/formula/README.md": "research/record.md",
}
_IN_REPOSITORY = {page: file for file, page in OUTSIDE.items()}

_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")
_NAME = re.compile(r"^- `(estime_metric\.[\w.]+)`: .*$", re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that are outside of docs/."""
    for file, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / file).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """The text of a page: its links lead to pages of the site, and names to their documentation."""
    on_site = page.file.src_uri
    in_repository = _IN_REPOSITORY.get(on_site, f"docs/{on_site}")

    def link(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(in_repository), match[0]))
        target = OUTSIDE.get(target, target.removeprefix("docs/"))
        return posixpath.relpath(target, posixpath.dirname(on_site) or ".")

    markdown = _LINK.sub(link, markdown)
    return _NAME.sub(r"::: \1", markdown) if on_site == "reference.md" else markdown

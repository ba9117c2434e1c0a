"""What only the site has: the API reference, and pages of files that are outside of docs/."""

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
    "experiments/speed/README.md": "records/speed.md",
    "experiments/formula/README.md": "records/formula.md",
}
_IN_REPOSITORY = {page: file for file, page in OUTSIDE.items()}

#: Section of the reference -> classes, functions, and modules with all that their ``__all__`` names.
REFERENCE = {
    "Scoring": (
        "scorer.estime",
        "scorer.EstimeScorer",
        "config.EstimeConfig",
        "result.EstimeResult",
        "wording.source.novelty",
        "testing.assert_consistent",
        "engine.cache.SourceCache",
        "engine.embedding.unload_encoders",
        "engine.encoder.folder.EncoderUnavailableError",
    ),
    "Explanations": ("explanation.Explanation", "show", "demo.app.launch"),
    "Comparison": ("compare", "compare.plot.plot_copying"),
    "Toolkits": (
        "integrations.torchmetrics.ESTIME",
        "integrations.evaluate.Estime",
        "integrations.evaluate.register",
        "integrations.ray.BatchScorer",
        "integrations.inspect.estime",
        "integrations.trl.estime_reward",
    ),
    "Files and jobs": ("jobs",),
    "Meta-evaluation": ("studies.meta",),
}

_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")


def reference() -> str:
    """The page that mkdocstrings fills from the docstrings."""
    sections = [
        "\n\n".join([f"## {heading}", *(f"::: estime_metric.{name}" for name in names)])
        for heading, names in REFERENCE.items()
    ]
    return "\n\n".join(["# API reference", *sections])


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that are not in docs/."""
    files.append(File.generated(config, "reference.md", content=reference()))
    for file, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / file).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """The text of a page, with links that lead to pages of the site."""
    on_site = page.file.src_uri
    in_repository = _IN_REPOSITORY.get(on_site, f"docs/{on_site}")

    def link(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(in_repository), match[0]))
        target = OUTSIDE.get(target, target.removeprefix("docs/"))
        return posixpath.relpath(target, posixpath.dirname(on_site) or ".")

    return _LINK.sub(link, markdown)

"""How to cite the paper that defines the metric."""

from __future__ import annotations

from pathlib import Path


def bibtex() -> str:
    """The preferred citation of ``CITATION.cff``, the paper, as BibTeX."""
    return Path(__file__).with_name("citation.bib").read_text(encoding="utf-8")

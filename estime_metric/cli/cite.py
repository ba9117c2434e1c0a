"""``estime cite``: how to cite the paper."""

from __future__ import annotations

from estime_metric.citation import bibtex
from estime_metric.cli.console import note, say


def cite() -> int:
    """Print the citation of the paper that defines the metric, as BibTeX.

    State the signature of your scores too: 'estime score' prints its short form last.

    Exit status: 0 on success, 2 on failure.

    Example: estime cite >> references.bib
    """
    say(bibtex().rstrip())
    note("State the signature of your scores too; 'estime score' prints its short form last.")
    return 0

"""``estime cite``: how to cite the paper and this software."""

from __future__ import annotations

from estime_metric._version import __version__
from estime_metric.citation import bibtex
from estime_metric.cli.console import note, say

SOFTWARE = f"""\
@software{{estime-metric,
    title = "estime-metric: reference-free estimation of summary-to-text inconsistency",
    author = "{{the estime-metric authors}}",
    version = "{__version__}",
}}"""


def cite() -> int:
    """Print the citations of the paper that defines the metric and of this software, as BibTeX.

    State the signature of your scores too: 'estime score' prints its short form last.

    Exit status: 0 on success, 2 on failure.

    Example: estime cite >> references.bib
    """
    say(bibtex())
    say(SOFTWARE)
    note("State the signature of your scores too; 'estime score' prints its short form last.")
    return 0

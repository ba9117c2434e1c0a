"""Explanations drawn: as a web page, in the terminal, as a plot. matplotlib is imported only when used.

Example:
    >>> from estime_metric import EstimeScorer
    >>> from estime_metric.explain import to_html
    >>> source = "Engineers had found rust in four of the bridge's twelve main beams."
    >>> shown = EstimeScorer(model="embedded").explain("Engineers found rust in twelve of its four beams.", source)
    >>> to_html(shown).splitlines()[0]
    '<!DOCTYPE html>'
"""

from __future__ import annotations

from estime_metric.explain.html import fragment, to_html
from estime_metric.explain.plot import plot_alarms
from estime_metric.explain.terminal import render, to_terminal

__all__ = ["fragment", "plot_alarms", "render", "to_html", "to_terminal"]

"""Explanations drawn: as a web page, in the terminal, as a plot. matplotlib is imported only when
used.
"""

from estime_metric.explain.html import fragment, to_html
from estime_metric.explain.plot import plot_alarms
from estime_metric.explain.terminal import render, to_terminal

__all__ = ["fragment", "plot_alarms", "render", "to_html", "to_terminal"]

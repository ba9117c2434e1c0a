"""Explanations drawn: as a web page and in the terminal."""

from estime_metric.explain.html import fragment, to_html
from estime_metric.explain.terminal import to_terminal

__all__ = ["fragment", "to_html", "to_terminal"]

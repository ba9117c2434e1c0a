"""Explanations drawn: as a web page and in the terminal."""

from estime_metric.explain.html import fragment, to_html
from estime_metric.explain.terminal import render, to_terminal

__all__ = ["fragment", "render", "to_html", "to_terminal"]

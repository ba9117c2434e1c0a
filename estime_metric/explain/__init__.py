"""Explanations drawn: as a web page, in the terminal, as a plot. matplotlib and rich are imported only when used.

Example:
    >>> from estime_metric import EstimeScorer
    >>> from estime_metric.explain import to_html
    >>> source = "Engineers had found rust in four of the bridge's twelve main beams."
    >>> shown = EstimeScorer(model="embedded").explain("Engineers found rust in twelve of its four beams.", source)
    >>> to_html(shown).splitlines()[0]
    '<!DOCTYPE html>'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from estime_metric.explain.html import fragment as fragment
    from estime_metric.explain.html import to_html as to_html
    from estime_metric.explain.plot import plot_alarms as plot_alarms
    from estime_metric.explain.terminal import render as render
    from estime_metric.explain.terminal import to_terminal as to_terminal

_LAZY_EXPORTS = {
    "fragment": "estime_metric.explain.html",
    "to_html": "estime_metric.explain.html",
    "plot_alarms": "estime_metric.explain.plot",
    "render": "estime_metric.explain.terminal",
    "to_terminal": "estime_metric.explain.terminal",
}

__all__ = ["fragment", "plot_alarms", "render", "to_html", "to_terminal"]


def __getattr__(name: str) -> Any:
    if name in _LAZY_EXPORTS:
        return getattr(import_module(_LAZY_EXPORTS[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

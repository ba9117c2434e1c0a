"""Explanations drawn: as a web page and in the terminal."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from estime_metric.show.html import fragment as fragment
    from estime_metric.show.html import to_html as to_html
    from estime_metric.show.screen import to_terminal as to_terminal

__all__ = ["fragment", "to_html", "to_terminal"]


def __getattr__(name: str) -> Any:
    """Imports what draws an explanation when it is used: torch comes with it, and the import of rich draws from
    Python's global random numbers.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "screen" if name == "to_terminal" else "html"
    return getattr(import_module(f"{__name__}.{module}"), name)

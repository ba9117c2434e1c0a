"""Explanations drawn: as a web page and in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from estime_metric.show.html import fragment, to_html

if TYPE_CHECKING:
    from estime_metric.show.screen import to_terminal as to_terminal

__all__ = ["fragment", "to_html", "to_terminal"]


def __getattr__(name: str) -> Any:
    """Imports rich when it is used: its import draws from Python's global random numbers."""
    if name != "to_terminal":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from estime_metric.show.screen import to_terminal

    return to_terminal

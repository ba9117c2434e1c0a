"""Packages that are installed with an extra of this one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needs_extra(extra: str, need: str) -> Iterator[None]:
    """Imports within it that fail raise an ImportError that says how to install the extra.

    Args:
        extra: the name of the extra.
        need: the sentence before the command, such as ``"Plots need matplotlib"``.
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{need}: pip install 'estime-metric[{extra}]'.") from error

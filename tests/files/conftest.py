"""Tables to be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

PAIR = {"source": "A cat sat.", "summary": "A cat."}


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Writes a file of that name."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write

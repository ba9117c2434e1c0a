"""Tables to be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
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


def save_in_all_formats(folder: Path, rows: list[dict[str, Any]]) -> list[Path]:
    """Files with these rows, as pandas writes them."""
    frame = pd.DataFrame(rows)
    frame.to_json(folder / "p.jsonl", orient="records", lines=True)
    frame.to_json(folder / "p.ndjson", orient="records", lines=True)
    frame.to_json(folder / "p.json", orient="records", indent=1)
    frame.to_csv(folder / "p.csv", index=False)
    frame.to_csv(folder / "p.tsv", index=False, sep="\t")
    frame.to_parquet(folder / "p.parquet")
    return list(folder.iterdir())

"""Tables of scores and judgements on disk -> data frames."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

READABLE = (".csv", ".jsonl", ".parquet")  # endings that `read_table` knows


def read_table(
    path: str | Path, text_columns: Iterable[str] = ("document", "system")
) -> pd.DataFrame:
    """Reads CSV, JSON Lines or Parquet, by the ending; in CSV the ``text_columns`` stay as written:
    ``007``, ``NA``. Raises ValueError for another ending or no such table, OSError where it cannot
    be read, ImportError for Parquet without pyarrow."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in READABLE:
        raise ValueError(
            f"Expected a table that ends in {', '.join(READABLE)}, but got {path.name!r}."
        )
    try:
        if ending == ".csv":
            table = pd.read_csv(path, encoding="utf-8-sig")
            names = [name for name in table.columns if name in set(text_columns)]
            texts = pd.read_csv(
                path, encoding="utf-8-sig", usecols=names, dtype=str, keep_default_na=False
            )
            return table.assign(**{name: texts[name] for name in names})
        if ending == ".jsonl":
            with path.open(encoding="utf-8-sig") as lines:
                return pd.DataFrame([json.loads(line) for line in lines if line.strip()])
        return pd.read_parquet(path)
    except ValueError as error:
        raise ValueError(
            f"Expected {path.name!r} to be a table, but it cannot be read: {error}"
        ) from error

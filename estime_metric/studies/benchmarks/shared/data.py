"""What a benchmark has to say of its summaries: one table of names, texts and judgements."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import pandas as pd

from estime_metric.studies.columns import KEY
from estime_metric.studies.keyed import cell_names


@dataclass(frozen=True, eq=False, kw_only=True)
class Summaries:
    """The summaries of a benchmark; ValueError if one occurs several times.

    Attributes:
        origin: where the data comes from, for readers.
        table: a row for each summary, numbered from 0: ``document`` and ``system``, which identify
            it, its ``source``, its text ``summary``, and what the benchmark knows of it, such as
            judgements.
        key_names: what ``document`` and ``system`` are called in files.
    """

    origin: str
    table: pd.DataFrame
    key_names: tuple[str, str] = ("document", "system")

    def __post_init__(self) -> None:
        if len(twice := self.table.loc[self.table.duplicated(KEY), KEY]):
            raise ValueError(
                f"Expected each summary once, but these occur twice: {cell_names(twice)}."
            )

    @cached_property
    def keys(self) -> pd.MultiIndex:
        """The key of each summary."""
        return pd.MultiIndex.from_frame(self.table[KEY])

    @property
    def documents(self) -> list[str]:
        """The documents, each once, in order of appearance."""
        return list(self.table["document"].unique())

    @property
    def systems(self) -> list[str]:
        """The systems, each once, in order of appearance."""
        return list(self.table["system"].unique())

    @property
    def summaries(self) -> list[str]:
        """The text of each summary."""
        return list(self.table["summary"])

    @property
    def sources(self) -> list[str]:
        """The source of each summary."""
        return list(self.table["source"])

    @cached_property
    def digest(self) -> str:
        """Twelve digits that change with any text, name, judgement or published score."""
        content: str = self.table.to_json(orient="split", double_precision=15)
        return hashlib.sha256(content.encode()).hexdigest()[:12]

    def __len__(self) -> int:
        return len(self.table)


#: The summaries of one benchmark.
Data = TypeVar("Data", bound=Summaries)

"""What a benchmark has to say of its summaries: one table of names, texts and judgements."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import pandas as pd

from estime_metric.studies.keyed import listed

#: The columns that identify a summary. In some benchmarks files have other names for them, see
#: `Summaries.key_names`.
KEY = ["document", "system"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Summaries:
    """The summaries of a benchmark; ValueError if one occurs several times.

    Attributes:
        origin: where the data comes from, for readers.
        table: a row for each summary, numbered from 0: ``document`` and ``system``, which identify
            it, its ``source``, its text ``summary``, and what the benchmark knows of it, such as
            judgements.
        published: a column of scores for each published measure, and the rows of ``table``; higher
            is better, NaN if there is none.
        key_names: what ``document`` and ``system`` are called in files.
    """

    origin: str
    table: pd.DataFrame
    published: pd.DataFrame = field(default_factory=pd.DataFrame)
    key_names: tuple[str, str] = ("document", "system")

    def __post_init__(self) -> None:
        twice = self.table.loc[self.table.duplicated(KEY), KEY]
        if len(twice):
            keys = list(twice.itertuples(index=False, name=None))
            raise ValueError(f"Expected each summary once, but these occur twice: {listed(keys)}.")

    @cached_property
    def keys(self) -> list[tuple[str, str]]:
        """The key of each summary."""
        return list(self.table[KEY].itertuples(index=False, name=None))

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
        frames = (self.table, self.published)
        content = "\n".join(frame.to_json(orient="split", double_precision=15) for frame in frames)
        return hashlib.sha256(content.encode()).hexdigest()[:12]

    def __len__(self) -> int:
        return len(self.table)


#: The summaries of one benchmark.
Data = TypeVar("Data", bound=Summaries)

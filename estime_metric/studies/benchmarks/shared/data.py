"""What a benchmark has to say of its summaries: names, texts, and a digest of all of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from estime_metric.stats.checks import Floats


class SummaryKey(NamedTuple):
    """What identifies a summary. In some benchmarks the two parts have other names, see
    ``Summaries.key_names``.
    """

    document: str
    system: str

    def __str__(self) -> str:
        return str(tuple(self))


class Summaries(Protocol):
    """The summaries of a benchmark.

    Attributes:
        key_names: what the two parts of a key are called in files.
        origin: where the data comes from, for readers.
        digest: digits that change with any text, name or judgement.
        documents, systems: names, each once, in order.
        keys, summaries, source_of_each: of each summary its key, its text and its source.
    """

    key_names: tuple[str, str]

    @property
    def origin(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def documents(self) -> tuple[str, ...]: ...
    @property
    def systems(self) -> tuple[str, ...]: ...
    @property
    def keys(self) -> list[SummaryKey]: ...
    @property
    def summaries(self) -> tuple[str, ...]: ...
    @property
    def source_of_each(self) -> list[str]: ...


#: The summaries of one benchmark.
Data = TypeVar("Data", bound=Summaries)


class Listed:
    """Data whose ``keys`` say which documents and systems there are."""

    key_names = ("document", "system")

    @cached_property
    def documents(self: Any) -> tuple[str, ...]:
        """The documents, each once, in order of appearance."""
        return tuple(dict.fromkeys(key.document for key in self.keys))

    @cached_property
    def systems(self: Any) -> tuple[str, ...]:
        """The systems, each once, in order of appearance."""
        return tuple(dict.fromkeys(key.system for key in self.keys))

    def __len__(self: Any) -> int:
        return len(self.summaries)


class Tabled(Listed):
    """Data in a ``table`` with a row for each summary: ``document``, ``system``, ``summary``,
    ``source``, and behind `columns` the scores of published measures.
    """

    columns: ClassVar[Sequence[str]]

    @cached_property
    def keys(self: Any) -> list[SummaryKey]:
        """Document and system of each summary."""
        return keys_of(zip(self.table["document"], self.table["system"], strict=True))

    @cached_property
    def summaries(self: Any) -> tuple[str, ...]:
        """The text of each summary."""
        return tuple(self.table["summary"])

    @cached_property
    def source_of_each(self: Any) -> list[str]:
        """The source of each summary."""
        return list(self.table["source"])

    @property
    def published(self: Any) -> dict[str, Floats]:
        """Published measure -> its scores, float64 of shape (summaries,); higher is better, NaN if
        there is none.
        """
        names = self.table.columns[len(self.columns) :]
        return {str(name): self.table[name].to_numpy(dtype=np.float64) for name in names}


class Crossed:
    """Data with a summary of every document by every system, all systems of the first document
    first.
    """

    key_names = ("document", "system")

    @cached_property
    def keys(self: Any) -> list[SummaryKey]:
        """The key of each summary."""
        return keys_of(product(self.documents, self.systems))

    def __len__(self: Any) -> int:
        return len(self.summaries)


def keys_of(pairs: Iterable[tuple[Any, Any]]) -> list[SummaryKey]:
    """Keys from pairs of document and system, as text."""
    return [SummaryKey(str(document), str(system)) for document, system in pairs]

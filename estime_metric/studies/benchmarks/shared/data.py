"""What a benchmark has to say of its summaries: names, texts, and a digest of all of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple, Protocol, TypeVar


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

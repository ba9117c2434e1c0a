"""How large the pages of a Parquet file are once they are decompressed, by their own headers.

The footer of a file states such sizes too, but only the headers decide how much memory a reader
needs. They are structures of Thrift's compact protocol, see parquet.thrift of the format.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

_PADDING = 100  # bytes after a column that old writers did not count
_HEADER = 1 << 16  # bytes that a header has at most, statistics included
_DEPTH = 8  # structures inside one another

#: Numbers of fields: of a page's header, and of the headers of its kinds, which are a data page, a
#: dictionary page and a data page of version 2.
_UNCOMPRESSED_SIZE, _COMPRESSED_SIZE, _KINDS = 2, 3, (5, 7, 8)
_NUMBER_OF_VALUES = 1

#: Types of the compact protocol.
_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _MAP, _STRUCT = 0, 1, 2, 3, 7, 8, 11, 12
_INTEGERS = (4, 5, 6)
_LISTS = (9, 10)
_LONG_LIST = 15  # in place of a list's size, which follows then


@dataclass(frozen=True)
class Page:
    """What a page becomes in memory: its bytes when decompressed, and the number of its values."""

    size: int
    values: int


def pages(stream: BinaryIO, start: int, length: int) -> Iterator[Page]:
    """The pages of a column in ``length`` bytes from ``start``; ValueError if a header is damaged."""
    end = start + length
    while start < end:
        stream.seek(start)
        reader = _CompactReader(stream.read(_HEADER))
        header = reader.structure()
        size, compressed = header.get(_UNCOMPRESSED_SIZE), header.get(_COMPRESSED_SIZE)
        if not isinstance(size, int) or not isinstance(compressed, int):
            if start + _PADDING >= end:
                return
            raise ValueError("the header of a page states no size")
        if min(size, compressed) < 0:
            raise ValueError("the header of a page states a negative size")
        kinds = [header[kind] for kind in _KINDS if isinstance(header.get(kind), dict)]
        counts = [kind.get(_NUMBER_OF_VALUES) for kind in kinds]
        yield Page(size, max([0, *(count for count in counts if isinstance(count, int))]))
        start += reader.position + compressed


class _CompactReader:
    """Reads values of the compact protocol; ValueError if there are none."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a structure by their numbers."""
        if depth > _DEPTH:
            raise ValueError("the header of a page is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != _STOP:
            step, kind = head >> 4, head & 15
            number = number + step if step else self._integer()
            is_truth = kind in (_TRUE, _FALSE)  # of a field, the type is the value
            fields[number] = kind == _TRUE if is_truth else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind in _INTEGERS:
            return self._integer()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._unsigned())
        if kind in _LISTS:
            return self._list(depth)
        if kind == _MAP:
            return self._map(depth)
        if kind == _STRUCT:
            return self.structure(depth + 1)
        raise ValueError("the header of a page is damaged")

    def _list(self, depth: int) -> list[Any]:
        if depth > _DEPTH:
            raise ValueError("the header of a page is nested too deeply")
        head = self._byte()
        size, kind = head >> 4, head & 15
        if size == _LONG_LIST:
            size = self._unsigned()
        return [self._value(kind, depth + 1) for _ in range(size)]

    def _map(self, depth: int) -> list[tuple[Any, Any]]:
        if depth > _DEPTH:
            raise ValueError("the header of a page is nested too deeply")
        size = self._unsigned()
        kinds = self._byte() if size else 0
        return [
            (self._value(kinds >> 4, depth + 1), self._value(kinds & 15, depth + 1))
            for _ in range(size)
        ]

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, number: int) -> bytes:
        start, self.position = self.position, self.position + number
        if self.position > len(self._data):
            raise ValueError("the header of a page ends early")
        return self._data[start : self.position]

    def _unsigned(self) -> int:
        """An integer of seven bits a byte, the lowest first."""
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def _integer(self) -> int:
        """A signed integer, whose sign is the lowest bit."""
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

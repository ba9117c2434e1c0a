"""Mutated tables through the reader: never a traceback, never much more memory than the file.

    python -m tests.files.fuzz --number 10000 --seed 0

Each file is one of some small tables in all formats, with bytes flipped, cut out, repeated or
exchanged, or with the compressed file mutated. A file may be refused with a ValueError that names
it; everything else that is raised is a failure. So is a file that takes more than three times its
decoded size in memory, plus what a file of a few bytes takes. `tests/files/test_fuzz.py` runs some
of them.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import random
import sys
import tempfile
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from estime_metric import files
from estime_metric.files.streams import opened

#: Bytes beyond three times the decoded size: buffers of fixed size, and objects of the library.
ALLOWANCE = 500_000
PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": partial(gzip.compress, mtime=0),
    ".zst": partial(pyarrow.compress, codec="zstd", asbytes=True),
}
POOL = pyarrow.default_memory_pool()
POOLS: list[Any] = []  # memory may be given back to a pool after its file was read


@dataclass(frozen=True)
class Outcome:
    """What became of a file."""

    name: str
    rows: int
    problems: int
    refusal: str
    memory: int
    decoded: int

    @property
    def is_too_large(self) -> bool:
        return self.memory > 3 * self.decoded + ALLOWANCE


def table(rng: random.Random, number: int) -> list[dict[str, Any]]:
    words = [
        "cat",
        "sat",
        "Straße",
        "猫",
        "😀",
        'a "b"',
        "x,y",
        "line\nbreak",
        "\\u0041",
        "[{",
        "}]",
    ]

    def text(length: int) -> str:
        return " ".join(rng.choice(words) for _ in range(rng.randrange(length)))

    return [
        {
            "id": index,
            "source": text(60),
            "summary": text(9),
            "nested": {"list": ["a", None, text(2)], "deep": {"x": text(3)}},
            "rate": rng.random(),
        }
        for index in range(number)
    ]


def seeds(rng: random.Random, rows_of_each: int) -> dict[str, bytes]:
    """Whole files by their names."""
    rows = table(rng, rows_of_each)
    flat = [{**row, "nested": json.dumps(row["nested"])} for row in rows]
    found = {
        "lines.jsonl": files.encode_json_lines(rows),
        "array.json": json.dumps(rows, ensure_ascii=False).encode(),
        "indented.json": json.dumps(rows, indent=1).encode(),
        "table.csv": delimited(flat, ","),
        "table.tsv": delimited(flat, "\t"),
    }
    for name in list(found):
        for ending, pack in PACKED.items():
            found[f"{name}{ending}"] = pack(found[name])
    kinds: dict[str, dict[str, Any]] = {
        "snappy": {},
        "zstd": {"compression": "zstd", "row_group_size": 100},
        "plain": {"compression": "none", "use_dictionary": False},
        "v2": {"data_page_version": "2.0", "version": "1.0"},
    }
    for name, options in kinds.items():
        stream = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), stream, **options)
        found[f"{name}.parquet"] = stream.getvalue()
    return found


def delimited(rows: list[dict[str, Any]], delimiter: str) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, rows[0], delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode()


def mutated(rng: random.Random, data: bytes) -> bytes:
    """The bytes with one to four changes."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if not changed:
            break
        start = rng.randrange(len(changed))
        length = min(rng.choice((1, 2, 8, 64, 1024, 16_384)), len(changed) - start)
        kind = rng.randrange(7)
        if kind == 0:  # a bit is flipped
            changed[start] ^= 1 << rng.randrange(8)
        elif kind == 1:  # bytes become others
            changed[start : start + length] = rng.randbytes(length)
        elif kind == 2:  # bytes are missing
            del changed[start : start + length]
        elif kind == 3:  # the file ends early
            del changed[start:]
        elif kind == 4:  # bytes are repeated
            changed[start:start] = changed[start : start + length] * rng.choice((1, 2, 50))
        elif kind == 5:  # a character that has a meaning
            changed[start:start] = rng.choice(
                (b'"', b"{", b"[", b"}", b"]", b",", b"\n", b"\0", b"\\")
            )
        else:  # a part comes from elsewhere
            other = rng.randrange(len(changed))
            changed[start : start + length] = changed[other : other + length]
    return bytes(changed)


def examples(number: int, seed: int, rows: int) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of files. A compressed file is mutated before or after it is compressed."""
    rng = random.Random(seed)
    whole = seeds(rng, rows)
    names = list(whole)
    for index in range(number):
        name = names[index % len(names)]
        plain, dot, ending = name.rpartition(".")
        if dot + ending in PACKED and rng.random() < 0.5:
            yield name, PACKED[dot + ending](mutated(rng, whole[plain]))
        else:
            yield name, mutated(rng, whole[name])


def decoded_size(path: Path, size_of_rows: int) -> int:
    """Bytes of the file when it is decompressed, or of the values of its rows, if that is more."""
    read = 0
    with suppress(ValueError), opened(path, encoded=True) as stream:
        for block in iter(partial(stream.read, 65_536), b""):
            read += len(block)
    return max(path.stat().st_size, read, size_of_rows)


def size_of(value: Any) -> int:
    """Bytes of a value as text."""
    return len(str(value).encode("utf-8", "replace"))


def outcome(path: Path) -> Outcome:
    """Reads a file, and measures what Python and Arrow allocate meanwhile.

    Raises whatever the reader raises except a ValueError that names the file.
    """
    pool = pyarrow.proxy_memory_pool(POOL)
    POOLS.append(pool)
    pyarrow.set_memory_pool(pool)
    rows = problems = size_of_rows = 0
    refusal = ""
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of joined rows
            for line in files.read_rows(path):
                problems += bool(line.problem)
                rows += not line.problem
                size_of_rows += sum(map(size_of, line.row.values()))
    except ValueError as error:
        refusal = str(error)
        assert path.name in refusal, f"the file is not named: {refusal}"
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        pyarrow.set_memory_pool(POOL)
    memory = peak + pool.max_memory()
    return Outcome(path.name, rows, problems, refusal, memory, decoded_size(path, size_of_rows))


def run(number: int, seed: int, rows: int, folder: Path) -> Iterator[tuple[int, Outcome]]:
    """Reads mutated files one after the other; each is in ``folder`` until the next one is."""
    for index, (name, data) in enumerate(examples(number, seed, rows)):
        path = folder / name
        path.write_bytes(data)
        yield index, outcome(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--number", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=2000, help="in each file before it is mutated")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for index, found in run(given.number, given.seed, given.rows, Path(folder)):
            counts[
                "refused" if found.refusal else "with bad lines" if found.problems else "whole"
            ] += 1
            worst = max(worst, (found.memory - ALLOWANCE) / found.decoded)
            if found.is_too_large:
                sys.exit(f"file {index}, {found}: too much memory")
    print(f"{given.number} files of seed {given.seed}: {dict(counts)}")
    print(f"most memory: {worst:.2f} times the decoded size, plus {ALLOWANCE / 1e6:g} MB")


if __name__ == "__main__":
    main()

"""Mutated tables through the reader: never a traceback.

    python -m tests.files.fuzz --number 10000 --seed 0

Each file is one of some small tables in all formats, with bytes flipped, cut out, repeated or
exchanged, or with the compressed file mutated. A file may be refused with a ValueError that names
it; everything else that is raised is a failure. `tests/files/test_fuzz.py` runs some of them.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from estime_metric import files


@dataclass(frozen=True)
class Outcome:
    """The number of rows and of bad lines that a file gave, and why it was refused, if it was."""

    rows: int
    problems: int
    refusal: str


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
    whole = {
        "lines.jsonl": files.encode_json_lines(rows),
        "array.json": json.dumps(rows, ensure_ascii=False).encode(),
        "indented.json": json.dumps(rows, indent=1).encode(),
        "table.csv": delimited(flat, ","),
        "table.tsv": delimited(flat, "\t"),
    }
    for name in list(whole):
        whole[f"{name}.gz"] = gzip.compress(whole[name], mtime=0)
    kinds: dict[str, dict[str, Any]] = {
        "snappy": {},
        "zstd": {"compression": "zstd", "row_group_size": 100},
        "plain": {"compression": "none", "use_dictionary": False},
        "v2": {"data_page_version": "2.0", "version": "1.0"},
    }
    for name, options in kinds.items():
        stream = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), stream, **options)
        whole[f"{name}.parquet"] = stream.getvalue()
    return whole


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
        if name.endswith(".gz") and rng.random() < 0.5:
            plain = mutated(rng, whole[name.removesuffix(".gz")])
            yield name, gzip.compress(plain, mtime=0)
        else:
            yield name, mutated(rng, whole[name])


def outcome(path: Path) -> Outcome:
    """Reads a file. Raises whatever the reader raises except a ValueError that names the file."""
    counts: Counter[bool] = Counter()
    refusal = ""
    try:
        counts.update(bool(line.problem) for line in files.read_rows(path))
    except ValueError as error:
        refusal = str(error)
        assert path.name in refusal, f"the file is not named: {refusal}"
    return Outcome(counts[False], counts[True], refusal)


def run(number: int, seed: int, rows: int, folder: Path) -> Iterator[Outcome]:
    """Reads mutated files one after the other; each is in ``folder`` until the next one is."""
    for name, data in examples(number, seed, rows):
        path = folder / name
        path.write_bytes(data)
        yield outcome(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--number", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=2000, help="in each file before it is mutated")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counts = Counter(
            "refused" if read.refusal else "with bad lines" if read.problems else "whole"
            for read in run(options.number, options.seed, options.rows, Path(folder))
        )
    print(f"{options.number} files of seed {options.seed}: {dict(counts)}")


if __name__ == "__main__":
    main()

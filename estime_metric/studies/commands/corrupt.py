"""``estime corrupt``: clean pairs in a file -> labeled pairs with subtle errors."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from estime_metric._messages import counted
from estime_metric.cli import options
from estime_metric.cli.console import NAMED_ROWS, say, say_wrote, warn, warn_of_rows
from estime_metric.passages import joined
from estime_metric.table.formats import WRITABLE
from estime_metric.table.output import check_writable, is_standard
from estime_metric.table.pairs import read_pairs, valid_lines
from estime_metric.table.rows import check_delimiter
from estime_metric.table.table import write

Errors = Annotated[
    str,
    Parameter(
        alias="-n",
        help="Number of errors per summary, comma-separated; one corrupted copy is made for each "
        "number.",
    ),
]


@Parameter(name="*", group=Group("Generator", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class GeneratorOptions(options.EncoderOptions):
    """The masked language model that makes the errors."""

    model: Annotated[
        str | None,
        Parameter(
            alias="-m",
            help="Masked language model that makes the errors: Hub name, "
            "local folder, or 'embedded-small'. (default: bert-base-cased, the paper's)",
        ),
    ] = None
    window: Annotated[
        int | None,
        Parameter(
            help="Maximum number of tokens that the model processes together. (default: 450)"
        ),
    ] = None


GENERATOR = GeneratorOptions()


def corrupt(
    file: options.PairsFile,
    /,
    *,
    output: Annotated[Path, Parameter(alias="-o")],
    overwrite: options.Overwrite = False,
    table: options.TableOptions = options.TABLE,
    errors: Errors = "3",
    seed: Annotated[
        options.Seed, Parameter(help="Random seed that selects which words are replaced.")
    ] = 0,
    quiet: options.Quiet = False,
    model: GeneratorOptions = GENERATOR,
) -> int:
    """Insert subtle errors into summaries. Each input row produces one clean row (label 1) and one or
    more corrupted rows (label 0).

    Exit status: 0 if all rows have all their errors, 1 if invalid rows were skipped or summaries
    have too few words, 2 on failure.

    Example: estime corrupt pairs.jsonl -m embedded-small -o corrupted.jsonl

    Args:
        output: A .jsonl, .csv or .parquet file; '-' for standard output.
    """
    numbers = parse_numbers(errors)
    check_writable(output, [file], overwrite=overwrite, endings=WRITABLE)
    check_delimiter(table, [file])
    problems: list[str] = []
    pairs = valid_lines(read_pairs(file, table), problems)
    warn_of_rows(problems)
    if not pairs:
        raise ValueError(f"Expected pairs in {file}, but got none.")
    from estime_metric.studies.benchmarks.subtle_errors import SubtleErrors  # imports torch: slow
    from estime_metric.studies.benchmarks.subtle_errors.labeled import labeled_rows

    generator = SubtleErrors(n_errors=numbers[-1], seed=seed, **model.settings())
    sources, summaries = [joined(pair.source) for pair in pairs], [pair.summary for pair in pairs]
    corrupted = generator(summaries, progress=not quiet)
    short = [
        (line.number, text) for line, text in zip(pairs, corrupted, strict=True) if text.n_missing
    ]
    for line, text in short[:NAMED_ROWS]:
        warn(
            f"line {line}: not enough suitable words; inserted {len(text.errors)} of {numbers[-1]} errors"
        )
    if len(short) > NAMED_ROWS:
        warn(f"not enough suitable words in {counted(len(short) - NAMED_ROWS, 'more row')}")
    rows = labeled_rows(sources, corrupted, numbers, [str(line.number) for line in pairs])
    if output.suffix.lower() == ".csv":
        rows = [{**row, "errors": json.dumps(row["errors"], ensure_ascii=False)} for row in rows]
    write(output, rows, {"signature": generator.signature})
    if not is_standard(output):
        clean = sum(row["label"] for row in rows)
        say(
            f"{clean} clean and {counted(len(rows) - clean, 'corrupted row')}, "
            f"{counted(len(problems), 'row')} skipped"
        )
        say(generator.signature)
        say_wrote(counted(len(rows), "row"), output)
    return 1 if short or problems else 0


def parse_numbers(text: str) -> tuple[int, ...]:
    """``"1,3"`` as ``(1, 3)``, ascending; ValueError if it is not a list of integers from 1 on."""
    numbers = sorted(set(options.parse_integers("--errors", text)))
    if numbers[0] < 1:
        raise ValueError(f"Expected --errors to be numbers of at least 1, but got {text!r}.")
    return tuple(numbers)

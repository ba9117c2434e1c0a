"""``estime corrupt``: clean pairs in a file -> labelled pairs with subtle errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from estime_metric import files
from estime_metric.cli import options

Errors = Annotated[
    str, typer.Option("--errors", "-n", metavar="N[,N...]", help="Errors in a summary; a corrupted copy for each N.")
]
Seed = Annotated[int, typer.Option(help="Another seed picks other words.")]
Order = Annotated[
    str, typer.Option(help="sequential: each error sees those before it; clean: each sees the clean text.")
]


def corrupt(
    file: Annotated[Path, typer.Argument(help="JSON Lines, CSV or Parquet with a source and a summary in each row.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A .jsonl or .csv file; '-' for the screen.")],
    source_column: Annotated[str, typer.Option(help="Column of the sources.")] = "source",
    summary_column: Annotated[str, typer.Option(help="Column of the summaries.")] = "summary",
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="Masked language model that makes the errors: Hub name, local folder, or 'embedded'. "
            "(default: bert-base-cased, the paper's)",
        ),
    ] = None,
    revision: options.Revision = None,
    errors: Errors = "3",
    seed: Seed = 0,
    order: Order = "sequential",
    window: options.Window = None,
    dtype: options.Dtype = None,
    device: options.Device = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Put subtle errors into summaries: each row becomes a clean one (label 1) and corrupted ones (label 0).

    Exit status: 0, all rows have all their errors; 1, some rows hold no pair or too few words, the rest is written; 2,
    nothing could be written.
    """
    given = {"model": model, "revision": revision, "window": window, "dtype": dtype, "device": device}
    numbers = parse_numbers(errors)
    try:
        files.check_writable(output)
        pairs = files.read_pairs(file, source_column, summary_column)
        for problem in pairs.problems:
            typer.secho(f"skipped {problem}", fg="yellow", err=True)
        if not pairs.lines:
            raise ValueError(f"There is no pair in {file}.")
        from estime_metric.studies.subtle_errors import SubtleErrors  # brings torch, which takes its time
        from estime_metric.studies.subtle_errors.dataset import labelled_rows

        generator = SubtleErrors(
            n_errors=numbers[-1],
            seed=seed,
            order=order,
            **{name: value for name, value in given.items() if value is not None},  # type: ignore[arg-type]
        )
        corrupted = generator(pairs.summaries, progress=not quiet)
        signature = generator.signature
    except (ValueError, TypeError, OSError, ImportError) as error:
        typer.secho(f"error: {error}", fg="red", err=True)
        raise typer.Exit(2) from error
    short = [(line, one) for line, one in zip(pairs.lines, corrupted, strict=True) if one.n_missing]
    for line, one in short:
        had = f"{len(one.errors)} of {numbers[-1]} errors"
        typer.secho(f"line {line}: too few whole words, {had} put in", fg="yellow", err=True)
    rows = labelled_rows(pairs.sources, corrupted, numbers, [str(line) for line in pairs.lines])
    if output.suffix.lower() == ".csv":
        rows = [{**row, "errors": json.dumps(row["errors"], ensure_ascii=False)} for row in rows]
    files.write_rows(output, rows)
    if str(output) != "-":
        clean = sum(row["label"] for row in rows)
        typer.echo(f"{clean} clean and {len(rows) - clean} corrupted rows, {len(pairs.problems)} rows skipped")
        typer.echo(signature)
    if short or pairs.problems:
        raise typer.Exit(1)


def parse_numbers(text: str) -> tuple[int, ...]:
    """``"1,3"`` as ``(1, 3)``, ascending.

    Raises:
        typer.BadParameter: it is no list of different integers from 1 on.
    """
    try:
        numbers = sorted({int(part) for part in text.split(",")})
    except ValueError as error:
        raise typer.BadParameter(f"expected integers with commas between, but got {text!r}.") from error
    if numbers[0] < 1:
        raise typer.BadParameter(f"expected numbers of at least 1, but got {text!r}.")
    return tuple(numbers)

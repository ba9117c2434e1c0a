"""The options of the measure as they stand on the command line, shared by the commands."""

from __future__ import annotations

from typing import Annotated

import typer

from estime_metric.config import DTYPES, PAPER_MODEL, UNITS

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help=f"Hub name or local folder of the encoder, or 'embedded' for the small one in the package. "
        f"(default: {PAPER_MODEL})",
    ),
]
Revision = Annotated[str | None, typer.Option(help="Commit, tag or branch of a Hub model.")]
Layers = Annotated[
    str | None,
    typer.Option(
        "--layers",
        "-l",
        metavar="LAYER[,LAYER...]",
        help="Hidden layer(s), for example 21 or 12,21,24. (default: by model)",
    ),
]
Unit = Annotated[str | None, typer.Option(help=f"What is compared: {', '.join(UNITS)}. (default: token)")]
Window = Annotated[int | None, typer.Option(help="Tokens the encoder sees at once. (default: 450)")]
Margin = Annotated[int | None, typer.Option(help="Unmasked tokens at a window's edge. (default: 50)")]
Distance = Annotated[int | None, typer.Option(help="Least distance of two masked units. (default: 8)")]
Normalize = Annotated[bool, typer.Option("--normalize", help="Compare embeddings scaled to length one.")]
Dtype = Annotated[str | None, typer.Option(help=f"{', '.join(DTYPES)}. (default: float32)")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps ... (default: cuda if there, else cpu)")]
TokenBudget = Annotated[int | None, typer.Option(help="Tokens in one forward pass; sets memory and speed only.")]


def parse_layers(text: str | None) -> tuple[int, ...] | None:
    """``"12,21"`` as ``(12, 21)``.

    Raises:
        typer.BadParameter: it is no list of integers.
    """
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(f"expected integers with commas between, but got {text!r}.") from error

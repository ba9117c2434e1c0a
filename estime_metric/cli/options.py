"""The options of the measure as they stand on the command line, shared by the commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from estime_metric.config import ALL_UNIT_MEASURES, DTYPES, PAPER_MODEL, SPLITTERS, TAGGERS, UNITS

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
        help="Hidden layer(s), for example 21 or 12,21,24, or 'all'. (default: by model)",
    ),
]
Unit = Annotated[str | None, typer.Option(help=f"What is compared: {', '.join(UNITS)}. (default: token)")]
Window = Annotated[int | None, typer.Option(help="Tokens the encoder sees at once. (default: 450)")]
Margin = Annotated[int | None, typer.Option(help="Unmasked tokens at a window's edge. (default: 50)")]
Distance = Annotated[int | None, typer.Option(help="Least distance of two masked units. (default: 8)")]
Normalize = Annotated[bool, typer.Option("--normalize", help="Compare embeddings scaled to length one.")]
Measures = Annotated[
    str | None,
    typer.Option(metavar="NAME[,NAME...]", help=f"Further measures: {', '.join(ALL_UNIT_MEASURES)}. (default: none)"),
]
SoftModel = Annotated[str | None, typer.Option(help="Encoder whose input embeddings 'soft' compares. (default: own)")]
Splitter = Annotated[str | None, typer.Option(help=f"Text to words: {', '.join(SPLITTERS)}. (default: regex)")]
Tagger = Annotated[str | None, typer.Option(help=f"Words to parts of speech: {', '.join(TAGGERS)}. (default: none)")]
DropTags = Annotated[
    str | None, typer.Option(metavar="TAG[,TAG...]", help="Parts of speech to leave out; needs --tagger.")
]
Fast = Annotated[
    bool, typer.Option("--fast", help="Preset: distance 2 in bfloat16, where these are not given; another measure.")
]
Dtype = Annotated[str | None, typer.Option(help=f"{', '.join(DTYPES)}. (default: float32)")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps ... (default: cuda if there, else cpu)")]
TokenBudget = Annotated[int | None, typer.Option(help="Tokens in one forward pass; sets memory and speed only.")]

#: Arguments of the commands that are options of the measure.
NAMES = (
    "model", "revision", "layers", "unit", "window", "margin", "distance", "normalize", "measures", "soft_model",
    "splitter", "tagger", "drop_tags", "dtype", "device", "token_budget",
)  # fmt: skip


def parse_names(text: str | None) -> tuple[str, ...] | None:
    """``"soft,coherence"`` as ``("soft", "coherence")``."""
    return None if text is None else tuple(part.strip() for part in text.split(","))


def parse_layers(text: str | None) -> tuple[int, ...] | str | None:
    """``"12,21"`` as ``(12, 21)``; ``"all"`` as it is.

    Raises:
        typer.BadParameter: it is no list of integers.
    """
    if text is None or text == "all":
        return text
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(f"expected integers with commas between, but got {text!r}.") from error


def chosen(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the measure that were given, as `EstimeConfig` takes them; ``values`` may hold others.

    Raises:
        typer.BadParameter: the layers are no integers.
    """
    found = {name: values.get(name) for name in NAMES}
    found["layers"] = parse_layers(found["layers"])
    found |= {name: parse_names(found[name]) for name in ("measures", "drop_tags")}
    return {name: value for name, value in found.items() if value is not None}

"""``estime models``: which encoders there are."""

from __future__ import annotations

import textwrap
from typing import Annotated

from cyclopts import Parameter

from estime_metric.cli.console import say, table_console
from estime_metric.cli.screen import print_columns
from estime_metric.config import EMBEDDED_MODEL
from estime_metric.models import MODELS, KnownModel, Speed, measure_speed


def models(
    *,
    speed: bool = False,
    model: Annotated[list[str] | None, Parameter(alias="-m")] = None,
) -> int:
    """List the bundled encoders and the paper's: size, language, license, layer, distance, and
    measured results.

    Exit status: 0 on success, 2 on failure.

    Example: estime models --speed

    Args:
        speed: Measure how many example pairs per second each bundled encoder scores on this machine.
        model: Encoder to measure instead of the bundled ones, which implies --speed; may be
            repeated. 'paper' downloads 1.3 GB once.
    """
    _print_models()
    say(f"used without --model: {EMBEDDED_MODEL}")
    for name in model or [known.name for known in MODELS if known.bundled and speed]:
        from estime_metric.scorer import EstimeScorer  # imports torch: slow

        _print_speed(name, measure_speed(EstimeScorer(model=name)))
    return 0


def _print_models() -> None:
    columns = {
        "model": [known.name for known in MODELS],
        "language": [known.language for known in MODELS],
        "license": [known.license for known in MODELS],
        "layer": [f"{known.layer} of {known.blocks}" for known in MODELS],
        "distance": [str(known.distance) for known in MODELS],
        "weights": [f"{known.weights:g} M" for known in MODELS],
        "megabytes": [f"{known.size:,}" for known in MODELS],
    }
    print_columns(columns, texts=("model",))
    for known in MODELS:
        _print_meaning(known)
    say("")


def _print_meaning(known: KnownModel) -> None:
    measured = (
        f"Results: {', '.join(known.measured)}."
        if known.measured
        else "For its results, see the paper; this project has not run it."
    )
    origin = "" if known.bundled else " Downloaded from the Hugging Face Hub once."
    text = f"{known.name}: {known.meaning}.{origin} {measured}"
    say(textwrap.fill(text, table_console().width, subsequent_indent="  "))


def _print_speed(name: str, speed: Speed) -> None:
    say(
        f"{name}: {speed.pairs_per_second:.1f} example pairs per second, loaded in "
        f"{speed.load_seconds:.1f} seconds"
    )

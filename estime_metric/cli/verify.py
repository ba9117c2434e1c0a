"""``estime verify``: does this installation give the recorded numbers?"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from estime_metric import files
from estime_metric.cli.console import say, warn
from estime_metric.config import EMBEDDED_MODEL
from estime_metric.examples import PATH as EXAMPLES

#: Numbers of the example pairs, recorded with ``estime verify --record``; see `_measure`.
GOLDEN = EXAMPLES.parent / "golden.json"


def verify(*, record: Annotated[bool, Parameter(show=False, help="Record the numbers again.")] = False) -> int:
    """Score the example pairs with the embedded encoder and compare with the numbers recorded at release.

    Exit status: 0, all equal; 1, some differ, and are listed; 2, failed.
    """
    measured = _measure()
    if record:
        GOLDEN.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
        say(f"recorded {GOLDEN.name}")
        return 0
    recorded = json.loads(GOLDEN.read_text(encoding="utf-8"))
    differing = [
        f"{unit}, layer {layer}, {measure}: expected {expected}, got {measured['scores'][unit][layer][measure]}"
        for unit, layers in recorded["scores"].items()
        for layer, measures in layers.items()
        for measure, expected in measures.items()
        if measured["scores"][unit][layer][measure] != expected
    ]
    if measured["encoder"] != recorded["encoder"]:
        differing.insert(0, f"encoder: expected {recorded['encoder']}, got {measured['encoder']}")
    for line in differing:
        warn(line)
    say(f"{len(differing)} differences from the recorded numbers" if differing else "all equal the recorded numbers")
    say(measured["versions"])
    return 1 if differing else 0


def _measure() -> dict[str, Any]:
    """Counts of the example pairs: both units, three layers, float32 on the CPU."""
    from estime_metric.scorer import EstimeScorer

    pairs = files.read_pairs(Path(EXAMPLES), "source", "summary")
    scores = {}
    for unit in ("token", "word"):
        scorer = EstimeScorer(model=EMBEDDED_MODEL, layers=(3, 4, 5), unit=unit, device="cpu")
        result = scorer.score(pairs.summaries, pairs.sources)
        scores[unit] = {
            str(layer): {
                measure: [int(value) for value in result.values(measure, layer)]
                for measure in ("alarms", "winners", "overlap", "unsupported")
            }
            for layer in result.layers
        }
    return {
        "encoder": result.config.revision,
        "versions": f"torch {version('torch')}, transformers {version('transformers')}",
        "scores": scores,
    }

"""``estime verify``: does this installation give the recorded numbers?"""

from __future__ import annotations

import json
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from estime_metric import embedded, files
from estime_metric.cli.console import counted, say, say_wrote, warn
from estime_metric.config import PAPER_DISTANCE, UNITS
from estime_metric.examples import PATH as EXAMPLES

GOLDEN = (
    EXAMPLES.parent / "golden.json"
)  # numbers of the example pairs, recorded with ``estime verify --record``
_COUNTS = ("alarms", "winners", "overlap", "unsupported")


def verify(
    *, record: Annotated[bool, Parameter(show=False, help="Record the numbers again.")] = False
) -> int:
    """Score the example pairs with the bundled encoders and compare the results with the values
    recorded at release.

    Exit status: 0 if all values match, 1 if some differ, 2 on failure.

    Example: estime verify
    """
    measured = _measure()
    if record:
        files.write_text(GOLDEN, json.dumps(measured, indent=1) + "\n")
        say_wrote("the numbers", GOLDEN)
        return 0
    recorded = json.loads(GOLDEN.read_text(encoding="utf-8"))
    before, now = _flat(recorded["encoders"]), _flat(measured["encoders"])
    differing = [
        f"{name}: expected {before.get(name)}, got {now.get(name)}"
        for name in dict.fromkeys((*before, *now))
        if before.get(name) != now.get(name)
    ]
    for line in differing:
        warn(line)
    say(
        f"{counted(len(differing), 'value')} not equal to the recorded values"
        if differing
        else "all values match the recorded values"
    )
    say(measured["versions"])
    return 1 if differing else 0


def _measure() -> dict[str, Any]:
    """Counts of the example pairs by each bundled encoder: both units, the default layer, the default
    distance and the paper's, float32 on the CPU.
    """
    from estime_metric.scorer import EstimeScorer

    pairs = files.read_pairs(Path(EXAMPLES))
    encoders: dict[str, Any] = {}
    for model, unit, distance in product(embedded.PATHS, UNITS, (None, PAPER_DISTANCE)):
        scorer = EstimeScorer(model=model, unit=unit, distance=distance, device="cpu")
        result = scorer.score(pairs.summaries, pairs.sources)
        encoder = encoders.setdefault(model, {"revision": result.config.revision})
        encoder["layer"] = result.layers[0]
        encoder[f"{unit}, distance {result.config.distance}"] = {
            name: result.values(name).int().tolist() for name in _COUNTS
        }
    versions = f"torch {version('torch')}, transformers {version('transformers')}"
    return {"versions": versions, "encoders": encoders}


def _flat(nested: Any, name: str = "") -> dict[str, Any]:
    """Nested dictionaries as one, the names joined by commas."""
    if not isinstance(nested, dict):
        return {name: nested}
    leaves: dict[str, Any] = {}
    for key, inner in nested.items():
        leaves |= _flat(inner, f"{name}, {key}" if name else key)
    return leaves

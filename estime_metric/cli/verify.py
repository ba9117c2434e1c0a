"""``estime verify``: does this installation give the recorded numbers?"""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

from estime_metric._messages import counted
from estime_metric.cli.console import say, warn
from estime_metric.config import EMBEDDED_MODEL, EMBEDDED_SMALL_MODEL, PAPER_DISTANCE, UNITS
from estime_metric.examples import PATH as EXAMPLES
from estime_metric.table.output import write_text
from estime_metric.table.pairs import read_pairs

GOLDEN = EXAMPLES.parent / "golden.json"  # numbers of the example pairs, written by `record`
_COUNTS = ("alarms", "winners", "overlap", "unsupported")

#: Each bundled encoder at its own distance, and the small one, which is fast, at the paper's.
_SETTINGS = (
    (EMBEDDED_MODEL, None),
    (EMBEDDED_SMALL_MODEL, None),
    (EMBEDDED_SMALL_MODEL, PAPER_DISTANCE),
)


def verify() -> int:
    """Score the example pairs with the bundled encoders and compare the results with the values
    recorded at release.

    Exit status: 0 if all values match, 1 if some differ, 2 on failure.

    Example: estime verify
    """
    expected, now = json.loads(GOLDEN.read_text(encoding="utf-8"))["values"], _measure()
    differing = [name for name in {**expected, **now} if expected.get(name) != now.get(name)]
    for name in differing:
        warn(f"{name}: expected {expected.get(name)}, got {now.get(name)}")
    say(
        f"{counted(len(differing), 'value')} not equal to the recorded values"
        if differing
        else "all values match the recorded values"
    )
    say(_versions())
    return 1 if differing else 0


def record() -> None:
    """Records the numbers again: ``python -c "from estime_metric.cli import verify; verify.record()"``."""
    content = {"versions": _versions(), "values": _measure()}
    write_text(GOLDEN, json.dumps(content, indent=1) + "\n")


def _versions() -> str:
    return f"torch {version('torch')}, transformers {version('transformers')}"


def _measure() -> dict[str, Any]:
    """Counts of the example pairs by `_SETTINGS`, in both units, at the default layer, float32 on the CPU."""
    from estime_metric.scorer import EstimeScorer

    pairs = [line.row for line in read_pairs(EXAMPLES)]
    values: dict[str, Any] = {}
    for model, distance in _SETTINGS:
        for unit in UNITS:
            scorer = EstimeScorer(model=model, unit=unit, distance=distance, device="cpu")
            result = scorer.score(
                [pair["summary"] for pair in pairs], [pair["source"] for pair in pairs]
            )
            config = result.config
            values |= {f"{model}, revision": config.revision, f"{model}, layer": result.layers[0]}
            for name in _COUNTS:
                place = f"{model}, {unit}, distance {config.distance}, {name}"
                values[place] = result.values(name).int().tolist()
    return values

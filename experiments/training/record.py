"""What the package knows of a bundled encoder: its operating point, and how many words of each kind
annotators marked.

    python -m experiments.training.record DATA

DATA has the folders ``cliff`` and ``frank``. The entries of ``operating_points.json`` and
``explain/marked.json`` with these settings are replaced.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from estime_metric import files, operating_points
from estime_metric.explain import marked
from estime_metric.measures import RECOMMENDED, TEMPERATURE
from estime_metric.operating_points import deciding
from estime_metric.scorer import EstimeScorer
from estime_metric.stats.checks import Floats
from estime_metric.stats.detection import balanced_accuracies
from estime_metric.studies.benchmarks.aggrefact import data as aggrefact
from estime_metric.studies.benchmarks.aggrefact.words import judged_words
from estime_metric.studies.benchmarks.shared.frames import drawn_weights, with_interval

#: Digits of a threshold that are kept.
DIGITS = 3

#: The ranges of graded alarms for which marked words are counted begin here.
EDGES = (0.0, 0.1, 0.5, 0.9)


def operating_point(
    data: aggrefact.AggreFact, scores: Floats, *, resamples: int = 1000, seed: int = 0
) -> dict[str, Any]:
    """One threshold for all cells, and its accuracy on the test split of each.

    Args:
        data: both splits of every cell.
        scores: of each summary, lower is better.
        resamples, seed: of the intervals.

    Returns:
        ``threshold``, from which on a summary is flagged: the one with the highest mean of the
        balanced accuracies on the ``val`` splits of the cells. ``balanced_accuracy``: cell ->
        value, lower and upper end of the 95% interval of a bootstrap over summaries, number of
        summaries.
    """
    labels = data.table["label"].to_numpy(dtype=np.int64)
    halves = {
        place: {
            split: table.index[table["split"] == split].to_numpy() for split in aggrefact.SPLITS
        }
        for place, table in data.cells().items()
    }
    kinds = np.unique(scores[data.table["split"] == "val"])
    tried = np.unique(np.round((kinds[1:] + kinds[:-1]) / 2, DIGITS))
    reached = np.mean(
        [
            balanced_accuracies(labels[half["val"]], scores[half["val"]] < tried[:, None])
            for half in halves.values()
        ],
        axis=0,
    )
    threshold = float(tried[int(np.argmax(reached))])
    accuracies = {}
    for place, half in halves.items():
        rows = half["test"]
        weights = drawn_weights(len(rows), resamples, seed)
        number = with_interval(balanced_accuracies(labels[rows], scores[rows] < threshold, weights))
        accuracies[place.name] = [*(round(end, 3) for end in number.values()), len(rows)]
    return {"threshold": threshold, "balanced_accuracy": accuracies}


def shares(words: pd.DataFrame) -> dict[str, Any]:
    """How many words of each kind are marked, as ``explain/marked.json`` has it.

    Args:
        words: as `judged_words` returns them.

    Returns:
        ``absent``, and ``graded``: for the words that were checked, from each of `EDGES` on.
        Neighboring ranges are merged if the upper one has no larger share.
    """
    checked = words[words.verdict != "absent"]
    graded = graded_alarms(checked.margin.to_numpy(dtype=np.float64))
    ranges: list[dict[str, Any]] = []
    for least, end in zip(EDGES, (*EDGES[1:], np.inf), strict=True):
        inside = checked.marked[(graded >= least) & (graded < end)]
        new = {"least": least, "marked": int(inside.sum()), "words": len(inside)}
        while ranges and _share(new) <= _share(ranges[-1]):
            lower = ranges.pop()
            new = {
                "least": lower["least"],
                "marked": lower["marked"] + new["marked"],
                "words": lower["words"] + new["words"],
            }
        ranges.append(new)
    absent = words.marked[words.verdict == "absent"]
    counted = {"marked": int(absent.sum()), "words": len(absent)}
    return {
        "absent": {"share": _share(counted), "words": len(absent)},
        "graded": [
            {"least": counts["least"], "share": _share(counts), "words": counts["words"]}
            for counts in ranges
        ],
    }


def graded_alarms(margins: Floats) -> Floats:
    """The graded alarms of relative margins; 0 if nothing was compared (NaN)."""
    graded: Floats = (1 - np.tanh(margins / TEMPERATURE / 2)) / 2
    return np.nan_to_num(graded, nan=0.0)


def _share(counted: dict[str, Any]) -> float:
    return round(counted["marked"] / counted["words"], 4) if counted["words"] else 0.0


def put(path: Path, entry: dict[str, Any]) -> None:
    """Replaces the entry of a JSON list that has the settings of this one, or appends it."""
    entries = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    settings = deciding(entry["signature"])
    others = [other for other in entries if deciding(other["signature"]) != settings]
    files.write_text(path, json.dumps([*others, entry], indent=1) + "\n")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="folder with cliff and frank")
    parser.add_argument("-m", "--model", default="embedded", help="the name of a bundled encoder")
    parser.add_argument("--distance", type=int, help="instead of the encoder's default")
    parser.add_argument("--dtype", default="float32", help="moves scores by rounding only")
    args = parser.parse_args()
    scorer = EstimeScorer(model=args.model, distance=args.distance, dtype=args.dtype)
    data = aggrefact.read(args.data)
    result = scorer.score(data.summaries, data.sources, progress=True)
    point = operating_point(data, result.values(RECOMMENDED).numpy())
    print(json.dumps(point, indent=1))
    put(operating_points.PATH, {"signature": scorer.signature, **point})
    half = aggrefact.with_spans(aggrefact.of_split(data, "val"))
    explained = scorer.explain_pairs(half.summaries, half.sources, progress=True)
    counted = shares(judged_words(explained, list(half.table["spans"])))
    print(json.dumps(counted, indent=1))
    about = {"signature": scorer.signature, "data": f"{len(half)} summaries of CLIFF's val split"}
    put(marked.PATH, {**about, **counted})


if __name__ == "__main__":
    main()

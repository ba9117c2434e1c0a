"""What the package knows of an encoder that ships: its operating point, and how many words of each
kind were marked.

``python -m estime_metric.studies.training.record DATA -m embedded`` reads the folders ``cliff`` and
``frank`` of DATA and writes the encoder's entries of ``operating_points.json`` and
``explain/marked.json``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from estime_metric import files
from estime_metric.comparison.checks import Floats
from estime_metric.comparison.detection import balanced_accuracies
from estime_metric.comparison.resampling import draw, interval
from estime_metric.explain import marked
from estime_metric.measures import OPERATING_POINTS, RECOMMENDED
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.aggrefact import data as aggrefact
from estime_metric.studies.benchmarks.aggrefact.words import judged_words

#: Digits of a threshold that are kept.
DIGITS = 3

#: Where ranges of relative margins of alarms begin, by which explanations are coloured.
EDGES = (0.0, 0.05, 0.2)


def operating_point(
    data: aggrefact.AggreFact, scores: Floats, *, resamples: int = 1000, seed: int = 0
) -> dict[str, Any]:
    """One threshold for all cells, and what it reaches on the test half of each.

    Args:
        data: both halves of every cell.
        scores: of each summary, lower is better.
        resamples, seed: of the intervals.

    Returns:
        ``threshold``, from which on a summary is flagged: the one with the highest mean of the
        balanced accuracies on the ``val`` halves of the cells. ``balanced_accuracy``: cell ->
        value, lower and upper end of the 95% interval of a bootstrap over summaries, number of
        summaries.
    """
    labels = data.table["label"].to_numpy(dtype=np.int64)
    halves = {
        cell.place: {
            split: cell.table.index[cell.table["split"] == split].to_numpy()
            for split in aggrefact.SPLITS
        }
        for cell in data.cells()
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
    found = {}
    for place, half in halves.items():
        rows = half["test"]
        drawn = draw((len(rows), 1), "documents", resamples, seed)[0]
        assert drawn is not None
        weights = np.concatenate([np.ones((1, len(rows))), drawn])
        values = balanced_accuracies(labels[rows], scores[rows] < threshold, weights)
        ends = interval(values[1:], 0.95)[:2]
        found[place.name] = [round(float(value), 3) for value in (values[0], *ends)] + [len(rows)]
    return {"threshold": threshold, "balanced_accuracy": found}


def shares(words: pd.DataFrame) -> dict[str, Any]:
    """How many words of each kind are marked, as ``explain/marked.json`` holds it: ``absent``,
    ``matches``, and ``alarms`` from each of `EDGES` on. Neighbouring ranges of margins of which the
    wider has no larger share are one.
    """
    size = np.abs(np.nan_to_num(words.margin))
    alarms: list[tuple[float, int, int]] = []
    for least, end in zip(EDGES, (*EDGES[1:], np.inf), strict=True):
        inside = (words.verdict == "alarm") & (size >= least) & (size < end)
        alarms.append((least, int(words.marked[inside].sum()), int(inside.sum())))
        while len(alarms) > 1 and alarms[-1][1] * alarms[-2][2] <= alarms[-2][1] * alarms[-1][2]:
            (_, hits, count), (start, earlier, before) = alarms.pop(), alarms.pop()
            alarms.append((start, hits + earlier, count + before))

    def share(hits: int, count: int) -> dict[str, Any]:
        return {"share": round(hits / count, 4) if count else 0.0, "words": count}

    def of(verdict: str) -> dict[str, Any]:
        chosen = words.verdict == verdict
        return share(int(words.marked[chosen].sum()), int(chosen.sum()))

    return {
        "absent": of("absent"),
        "matches": of("match"),
        "alarms": [{"margin": least, **share(hits, count)} for least, hits, count in alarms],
    }


def put(path: Path, name: str, entry: dict[str, Any]) -> None:
    """Replaces an encoder's entry of a JSON file, which is made where it is missing."""
    entries = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    entries[name] = entry
    files.write_text(path, json.dumps(entries, indent=1) + "\n")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="folder with cliff and frank")
    parser.add_argument(
        "-m", "--model", default="embedded", help="the name of an encoder that ships"
    )
    parser.add_argument("--distance", type=int, default=8)
    parser.add_argument("--dtype", default="float32")
    args = parser.parse_args()
    scorer = EstimeScorer(model=args.model, distance=args.distance, dtype=args.dtype)
    data = aggrefact.read(args.data)
    result = scorer.score(list(data.summaries), data.source_of_each, progress=True)
    point = operating_point(data, result.values(RECOMMENDED).numpy())
    print(json.dumps(point, indent=1))
    entry = {RECOMMENDED: point["threshold"], "signature": scorer.signature}
    put(OPERATING_POINTS, args.model, entry | {"balanced_accuracy": point["balanced_accuracy"]})
    half = aggrefact.with_spans(aggrefact.of_split(data, "val"))
    explained = scorer.explain_pairs(list(half.summaries), half.source_of_each, progress=True)
    words = judged_words(explained, list(half.table["spans"]))
    about = {
        "data": f"CLIFF, validation half, {len(half)} summaries",
        "signature": scorer.signature,
    }
    put(marked.PATH, args.model, about | shares(words))


if __name__ == "__main__":
    main()

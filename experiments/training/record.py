"""What the package knows of a bundled encoder: its operating point, and how many words of each kind
annotators marked.

    python -m experiments.training.record DATA

DATA has the folders ``cliff`` and ``frank``. The entries of ``operating_points.json`` and
``explain/marked.json`` with these settings are replaced.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from cyclopts import App, Parameter
from scipy.special import expit

from estime_metric import files, operating_points
from estime_metric.explain import marked
from estime_metric.measures import RECOMMENDED, TEMPERATURE
from estime_metric.operating_points import deciding
from estime_metric.scorer import EstimeScorer
from estime_metric.stats.checks import Floats
from estime_metric.stats.detection import balanced_accuracies
from estime_metric.studies.benchmarks.shared.frames import drawn_weights, with_interval
from experiments.benchmarks.aggrefact import data as aggrefact
from experiments.benchmarks.aggrefact.words import judged_words

app = App(name="python -m experiments.training.record", help=__doc__, result_action="return_value")

RESAMPLES = 1000

#: Digits of a threshold that are kept.
DIGITS = 3

#: The ranges of graded alarms for which marked words are counted begin here.
EDGES = (0.0, 0.1, 0.5, 0.9)


def operating_point(data: aggrefact.AggreFact, scores: Floats) -> dict[str, Any]:
    """One threshold for all cells, and its accuracy on the test split of each.

    Args:
        data: both splits of every cell.
        scores: of each summary, lower is better.

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
        weights = drawn_weights(len(rows), RESAMPLES, seed=0)
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
    is_absent = words["verdict"] == "absent"
    checked = words[~is_absent]
    graded = expit(-checked["margin"].fillna(np.inf) / TEMPERATURE)  # 0 if nothing was compared
    ranges: list[tuple[float, list[bool]]] = []
    for least, end in pairwise((*EDGES, np.inf)):
        marks = list(checked["marked"][(graded >= least) & (graded < end)])
        while ranges and _share(marks) <= _share(ranges[-1][1]):
            least, lower = ranges.pop()
            marks = lower + marks
        ranges.append((least, marks))
    absent = list(words["marked"][is_absent])
    return {
        "absent": {"share": _share(absent), "words": len(absent)},
        "graded": [
            {"least": least, "share": _share(marks), "words": len(marks)} for least, marks in ranges
        ],
    }


def _share(marks: Sequence[bool]) -> float:
    return round(sum(marks) / len(marks), 4) if marks else 0.0


def put(path: Path, entry: dict[str, Any]) -> None:
    """Replaces the entry of a JSON list that has the settings of this one, or appends it."""
    entries = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    settings = deciding(entry["signature"])
    others = [other for other in entries if deciding(other["signature"]) != settings]
    files.write_text(path, json.dumps([*others, entry], indent=1) + "\n")


@app.default
def record(
    data: Path,
    *,
    model: Annotated[str, Parameter(alias="-m")] = "embedded",
    distance: int | None = None,
    dtype: str = "float32",
) -> None:
    """Compute and store both.

    Args:
        data: Folder with cliff and frank.
        model: The name of a bundled encoder.
        distance: Instead of the encoder's default.
        dtype: Moves scores by rounding only.
    """
    scorer = EstimeScorer(model=model, distance=distance, dtype=dtype)
    summaries = aggrefact.read(data)
    result = scorer.score(summaries.summaries, summaries.sources, progress=True)
    point = operating_point(summaries, result.values(RECOMMENDED).numpy())
    print(json.dumps(point, indent=1))
    put(operating_points.PATH, {"signature": scorer.signature, **point})
    half = aggrefact.with_spans(aggrefact.of_split(summaries, "val"))
    explained = scorer.explain_pairs(half.summaries, half.sources, progress=True)
    counted = shares(judged_words(explained, list(half.table["spans"])))
    print(json.dumps(counted, indent=1))
    about = {"signature": scorer.signature, "data": f"{len(half)} summaries of CLIFF's val split"}
    put(marked.PATH, {**about, **counted})


if __name__ == "__main__":
    app()

"""What is computed of scores on RAGTruth: areas, balanced accuracies and F1."""

from __future__ import annotations

import pandas as pd

from estime_metric.studies.benchmarks.shared.blocks import TRIVIAL, ScoreColumn
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from experiments.benchmarks.detection import cross_validated, detect, with_published

#: In place of the name of a part: all summaries are one part.
ALL = "all"
#: The baseline that calls every summary inconsistent.
FLAG_EVERYTHING = ScoreColumn("flag_everything", "flag everything", TRIVIAL)
#: Detector -> what was published of it, on all 150 articles and with slightly other annotations: the
#: balanced accuracy of HHEM-2.1-open by its authors, the F1 of the others by Kovács & Recski 2025
#: (LettuceDetect). LettuceDetect and Luna were trained on RAGTruth.
PUBLISHED_VALUES = {
    "HHEM-2.1-open": {"accuracy": 0.644},
    "LettuceDetect, large": {"f1": 0.597},
    "Luna": {"f1": 0.525},
    "LettuceDetect, base": {"f1": 0.505},
    "GPT-4-turbo": {"f1": 0.476},
    "TruLens": {"f1": 0.445},
    "RAGAS": {"f1": 0.408},
}


def analyze(scores: Scores[Summaries], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """How well each measure, and the baseline that flags everything, detects inconsistent summaries:
    ``detection.csv``, see `detect`, with the single part `ALL`.

    Each half of the articles, every other one, is classified by the threshold of the other half.
    Intervals come from a bootstrap over articles.
    """
    data = scores.data
    halves = data.table.assign(half=pd.factorize(data.table["document"])[0] % 2)["half"]
    flagged = Scores(
        data,
        (*scores.columns, FLAG_EVERYTHING),
        scores.values | {FLAG_EVERYTHING.name: pd.Series(0.0, data.table.index).to_numpy()},
        progress=scores.progress,
    )
    computed = detect(
        flagged,
        {(ALL,): data.table.index},
        ["part"],
        lambda summaries: cross_validated(summaries.assign(half=halves[summaries.index]), "half"),
        unit="document",
        resamples=resamples,
        seed=seed,
    )
    published = pd.DataFrame.from_dict(PUBLISHED_VALUES, orient="index").assign(part=ALL)
    return with_published(computed, published.rename_axis("measure").reset_index())

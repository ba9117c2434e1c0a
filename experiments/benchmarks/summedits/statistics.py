"""What is computed of scores on SummEdits: areas under the ROC curve and balanced accuracies by
domain.
"""

from __future__ import annotations

import pandas as pd

from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from experiments.benchmarks.detection import MEAN, cross_validated, detect, with_published
from experiments.benchmarks.summedits.published import PUBLISHED


def analyze(scores: Scores[Summaries], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """How well each measure detects consistent summaries in each domain, and the mean of the
    domains: ``detection.csv``, see `detect`.

    The accuracies use thresholds from the other texts of the domain, see `cross_validated`. Intervals
    come from a bootstrap over texts. Of published models there is the accuracy alone.
    """
    domains = scores.data.table.groupby("document", sort=False)
    computed = detect(
        scores,
        {(str(domain),): rows.index for domain, rows in domains},
        ["domain"],
        lambda summaries: cross_validated(summaries, "text"),
        unit="text",
        resamples=resamples,
        seed=seed,
    )
    return with_published(computed, published(scores.data.documents))


def published(domains: list[str]) -> pd.DataFrame:
    """The published accuracies as rows of the tidy table; the mean is over the domains in the data."""
    known = PUBLISHED[[name for name in domains if name in PUBLISHED]]
    accuracies = known.assign(**{MEAN: known.mean(axis=1)}).stack().rename("accuracy")
    return accuracies.rename_axis(["measure", "domain"]).reset_index()

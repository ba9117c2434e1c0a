"""The operating point of a bundled encoder."""

from __future__ import annotations

from estime_metric.studies.benchmarks.aggrefact import data
from estime_metric.studies.benchmarks.aggrefact.published import TABLE_8
from experiments.training import record
from tests.studies.made import DATA


def test_an_operating_point_is_the_best_mean_over_cells() -> None:
    summaries = data.read(DATA / "aggrefact")
    scores = 1 - 0.5 * summaries.published["DAE"].to_numpy()
    point = record.operating_point(summaries, scores, resamples=20)
    assert point["threshold"] == 0.75
    ((name, accuracy),) = point["balanced_accuracy"].items()
    assert name == "CLIFF, CNN/DailyMail, recent"
    printed = TABLE_8[data.Place("cnndm", "CLIFF", "recent")].accuracies["DAE"]
    assert (accuracy[0], accuracy[3]) == (printed, 150)

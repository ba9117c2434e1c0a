"""The whole experiment on a small random encoder: every number against the module it comes from,
tables and figures.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from estime_metric import EstimeScorer
from estime_metric.measures import FURTHER_MEASURES
from estime_metric.studies.benchmarks.shared.running import Results, run
from estime_metric.studies.benchmarks.subtle_errors import SubtleErrors, experiment
from estime_metric.studies.benchmarks.subtle_errors.data import Versions, make_versions
from estime_metric.studies.benchmarks.subtle_errors.experiment import AGREEMENT
from tests.families import SENTENCES

SOURCES = [" ".join(SENTENCES[start : start + 4]) for start in range(6)]
SUMMARIES = [*SENTENCES[:5], "the bridge."]  # the last one has two whole words


@pytest.fixture(scope="module")
def scorer(bert_folder: str) -> EstimeScorer:
    return EstimeScorer(
        model=bert_folder, measures=FURTHER_MEASURES, window=60, margin=10, layers=(2, 3)
    )


@pytest.fixture(scope="module")
def results(bert_folder: str, scorer: EstimeScorer) -> Results[Versions]:
    pairs = pd.DataFrame({"document": range(6), "source": SOURCES, "summary": SUMMARIES})
    data = make_versions(pairs, SubtleErrors(bert_folder, n_errors=4), numbers=(1, 2, 4))
    return run(experiment.BENCHMARK, data, experiment.measure_blocks({"": scorer}), resamples=50)


def test_pairs_with_too_few_words_are_left_out_and_said(results: Results[Versions]) -> None:
    assert [len(results.scored.data.complete(number)) for number in (1, 2, 4)] == [6, 6, 5]
    pairs = results.frames[AGREEMENT].groupby("n_errors")["pairs"].max()
    assert [pairs[number] for number in "124"] == [6, 6, 5]
    notes = results.tables["subtle-errors"].notes
    assert "1 pair of 6 excluded: too few whole words for 4 errors." in notes


def test_a_row_is_measured_or_printed(results: Results[Versions]) -> None:
    agreement, paired = results.tables.values()
    computed = ["1 error, 6 pairs", "2 errors, 6 pairs", "4 errors, 5 pairs"]
    assert list(agreement.sections) == [*computed, "3 errors, 0 pairs"]
    assert list(paired.sections) == computed
    paper = agreement.sections["3 errors, 0 pairs"].set_index("measure").loc["(-)ESTIME-21"]
    assert (paper["ρ paper"], paper["τ-c paper"], paper["ρ p"]) == (0.163, 0.188, "–")
    assert np.isnan(paper["ρ"])
    assert f"Errors: {results.scored.data.generator}" in agreement.notes
    assert set(results.scored.remarks) <= set(agreement.notes)

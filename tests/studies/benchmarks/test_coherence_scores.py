"""The published scores of Steen & Markert 2022: Table 4 to the last digit, the others against
loops.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from estime_metric.studies.benchmarks.coherence_scores import published_scores
from estime_metric.studies.benchmarks.coherence_scores.data import (
    CoherenceScores,
    read,
    read_shuffle_scores,
)
from estime_metric.studies.benchmarks.coherence_scores.published import (
    LABELS,
    TABLE_1,
    TABLE_3,
    TABLE_4,
    TABLE_5,
)
from estime_metric.studies.benchmarks.coherence_scores.statistics import (
    STATISTICS,
    analyze,
    confounder_statistics,
    gruen_components,
    judgements_of,
    statistics_of,
)
from estime_metric.studies.benchmarks.shared.scored import score
from estime_metric.studies.meta import shuffle_accuracy
from tests.studies.meta import oracle
from tests.studies.meta.conftest import PUBLISHED, read_by_hand


@pytest.fixture(scope="module")
def data() -> CoherenceScores:
    if not PUBLISHED.is_dir():
        pytest.skip("shared/data/coherence_scores is missing next to the repository")
    return read(PUBLISHED.parent)


@pytest.mark.slow
def test_all_sixteen_rows_of_table_4_are_met_as_printed(data: CoherenceScores) -> None:
    # Steen & Markert 2022, Table 4, row "C/D", typed in here from the paper independently of the
    # package's table.
    printed = {
        "EGR": "0.426",
        "EEG C/D": "0.523",
        "EEG WSJ": "0.498",
        "NEG C/D": "0.524",
        "NEG WSJ": "0.603",
        "NEG DUC": "0.522",
        "GRA C/D": "0.838",
        "GRA WSJ": "0.623",
        "GRA DUC": "0.439",
        "UNF C/D": "0.803",
        "UNF WSJ": "0.589",
        "CCL C/D": "0.929",
        "CCL WSJ": "0.862",
        "BAS": "0.896",
        "GRN": "0.504",
        "SQE": "0.707",
    }
    computed = {
        LABELS[measure]: f"{shuffle_accuracy(scores['original'], scores['shuffled']):.3f}"
        for measure, scores in data.shuffle.items()
    }
    assert computed == printed
    assert {label: f"{value:.3f}" for label, value in TABLE_4.items()} == printed
    for measure, ties in (("gruen", 901), ("entity-graph", 410)):  # counts stated with the data
        scores = data.shuffle[measure]
        assert len(scores) == 1000
        assert sum(scores["original"] == scores["shuffled"]) == ties


@pytest.mark.parametrize("measure", ["human", "bartscore", "entity-graph", "gruen"])
def test_statistics_of_table_3_agree_with_loops(data: CoherenceScores, measure: str) -> None:
    judgements = judgements_of(data)
    assert judgements.shape == (100, 16)
    computed = statistics_of(data.table[measure].to_numpy().reshape(100, 16), judgements)
    assert list(computed) == list(STATISTICS)
    levels = {
        "τ_intra": "intra_system",
        "τ_pair": "pairwise",
        "τ_sum": "summary",
        "τ_sys": "system",
    }
    grids = read_by_hand(measure)
    expected = {name: oracle.value(*grids, level, "kendall_b") for name, level in levels.items()}
    expected["Acc_pair"] = oracle.value(*grids, "pairwise", "accuracy")
    assert computed == {name: pytest.approx(expected[name], abs=1e-12) for name in computed}


@pytest.mark.slow
def test_table_3_on_16_systems_stays_near_the_printed_one_on_17(data: CoherenceScores) -> None:
    by_name = TABLE_3.set_index(["measure", "statistic"])
    for measure, label in LABELS.items():
        scores = data.table[measure].to_numpy().reshape(100, 16)
        for name, value in statistics_of(scores, judgements_of(data)).items():
            printed = by_name.loc[label, name]
            assert printed.paper_low <= printed.paper <= printed.paper_high
            assert printed.paper_low <= value <= printed.paper_high
            assert abs(value - printed.paper) < 0.08


@pytest.mark.slow
def test_table_1_on_16_systems(data: CoherenceScores) -> None:
    rows = confounder_statistics(data, runs=3)
    printed = rows.pivot(index="confounder", columns="statistic", values="paper")
    pd.testing.assert_frame_equal(
        printed.loc[TABLE_1.index, TABLE_1.columns], TABLE_1, check_names=False
    )
    frame = rows.pivot(index="confounder", columns="statistic", values="value")
    for name, row in frame.iterrows():
        for statistic, expected in TABLE_1.loc[name].items():
            assert math.isnan(row[statistic]) == math.isnan(expected)
            assert math.isnan(expected) or abs(row[statistic] - expected) < 0.15
        # No confounder sees anything within a system.
        assert math.isnan(row["τ_intra"]) or abs(row["τ_intra"]) < 0.05
    assert frame.loc["upper bound", "τ_sys"] == pytest.approx(1.0)
    assert frame.loc["architecture (r)", "Acc_pair"] > 0.5 > frame.loc["architecture", "Acc_pair"]


def test_table_5_on_16_systems(data: CoherenceScores) -> None:
    computed = {
        (first, second): value
        for first, second, value, _ in gruen_components(data).itertuples(index=False)
    }
    assert computed.keys() == TABLE_5.keys()
    assert all(abs(value - TABLE_5[pair]) < 0.1 for pair, value in computed.items())
    system_means = [
        values.groupby(data.table["system"]).mean().round(9)
        for values in (data.components["cola"], data.table["coherence"])
    ]
    assert computed["cola", "cola"] == pytest.approx(stats.kendalltau(*system_means).statistic)


@pytest.mark.slow
def test_figure_5_has_the_resamples_that_were_requested(data: CoherenceScores) -> None:
    scored = score(data, [published_scores(data)])
    frames = analyze(scored, runs=0, resamples=7, seed=3)
    within = frames["within-systems.csv"].set_index(["measure", "system"])
    assert list(within.index.unique("measure")) == [
        "HUM",
        "CCL C/D",
        "CCL WSJ",
        "BAS",
        "GRN",
        "SQE",
    ]
    scores, judgements = (
        data.table.query("system == 'M22'")[column].to_numpy() for column in ("gruen", "coherence")
    )
    row = within.loc[("GRN", "M22")]
    assert row["value"] == pytest.approx(oracle.correlation(scores, judgements, "kendall_b"))
    samples = oracle.resample(scores[:, None], judgements[:, None], "documents", 7, 3)
    drawn = [oracle.correlation(x.ravel(), y.ravel(), "kendall_b") for x, y in samples]
    assert [row["low"], row["high"]] == pytest.approx(list(np.quantile(drawn, [0.025, 0.975])))


def test_bad_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    for text, message in (
        (
            "id,label,score\na,1,0.5\na,1,0.5\n",
            "labels 0 and 1 of 'a' in 'mine.csv', but got 1, 1",
        ),
        ("id,label,score\na,1,0.5\n", r"labels 0 and 1 of 'a' in 'mine.csv', but got 1"),
        ("id,label\na,1\n", r"line 1 of mine.csv to have 'score'"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            read_shuffle_scores(path)

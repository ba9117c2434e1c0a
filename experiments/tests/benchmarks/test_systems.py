"""The study of systems: its tests are those of ``compare``, its counts those of plain loops."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from estime_metric.novelty import novelty
from estime_metric.studies.benchmarks.shared.benchmark import Results, run
from estime_metric.studies.benchmarks.shared.blocks import (
    REFERENCE_FREE,
    Block,
    Prepared,
    ScoreColumn,
)
from estime_metric.studies.benchmarks.shared.data import Summaries
from experiments.benchmarks.systems import BENCHMARK
from experiments.benchmarks.systems.data import (
    CHOOSING,
    DATA_SETS,
    FRANK_CNNDM,
    FRANK_XSUM,
    RAGTRUTH,
    REPORTING,
    SUMMEVAL,
    read,
)
from experiments.benchmarks.systems.statistics import (
    ALL,
    BANDS,
    MEASURES,
    contrasts,
)
from experiments.tests.benchmarks.made import DATA, made_folder
from tests.studies.made import real_folder


@pytest.fixture(scope="module")
def data() -> Summaries:
    return read(DATA / "systems")


@pytest.fixture(scope="module")
def results(data: Summaries) -> Results[Summaries]:
    """With three measures at random that follow the judgements to some extent."""
    rng = np.random.default_rng(1)
    judged = data.table["judgement"].to_numpy()
    columns = {
        ScoreColumn(
            f"measure {noise}", f"(-)measure {noise}", REFERENCE_FREE, lower_is_better=True
        ): -judged + noise * rng.normal(size=len(judged))
        for noise in (1, 4, 7)
    }
    values = {column.name: scores for column, scores in columns.items()}
    block = Block("made", tuple(columns), lambda: Prepared("made", lambda *_: values))
    return run(BENCHMARK, data, [block], resamples=30)


def test_resamples_are_tested_by_the_normal_approximation() -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(60, 3)) + np.arange(3) / 4
    computed = contrasts(scores, np.vstack([np.ones(60), rng.multinomial(60, [1 / 60] * 60)]))
    assert computed.p_values.shape == (2, 3)
    again = contrasts(scores, np.ones((2, 60)))  # the sample itself as a resample
    assert again.p_values[1] == pytest.approx(again.p_values[0], abs=0.02)
    difference = scores[:, 0] - scores[:, 2]
    z = difference.sum() / np.sqrt((difference**2).sum())
    assert again.p_values[1, 1] == pytest.approx(2 * stats.norm.sf(abs(z)))


def test_shares_orders_and_tau_are_those_of_loops(results: Results[Summaries]) -> None:
    frame = results.frames[MEASURES].query("band == 'all'").set_index(["column", "data", "part"])
    table = results.scores.data.table
    inside = (table["data"] == SUMMEVAL) & (table["part"] == CHOOSING)
    for column in results.scores.columns:
        rows = table[inside].assign(score=results.scores.oriented(column)[inside])
        scores, judged = (
            rows.pivot(index="document", columns="system", values=name)
            for name in ("score", "judgement")
        )
        significant = right = 0
        for first, second in combinations(scores.columns, 2):
            difference = (scores[first] - scores[second]).round(6)
            if stats.ttest_1samp(difference, 0).pvalue < 0.05:  # close to the exact test here
                significant += 1
                right += (scores[first].mean() > scores[second].mean()) == (
                    judged[first].mean() > judged[second].mean()
                )
        row = frame.loc[(column.name, SUMMEVAL, CHOOSING)]
        assert row["pairs"] == 3
        assert row["significant_uncorrected"] == significant
        assert row["right_uncorrected"] == right
        share = right / significant if significant else np.nan
        assert row["share_uncorrected"] == pytest.approx(share, nan_ok=True)
        tau = stats.kendalltau(scores.mean(), judged.mean()).statistic
        assert row["tau"] == pytest.approx(tau)
        assert row["separated"] == 3  # people see the difference


def test_bands_divide_the_pairs_by_the_ratio_of_copying(results: Results[Summaries]) -> None:
    frame = results.frames[MEASURES].query("part == 'all'").set_index(["column", "data", "band"])
    table = results.scores.data.table
    for data in DATA_SETS:
        rows = table[table["data"] == data]
        copied = novelty(list(rows["summary"]), list(rows["source"]))["copied_density"]
        means = rows.assign(copied=copied).groupby("system")["copied"].mean()
        ratios = [max(pair) / min(pair) if min(pair) else np.inf for pair in combinations(means, 2)]
        column = results.scores.columns[0].name
        counts = {band: frame.loc[(column, data, band), "pairs"] for band in BANDS}
        assert counts[ALL] == len(ratios)
        assert counts["above 3"] == sum(ratio > 3 for ratio in ratios)
        assert counts["2 to 3"] == sum(2 < ratio <= 3 for ratio in ratios)
        assert counts["above 2"] == counts["2 to 3"] + counts["above 3"]
        assert counts["at most 2"] == counts["at most 1.5"] + counts["1.5 to 2"]
        for name in ("significant", "right", "separated", "ordered"):
            parts = [frame.loc[(column, data, band), name] for band in ("at most 2", "above 2")]
            assert sum(parts) == frame.loc[(column, data, ALL), name]


def test_holm_keeps_fewer_differences(results: Results[Summaries]) -> None:
    frame = results.frames[MEASURES]
    assert (frame["significant"] <= frame["significant_uncorrected"]).all()
    assert (frame["right"] <= frame["significant"]).all()
    assert (frame["separated_right"] <= frame["right"]).all()


def test_the_data_sets_have_their_parts_and_a_gap_is_refused(
    data: Summaries, tmp_path: Path
) -> None:
    documents = data.table.groupby(["data", "part"])["document"].nunique().to_dict()
    assert documents[SUMMEVAL, CHOOSING] == 50
    assert documents[SUMMEVAL, REPORTING] == 8
    assert set(data.table["part"]) == {CHOOSING, REPORTING}
    assert list(data.published) == ["FactCC", "QAGS", "New"]
    assert (
        np.isnan(data.published["New"]).sum() == (~data.table["data"].str.startswith("FRANK")).sum()
    )
    with pytest.raises(FileNotFoundError, match="some of the folders summeval, frank, ragtruth"):
        read(tmp_path)
    path = made_folder(tmp_path / "data", "systems") / "ragtruth" / "ragtruth.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(
        ValueError, match=r"RAGTruth to contain each document with each system, .* none for"
    ):
        read(tmp_path / "data")


def test_the_data_itself() -> None:
    table = read(real_folder("ragtruth").parent).table
    sizes = table.groupby(["data", "part"], sort=False)[["document", "system"]].nunique()
    assert sizes.loc[(SUMMEVAL, CHOOSING)].tolist() == [50, 16]
    assert sizes.loc[(FRANK_CNNDM, REPORTING)].tolist() == [175, 5]
    assert sizes.loc[(FRANK_XSUM, CHOOSING)].tolist() == [74, 4]
    assert sizes.loc[(RAGTRUTH, REPORTING)].tolist() == [75, 6]
    assert len(table) == 4296

"""The study of systems: its verdicts are those of ``compare``, its counts those of plain loops."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from estime_metric.stats.paired import compare_each
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
    FRANK_CNNDM,
    FRANK_XSUM,
    REPORTING,
    SUMMEVAL,
    read,
)
from experiments.benchmarks.systems.statistics import (
    CANDIDATES,
    CHOSEN_ON,
    LAST_DIGIT,
    MEASURES,
    RULES,
    choose,
    contrasts,
)
from experiments.tests.benchmarks.made import DATA, made_folder
from tests.studies.made import real_folder


@pytest.fixture(scope="module")
def data() -> Summaries:
    return read(DATA / "systems")


@pytest.fixture(scope="module")
def results(data: Summaries) -> Results[Summaries]:
    """With four measures at random that follow the judgements to some extent."""
    rng = np.random.default_rng(1)
    judged = data.table["judgement"].to_numpy()
    columns = {
        ScoreColumn(
            f"{'estime' if name == 'alarms' else name}_token_5",
            name,
            REFERENCE_FREE,
            lower_is_better=True,
            layer=5,
            unit="token",
        ): -judged + (1 + 3 * index) * rng.normal(size=len(judged))
        for index, name in enumerate(CANDIDATES)
    }
    values = {column.name: scores for column, scores in columns.items()}
    block = Block("made", tuple(columns), lambda: Prepared("made", lambda *_: values))
    return run(BENCHMARK, data, [block], resamples=30)


def test_p_values_are_those_of_compare() -> None:
    rng = np.random.default_rng(0)
    scores = np.round(rng.normal(size=(40, 4)) + np.arange(4) / 3, 6)
    scores[:10, 1] = scores[:10, 0] + 1e-6  # equal but for the last digit
    computed = contrasts(scores, np.ones((1, 40)))
    expected = compare_each(scores.T, higher_is_better=True, tolerance=LAST_DIGIT, n=10_000)
    for index, places in enumerate(combinations(range(4), 2)):
        test = expected[places]
        assert computed.p_values[0, index] == test.p_value
        assert computed.corrected[0, index] == test.p_holm
        winner = {1: "first", -1: "second", 0: None}[int(computed.verdicts(holm=True)[0, index])]
        assert winner == test.better


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
    frame = results.frames[MEASURES].set_index(["column", "data", "part"])
    table = results.scores.data.table
    inside = (table["data"] == SUMMEVAL) & (table["part"] == CHOOSING)
    for column in results.scores.columns:
        rows = table[inside].assign(score=results.scores.oriented(column)[inside])
        scores, judged = (
            rows.pivot(index="document", columns="system", values=name)
            for name in ("score", "judgement")
        )
        declared = right = 0
        for first, second in combinations(scores.columns, 2):
            difference = (scores[first] - scores[second]).round(6)
            if stats.ttest_1samp(difference, 0).pvalue < 0.05:  # close to the exact test here
                declared += 1
                right += (scores[first].mean() > scores[second].mean()) == (
                    judged[first].mean() > judged[second].mean()
                )
        row = frame.loc[(column.name, SUMMEVAL, CHOOSING)]
        assert (row["pairs"], row["declared"], row["right"]) == (3, declared, right)
        share = right / declared if declared else np.nan
        assert row["share"] == pytest.approx(share, nan_ok=True)
        tau = stats.kendalltau(scores.mean(), judged.mean()).statistic
        assert row["tau"] == pytest.approx(tau)
        assert row["separated"] == 3  # people see the difference


def test_a_confirmed_verdict_is_one_of_both(results: Results[Summaries]) -> None:
    rules = results.frames[RULES].set_index(["rule", "data", "part"])
    first, second = CANDIDATES[:2]
    for place in {(data, part) for _, data, part in rules.index}:
        alone = rules.loc[(first, *place)]
        sign = rules.loc[(f"{first}, {second} of the same sign", *place)]
        both = rules.loc[(f"{first}, {second} significant too", *place)]
        other = rules.loc[(second, *place)]
        assert both["declared"] <= sign["declared"] <= alone["declared"]
        assert both["declared"] <= other["declared"]
        assert both["right"] <= min(sign["right"], other["right"])
        assert alone["declared_holm"] <= alone["declared"]


def test_the_rule_is_chosen_by_its_wrong_verdicts_among_those_that_keep_enough() -> None:
    def rows(rule: str, declared: int, right: int) -> list[dict[str, object]]:
        counts = {"part": CHOOSING, "declared": declared, "right": right}
        nothing = {"part": CHOOSING, "declared": 0, "right": 0}
        return [
            {"rule": rule, "data": SUMMEVAL, **counts},
            *({"rule": rule, "data": data, **nothing} for data in (FRANK_CNNDM, FRANK_XSUM)),
            {"rule": rule, "data": SUMMEVAL, "part": REPORTING, "declared": 9, "right": 9},
        ]

    alone = rows(CANDIDATES[0], 25, 20)
    few = rows("too few", 17, 17)  # 18 of 20 have to be kept
    fewest, same = rows("fewest", 20, 18), rows("same, fewer right", 20, 18)
    more = rows("more right", 21, 19)
    frame = pd.DataFrame([*alone, *few, *fewest, *same, *more])
    assert choose(frame) == "more right"
    assert choose(pd.DataFrame([*alone, *few, *fewest, *same])) == "fewest"
    assert choose(pd.DataFrame(alone)) == CANDIDATES[0]
    assert choose(frame[frame["data"] != FRANK_XSUM]) is None
    assert SUMMEVAL in CHOSEN_ON


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
    with pytest.raises(FileNotFoundError, match="some of the folders summeval, frank, cliff"):
        read(tmp_path)
    path = made_folder(tmp_path / "data", "systems") / "cliff" / "cliff.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(
        ValueError, match=r"CLIFF, XSum to contain each document with each system, .* none for"
    ):
        read(tmp_path / "data")


def test_the_data_itself() -> None:
    table = read(real_folder("cliff").parent).table
    sizes = table.groupby(["data", "part"], sort=False)[["document", "system"]].nunique()
    assert sizes.loc[(SUMMEVAL, CHOOSING)].tolist() == [50, 16]
    assert sizes.loc[(FRANK_CNNDM, REPORTING)].tolist() == [175, 5]
    assert sizes.loc[(FRANK_XSUM, CHOOSING)].tolist() == [74, 4]
    assert len(table) == 4446

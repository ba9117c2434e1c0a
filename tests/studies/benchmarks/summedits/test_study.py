"""Cross-validated accuracies, areas and their means against plain loops; tables, files, plots."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from estime_metric import EstimeScorer
from estime_metric.measures import FURTHER_MEASURES
from estime_metric.stats.detection import choose_threshold
from estime_metric.studies.benchmarks.shared.benchmark import Results, run
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.own_scores import own_block
from estime_metric.studies.benchmarks.shared.standard import standard_blocks
from estime_metric.studies.benchmarks.summedits import BENCHMARK
from estime_metric.studies.benchmarks.summedits.published import PUBLISHED
from estime_metric.studies.benchmarks.summedits.statistics import DETECTION, MEAN, cross_validated
from tests.studies.conftest import drawn_rows, ends


@pytest.fixture(scope="module")
def scorer(bert_folder: str) -> EstimeScorer:
    return EstimeScorer(model=bert_folder, layers=2, measures=FURTHER_MEASURES)


@pytest.fixture(scope="module")
def guesses(data: Summaries) -> np.ndarray:
    """Scores that follow the labels, with ties and two mistakes."""
    values = data.table["label"].to_numpy() * 2.0
    values[[5, 10]] = [3.0, 0.0]
    return values


@pytest.fixture(scope="module")
def results(scorer: EstimeScorer, data: Summaries, guesses: np.ndarray) -> Results[Summaries]:
    table = pd.DataFrame(data.keys, columns=["domain", "id"]).assign(guess=guesses)
    blocks = [*standard_blocks(data, scorer), own_block(table, "mine")]
    return run(BENCHMARK, data, blocks, resamples=30)


def balanced(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Balanced accuracy of two classes that both occur."""
    return float(np.mean([(predicted[labels == label] == label).mean() for label in (0, 1)]))


def by_hand(data: Summaries, guesses: np.ndarray, domain: str) -> float:
    """The accuracy of thresholds from the other documents, in a plain loop."""
    table = data.table[data.table["document"] == domain]
    predicted = []
    for index, text in table["text"].items():
        others = table.index[table["text"] != text]
        threshold = choose_threshold(table["label"][others].to_numpy(), guesses[others])
        predicted.append(guesses[index] > threshold)
    return balanced(table["label"].to_numpy(), np.array(predicted))


def test_thresholds_come_from_the_other_documents(
    results: Results[Summaries], data: Summaries, guesses: np.ndarray
) -> None:
    frame = results.frames[DETECTION].query("column == 'mine:guess'").set_index("domain")
    assert list(frame.index) == ["podcast", "news", "strange", MEAN]
    for domain in ("podcast", "news"):
        assert frame.loc[domain, "accuracy"] == pytest.approx(100 * by_hand(data, guesses, domain))
    assert np.isnan(frame.loc["strange", "accuracy"])  # it has one document
    assert frame["summaries"].tolist() == [4, 8, 3, 15]


def test_a_document_is_not_judged_by_its_own_scores() -> None:
    # The threshold that suits a alone is above all of b's scores, and the other way round.
    summaries = pd.DataFrame({"label": [0, 1, 0, 1], "score": [10.0, 11.0, 0.0, 1.0]})
    of_two = summaries.assign(text=["a", "a", "b", "b"])
    assert cross_validated(of_two).tolist() == [True, True, False, False]
    with pytest.raises(ValueError, match="at least two documents, but got 1"):
        cross_validated(summaries.assign(text="a"))


def area(labels: np.ndarray, scores: np.ndarray) -> float:
    consistent, others = scores[labels == 1], scores[labels == 0]
    statistic = stats.mannwhitneyu(consistent, others).statistic
    return float(statistic / len(consistent) / len(others))


def test_areas_and_means(results: Results[Summaries], data: Summaries, guesses: np.ndarray) -> None:
    frame = results.frames[DETECTION].query("column == 'mine:guess'").set_index("domain")
    for domain, rows in data.table.groupby("document"):
        expected = 100 * area(rows["label"].to_numpy(), guesses[rows.index])
        assert frame.loc[domain, "area"] == pytest.approx(expected)
    assert frame.loc[MEAN, "area"] == pytest.approx(frame["area"][:3].mean())


def test_intervals_draw_documents(
    results: Results[Summaries], data: Summaries, guesses: np.ndarray
) -> None:
    frame = results.frames[DETECTION].query("column == 'mine:guess'").set_index("domain")
    areas, labels = [], data.table["label"].to_numpy()
    for drawn in drawn_rows(data.table["text"], 30):
        of_news = [row for row in drawn if data.keys[row][0] == "news"]
        if of_news:
            areas.append(100 * area(labels[of_news], guesses[of_news]))
    assert ends(areas) == (frame.loc["news", "area_low"], frame.loc["news", "area_high"])


def test_published_models_have_their_accuracies_and_the_mean_of_these_domains(
    results: Results[Summaries],
) -> None:
    frame = results.frames[DETECTION].query("column == 'published:DAE'").set_index("domain")
    domains = PUBLISHED.loc["DAE"]
    assert frame["accuracy"].to_dict() == {
        "podcast": domains["podcast"],
        "news": domains["news"],
        MEAN: pytest.approx((domains["podcast"] + domains["news"]) / 2),
    }
    assert frame["area"].isna().all()


def test_what_is_at_chance_is_said(results: Results[Summaries]) -> None:
    frame = results.frames[DETECTION]
    ours = frame["section"].isin(["Reference-free", "Trivial"]) & (frame["domain"] == MEAN)
    for low, sentence in (
        (49.0, "None has a 95% interval above chance"),
        (51.0, "above chance (50) for:"),
    ):
        changed = frame.assign(area_low=frame["area_low"].mask(ours, low))
        tables = BENCHMARK.tables(results.scores, {DETECTION: changed})
        assert any(sentence in note for note in tables[0].notes)
        assert any(sentence in note for note in tables[1].notes)

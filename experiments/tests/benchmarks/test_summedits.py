"""SummEdits: the authors' layout; cross-validated accuracies, areas and their means against plain
loops.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from estime_metric.studies.benchmarks.shared.baselines import trivial_block
from estime_metric.studies.benchmarks.shared.benchmark import Results, run
from estime_metric.studies.benchmarks.shared.blocks import TRIVIAL
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.own_scores import own_block
from experiments.benchmarks.accuracy import choose_threshold
from experiments.benchmarks.detection import DETECTION, MEAN, cross_validated, f1_scores
from experiments.benchmarks.summedits import BENCHMARK
from experiments.benchmarks.summedits.data import DOMAINS, read
from experiments.benchmarks.summedits.published import PUBLISHED
from experiments.tests.benchmarks.made import DATA, made_folder, made_rows
from tests.studies.conftest import drawn_rows, ends
from tests.studies.made import real_folder


@pytest.fixture(scope="module")
def data() -> Summaries:
    return read(DATA / "summedits")


def test_domains_come_in_the_order_of_tables(data: Summaries) -> None:
    assert data.documents == ["podcast", "news", "strange"]
    assert data.key_names == ("domain", "id")
    assert data.keys[0] == ("podcast", "a_0")
    assert data.keys[-1] == ("strange", "e_2")
    assert data.table["label"].tolist() == [1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1, 1, 0, 0]
    assert len(data) == 15
    assert data.sources[4] == made_rows("summedits")[0]["doc"]
    assert data.summaries[5] == made_rows("summedits")[1]["summary"]


def test_a_document_is_a_text_of_a_domain(data: Summaries, tmp_path: Path) -> None:
    assert list(data.table["text"][:4]) == ["podcast/0", "podcast/0", "podcast/1", "podcast/1"]
    assert data.table["text"].nunique() == 6  # podcast and news share a text, but no document
    same_text = made_rows("summedits")
    same_text[0]["id"] = "other_name_0"
    renamed = read(made_folder(tmp_path / "x", "summedits", same_text))
    assert list(renamed.table["text"]) == list(data.table["text"])


def test_every_layout_is_found() -> None:
    folder = DATA / "summedits"
    for place in (folder, folder / "data", folder / "data" / "summedits"):
        assert len(read(place)) == 15
    assert len(read(folder, limit=1)) == 2 + 3 + 3


def test_a_label_that_is_neither_0_nor_1_is_refused(tmp_path: Path) -> None:
    rows = [{**made_rows("summedits")[0], "label": 2}]
    message = "labels 0 and 1 in summedits_news.json, but got 2 for 'a_0'"
    with pytest.raises(ValueError, match=message):
        read(made_folder(tmp_path, "summedits", rows))


def test_the_real_data() -> None:
    summedits = read(real_folder("summedits"))
    assert len(summedits) == 4681
    assert summedits.table["text"].nunique() == 162
    assert summedits.documents == [
        name for name in DOMAINS if name not in ("billsum", "shakespeare")
    ]


def test_published_accuracies_are_those_of_the_authors_readme() -> None:
    assert len(PUBLISHED) == 20  # 19 models and people
    assert list(PUBLISHED) == [*DOMAINS, "overall"]
    means = PUBLISHED[list(DOMAINS)].mean(axis=1)
    assert list(PUBLISHED["overall"]) == pytest.approx(
        list(means), abs=0.000501
    )  # with three digits
    path = real_folder("summedits") / "published.json"
    printed = json.loads(path.read_text(encoding="utf-8"))
    assert len(printed) == len(PUBLISHED)
    for row, (model, accuracies) in zip(printed, PUBLISHED.iterrows(), strict=True):
        assert row.pop("model") == {"people": "Human Perf."}.get(model, model)
        assert row == pytest.approx((100 * accuracies).to_dict())


@pytest.fixture(scope="module")
def guesses(data: Summaries) -> np.ndarray:
    """Scores that follow the labels, with ties and two mistakes."""
    values = data.table["label"].to_numpy() * 2.0
    values[[5, 10]] = [3.0, 0.0]
    return values


@pytest.fixture(scope="module")
def results(data: Summaries, guesses: np.ndarray) -> Results[Summaries]:
    table = pd.DataFrame(data.keys, columns=["domain", "id"]).assign(guess=guesses)
    return run(BENCHMARK, data, [trivial_block(), own_block(table, "mine")], resamples=30)


def rows_of(results: Results[Summaries], column: str) -> pd.DataFrame:
    """The results of one measure by domain."""
    return results.frames[DETECTION].query("column == @column").set_index("domain")


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
    frame = rows_of(results, "mine:guess")
    assert list(frame.index) == ["podcast", "news", "strange", MEAN]
    for domain in ("podcast", "news"):
        assert frame.loc[domain, "accuracy"] == pytest.approx(by_hand(data, guesses, domain))
    assert np.isnan(frame.loc["strange", "accuracy"])  # it has one document
    assert frame["summaries"].tolist() == [4, 8, 3, 15]


def test_a_document_is_not_judged_by_its_own_scores() -> None:
    # The threshold that suits a alone is above all of b's scores, and the other way round.
    summaries = pd.DataFrame({"label": [0, 1, 0, 1], "score": [10.0, 11.0, 0.0, 1.0]})
    two_texts = summaries.assign(text=["a", "a", "b", "b"])
    assert cross_validated(two_texts, "text")["predicted"].tolist() == [True, True, False, False]
    assert cross_validated(summaries.assign(text="a"), "text")["predicted"].isna().all()


def area(labels: np.ndarray, scores: np.ndarray) -> float:
    consistent, others = scores[labels == 1], scores[labels == 0]
    statistic = stats.mannwhitneyu(consistent, others).statistic
    return float(statistic / len(consistent) / len(others))


def test_f1_is_of_the_inconsistent_summaries() -> None:
    labels, predicted = np.array([0, 0, 1, 1, 1]), np.array([False, True, False, True, True])
    weights = np.array([[1.0, 1, 1, 1, 1], [1, 0, 2, 1, 1], [0, 0, 0, 1, 1]])
    computed = f1_scores(labels, predicted, weights)
    assert computed[0] == pytest.approx(0.5)  # one of two found, one of two flagged is wrong
    assert computed[1] == pytest.approx(2 * 1 / (2 * 1 + 2))
    assert np.isnan(computed[2])


def test_areas_and_means(results: Results[Summaries], data: Summaries, guesses: np.ndarray) -> None:
    frame = rows_of(results, "mine:guess")
    for domain, rows in data.table.groupby("document"):
        expected = area(rows["label"].to_numpy(), guesses[rows.index])
        assert frame.loc[domain, "area"] == pytest.approx(expected)
    assert frame.loc[MEAN, "area"] == pytest.approx(frame["area"][:3].mean())


def test_intervals_draw_documents(
    results: Results[Summaries], data: Summaries, guesses: np.ndarray
) -> None:
    frame = rows_of(results, "mine:guess")
    areas, labels = [], data.table["label"].to_numpy()
    for drawn in drawn_rows(data.table["text"], 30):
        news_rows = [row for row in drawn if data.keys[row][0] == "news"]
        if news_rows:
            areas.append(area(labels[news_rows], guesses[news_rows]))
    assert ends(areas) == (frame.loc["news", "area_low"], frame.loc["news", "area_high"])


def test_published_models_have_their_accuracies_and_the_mean_of_these_domains(
    results: Results[Summaries],
) -> None:
    frame = rows_of(results, "published:DAE")
    domains = PUBLISHED.loc["DAE"]
    assert frame["accuracy"].to_dict() == {
        "podcast": domains["podcast"],
        "news": domains["news"],
        MEAN: pytest.approx((domains["podcast"] + domains["news"]) / 2),
    }
    assert frame["area"].isna().all()


def test_what_is_at_chance_is_said(results: Results[Summaries]) -> None:
    frame = results.frames[DETECTION]
    ours = (frame["section"] == TRIVIAL) & (frame["domain"] == MEAN)
    for low, sentence in (
        (0.49, "None has a 95% interval above chance"),
        (0.51, "above chance (0.5) for:"),
    ):
        changed = frame.assign(area_low=frame["area_low"].mask(ours, low))
        tables = BENCHMARK.tables(results.scores, {DETECTION: changed})
        assert any(sentence in note for note in tables[0].notes)
        assert any(sentence in note for note in tables[1].notes)

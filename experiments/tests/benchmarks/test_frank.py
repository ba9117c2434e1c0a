"""FRANK from both layouts; partial correlations against a regression on dummies; tables of made-up
data against both; FRANK as published.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from estime_metric.studies.benchmarks.shared.baselines import trivial_block
from estime_metric.studies.benchmarks.shared.benchmark import Results, run
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.meta.significance import williams
from estime_metric.table.arrays import group_codes
from experiments.benchmarks.frank import BENCHMARK
from experiments.benchmarks.frank.data import ERRORS, FLIP, METRICS, read
from experiments.benchmarks.frank.partial import (
    METHODS,
    partial_correlation,
    weighted_partial,
)
from experiments.benchmarks.running import published_block
from experiments.tests.benchmarks.made import DATA, made_folder, made_rows
from tests.command import json_rows
from tests.studies.conftest import drawn_rows, ends, rows
from tests.studies.made import real_folder


@pytest.fixture(scope="module")
def data() -> Summaries:
    return read(DATA / "frank")


@pytest.fixture(scope="module")
def frank() -> Summaries:
    """The test split of FRANK."""
    return read(real_folder("frank"))


@pytest.mark.parametrize("articles", [False, True])
def test_the_authors_files_give_the_same_as_the_folder(tmp_path: Path, articles: bool) -> None:
    authors = made_folder(tmp_path / "frank", "frank-authors")
    if articles:
        (authors / "data" / "benchmark_data.json").unlink()
    for split in ("test", "valid"):
        digests = {
            read(folder, split).digest for folder in (DATA / "frank", authors, authors / "data")
        }
        assert len(digests) == 1


def test_what_the_rows_say_stands_there(data: Summaries) -> None:
    rows = [row for row in made_rows("frank") if row["split"] == "test"]
    assert data.keys == [(row["doc_id"], row["system"]) for row in rows]
    documents = json_rows(DATA / "frank" / "documents.jsonl")
    sources = {row["doc_id"]: row["source"] for row in documents}
    assert data.sources == [sources[row["doc_id"]] for row in rows]
    assert list(data.published) == [
        "FactCC",
        "QAGS",
        "New",
    ]  # those of the paper first, in its order
    missing = [row["metrics"]["QAGS"] is None for row in rows]
    assert np.isnan(data.published["QAGS"]).tolist() == missing
    assert any(missing)
    assert data.table["Flip_EntE"].tolist() == [row["flipped"]["EntE"] for row in rows]
    assert data.documents == ["d0", "d1", "d2", "d4", "d5", "d6"]


def test_the_first_documents_of_each_data_set(data: Summaries) -> None:
    folder = DATA / "frank"
    first = read(folder, limit=1)
    assert (first.documents, len(first)) == (["d0", "d4"], 5)
    assert first.digest != data.digest
    assert read(folder, limit=3).digest == data.digest


def test_a_folder_that_does_not_fit_is_refused_by_name(tmp_path: Path) -> None:
    rows = made_rows("frank")
    with pytest.raises(ValueError, match="`split` to be one of valid, test, but got 'train'"):
        read(tmp_path, "train")
    for number, (bad, message) in enumerate(
        (
            ([{**rows[0], "doc_id": "x"}], "a source for each document, but there is none for x"),
            ([{**rows[0], "dataset": "xl"}], "datasets cnndm, bbc, but got xl"),
            (
                [{**rows[0], "factuality": None}],
                r"`factuality` to be finite, but it is not for \('d0', 'bart'\)",
            ),
        )
    ):
        with pytest.raises(ValueError, match=message):
            read(made_folder(tmp_path / str(number), "frank", bad))
    authors = made_folder(tmp_path / "g", "frank-authors")
    texts = json.loads((authors / "data" / "benchmark_data.json").read_text())
    (authors / "data" / "benchmark_data.json").write_text(json.dumps(texts[1:]))
    with pytest.raises(
        ValueError, match=r"a summary for each judgement .* none for \('d0', 'bart'\)"
    ):
        read(authors)
    (authors / "data" / "benchmark_data.json").unlink()
    shutil.rmtree(authors / "data" / "articles-wbertscore-json")
    with pytest.raises(
        FileNotFoundError, match=r"have the texts, benchmark_data.json or articles-wbertscore-json"
    ):
        read(authors)


def test_the_benchmark_itself(frank: Summaries) -> None:
    assert (len(frank), len(frank.documents), len(frank.systems)) == (1575, 350, 9)
    assert tuple(frank.published) == METRICS
    assert [name for name in frank.table if name.startswith(FLIP)] == [
        FLIP + name for name in ERRORS
    ]
    missing = {name: int(np.isnan(values).sum()) for name, values in frank.published.items()}
    assert {name: number for name, number in missing.items() if number} == {
        "Dep Entail": 41,
        "FEQA": 4,
    }


PARTS = {"all": None, "CNN/DailyMail": "cnndm", "XSum": "bbc"}

#: Partial correlation (Pearson, Spearman) of published metrics with factuality, split ``test``:
#: all, CNN/DailyMail, XSum; computed from the authors' files by residuals on system dummies,
#: independently of this package.
PUBLISHED = {
    "BertScore P Art": (0.295, 0.292, 0.378, 0.332, 0.198, 0.176),
    "FactCC": (0.201, 0.195, 0.363, 0.322, 0.068, 0.066),
    "Dep Entail": (0.179, 0.191, 0.273, 0.280, 0.033, 0.111),
    "QAGS": (0.093, 0.083, 0.170, 0.122, -0.004, 0.006),
    "FEQA": (-0.001, -0.008),
}


def by_regression(x: np.ndarray, y: np.ndarray, categories: list[str], method: str) -> float:
    """Residuals of a least-squares fit on one dummy for each category."""
    if method == "spearman":
        x, y = stats.rankdata(x), stats.rankdata(y)
    names = sorted(set(categories))
    dummies = np.array([[float(category == name) for name in names] for category in categories])
    first, second = (
        values - dummies @ np.linalg.lstsq(dummies, values, rcond=None)[0] for values in (x, y)
    )
    return float(np.corrcoef(first, second)[0, 1])


def columns(seed: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Tied numbers of three categories that differ in level and size."""
    rng = np.random.default_rng(seed)
    categories = [str(name) for name in rng.choice(["A", "B", "C"], 60, p=[0.6, 0.3, 0.1])]
    level = np.array([{"A": 0, "B": 5, "C": -7}[name] for name in categories])
    x = rng.integers(0, 6, 60) + level
    return x.astype(float), x + rng.integers(0, 8, 60) - 2.0 * level, categories


@pytest.mark.parametrize("method", METHODS)
def test_a_resample_is_the_table_with_its_rows_repeated(method: str) -> None:
    x, y, categories = columns(3)
    rng = np.random.default_rng(4)
    weights = np.vstack([np.ones(60), rng.multinomial(60, [1 / 60] * 60, size=5)])
    computed = weighted_partial(weights, x, y, group_codes(categories, 60), method)
    for row, value in zip(weights.astype(int), computed, strict=True):
        taken = np.repeat(np.arange(60), row)
        repeated = by_regression(x[taken], y[taken], [categories[index] for index in taken], method)
        assert value == pytest.approx(repeated, abs=1e-12)


def test_nothing_that_varies_within_a_category_has_no_value() -> None:
    categories = ["A", "A", "B", "B"]
    for method in METHODS:
        assert np.isnan(
            partial_correlation([0.1, 0.1, 0.3, 0.3], [1, 2, 3, 4], categories, method=method)
        )
        assert np.isnan(partial_correlation([1, 1, 1, 1], [1, 2, 3, 4], method=method))


@pytest.mark.parametrize("metric", PUBLISHED)
def test_published_metrics_correlate_as_published(frank: Summaries, metric: str) -> None:
    computed = []
    for dataset in PARTS.values():
        inside = frank.table["dataset"] == dataset if dataset else True
        rows = frank.table[frank.published[metric].notna() & inside]
        scores = frank.published[metric][rows.index]
        computed += [
            partial_correlation(scores, rows["factuality"], rows["system"], method=method)
            for method in METHODS
        ]
    expected = PUBLISHED[metric]
    assert computed[: len(expected)] == pytest.approx(expected, abs=5.01e-4)


def expected(
    data: Summaries, scores: np.ndarray, judged: str, part: str | None, method: str
) -> float:
    known = data.table[np.isfinite(scores) & (data.table["dataset"] == part if part else True)]
    judgements = known[judged].to_numpy()
    return by_regression(scores[known.index], judgements, list(known["system"]), method)


@pytest.fixture(scope="module")
def results(data: Summaries) -> Results[Summaries]:
    return run(BENCHMARK, data, [trivial_block(), published_block(data)], resamples=20)


def test_each_cell_is_that_of_the_regression(results: Results[Summaries], data: Summaries) -> None:
    by_label = {row["measure"]: row for row in rows(results.tables["frank"])}
    for column in results.scores.columns:
        scores = results.scores.oriented(column)
        for part, dataset in PARTS.items():
            for symbol, method in (("r", "pearson"), ("ρ", "spearman")):
                cell = by_label[column.label][f"{part} {symbol}"]
                value = expected(data, scores, "factuality", dataset, method)
                assert (float(cell) if cell else np.nan) == pytest.approx(
                    value, abs=1e-9, nan_ok=True
                ), (column.label, part)


def test_a_missing_value_is_said(results: Results[Summaries]) -> None:
    assert any(
        "excluded from that row" in note and "QAGS 3" in note
        for note in results.tables["frank"].notes
    )
    tidy = results.frames["correlations.csv"]
    assert tidy[(tidy["measure"] == "QAGS") & (tidy["part"] == "all")][
        "summaries"
    ].unique().tolist() == [12]


def test_intervals_draw_documents(results: Results[Summaries], data: Summaries) -> None:
    tidy = results.frames["correlations.csv"].query("measure == 'FactCC' and part == 'all'")
    row = tidy.query("kind == 'plain' and method == 'pearson'").iloc[0]
    values = [
        np.corrcoef(data.published["FactCC"][drawn], data.table["factuality"][drawn])[0, 1]
        for drawn in drawn_rows(data.table["document"], 20)
    ]
    assert ends(values) == (row.low, row.high)


def test_the_ablation_is_what_flipped_labels_change(
    results: Results[Summaries], data: Summaries
) -> None:
    table = {
        (row["section"], row["measure"]): row for row in rows(results.tables["frank-ablation"])
    }
    for part, dataset in PARTS.items():
        for error, heading in zip(ERRORS, list(table["all", "FactCC"])[2:], strict=True):
            scores = data.published["FactCC"].to_numpy()
            change = expected(data, scores, "factuality", dataset, "pearson")
            change -= expected(data, scores, f"Flip_{error}", dataset, "pearson")
            assert float(table[part, "FactCC"][heading]) == pytest.approx(change), (part, error)


def test_each_is_tested_against_the_best(results: Results[Summaries], data: Summaries) -> None:
    tidy = results.frames["differences.csv"]
    group = tidy[(tidy.part == "all") & (tidy.method == "pearson")].set_index("column")
    best = group["best"].iloc[0]
    assert group.loc[best, "difference"] == 0
    assert group.loc[best, "p_value"] == 1
    assert (group["difference"] >= 0)["published:FactCC"]
    scores = results.scores
    by_column = {column.name: column for column in scores.columns}
    first, second = scores.oriented(by_column[best]), data.published["FactCC"].to_numpy()
    systems = list(data.table["system"])
    judged = data.table["factuality"].to_numpy()
    pairs = ((first, judged), (second, judged), (first, second))
    three = [by_regression(x, y, systems, "pearson") for x, y in pairs]
    assert group.loc["published:FactCC", "p_value"] == pytest.approx(williams(*three, 15 - 4)[1])

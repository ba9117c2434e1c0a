"""Scores from files compared with ours: joined by document and system, gaps and strangers named,
directions known.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from estime_metric import EstimeScorer
from estime_metric.studies.benchmarks.shared.own_scores import own_block, own_blocks
from estime_metric.studies.benchmarks.shared.running import run
from estime_metric.studies.benchmarks.shared.scored import score
from estime_metric.studies.benchmarks.summeval import BENCHMARK
from estime_metric.studies.benchmarks.summeval.data import SummEval
from estime_metric.table import table as score_table


@pytest.fixture
def table(data: SummEval) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(list(data.keys), columns=["document", "system"]).assign(
        judge=rng.integers(1, 6, len(data)), errors=rng.integers(0, 4, len(data)), note="some text"
    )


def write(table: pd.DataFrame, path: Path) -> Path:
    table.to_csv(path)  # with the index column that pandas writes unasked
    return path


def test_a_file_gives_the_same_scores_in_any_order(
    data: SummEval, table: pd.DataFrame, tmp_path: Path
) -> None:
    shuffled = write(table.sample(frac=1, random_state=2), tmp_path / "mine.csv")
    scores = score(data, own_blocks([shuffled], ["errors"]))
    assert list(scores.frame)[-2:] == ["mine:judge", "mine:errors"]
    for name in ("judge", "errors"):
        assert scores.frame[f"mine:{name}"].tolist() == table[name].tolist()
    assert [column.label for column in scores.columns] == ["judge [mine]", "(-)errors [mine]"]
    ordered = score(data, [own_block(table, "mine", ["errors"])])
    assert scores.signatures == ordered.signatures
    assert not any(scores.notes.values())


def test_gaps_and_strangers_are_named(data: SummEval, table: pd.DataFrame) -> None:
    stranger = pd.DataFrame({"document": ["zzz", "d"], "system": ["M2", "M9"], "judge": [1, 2]})
    gaps = pd.concat([table.drop(columns=["errors", "note"]).iloc[1:], stranger])
    gaps["judge"] = gaps["judge"].astype(float).mask(gaps["document"] == "007")
    block = own_block(gaps, "mine")
    scores = score(data, [block])
    assert scores.notes["Scores of mine"] == (
        "mine: no row for 1 of 12 summaries: (b-doc, M10).",
        "mine: no value of judge for 3 summaries: (007, M10), (007, M2), (007, M0).",
        "mine: rows of no summary, excluded: (zzz, M2), (d, M9).",
    )
    assert np.isnan(scores.frame["mine:judge"]).tolist() == [
        key[0] == "007" or index == 0 for index, key in enumerate(data.keys)
    ]
    kept = [index for index, (document, _) in enumerate(data.keys) if document in ("a-doc", "d")]
    table1 = run(BENCHMARK, data, [block], resamples=5).tables["table1"]
    rows = table1.sections["fluency"].set_index("measure")
    judged = data.table["fluency"].to_numpy()[kept]
    value = stats.spearmanr(table["judge"].to_numpy()[kept], judged).statistic
    assert rows.loc["judge [mine]", "ρ"] == pytest.approx(value)


def test_what_estime_score_writes_is_read(data: SummEval, bert_folder: str, tmp_path: Path) -> None:
    others = pd.DataFrame(list(data.keys), columns=["doc_id", "system"]).assign(consistency=5.0)
    scorer = EstimeScorer(model=bert_folder, layers=2, measures=("soft",))
    result = scorer.score(data.summaries, data.sources)
    rows = result.table().drop(columns="signature").join(others)
    path = tmp_path / "mine.jsonl"
    score_table.write(path, rows[::-1].to_dict("records"), {"signature": result.signature})
    scores = score(data, own_blocks([path]))
    labels = {column.label for column in scores.columns}
    assert {"(-)alarms [mine]", "soft [mine]"} <= labels
    for name in ("consistency", "tokens", "coverage", "copied_density"):
        assert f"{name} [mine]" not in labels
    assert scores.frame["mine:alarms"].tolist() == result.values("alarms").tolist()
    assert result.signature in scores.signatures["Scores of mine"]


def test_tables_that_do_not_fit_are_refused_by_name(
    data: SummEval, table: pd.DataFrame, tmp_path: Path
) -> None:
    for bad, message in (
        (pd.concat([table, table.iloc[:1]]), r"each summary once, but .b-doc, M10. occurs twice"),
        (table[["document", "system", "note"]], "a column of scores, but its columns are docum"),
        (table.assign(judge=["n/a", *table["judge"][1:]]), "'judge' of 'mine' to contain numb"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            own_block(bad, "mine")
    path = write(table, tmp_path / "mine.csv")
    (tmp_path / "other").mkdir()
    with pytest.raises(ValueError, match="files of different names, but several are called mine"):
        own_blocks([path, tmp_path / "other" / "mine.csv"])
    with pytest.raises(ValueError, match="`lower` to name columns of scores, but no file has note"):
        own_blocks([path], ["note"])
    strange = score(data, [own_block(table.assign(document="x" + table["document"]), "mine")])
    assert (
        "to score summaries of made-up, but none of its 12 rows is one"
        in strange.problems["Scores of mine"]
    )

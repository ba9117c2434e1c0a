"""Blocks of measures: each column is what its function gives; an interrupted run resumes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from estime_metric import EstimeScorer
from estime_metric.studies.benchmarks.shared import baselines
from estime_metric.studies.benchmarks.shared.bertscore import BertScorer
from estime_metric.studies.benchmarks.shared.blocks import (
    REFERENCE_FREE,
    Block,
    Prepared,
    ScoreColumn,
)
from estime_metric.studies.benchmarks.shared.estime_block import estime_block
from estime_metric.studies.benchmarks.shared.scored import Scored, score
from estime_metric.studies.benchmarks.summeval.data import SummEval
from estime_metric.studies.benchmarks.summeval.measures import measure_blocks
from estime_metric.table.table import record_of
from tests.command import csv_rows
from tests.families import BLOCKS


def counted(name: str, calls: list[str], signature: str = "s1", values: float = 0.1) -> Block:
    """A block that says when it is computed."""

    def compute(data: SummEval) -> dict[str, np.ndarray]:
        calls.append(name)
        return {name: np.arange(len(data)) * values / 3}

    column = ScoreColumn(name, name, REFERENCE_FREE)
    return Block(name, (column,), lambda: Prepared(f"{name}|{signature}", compute))


def broken(name: str, error: BaseException) -> Block:
    def prepare() -> Prepared:
        raise error

    return Block(name, (ScoreColumn(name, name, REFERENCE_FREE),), prepare)


def test_every_block_gives_what_its_function_gives(data: SummEval, bert_folder: str) -> None:
    options = {"model": bert_folder, "layers": (1, 3), "measures": ("soft",)}
    second = EstimeScorer(**options, unit="word")
    scorers = {"": EstimeScorer(**options), "unit word": second}
    scores = score(data, measure_blocks(scorers, bert_model=bert_folder))
    assert not scores.problems
    texts, sources, references = data.summaries, data.sources, data.table["references"]
    result = second.score(texts, sources)
    for label, expected in {
        "(-)J-Shannon": baselines.jensen_shannon(texts, sources),
        "BERTScore-P": BertScorer(bert_folder).score(texts, references)["BERTScore-P"],
        "BLEU": baselines.bleu(texts, references),
        "ROUGE-L": baselines.rouge(texts, references)["ROUGE-L"],
        "(-)length": baselines.length(texts),
        "(-)absent words": baselines.absent_words(texts, sources),
        "(-)alarms-3 (unit word)": result.values("alarms", 3).numpy(),
        "soft-1 (unit word)": result.values("soft", 1).numpy(),
    }.items():
        (column,) = [column for column in scores.columns if column.label == label]
        sign = -1 if label.startswith("(-)") else 1
        assert scores.oriented(column) == pytest.approx(sign * expected, abs=1e-6), label
    assert {"estime_token_1", "estime_word_3 (unit word)", "rouge_l"} <= set(scores.frame)


def test_all_layers_are_in_the_table_of_layers_alone(bert_folder: str) -> None:
    *alarms, recommended = estime_block(EstimeScorer(model=bert_folder, layers="all")).columns
    default = round(21 / 24 * BLOCKS)
    assert [column.layer for column in alarms] == list(range(BLOCKS + 1))
    assert [column.layer for column in alarms if column.main] == [default]
    assert (recommended.name, recommended.main) == (f"inconsistency_token_{default}", True)


def test_scores_are_kept_and_taken_up_only_when_asked(data: SummEval, tmp_path: Path) -> None:
    calls: list[str] = []
    first = score(data, [counted("a", calls), counted("b", calls)], folder=tmp_path)
    table = csv_rows(tmp_path / "scores.csv")
    assert [float(row["a"]) for row in table] == first.frame["a"].tolist()  # to the last bit
    run = record_of(tmp_path / "scores.csv")
    assert run["signatures"] == {"a": "a|s1", "b": "b|s1"}
    assert run["measures"]["a"] == {"label": "a", "lower_is_better": False}

    again = score(data, [counted("a", calls), counted("b", calls)], folder=tmp_path)
    assert calls == ["a", "b", "a", "b"]
    assert not again.reused

    resumed = score(
        data,
        [counted("b", calls), counted("a", calls, "s2"), counted("c", calls)],
        folder=tmp_path,
        resume=True,
    )
    assert calls[4:] == ["a", "c"]  # another signature, a new measure
    assert resumed.reused == ["b"]
    assert resumed.frame["b"].tolist() == first.frame["b"].tolist()
    assert pd.read_csv(tmp_path / "scores.csv").columns.tolist() == [
        "document",
        "system",
        "b",
        "a",
        "c",
    ]


def test_an_interrupted_run_loses_nothing(data: SummEval, tmp_path: Path) -> None:
    calls: list[str] = []
    score(data, [counted("a", calls), counted("b", calls)], folder=tmp_path)
    blocks = [counted("a", calls, "s2"), broken("c", KeyboardInterrupt()), counted("b", calls)]
    with pytest.raises(KeyboardInterrupt):
        score(data, blocks, folder=tmp_path, resume=True)
    score(data, [counted("a", calls, "s2"), counted("b", calls)], folder=tmp_path, resume=True)
    assert calls == ["a", "b", "a"]


def test_scores_of_other_data_are_not_taken_up(data: SummEval, tmp_path: Path) -> None:
    calls: list[str] = []
    assert not score(
        data, [counted("a", calls)], folder=tmp_path, resume=True
    ).reused  # an empty folder
    with pytest.raises(
        ValueError, match=r"to contain scores of this data .* but they are of made-up"
    ):
        score(data.head(2), [counted("a", calls)], folder=tmp_path, resume=True)
    (tmp_path / "scores.csv.meta.json").write_text("{}", encoding="utf-8")
    with pytest.raises(
        ValueError, match="to contain the scores of an earlier run, but got KeyError"
    ):
        score(data, [counted("a", calls)], folder=tmp_path, resume=True)


def test_a_measure_is_compared_with_the_same_one_in_the_same_layer_or_with_alarms(
    data: SummEval,
) -> None:
    first = [("inconsistency", 2), ("alarms", 2), ("soft", 2), ("alarms", 4), ("soft", 4)]
    second = {("soft", 4): ("soft", 4), ("soft", 6): ("soft", 2), ("winners", 4): ("alarms", 4)}

    def column(measure: str, layer: int, setting: str = "") -> ScoreColumn:
        name = f"{measure}-{layer}{setting}"
        return ScoreColumn(
            name, name, REFERENCE_FREE, measure=measure, layer=layer, setting=setting
        )

    columns = [column(*key) for key in first]
    columns += [column(*key, "distance 8") for key in second]
    frame = data.table.assign(**{each.name: 0.0 for each in columns})
    scores = Scored(data, tuple(columns), frame)
    for own, expected in zip(columns[len(first) :], second.values(), strict=True):
        rival = scores.rival_of(own)
        assert rival is not None
        assert (rival.measure, rival.layer, rival.setting) == (*expected, "")
    assert scores.rival_of(ScoreColumn("x", "x", REFERENCE_FREE)) == columns[0]
    assert Scored(data).rival_of(columns[-1]) is None

"""Tables and pictures contain what scipy finds, and the printed rows digit for digit."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from estime_metric.studies.benchmarks.shared import estime_paper as paper
from estime_metric.studies.benchmarks.shared.blocks import (
    REFERENCE_BASED,
    REFERENCE_FREE,
    TRIVIAL,
    ScoreColumn,
)
from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.summeval import BENCHMARK
from estime_metric.studies.benchmarks.summeval.data import SummEval
from estime_metric.studies.tables import Table
from tests.studies.conftest import drawn_rows, ends, rows
from tests.studies.meta import oracle

#: What the paper prints.
PAPER = paper.CORRELATIONS.sort_index(axis=1)
COLUMNS = (
    ScoreColumn("estime_token_5", "(-)ESTIME-5", REFERENCE_FREE, True, measure="alarms", layer=5),
    ScoreColumn(
        "estime_token_6", "(-)ESTIME-6", REFERENCE_FREE, True, measure="alarms", layer=6, main=False
    ),
    ScoreColumn("rouge_1", "ROUGE-1", REFERENCE_BASED),
    ScoreColumn("gone", "BLEU", REFERENCE_BASED),
    ScoreColumn("length", "(-)length", TRIVIAL, True),
)


@pytest.fixture
def scores(data: SummEval) -> Scores:
    rng = np.random.default_rng(2)
    values = {
        one.name: rng.integers(0, 6, len(data)).astype(np.float64)
        for one in COLUMNS
        if one.name != "gone"
    }
    return Scores(
        data,
        COLUMNS,
        values,
        signatures={"ESTIME": "ESTIME|x"},
        problems={"BLEU": "needs pip install 'estime-metric[meta]'."},
    )


@pytest.fixture
def correlations(scores: Scores) -> pd.DataFrame:
    return BENCHMARK.analyze(scores, resamples=50)["correlations.csv"]


def tables_of(scores: Scores) -> dict[str, Table]:
    frames = BENCHMARK.analyze(scores, resamples=5)
    return {table.name: table for table in BENCHMARK.tables(scores, frames)}


@pytest.fixture
def tables(scores: Scores) -> dict[str, Table]:
    return tables_of(scores)


def test_correlations_are_those_of_scipy(scores: Scores, correlations: pd.DataFrame) -> None:
    assert len(correlations) == 4 * len(QUALITIES) * 2 * 3
    for row in correlations.itertuples():
        sign = -1 if row.measure.startswith("(-)") else 1
        x = sign * scores.values[row.column].reshape(4, 3)
        y = scores.data.table[row.quality].to_numpy().reshape(4, 3)
        if row.level == "system":
            x, y = x.mean(axis=0), y.mean(axis=0)
        assert row.value == pytest.approx(
            oracle.by_scipy(x.ravel(), y.ravel(), row.method), abs=1e-9
        )
        assert -1 - 1e-9 <= row.low <= row.high <= 1 + 1e-9


def test_intervals_come_from_resampled_documents(scores: Scores) -> None:
    correlations = BENCHMARK.analyze(scores, resamples=60)["correlations.csv"]
    row = correlations.query(
        "column == 'rouge_1' and quality == 'fluency' and level == 'summary' and method == 'pearson'"
    ).iloc[0]
    x, y = scores.values["rouge_1"], scores.data.table["fluency"].to_numpy()
    documents = scores.data.table["document"]
    drawn = [np.corrcoef(x[taken], y[taken])[0, 1] for taken in drawn_rows(documents, 60)]
    assert ends(drawn) == (row.low, row.high)


def test_every_printed_row_stands_there_digit_for_digit(tables: dict[str, Table]) -> None:
    first, second = (
        {row["measure"]: row for row in rows(tables[name]) if row["from"] == "paper"}
        for name in ("table1", "table2")
    )
    assert list(first) == list(PAPER.index)
    for name, row in first.items():
        cells = [
            float(row[f"{quality} {symbol}"]) for quality in QUALITIES for symbol in ("ρ", "τ")
        ]
        assert cells == paper.CORRELATIONS.loc[name].xs("summary", level="level").tolist()
    printed = PAPER.xs(("consistency", "system"), axis=1)
    assert {name: [float(row["τ"]), float(row["ρ"])] for name, row in second.items()} == {
        name: values.tolist() for name, values in printed.iterrows()
    }


def test_ours_stand_above_the_paper_s_row_of_the_same_measure(tables: dict[str, Table]) -> None:
    for name in ("table1", "table2"):
        order = [(row["measure"], row["from"]) for row in rows(tables[name])]
        assert order.index(("(-)ESTIME-5", "here")) == order.index(("(-)ESTIME-12", "paper")) - 1
        assert order.index(("ROUGE-1", "here")) == order.index(("ROUGE-1", "paper")) - 1
        assert order.index(("BLEU", "failed")) == order.index(("BLEU", "paper")) - 1
        assert order[-1] == ("(-)length", "here")
        assert "(-)ESTIME-6" not in dict(order)
        assert "BLEU: failed. needs pip install 'estime-metric[meta]'." in tables[name].notes
        assert "ESTIME: ESTIME|x" in tables[name].notes


def test_our_rows_are_the_correlations(
    scores: Scores, correlations: pd.DataFrame, tables: dict[str, Table]
) -> None:
    value = correlations.set_index(["measure", "quality", "level", "method"])["value"]
    first, second, layers = (
        {row["measure" if name != "layers" else "layer"]: row for row in rows(tables[name])}
        for name in ("table1", "table2", "layers")
    )
    for quality in QUALITIES:
        for symbol, method in (("ρ", "spearman"), ("τ", "kendall_c")):
            expected = value["(-)ESTIME-5", quality, "summary", method]
            assert float(first["(-)ESTIME-5"][f"{quality} {symbol}"]) == expected
            assert float(layers["5"][f"{quality} {symbol}"]) == expected
    assert (
        float(second["(-)length"]["τ"]) == value["(-)length", "consistency", "system", "kendall_c"]
    )
    assert {layer: row["section"] for layer, row in layers.items()} == dict.fromkeys(
        "56", "(-)ESTIME"
    )
    assert float(layers["6"]["mean"]) == scores.values["estime_token_6"].mean()
    scores.columns = COLUMNS[:1]
    assert set(tables_of(scores)) == {"table1", "table2"}


def test_a_constant_measure_has_no_correlation_but_a_row(scores: Scores) -> None:
    scores.values["length"][:] = 7.0
    line = rows(tables_of(scores)["table1"])[-1]
    assert (line["measure"], line["fluency ρ"]) == ("(-)length", "")


def test_unnamed_systems_are_said_to_be_so(data: SummEval) -> None:
    for named in (True, False):
        notes = tables_of(Scores(dataclasses.replace(data, named_systems=named)))["table2"].notes
        assert any("does not name the systems" in note for note in notes) != named


def made(data: SummEval, columns: list[tuple[int, str]], blocks: int = 3) -> tuple[Scores, Frames]:
    """Alarms at random, for (layer, setting); the encoder of a second setting has ``blocks``."""
    rng = np.random.default_rng(4)
    made_columns = tuple(
        ScoreColumn(
            f"estime_token_{layer}{setting}",
            f"(-)ESTIME-{layer}{setting}",
            REFERENCE_FREE,
            True,
            measure="alarms",
            layer=layer,
            blocks=blocks if setting else 3,
            setting=setting,
        )
        for layer, setting in columns
    )
    values = {column.name: rng.normal(size=len(data)) for column in made_columns}
    scores = Scores(data, made_columns, values)
    return scores, BENCHMARK.analyze(scores, resamples=2)


@pytest.mark.parametrize("settings", [("",), ("", "distance 8")])
def test_the_curves_are_the_correlations_by_layer(
    data: SummEval, settings: tuple[str, ...]
) -> None:
    columns = [(layer, setting) for setting in settings for layer in (3, 1, 2)]
    scores, correlations = made(data, columns, blocks=6)
    figures = dict(BENCHMARK.draw(scores, correlations))
    assert list(figures) == ["layers_spearman", "layers_kendall", "layers_system"]
    value = correlations["correlations.csv"].set_index(["column", "quality", "level", "method"])[
        "value"
    ]
    lines = [np.array(line.get_data()) for line in figures["layers_kendall"].axes[0].lines]
    for setting in settings:
        places = [0.5, 1, 1.5] if setting else [1, 2, 3]  # at the same relative depth
        for quality in QUALITIES:
            heights = [
                value[f"estime_token_{layer}{setting}", quality, "summary", "kendall_c"]
                for layer in (1, 2, 3)
            ]
            assert any(
                line.shape == (2, 3) and np.allclose(line, [places, heights], atol=1e-9)
                for line in lines
            )


def test_a_second_setting_is_compared_with_the_same_measure_of_the_first(data: SummEval) -> None:
    _, frames = made(data, [(1, ""), (2, ""), (2, "distance 8")])
    compared = frames["differences.csv"].set_index("quality")
    assert set(compared["measure"]) == {"(-)ESTIME-2distance 8"}
    assert set(compared["than"]) == {"(-)ESTIME-2"}
    value = frames["correlations.csv"].query("level == 'summary' and method == 'spearman'")
    value = value.set_index(["quality", "column"])["value"]
    for quality in QUALITIES:
        expected = value[quality, "estime_token_2distance 8"] - value[quality, "estime_token_2"]
        assert compared.loc[quality, "difference"] == pytest.approx(expected)


def test_p_values_above_a_hundredth_are_named(scores: Scores) -> None:
    table = tables_of(scores)["table1"]
    note = next(note for note in table.notes if note.startswith("p: two-sided"))
    assert "ROUGE-1 fluency ρ 0." in note
    (row,) = (row for row in rows(table) if (row["measure"], row["from"]) == ("ROUGE-1", "here"))
    expected = stats.spearmanr(scores.values["rouge_1"], scores.data.table["consistency"]).pvalue
    assert float(row["consistency ρ, p"]) == pytest.approx(expected)


def test_one_layer_has_no_curve(data: SummEval) -> None:
    assert not list(BENCHMARK.draw(*made(data, [(5, "")])))

"""Tidy tables, tables and pictures contain what scipy finds and what the paper prints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from estime_metric.studies.benchmarks.shared import estime_paper as paper
from estime_metric.studies.benchmarks.shared.blocks import (
    REFERENCE_BASED,
    REFERENCE_FREE,
    TRIVIAL,
    Block,
    Prepared,
    ScoreColumn,
)
from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.shared.own_scores import own_block
from estime_metric.studies.benchmarks.shared.running import Frames, run
from estime_metric.studies.benchmarks.shared.scored import Scored, score
from estime_metric.studies.benchmarks.summeval import BENCHMARK
from estime_metric.studies.benchmarks.summeval.data import SummEval
from estime_metric.studies.printed import Table
from tests.studies.meta import oracle

COLUMNS = (
    ScoreColumn("estime_token_5", "(-)ESTIME-5", REFERENCE_FREE, True, measure="alarms", layer=5),
    ScoreColumn(
        "estime_token_6", "(-)ESTIME-6", REFERENCE_FREE, True, measure="alarms", layer=6, main=False
    ),
    ScoreColumn("rouge_1", "ROUGE-1", REFERENCE_BASED),
    ScoreColumn("length", "(-)length", TRIVIAL, True),
)
GONE = ScoreColumn("gone", "BLEU", REFERENCE_BASED)


def made_block(columns: Sequence[ScoreColumn], seed: int = 2) -> Block:
    """A block of random scores."""

    def compute(data: SummEval) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(seed)
        return {column.name: rng.integers(0, 6, len(data)) for column in columns}

    return Block("made", tuple(columns), lambda: Prepared("MADE|x", compute))


def failing() -> Prepared:
    raise ImportError("needs pip install 'estime-metric[meta]'.")


@pytest.fixture
def scores(data: SummEval) -> Scored:
    return score(data, [made_block(COLUMNS), Block("BLEU", (GONE,), failing)])


@pytest.fixture
def correlations(scores: Scored) -> pd.DataFrame:
    return BENCHMARK.analyze(scores, resamples=50)["correlations.csv"]


def tables_of(scores: Scored) -> dict[str, Table]:
    frames = BENCHMARK.analyze(scores, resamples=5)
    return {table.name: table for table in BENCHMARK.tables(scores, frames)}


@pytest.fixture
def tables(scores: Scored) -> dict[str, Table]:
    return tables_of(scores)


def test_correlations_are_those_of_scipy(scores: Scored, correlations: pd.DataFrame) -> None:
    computed = correlations[correlations["column"].isin([column.name for column in COLUMNS])]
    assert len(computed) == 4 * len(QUALITIES) * 2 * 3
    for row in computed.itertuples():
        sign = -1 if row.measure.startswith("(-)") else 1
        x = sign * scores.frame[row.column].to_numpy().reshape(4, 3)
        y = scores.frame[row.quality].to_numpy().reshape(4, 3)
        if row.level == "system":
            x, y = x.mean(axis=0), y.mean(axis=0)
        assert row.value == pytest.approx(
            oracle.correlation(x.ravel(), y.ravel(), row.method), abs=1e-9
        )
        assert -1 - 1e-9 <= row.low <= row.high <= 1 + 1e-9


def test_what_the_paper_prints_is_next_to_ours_digit_for_digit(
    correlations: pd.DataFrame, tables: dict[str, Table]
) -> None:
    printed = correlations.dropna(subset="paper")
    wide = printed.pivot(index="measure", columns=["quality", "level", "method"], values="paper")
    expected = paper.CORRELATIONS
    pd.testing.assert_frame_equal(wide.loc[expected.index, expected.columns], expected)
    for name, quality in (("table1", "fluency"), ("table2", "")):
        rows = tables[name].sections[quality].set_index("measure")
        assert list(rows.index[:2]) == ["(-)ESTIME-5", "BLANC-AXXL"]
        assert rows.index[-1] == "(-)length"
        assert "(-)ESTIME-6" not in rows.index
        assert "BLEU: failed. needs pip install 'estime-metric[meta]'." in tables[name].notes
        assert "made: MADE|x" in tables[name].notes
    rows = tables["table2"].sections[""].set_index("measure")
    assert rows.loc["(-)ESTIME-21", ["ρ paper", "τ paper"]].tolist() == [0.821, 0.633]
    assert rows.loc["BLEU", ["ρ paper", "τ paper"]].tolist() == [-0.150, -0.017]
    assert np.isnan(rows.loc["BLEU", "ρ"])  # it failed


def test_tables_show_the_correlations(
    scores: Scored, correlations: pd.DataFrame, tables: dict[str, Table]
) -> None:
    value = correlations.set_index(["measure", "quality", "level", "method"])["value"]
    layers = tables["layers"].sections
    assert list(layers) == ["(-)ESTIME, ρ", "(-)ESTIME, τ"]
    for quality in QUALITIES:
        rows = tables["table1"].sections[quality].set_index("measure")
        for symbol, method in (("ρ", "spearman"), ("τ", "kendall_c")):
            expected = value["(-)ESTIME-5", quality, "summary", method]
            assert rows.loc["(-)ESTIME-5", symbol] == expected
            assert layers[f"(-)ESTIME, {symbol}"].loc[0, quality] == expected
    assert layers["(-)ESTIME, ρ"]["layer"].tolist() == ["5", "6"]
    assert layers["(-)ESTIME, ρ"].loc[1, "mean"] == scores.frame["estime_token_6"].mean()
    note = next(note for note in tables["table1"].notes if note.startswith("p: two-sided"))
    assert "above .01." in note
    one = Scored(scores.data, COLUMNS[:1], scores.frame)
    assert set(tables_of(one)) == {"table1", "table2"}


def test_a_measure_with_gaps_rests_on_fewer_documents_or_is_a_row_of_dashes(
    data: SummEval,
) -> None:
    table = pd.DataFrame(list(data.keys), columns=["document", "system"])
    judge = table.assign(judge=range(len(data)))
    fewer = own_block(judge.drop(index=[1, 4]), "fewer")  # of two documents
    none = own_block(judge[judge["system"] != "M2"], "none")
    results = run(BENCHMARK, data, [made_block(COLUMNS), fewer, none], resamples=5)
    counts = results.frames["correlations.csv"].groupby("measure")["documents"].unique()
    assert (list(counts["judge [fewer]"]), list(counts["ROUGE-1"])) == ([2], [4])
    notes = {
        "Empty, because no document has a score of every system: judge [none].",
        "On fewer than the 4 documents, those with a score of every system: judge [fewer] (2).",
    }
    for name in ("table1", "table2", "layers"):
        assert notes <= set(results.tables[name].notes)
    for name, section in (("table1", "fluency"), ("table2", "")):
        rows = results.tables[name].cells(results.tables[name].sections[section])
        place = rows.pop("measure").index("judge [none]")
        assert {cells[place] for cells in rows.values()} == {"–"}


def made(
    data: SummEval, columns: list[tuple[int, str, str]], blocks: int = 3
) -> tuple[Scored, Frames]:
    """Measures at random, for (layer, setting, measure); the encoder of a second setting has
    ``blocks``.
    """
    made_columns = tuple(
        ScoreColumn(
            f"{measure}_{layer}{setting}",
            f"(-){measure}-{layer}{setting}",
            REFERENCE_FREE,
            True,
            measure=measure,
            layer=layer,
            blocks=blocks if setting else 3,
            setting=setting,
        )
        for layer, setting, measure in columns
    )
    scores = score(data, [made_block(made_columns, seed=4)])
    return scores, BENCHMARK.analyze(scores, resamples=2)


@pytest.mark.parametrize(
    ("setting", "measure", "places"),
    [("", "", []), ("distance 8", "alarms", [0.5, 1, 1.5]), ("", "winners", [1, 2, 3])],
)
def test_the_curves_are_the_correlations_by_layer(
    data: SummEval, setting: str, measure: str, places: list[float]
) -> None:
    """Thin ones are a second setting, at the same relative depth, or another measure of the first
    (appendix B).
    """
    columns = [(layer, "", "alarms") for layer in (3, 1, 2)]
    if measure:
        columns += [(layer, setting, measure) for layer in (3, 1, 2)]
    scores, frames = made(data, columns, blocks=6)
    figures = dict(BENCHMARK.draw(scores, frames))
    assert list(figures) == ["layers_spearman", "layers_kendall", "layers_system"]
    value = frames["correlations.csv"].set_index(["column", "quality", "level", "method"])["value"]
    lines = [line for line in figures["layers_kendall"].axes[0].lines if len(line.get_xdata()) == 3]
    expected = {"-": ("alarms_{}", [1, 2, 3])}
    if measure:
        expected["--"] = (f"{measure}_{{}}{setting}", places)
    for style, (column, layers) in expected.items():
        curves = [line.get_data() for line in lines if line.get_linestyle() == style]
        for quality, curve in zip(QUALITIES, curves, strict=True):
            names = [column.format(layer) for layer in (1, 2, 3)]
            heights = [value[name, quality, "summary", "kendall_c"] for name in names]
            np.testing.assert_allclose(curve, [layers, heights], atol=1e-9)
    assert len(lines) == len(QUALITIES) * len(expected)
    if measure:
        (legend,) = figures["layers_kendall"].legends
        kind = f"{setting}, layers rescaled" if setting else measure
        assert [text.get_text() for text in legend.get_texts()][-2:] == ["ESTIME", kind]


def test_system_level_points_with_a_large_p_value_are_not_drawn(data: SummEval) -> None:
    scores, frames = made(data, [(layer, "", "alarms") for layer in (1, 2, 3)])
    table = frames["correlations.csv"]
    is_drawn = (table["level"] == "system") & (table["quality"] == "consistency")
    table.loc[is_drawn, "p_value"] = np.where(table[is_drawn]["column"] == "alarms_2", 0.2, 0.04)
    figure = dict(BENCHMARK.draw(scores, frames))["layers_system"]
    curves = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 3]
    for line in curves:
        assert np.isnan(line.get_ydata()).tolist() == [False, True, False]
    assert len(curves) == 2


def test_a_second_setting_is_compared_with_the_same_measure_of_the_first(data: SummEval) -> None:
    layers = [(1, ""), (2, ""), (2, "distance 8")]
    _, frames = made(data, [(*layer, "alarms") for layer in layers])
    compared = frames["differences.csv"].set_index("quality")
    assert set(compared["measure"]) == {"(-)alarms-2distance 8"}
    assert set(compared["than"]) == {"(-)alarms-2"}
    value = frames["correlations.csv"].query("level == 'summary' and method == 'spearman'")
    value = value.set_index(["quality", "column"])["value"]
    for quality in QUALITIES:
        expected = value[quality, "alarms_2distance 8"] - value[quality, "alarms_2"]
        assert compared.loc[quality, "difference"] == pytest.approx(expected)

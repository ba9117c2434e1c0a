"""The pictures are drawn of the numbers in the tables, and only of what was measured."""

from __future__ import annotations

import numpy as np
import pytest

from estime_metric.studies.shared.estime_paper import QUALITIES
from estime_metric.studies.shared.scoring import REFERENCE_FREE, Measure, Scores
from estime_metric.studies.shared.study import Frames
from estime_metric.studies.summeval import study
from estime_metric.studies.summeval.data import SummEval


def made(data: SummEval, columns: list[tuple[str, int, str]]) -> tuple[Scores, Frames]:
    """Scores of ESTIME at random, for (column, layer, unit)."""
    rng = np.random.default_rng(4)
    measures = tuple(
        Measure(column, f"(-)ESTIME-{layer}", REFERENCE_FREE, True, layer=layer, unit=unit)
        for column, layer, unit in columns
    )
    scores = Scores(data, measures, {one.column: rng.normal(size=len(data)) for one in measures})
    return scores, study.analyze(scores, resamples=2)


@pytest.mark.parametrize("units", [("token",), ("token", "word")])
def test_the_curves_are_the_correlations_by_layer(data: SummEval, units: tuple[str, ...]) -> None:
    columns = [(f"estime_{unit}_{layer}", layer, unit) for unit in units for layer in (3, 1, 2)]
    scores, found = made(data, columns)
    figures = dict(study.draw(scores, found))
    assert list(figures) == ["scores", "bias", "intra_system", "layers_spearman", "layers_kendall", "layers_system"]
    value = found["correlations.csv"].set_index(["column", "quality", "level", "method"])["value"]
    lines = [np.array(line.get_ydata()) for line in figures["layers_kendall"].axes[0].lines]
    for unit in units:
        for quality in QUALITIES:
            expected = [value[f"estime_{unit}_{layer}", quality, "summary", "kendall_c"] for layer in (1, 2, 3)]
            assert any(len(line) == 3 and np.allclose(line, expected, atol=1e-9) for line in lines)


def test_one_layer_has_no_curve_and_nothing_no_picture(data: SummEval) -> None:
    figures = dict(study.draw(*made(data, [("estime_token_5", 5, "token")])))
    assert list(figures) == ["scores", "bias", "intra_system"]
    nothing = Scores(data)
    assert not list(study.draw(nothing, study.analyze(nothing)))

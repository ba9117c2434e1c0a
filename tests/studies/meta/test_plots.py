"""Pictures contain the data they were given, and names cover nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from estime_metric.studies.columns import SUMMEVAL_SYSTEMS
from estime_metric.studies.meta import plots
from estime_metric.studies.meta.bias import BiasMatrix, bias_matrix

NAMES = [*SUMMEVAL_SYSTEMS.values()][:16]


def tables(documents: int = 40, systems: int = 16) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    judgements = rng.integers(3, 16, size=(documents, systems)) / 3 + np.linspace(0, 1, systems)
    return judgements + rng.normal(size=judgements.shape), judgements


def bias(systems: int = 16) -> BiasMatrix:
    scores, judgements = tables(systems=systems)
    return bias_matrix(scores, judgements, NAMES[:systems])


def test_circles_have_the_colors_and_areas_of_the_matrix() -> None:
    made = bias()
    axes = plots.plot_bias(made, "a measure").axes[0]
    circles, counts = axes.collections[0], made.counts
    rows, columns = np.nonzero(counts)
    np.testing.assert_array_equal(circles.get_offsets(), np.column_stack([columns, rows]))
    np.testing.assert_array_equal(circles.get_array(), made.matrix[rows, columns])
    sizes = circles.get_sizes()
    np.testing.assert_allclose(sizes / sizes.max(), counts[rows, columns] / counts.max())
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == list(made.systems)
    alone = bias_matrix([[1.0, 0.0]], [[2.0, 1.0]], ["A", "B"])
    crosses = plots.plot_bias(alone, "a measure").axes[0].collections[1]
    assert crosses.get_offsets().tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize("systems", [1, 16])
def test_names_and_captions_lie_within_the_picture(systems: int) -> None:
    figure = plots.plot_bias(bias(systems), "a measure")
    figure.draw_without_rendering()
    drawn, picture = figure.get_tightbbox(), figure.bbox_inches
    assert (drawn.min >= picture.min - 0.01).all()
    assert (drawn.max <= picture.max + 0.01).all()


def test_bars_and_whiskers_stand_where_the_values_are() -> None:
    none = [np.nan] * 3
    frames = {
        "one": {"value": [0.1, 0.4, np.nan], "low": [0.0, 0.3, np.nan], "high": [0.2, 0.5, np.nan]},
        "two": {"value": [0.2, -0.3, 0.0], "low": none, "high": none},
    }
    agreement = {name: pd.DataFrame(rows) for name, rows in frames.items()}
    figure = plots.plot_intra_system(agreement, ["A", "B", "C"], "within each system")
    for panel, rows in zip(figure.axes, agreement.values(), strict=True):
        np.testing.assert_array_equal([bar.get_height() for bar in panel.patches], rows["value"])
    whiskers = figure.axes[0].collections[0].get_segments()[:2]
    np.testing.assert_allclose(whiskers, [[[0, 0.0], [0, 0.2]], [[1, 0.3], [1, 0.5]]])
    assert [panel.get_title(loc="left") for panel in figure.axes] == [
        "one   (mean 0.25)",
        "two   (mean -0.03)",
    ]


def test_the_best_layer_is_ringed_and_named() -> None:
    figure = plots.plot_layers({"fluency": [0.1, np.nan, 0.3, 0.2]}, [3, 4, 5, 6], "τ", "by layer")
    lines = figure.axes[0].lines
    assert (list(lines[1].get_xdata()), list(lines[1].get_ydata())) == ([5], [0.3])
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["fluency (best: 5)"]
    nothing = plots.plot_layers({"fluency": [np.nan, np.nan]}, [1, 2], "τ", "by layer")
    assert [text.get_text() for text in nothing.legends[0].get_texts()] == ["fluency (none)"]

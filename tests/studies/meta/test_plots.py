"""Pictures contain the data they were given, names cover nothing, files are written twice the same."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from estime_metric.studies.meta import plots
from estime_metric.studies.meta.bias import BiasMatrix, bias_matrix
from estime_metric.studies.meta.shuffle import LengthCurve, accuracy_by_length_difference

NAMES = [
    "LEAD-3",
    "neusum",
    "BanditSum",
    "RNES",
    "PG",
    "abssentrw",
    "Bottom-Up",
    "Improve-abs",
    "Unified-ext-abs",
    "ROUGESal",
    "Multi-task (Ent + QG)",
    "Closed book decoder",
    "T5",
    "GPT-2 (zero shot)",
    "BART",
    "Pegasus",
]


def tables(documents: int = 40, systems: int = 16) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    judgements = rng.integers(3, 16, size=(documents, systems)) / 3 + np.linspace(0, 1, systems)
    return judgements + rng.normal(size=judgements.shape), judgements


def bias(systems: int = 16) -> BiasMatrix:
    scores, judgements = tables(systems=systems)
    return bias_matrix(scores, judgements, NAMES[:systems])


def curve(seed: int = 0) -> LengthCurve:
    rng = np.random.default_rng(seed)
    return accuracy_by_length_difference(
        rng.normal(size=90), rng.normal(size=90), rng.integers(50, 400, size=90)
    )


FIGURES: dict[str, Callable[[], Figure]] = {
    "bias": lambda: plots.plot_bias(bias(8), "a measure"),
    "bias of two": lambda: plots.plot_bias(bias(2), "a measure"),
    "bias of one": lambda: plots.plot_bias(bias(1), "a measure"),
    "intra": lambda: plots.plot_intra_system(
        {"one": np.linspace(-0.1, 0.5, 16), "two": np.full(16, np.nan)},
        NAMES,
        {"one": np.zeros((16, 2))},
    ),
    "layers": lambda: plots.plot_layers(
        {"coherence": [0.1, 0.3, 0.2], "fluency": [0.1, 0.3, 0.2]},
        [0, 1, 2],
        "τ",
        others={"fluency": [0.0, 0.1, 0.2]},
        kinds=("thick", "thin"),
    ),
    "curves": lambda: plots.plot_length_curves({"one": curve(), "two": curve(1)}),
    "lengths": lambda: plots.plot_lengths(tables(systems=6)[1] * 100, NAMES[:6]),
    "one summary": lambda: plots.plot_scores([[1.0]], [[1.0]], ["A"], "a measure", "coherence"),
    "one document": lambda: plots.plot_lengths([[3.0, 4.0, 5.0, 6.0, 7.0]], list("abcde")),
}


@pytest.mark.slow
def test_files_are_written_twice_the_same(tmp_path: Path) -> None:
    first, again = (plots.save(FIGURES["bias"](), tmp_path / name) for name in ("first", "again"))
    names = ["first.png", "first.svg", "again.png", "again.svg"]
    assert [path.name for path in (*first, *again)] == names
    (alone,) = plots.save(FIGURES["bias"](), tmp_path / "alone.SVG")  # its ending names the format
    assert alone.read_bytes() == first[1].read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {*names, "alone.SVG"}
    assert first[0].read_bytes().startswith(b"\x89PNG")
    assert "</svg>" in first[1].read_text(encoding="utf-8")
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes()


def lies_within_the_picture(figure: Figure) -> bool:
    """Whether all that is drawn does."""
    drawn, picture = figure.get_tightbbox(), figure.bbox_inches
    return bool((drawn.min >= picture.min - 0.01).all() and (drawn.max <= picture.max + 0.01).all())


@pytest.mark.parametrize("name", FIGURES)
def test_all_that_is_drawn_lies_within_the_picture(name: str) -> None:
    figure = FIGURES[name]()
    figure.draw_without_rendering()
    assert lies_within_the_picture(figure)


def test_circles_have_the_colors_and_areas_of_the_matrix() -> None:
    made = bias()
    axes = plots.plot_bias(made, "a measure", {"BART": "the best"}).axes[0]
    circles = axes.collections[0]
    rows, columns = np.nonzero(made.counts)
    np.testing.assert_array_equal(circles.get_offsets(), np.column_stack([columns, rows]))
    np.testing.assert_array_equal(circles.get_array(), made.matrix[rows, columns])
    sizes = circles.get_sizes()
    np.testing.assert_allclose(sizes / sizes.max(), made.counts[rows, columns] / made.counts.max())
    largest = made.counts.max()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        f"{largest}",
        f"{largest // 4}",
    ]
    assert circles.get_clim() == (-1.0, 1.0)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["the best" if name == "BART" else name for name in made.systems]
    crossed = (
        plots.plot_bias(bias_matrix([[1.0, 0.0]], [[2.0, 1.0]], ["A", "B"]), "a measure")
        .axes[0]
        .collections[1]
    )
    assert crossed.get_offsets().tolist() == [[0.0, 1.0]]


def test_bars_and_whiskers_stand_where_the_values_are() -> None:
    values = {"one": [0.1, 0.4, np.nan], "two": [0.2, -0.3, 0.0]}
    figure = plots.plot_intra_system(
        values, ["A", "B", "C"], {"one": [[0.0, 0.2], [0.3, 0.5], [np.nan, np.nan]]}
    )
    for panel, heights in zip(figure.axes, values.values(), strict=True):
        np.testing.assert_array_equal([bar.get_height() for bar in panel.patches], heights)
    whiskers = np.array(figure.axes[0].collections[0].get_segments())
    np.testing.assert_allclose(whiskers, [[[0, 0.0], [0, 0.2]], [[1, 0.3], [1, 0.5]]])
    assert [panel.get_title(loc="left") for panel in figure.axes] == [
        "one   (mean 0.25)",
        "two   (mean -0.03)",
    ]


def test_the_best_layer_is_ringed_and_named() -> None:
    figure = plots.plot_layers({"fluency": [0.1, np.nan, 0.3, 0.2]}, [3, 4, 5, 6], "τ")
    lines = figure.axes[0].lines
    np.testing.assert_array_equal(lines[0].get_ydata(), [0.1, np.nan, 0.3, 0.2])
    assert (list(lines[1].get_xdata()), list(lines[1].get_ydata())) == ([5], [0.3])
    assert [text.get_text() for text in figure.axes[0].texts] == ["fluency (best: 5)"]
    nothing = plots.plot_layers({"fluency": [np.nan, np.nan]}, [1, 2], "τ")
    assert not nothing.axes[0].texts


def test_curves_that_end_together_are_named_apart() -> None:
    figure = plots.plot_layers(
        {name: [0.1, 0.2 + 1e-4 * k] for k, name in enumerate("abcdefg")}, [1, 2], "τ"
    )
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) == 7
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_names_next_to_means_cover_no_other_name_and_no_point() -> None:
    scores, judgements = tables()
    judgements[:, :6] = judgements[:, :1] + 0.02 * np.arange(6)  # six systems side by side
    scores[:, :6] = scores[:, :1]
    figure = plots.plot_scores(scores, judgements, NAMES, "a measure", "coherence")
    figure.draw_without_rendering()
    assert lies_within_the_picture(figure)
    axes = figure.axes[1]
    texts = [text for text in axes.texts if isinstance(text, Annotation)]
    assert sorted(text.get_text() for text in texts) == sorted(NAMES)
    boxes = [
        super(Annotation, text).get_window_extent() for text in texts
    ]  # of the name, without its line
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    points = axes.transData.transform(
        np.column_stack([judgements.mean(axis=0), scores.mean(axis=0)])
    )
    assert not any(box.contains(*point) for box in boxes for point in points)


def test_curves_and_histograms_hold_the_data() -> None:
    one = curve()
    figure = plots.plot_length_curves({"one": one})
    np.testing.assert_array_equal(
        figure.axes[0].lines[0].get_xydata(), np.column_stack([one.lengths, one.means])
    )
    lengths = tables(systems=6)[1] * 100
    panels = plots.plot_lengths(lengths, NAMES[:6]).axes
    assert [panel.get_title(loc="left") for panel in panels[:6]] == NAMES[:6]
    assert all(sum(bar.get_height() for bar in panel.patches) == 40 for panel in panels[:6])
    written = [float(panel.texts[0].get_text()) for panel in panels[:6]]
    np.testing.assert_allclose(written, lengths.mean(axis=0), atol=0.51)

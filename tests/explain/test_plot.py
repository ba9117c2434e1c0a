"""Explanations as a plot: a mark for each word, at its position and that of its evidence."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pytest

from estime_metric import Explanation
from estime_metric.explain import plot_alarms
from estime_metric.explain.plot import LABELED
from estime_metric.explain.wording import LEAST_COLORED
from tests.command import run_python

pytest.importorskip("matplotlib")

from matplotlib.colors import to_rgb
from matplotlib.image import imread

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def marks(shown: Explanation) -> dict[str, list[tuple[float, float]]]:
    """Label -> the points that are drawn under it."""
    (axes,) = plot_alarms(shown).axes
    named = [each for each in axes.collections if not str(each.get_label()).startswith("_")]
    return {
        each.get_label(): [tuple(point) for point in np.asarray(each.get_offsets()).tolist()]
        for each in named
    }


def test_each_word_is_drawn_at_its_evidence(example: Explanation) -> None:
    drawn = marks(example)
    for verdict, label in (
        ("match", "match"),
        ("alarm", "alarm"),
        ("absent", "not in the source"),
    ):
        expected = [
            (x, word.best.start) for x, word in enumerate(example.words) if word.verdict == verdict
        ]
        assert drawn[label] == expected
        assert expected
    assert drawn["alarm's same word"] == [
        (x, word.same.start) for x, word in enumerate(example.words) if word.verdict == "alarm"
    ]
    (axes,) = plot_alarms(example).axes
    assert [
        (label.get_text(), label.get_fontweight() == "bold") for label in axes.get_xticklabels()
    ] == [
        (
            example.prediction[word.start : word.end],
            word.verdict == "absent" or word.graded_alarm >= LEAST_COLORED,
        )
        for word in example.words
    ]
    assert (
        axes.get_title(loc="left") == f"{example.alarms} alarms of {example.overlap} tokens checked"
    )


def saved(figure: Figure) -> tuple[np.ndarray, ElementTree.Element]:
    """The pixels of a figure as PNG, with its alpha last, and the root of its SVG."""
    png, svg = io.BytesIO(), io.BytesIO()
    figure.savefig(png, format="png")
    figure.savefig(svg, format="svg")
    png.seek(0)
    return imread(png), ElementTree.fromstring(svg.getvalue())


def test_hostile_texts_are_drawn(hostile: Explanation) -> None:
    """Characters that the font lacks are boxes, formulas and markup are what they are; nothing
    warns.
    """
    figure = plot_alarms(hostile, title="$\\frac{ \U0001f469 नम")
    pixels, svg = saved(figure)
    (axes,) = figure.axes
    assert axes.get_title(loc="left") == "$\\frac{ \u25af \u25af\u25af"
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert len(labels) == len(hostile.words)
    assert {"<script>alert('x')</script>"[:24], "$x^2$", "[bold"} <= set(labels)
    assert not set("".join(labels)) & set("\x1b\x07\U0001f469")  # the font lacks these
    assert svg.tag.endswith("}svg")
    assert not [one for one in svg.iter() if one.tag.endswith("}script")]
    width, height = figure.get_size_inches() * figure.dpi
    assert pixels.shape == (int(height), int(width), 4)
    alarm = np.array(to_rgb("#b5410a"))
    assert (np.abs(pixels[..., :3] - alarm).max(axis=-1) < 0.02).any()  # marks of alarms


def test_empty_texts_are_drawn(empty: Explanation) -> None:
    figure = plot_alarms(empty)
    pixels, svg = saved(figure)
    (axes,) = figure.axes
    assert axes.get_title(loc="left") == "0 alarms of 0 tokens checked"
    assert marks(empty) == {}
    assert svg.tag.endswith("}svg")
    assert pixels[..., :3].min() < 0.1 < 0.9 < pixels[..., :3].max()  # the axes are there


def test_long_summaries_have_no_words_along_the_axis(example: Explanation) -> None:
    length = len(example.prediction)
    units = tuple(
        replace(word, start=word.start + length * copy, end=word.end + length * copy)
        for copy in range(3)
        for word in example.words
    )
    shown = Explanation(example.prediction * 3, example.source, units, "word", 1, "")
    assert len(shown.words) == len(units) > LABELED
    (axes,) = plot_alarms(shown).axes
    assert not set("".join(label.get_text() for label in axes.get_xticklabels())) & set("abcdefgh")


@pytest.mark.slow
def test_plots_touch_nothing_global_and_without_matplotlib_the_extra_is_named(
    tmp_path: Path,
) -> None:
    """These and those of the meta-evaluation, in a fresh process."""
    run = run_python(
        """
            import sys
            from estime_metric.explain import plot_alarms
            assert "matplotlib" not in sys.modules
            from estime_metric.explanation import Explanation
            plot_alarms(Explanation("", "", (), "token", 1, ""))
            assert "matplotlib.pyplot" not in sys.modules
            import matplotlib
            before = dict(matplotlib.rcParams)
            from estime_metric.studies.meta import plots
            plots.save(plots.plot_layers({"a": [1.0, 2.0]}, [1, 2], "x"), sys.argv[1])
            assert not getattr(sys.modules.get("matplotlib.pyplot"), "get_fignums", list)()
            assert dict(matplotlib.rcParams) == before
            for name in [name for name in sys.modules if name.startswith(("matplotlib", "estime_metric.studies.meta.plots"))]:
                del sys.modules[name]
            sys.modules["matplotlib"] = None
            try:
                plot_alarms(Explanation("", "", (), "token", 1, ""))
            except ImportError as error:
                print(error)
            import estime_metric.studies.meta.plots
    """,
        tmp_path / "x",
        status=1,
        PYTHONWARNINGS="error",
    )
    missing = "Plots need matplotlib: pip install 'estime-metric[meta]'.\n"
    assert run.stdout == missing
    assert run.stderr.endswith(f"ImportError: {missing}")

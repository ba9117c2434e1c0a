"""The tabs of the page, without a browser: what their functions give for the values of components."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("gradio")

import gradio as gr

from estime_metric.demo import app
from estime_metric.demo.encoders import Encoders, Setting
from estime_metric.demo.handlers import Handlers
from estime_metric.examples import PATH as EXAMPLES
from tests.command import json_rows

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Tabs:
    """The page's parts, outside of a served page."""

    def __init__(self) -> None:
        handlers = Handlers(Encoders(["embedded-small"]))
        opening = app.opening_setting(handlers.encoders)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Gradio leaves event loops open
            with gr.Blocks():
                self.controls = app.Controls(handlers.encoders, opening)
                self.explain = app.ExplainTab(handlers, self.controls)
                self.compare = app.CompareTab(handlers, self.controls)
                self.file = app.FileTab(handlers, self.controls)
            gc.collect()
        self.values = {
            component: component.value
            for part in (self.controls, self.explain, self.compare, self.file)
            for component in vars(part).values()
            if isinstance(component, gr.components.Component)
        }

    def with_values(self, **changed: Any) -> app.Values:
        """The values of a page on which a control was changed."""
        return {**self.values, **{getattr(self.controls, name): changed[name] for name in changed}}


@pytest.fixture(scope="module")
def tabs() -> Tabs:
    return Tabs()


def test_the_setting_is_that_of_the_controls(tabs: Tabs) -> None:
    assert tabs.controls.setting(tabs.values) == tabs.controls.opening
    assert tabs.controls.opening == Setting("embedded-small", unit="token", layer=5)
    changed = tabs.with_values(unit="word", layer=2.0)
    assert tabs.controls.setting(changed) == Setting("embedded-small", "word", 2)


def test_a_tab_is_drawn_anew_if_it_is_seen_and_the_setting_has_changed(tabs: Tabs) -> None:
    explain, compare = tabs.explain, tabs.compare
    drawn = {explain.drawn: tabs.controls.opening, compare.drawn: tabs.controls.opening}
    same = {**tabs.values, **drawn}
    assert explain.draw_if_changed(same) == {explain.drawn: tabs.controls.opening}
    changed = {**tabs.with_values(unit="word"), **drawn}
    assert compare.draw_if_changed(changed) == {compare.drawn: tabs.controls.opening}  # unseen
    found = explain.draw_if_changed(changed)
    assert "unit:word" in found[explain.shown]
    assert found[explain.drawn].unit == "word"
    assert found[explain.picture] == ""  # not open
    changed[tabs.controls.selected] = app.CompareTab.name
    assert "unit:word" in compare.draw_if_changed(changed)[compare.compared]


def test_the_plot_is_drawn_while_it_is_open(tabs: Tabs) -> None:
    opened = {**tabs.values, tabs.explain.opened: True}
    assert tabs.explain.draw(opened)[tabs.explain.picture].startswith("<img")
    without = {**opened, tabs.explain.summary: None}
    found = tabs.explain.draw(without)
    assert (found[tabs.explain.picture], found[tabs.explain.accordion]["visible"]) == ("", False)


def test_examples_fill_the_boxes(tabs: Tabs) -> None:
    rows = json_rows(EXAMPLES)
    taken = tabs.explain.take_example(4)
    assert taken[tabs.explain.source] == rows[4]["source"]
    assert taken[tabs.explain.summary] == rows[4]["summary"]
    assert app.example_labels()[4].startswith("faithful: Morgenrot")
    taken = tabs.compare.take_example(2)
    assert taken[tabs.compare.source] == rows[4]["source"] == rows[5]["source"]
    assert taken[tabs.compare.first] == rows[4]["summary"]
    assert taken[tabs.compare.second] == rows[5]["summary"]


def test_an_encoder_that_cannot_be_loaded_leaves_the_one_before(tabs: Tabs) -> None:
    controls = tabs.controls
    with pytest.warns(UserWarning, match="not available on this page"):  # what the page shows
        found = controls.switch(tabs.with_values(model="no/such/encoder"))
    assert found[controls.model]["value"] == "embedded-small"
    assert controls.switch(tabs.values) == {controls.loaded: "embedded-small"}


def test_a_file_is_scored_with_the_setting(tabs: Tabs, tmp_path: Path) -> None:
    values = {**tabs.with_values(unit="word"), tabs.file.file: str(EXAMPLES)}
    steps: Iterator[app.Values] = tabs.file.score(values)
    *_, last = steps
    assert "8 of 8 rows scored" in last[tabs.file.shown]
    assert "|unit:word|" in last[tabs.file.shown]
    assert last[tabs.file.download]["visible"]

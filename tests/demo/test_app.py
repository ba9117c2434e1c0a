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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Gradio leaves event loops open
            with gr.Blocks():
                self.controls = app.Controls(handlers.encoders, Setting("embedded-small", layer=5))
                self.explain = app.explain_tab(handlers, self.controls)
                self.compare = app.compare_tab(handlers, self.controls)
                self.file = app.FileTab(handlers, self.controls)
            gc.collect()
        parts = (vars(part) for part in (self.controls, self.explain, self.compare, self.file))
        components = [value for part in parts for value in part.values()]
        components += [*self.explain.texts, *self.compare.texts]
        self.values = {
            component: component.value
            for component in components
            if isinstance(component, gr.components.Component)
        }

    def with_values(self, **changed: Any) -> app.Values:
        """The values of a page on which a control was changed."""
        return {**self.values, **{getattr(self.controls, name): changed[name] for name in changed}}


@pytest.fixture(scope="module")
def tabs() -> Tabs:
    return Tabs()


def test_a_tab_is_drawn_anew_if_it_is_seen_and_the_setting_has_changed(tabs: Tabs) -> None:
    explain, compare = tabs.explain, tabs.compare
    assert explain.draw_if_changed(tabs.values) == {explain.drawn: tabs.controls.opening}
    changed = tabs.with_values(unit="word", layer=2.0)
    assert compare.draw_if_changed(changed) == {compare.drawn: tabs.controls.opening}  # unseen
    drawn = explain.draw_if_changed(changed)
    assert "|layers:2|unit:word|" in drawn[explain.shown]
    assert drawn[explain.drawn] == Setting("embedded-small", "word", 2)
    changed[tabs.controls.selected] = "compare"
    assert "unit:word" in compare.draw_if_changed(changed)[compare.shown]


def test_an_encoder_that_cannot_be_loaded_leaves_the_one_before(tabs: Tabs) -> None:
    controls = tabs.controls
    with pytest.warns(UserWarning, match="not available on this page"):  # what the page shows
        switched = controls.switch(tabs.with_values(model="no/such/encoder"))
    assert switched[controls.model]["value"] == "embedded-small"
    assert controls.switch(tabs.values) == {controls.loaded: "embedded-small"}


def test_a_file_is_scored_with_the_setting(tabs: Tabs, tmp_path: Path) -> None:
    values = {**tabs.with_values(unit="word"), tabs.file.file: str(EXAMPLES)}
    steps: Iterator[app.Values] = tabs.file.score(values)
    *_, last = steps
    assert "8 of 8 rows scored" in last[tabs.file.shown]
    assert "|unit:word|" in last[tabs.file.shown]
    assert last[tabs.file.download]["visible"]
    assert last[tabs.file.pairs] == [(row["source"], row["summary"]) for row in json_rows(EXAMPLES)]

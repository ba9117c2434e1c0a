"""``estime models``, and the paper's short name."""

from __future__ import annotations

import json
import re

import pytest

from estime_metric import EstimeScorer, embedded
from estime_metric.config import PAPER_DEPTH, PAPER_LAYER
from estime_metric.models import MODELS
from tests.command import run_command as run


def test_what_is_listed_is_what_ships() -> None:
    shown = run("models").stdout
    for one in MODELS:
        assert re.search(
            rf"^{one.name} +English +Apache-2\.0 +{one.layer} of {one.blocks} +{one.distance} ",
            shown,
            re.M,
        )
        assert f"\n{one.name}: {one.meaning.split()[0]}" in shown
    bundled = {one.name: one for one in MODELS if one.bundled}
    assert bundled.keys() == embedded.PATHS.keys()
    for name, one in bundled.items():
        folder = embedded.PATHS[name]
        config = json.loads((folder / "config.json").read_text())
        assert (config["estime_layer"], config["num_hidden_layers"]) == (one.layer, one.blocks)
        size = sum(file.stat().st_size for file in folder.iterdir())
        assert one.size == pytest.approx(size / 1e6, abs=1.5)
        number = EstimeScorer(model=name).encoder.info
        assert (number.layer, number.blocks, number.distance) == (
            one.layer,
            one.blocks,
            one.distance,
        )
    paper = MODELS[-1]
    assert (paper.layer, paper.blocks, paper.bundled) == (PAPER_LAYER, PAPER_DEPTH, False)
    assert "used without --model: embedded\n" in shown


def test_speed_is_measured_on_request_and_of_any_encoder(bert_folder: str) -> None:
    shown = run("models", "-m", bert_folder).stdout
    found = re.search(r": ([\d.]+) example pairs per second, loaded in [\d.]+ seconds\n$", shown)
    assert found
    assert float(found[1]) > 0
    assert "per second" not in run("models").stdout

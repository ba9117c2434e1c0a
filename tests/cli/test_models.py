"""``estime models``, and the paper's short name."""

from __future__ import annotations

import re

import pytest

from estime_metric import EstimeScorer, embedded
from estime_metric.config import PAPER_DEPTH, PAPER_LAYER
from estime_metric.models import MODELS
from tests.command import run_command as run


def test_what_is_listed_is_what_ships() -> None:
    shown = run("models").stdout
    for known in MODELS:
        place = f"{known.layer} of {known.blocks} +{known.distance} "
        assert re.search(rf"^{known.name} +English +Apache-2\.0 +{place}", shown, re.M)
        assert f"\n{known.name}: {known.meaning.split()[0]}" in shown
    bundled = {known.name: known for known in MODELS if known.bundled}
    assert bundled.keys() == embedded.PATHS.keys()
    for name, known in bundled.items():
        size = sum(file.stat().st_size for file in embedded.PATHS[name].iterdir())
        assert known.size == pytest.approx(size / 1e6, abs=1.5)
        info = EstimeScorer(model=name).encoder.info
        for number in ("layer", "blocks", "distance"):
            assert getattr(known, number) == getattr(info, number)
    paper = MODELS[-1]
    assert (paper.layer, paper.blocks, paper.bundled) == (PAPER_LAYER, PAPER_DEPTH, False)
    assert "used without --model: embedded\n" in shown


def test_speed_is_measured_on_request_and_of_any_encoder(bert_folder: str) -> None:
    shown = run("models", "-m", bert_folder).stdout
    (speed,) = re.findall(
        r": ([\d.]+) example pairs per second, loaded in [\d.]+ seconds\n$", shown
    )
    assert float(speed) > 0
    assert "per second" not in run("models").stdout

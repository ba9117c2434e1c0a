"""The products of the machine, our share of them, and the profile."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from estime_metric import EstimeScorer
from estime_metric.engine.encoder import linear, store
from experiments.speed import peak
from experiments.speed.peak import Shape, Speeds


def test_the_speed_of_a_block_is_its_work_over_its_time() -> None:
    one, another = Shape(10, 10, number=3), Shape(10, 30, number=1)
    assert another.operations == 2 * peak.ROWS * 10 * 30
    # As much work in either: half of it at 100, half at 300.
    assert Speeds({one: 100.0, another: 300.0}).of_block == pytest.approx(150.0)


@pytest.mark.slow
@pytest.mark.parametrize("distance", [2, 8])
def test_counted_operations_are_those_that_torch_counts(distance: int) -> None:
    """One window without padding: torch counts the linear maps of the plain path, attention is the
    rest.
    """
    with (
        mock.patch.object(store, "STORE", store.EncoderStore()),
        mock.patch.object(linear, "VENDORS", ()),
    ):
        scorer = EstimeScorer(model="embedded-small", distance=distance, device="cpu")
        scorer.load()
    text = "The cat sat on the mat while the dog slept in the garden behind the house."
    with peak.counted(scorer) as work, FlopCounterMode(display=False) as counter:
        scorer.score([text], [text])
    of_maps = counter.get_flop_counts()["Global"][torch.ops.aten.addmm]
    shape = scorer.encoder._model.config
    whole = (scorer.encoder.depth - 1) * work.tokens  # positions of all blocks but the last
    length = work.tokens / (work.tokens // 18)
    assert work.tokens == work.positions
    assert of_maps < work.operations < 1.02 * of_maps + 8 * whole * length * shape.hidden_size


def test_it_counts_padding_apart() -> None:
    scorer = EstimeScorer(model="embedded-small", distance=2, device="cpu")
    with peak.counted(scorer) as work:
        scorer.score(["A cat sat.", "A dog."], ["A cat sat on the mat.", "A dog slept."])
    assert work.tokens < work.positions


@pytest.mark.slow
def test_the_tables(run, summeval: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peak, "ROWS", 64)
    small = ["--model", "embedded-small", "--sources", 1, "--rounds", 1, "--threads", 1]
    products, shares, profile = run("peak", "--summeval", summeval, *small)
    assert {peak.MKL, peak.BFLOAT16} <= set(products.column("product"))
    assert len(products.columns) == 5
    assert [row[:2] for row in shares.rows] == [
        ["float32", "2"],
        ["float32", "8"],
        ["bfloat16", "2"],
        ["bfloat16", "8"],
    ]
    assert all(cell.endswith("%") for cell in shares.column("of PyTorch's default product"))
    assert {"linear maps, with their GELU", "attention", "norms"} <= set(profile.column("part"))
    for column in profile.columns[1:]:
        assert sum(int(cell.rstrip("%")) for cell in profile.column(column)) == pytest.approx(
            100, abs=5
        )

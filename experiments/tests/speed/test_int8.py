"""The trial of int8: it multiplies what it says, and its table."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from estime_metric import EstimeScorer
from experiments.speed import int8
from experiments.speed.int8 import (
    WAYS,
    ZERO,
    Int8Linear,
    SharedRows,
    int8_scorer,
    quantize_rows,
)
from experiments.tests.speed.conftest import needs_int8_products

pytestmark = needs_int8_products


def states(*shape: int) -> torch.Tensor:
    torch.manual_seed(0)
    scales = torch.logspace(-2, 2, shape[0]).view(-1, *[1] * (len(shape) - 1))
    return (torch.randn(*shape) * scales).bfloat16()


@torch.inference_mode()
def test_rows_are_quantized_to_a_step() -> None:
    given = states(50, 96)
    given[7] = 0
    rows = quantize_rows(given)
    assert rows.numbers.dtype == torch.uint8
    signed = rows.numbers.int() - ZERO
    assert signed.abs().max() <= 127
    error = (signed * rows.scale.float() - given.float()).abs() / rows.scale.float()
    assert error.max() < 1.1  # half a step, and the rounding of bfloat16 before it
    assert error.mean() < 0.3
    assert signed.abs().amax(1).ge(125).sum() == 49  # all but the row of zeros
    assert signed[7].eq(0).all()


@pytest.mark.parametrize("way", WAYS.values(), ids=lambda way: way.__name__)
@pytest.mark.parametrize("with_gelu", [False, True])
@torch.inference_mode()
def test_a_map_multiplies_quantized_rows_with_quantized_weights(
    way: type[Int8Linear], with_gelu: bool
) -> None:
    plain, given = nn.Linear(96, 40), states(3, 5, 96)
    found = way(plain, with_gelu=with_gelu, rows=SharedRows())(given)
    assert found.shape == (3, 5, 40)
    assert found.dtype == torch.bfloat16
    rows = quantize_rows(given.view(-1, 96))
    of_states = ((rows.numbers.int() - ZERO) * rows.scale.float()).double()
    step = plain.weight.abs().amax(1, keepdim=True) / 127
    of_weights = (torch.round(plain.weight / step) * step).double()
    expected = of_states @ of_weights.t() + plain.bias
    if with_gelu:
        expected = nn.functional.gelu(expected)
    largest = expected.abs().amax(1, keepdim=True)
    assert ((found.view(-1, 40) - expected).abs() / largest).max() < 0.02  # bfloat16 rounds


@pytest.mark.slow
def test_the_scorer_has_an_encoder_of_its_own_and_scores_nearly_as_float32(
    summeval: Path,
) -> None:
    pairs, _ = int8.common.pairs_of(summeval, 4)
    summaries, sources = int8.common.unzip(pairs)
    scorer = int8_scorer(int8.FusedInt8Linear, "embedded-small", 2)
    shared = EstimeScorer(model="embedded-small", distance=2, dtype="bfloat16", device="cpu")
    assert scorer.encoder is not shared.encoder
    maps = [one for one in scorer.encoder._model.modules() if isinstance(one, Int8Linear)]
    assert len(maps) == 6 * len(int8.blocks_of(shared))
    assert not any(isinstance(one, Int8Linear) for one in shared.encoder._model.modules())
    exact = EstimeScorer(model="embedded-small", distance=2, device="cpu").score(summaries, sources)
    found = scorer.score(summaries, sources)
    torch.testing.assert_close(
        found.values("inconsistency"), exact.values("inconsistency"), atol=0.05, rtol=0
    )


@pytest.mark.slow
def test_the_table_has_a_row_for_each_way(run, summeval: Path) -> None:
    small = ["--model", "embedded-small", "--sources", 2, "--rounds", 1, "--threads", 1]
    (table,) = run(int8.main, summeval, *small)
    assert table.title == "embedded-small, distance 2, 6 pairs of SummEval, 1 rounds"
    assert table.column("") == ["float32", "bfloat16", *WAYS]
    assert table.rows[0][2] == "1.00"
    assert table.column("alarms differ")[0] == "0"
    assert float(table.column("mean |difference| of inconsistency")[0]) == 0

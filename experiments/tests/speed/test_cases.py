"""Each case prints its tables on made-up data, and its numbers are what they are called."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from estime_metric import EstimeConfig, EstimeScorer
from estime_metric.engine.encoder import linear, store
from estime_metric.engine.encoder.fused import FusedBlock
from experiments.speed import common, growth, peak, programs, rounding
from experiments.speed.common import Runs
from experiments.speed.growth import Grown
from experiments.tests.benchmarks import made as benchmarks
from tests.studies.made import DATA

ON_MADE_UP = ("--data", DATA)


def test_cost(run) -> None:
    for table in run("cost", "--data", benchmarks.DATA):  # with the folder of BUMP
        assert table.column("") == [*programs.SETTINGS, programs.BERTSCORE]


@pytest.mark.skipif(
    programs.released_code() is None,
    reason="blanc 0.3.4 is not installed: pip install --no-deps blanc==0.3.4",
)
def test_peers(run) -> None:
    (table,) = run("peers", *ON_MADE_UP)
    assert table.title == "embedded-small, layer 5, SummEval; 9 pairs, 5 cents an hour"
    others = [programs.BLANC, programs.BERTSCORE, programs.BERTSCORE_ONCE]
    settings = [programs.WORD, *programs.SETTINGS, programs.WITH_TRANSFORMERS]
    assert table.column("") == settings + others
    for name in others:
        assert dict(zip(table.column(""), table.column(f"times {name}"), strict=True))[name] == (
            "1.0"
        )


def test_a_row_is_the_speed_and_the_cost_of_a_thousand_pairs() -> None:
    timed = {"ours": Runs([1.0, 3.0, 2.0], None), programs.BLANC: Runs([8.0, 8.0, 8.0], None)}
    ours, other = programs.rows_of(timed, 4)
    # 2 seconds for 4 pairs are 500 for a thousand, at 5 cents an hour .69.
    assert list(ours.values()) == ["ours", "2.0", "500", "0.69", "4.0"]
    assert list(other.values()) == [programs.BLANC, "0.5", "2,000", "2.78", "1.0"]


def test_other_alarms_than_the_released_codes_end_it() -> None:
    result = EstimeScorer(model="embedded-small").score(["A cat sat."], ["A cat sat on the mat."])
    programs.check_alarms(result, result.values("alarms").tolist())
    with pytest.raises(SystemExit, match="alarms differ"):
        programs.check_alarms(result, [7.0])


def test_the_blocks_of_transformers_score_alike(tmp_path: Path) -> None:
    layer = programs.save("embedded-small", str(tmp_path))
    other = programs.scorer_with_blocks_of_transformers(str(tmp_path), layer)
    assert not any(isinstance(module, FusedBlock) for module in other.encoder._model.modules())
    own = EstimeScorer(model="embedded-small", distance=8, device="cpu")
    pairs = common.unzip(common.pairs_of(DATA, 2))
    assert torch.equal(*(scorer.score(*pairs).values("alarms") for scorer in (own, other)))


def test_epochs(run) -> None:
    (table,) = run("epochs", *ON_MADE_UP)
    assert table.column("cache") == ["none", *(f"holds {share}%" for share in (100, 75, 50, 25))]
    assert table.column("by its share")[0] == "1.000"


def test_rounding(run) -> None:
    (table,) = run("rounding", *ON_MADE_UP)
    shuffled, lower = table.rows[1], table.rows[-1]
    assert (shuffled[0], lower[0]) == ("float32: pairs shuffled", "bfloat16, not float32")
    assert shuffled[2] == "0"
    assert float(shuffled[-1]) < 1e-4 < float(lower[-1])


def test_scores_are_in_the_order_of_the_pairs_whatever_order_they_are_scored_in() -> None:
    pairs = common.pairs_of(DATA, 4)
    config = EstimeConfig(model="embedded-small")
    forward, backward = (
        rounding.score(pairs, config, order)["inconsistency"].tolist()
        for order in (None, list(range(len(pairs)))[::-1])
    )
    assert len(set(forward)) > 2
    assert forward == pytest.approx(backward, abs=1e-5)


def test_growth(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "apart", lambda score, *arguments: score(*arguments))
    monkeypatch.setattr(growth, "WORDS", (40, 90))
    monkeypatch.setattr(growth, "PAIRS", (3, 9))
    words, pairs = run("growth", "--plot", tmp_path / "growth")
    assert words.column("words") == ["40", "90"]
    assert pairs.column("pairs") == ["3", "9"]
    assert (tmp_path / "growth.svg").read_text().count("<svg") == 1


@pytest.mark.parametrize("power", [0.5, 2.0])
def test_the_exponent_is_the_power_of_the_size(power: float) -> None:
    grown = [Grown(size, 3 * size**power, 10.0) for size in (10, 100, 1000)]
    assert growth.exponent(grown) == pytest.approx(power)


def test_peak(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peak, "ROWS", 64)
    products, shares = run("peak", *ON_MADE_UP)
    assert {peak.MKL, peak.BFLOAT16} <= set(products.column("product"))
    settings = [(dtype, distance) for dtype in ("float32", "bfloat16") for distance in "28"]
    assert [tuple(row[:2]) for row in shares.rows] == settings


def test_the_speed_of_a_block_is_its_work_over_its_time() -> None:
    square, wide = peak.Shape(10, 10, number=3), peak.Shape(10, 30, number=1)
    # As much work in either: half of it at 100, half at 300.
    assert peak.Speeds({square: 100.0, wide: 300.0}).whole_block == pytest.approx(150.0)


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
    operations_of_maps = counter.get_flop_counts()["Global"][torch.ops.aten.addmm]
    shape = scorer.encoder._model.config
    whole = (scorer.encoder.depth - 1) * work.tokens  # positions of all blocks but the last
    length = work.tokens / (work.tokens // 18)
    assert work.tokens == work.positions
    assert (
        operations_of_maps
        < work.operations
        < 1.02 * operations_of_maps + 8 * whole * length * shape.hidden_size
    )

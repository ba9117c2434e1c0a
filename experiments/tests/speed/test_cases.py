"""Each case prints its tables on made-up data, and its numbers are what they are called."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from estime_metric import EstimeScorer
from estime_metric.engine.encoder.blocks import FusedBlock
from experiments.speed import common, programs
from experiments.speed.common import Runs
from experiments.tests.benchmarks.made import bump_folder
from tests.studies.made import DATA

ON_MADE_UP = ("--data", DATA)


def test_cost(run, tmp_path: Path) -> None:
    bump_folder(tmp_path / "bump")
    for table in run("cost", "--data", tmp_path):  # with the folder of BUMP
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

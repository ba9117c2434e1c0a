"""The comparison with other programs, and what a thousand pairs cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from estime_metric import EstimeConfig, EstimeScorer
from estime_metric.engine.encoder.fused import FusedBlock
from experiments.speed import common, cost, peers
from experiments.speed.common import Runs
from experiments.speed.peers import Setting

needs_blanc = pytest.mark.skipif(
    peers.released_code() is None,
    reason="blanc 0.3.4 is not installed: pip install --no-deps blanc==0.3.4",
)


@pytest.mark.slow
@needs_blanc
def test_the_table_has_a_row_for_each_program(run, summeval: Path, capsys) -> None:
    small = ["--sources", 1, "--rounds", 1, "--threads", 1]
    (table,) = run("peers", "--summeval", summeval, *small)
    assert table.title == "embedded-small, layer 5, 3 pairs of SummEval, 1 rounds"
    others = [peers.BLANC, peers.BERTSCORE, peers.BERTSCORE_ONCE]
    assert table.column("") == [*peers.OURS, peers.WITH_TRANSFORMERS, *others]
    for column, name in zip(table.columns[3:], others, strict=True):
        assert dict(zip(table.column(""), table.column(column), strict=True))[name] == "1.0"


def test_ratios_are_speeds_not_seconds() -> None:
    computed = {"ours": Runs([2.0], None), peers.BLANC: Runs([8.0], None)}
    assert peers.table(computed, pairs=4) == [
        ["ours", "2.00", "2.0", "4.0", "not installed", "not installed"],
        [peers.BLANC, "8.00", "0.5", "1.0", "not installed", "not installed"],
    ]


def test_other_alarms_than_the_released_codes_end_it() -> None:
    result = EstimeScorer(model="embedded-small").score(["A cat sat."], ["A cat sat on the mat."])
    peers.check_alarms(result, result.values("alarms").tolist())
    with pytest.raises(SystemExit, match="alarms differ"):
        peers.check_alarms(result, [7.0])


@pytest.mark.slow
def test_the_blocks_of_transformers_score_alike(tmp_path: Path, summeval: Path) -> None:
    common.save_bundled("embedded-small", tmp_path)
    setting = Setting(str(tmp_path), 5, common.pairs_of(summeval, 2)[0])
    own = setting.scorer(EstimeConfig(distance=8))
    other = peers.scorer_with_blocks_of_transformers(setting)
    fused = [
        [isinstance(one, FusedBlock) for one in scorer.encoder._model.modules()]
        for scorer in (own, other)
    ]
    assert any(fused[0])
    assert not any(fused[1])
    alarms = [common.scoring(scorer, setting.pairs)().values("alarms") for scorer in (own, other)]
    assert torch.equal(*alarms)


def test_costs_are_those_of_a_thousand_pairs() -> None:
    computed = {("embedded", "fast"): Runs([1.0, 3.0, 2.0], None)}
    # 2 seconds for 4 pairs are 500 for a thousand, at 36 cents an hour 5 cents.
    assert cost.table(computed, pairs=4, price=36.0) == [["embedded", "fast", "500", "5.00"]]


def test_news_pairs_are_a_reference_summary_for_each_article(tmp_path: Path) -> None:
    records = [
        {"article_id": f"{article}", "article": f"Text {article}.", "reference_summary": f"{pair}"}
        for article, pair in ((1, "a"), (1, "a"), (2, "b"), (3, "c"))
    ]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "task1_dataset.json").write_text(json.dumps(records))
    pairs, texts = cost.news_pairs(tmp_path, 2)
    assert pairs == [("a", "Text 1."), ("b", "Text 2.")]
    assert texts == "CNN/DailyMail (BUMP)"
    made, texts = cost.news_pairs(tmp_path / "missing", 3)
    assert len(made) == 3
    assert texts.startswith("made-up")


@pytest.mark.slow
def test_the_table_of_costs(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "WORDS", 30)
    (table,) = run("cost", "--bump", tmp_path, "--pairs", 2, "--rounds", 1, "--threads", 1)
    assert table.columns == ["encoder", "setting", "seconds", "cents"]
    assert [row[0] for row in table.rows] == ["embedded"] * 4 + ["embedded-small"] * 4
    assert table.column("setting")[:3] == list(cost.SETTINGS)

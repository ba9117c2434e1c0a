"""``estime verify``: the recorded numbers are met, and a departure from them is named."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from estime_metric import EstimeScorer, embedded
from estime_metric.cli import verify
from tests.command import run_command


@pytest.mark.slow
def test_the_recorded_numbers_are_met() -> None:
    shown = run_command("verify", status=None)
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith("all equal the recorded numbers\n")


@pytest.mark.slow
def test_none_of_them_depends_on_rounding() -> None:
    pairs = [json.loads(line) for line in verify.EXAMPLES.read_text(encoding="utf-8").splitlines()]
    for model, unit in itertools.product(embedded.PATHS, ("token", "word")):
        scorer = EstimeScorer(model=model, unit=unit, cache=10**9)
        texts = [pair["summary"] for pair in pairs], [pair["source"] for pair in pairs]
        # Two words of the base encoder lie within the tolerance of ties, 50 times as far apart as budgets move them.
        assert scorer.score(*texts).ties() == (2 if (model, unit) == ("embedded", "word") else 0)
        margins = [one.relative_margin for shown in scorer.explain_pairs(*texts) for one in shown.units if one.margin]
        assert min(map(abs, margins)) > 3e-5


@pytest.mark.slow
def test_a_departure_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = json.loads(verify.GOLDEN.read_text(encoding="utf-8"))
    recorded["encoders"]["embedded-small"]["token"]["alarms"][0] += 1
    recorded["encoders"]["embedded"]["revision"] = "sha256-000000000000"
    (tmp_path / "golden.json").write_text(json.dumps(recorded))
    monkeypatch.setattr(verify, "GOLDEN", tmp_path / "golden.json")
    shown = run_command("verify", status=None)
    assert shown.exit_code == 1
    assert "embedded, revision: expected sha256-000000000000, got sha256-" in shown.stderr
    assert "embedded-small, token, alarms: expected [" in shown.stderr
    assert shown.stdout.startswith("2 differences from the recorded numbers\n")

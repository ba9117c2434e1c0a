"""``estime verify``: the recorded numbers are met, and a departure from them is named."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeResult, EstimeScorer
from estime_metric.cli import verify
from tests.command import run_command


@pytest.mark.slow
def test_the_recorded_numbers_are_met_and_a_departure_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = []
    score = EstimeScorer.score

    def kept(self: EstimeScorer, *texts: Any) -> EstimeResult:
        results.append(score(self, *texts))
        return results[-1]

    monkeypatch.setattr(EstimeScorer, "score", kept)
    monkeypatch.setattr(verify, "_measure", functools.cache(verify._measure))
    shown = run_command("verify")
    assert shown.stdout.startswith("all values match the recorded values\n")
    assert len(results) == 6  # two units of either encoder, and of the small one at distance 8
    for result in results:  # no verdict on the examples depends on rounding
        assert result.ties() == 0

    recorded = json.loads(verify.GOLDEN.read_text(encoding="utf-8"))
    recorded["values"]["embedded-small, token, distance 2, alarms"][0] += 1
    recorded["values"]["embedded, revision"] = "sha256-000000000000"
    (tmp_path / "golden.json").write_text(json.dumps(recorded))
    monkeypatch.setattr(verify, "GOLDEN", tmp_path / "golden.json")
    shown = run_command("verify", status=1)
    assert "embedded, revision: expected sha256-000000000000, got sha256-" in shown.stderr
    assert "embedded-small, token, distance 2, alarms: expected [" in shown.stderr
    assert shown.stdout.startswith("2 values not equal to the recorded values\n")

"""``estime verify``: the recorded numbers are met, and a departure from them is named."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeResult, EstimeScorer
from estime_metric.cli import verify
from estime_metric.measures import STATISTICS
from tests.command import json_rows, run_command


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
    assert len(results) == 8  # two encoders, two units, two distances
    # No verdict on the examples depends on rounding: two words of the base encoder are within the
    # tolerance of ties, 1e-4, but 50 times as far apart as budgets move them.
    tied = {("embedded", "word", 8): [0, 3]}
    for result in results:
        ties_by_pair = result._statistics[:, 0, STATISTICS.index("ties")].tolist()
        config = result.config
        rows = tied.get((config.model, config.unit, config.distance), [])
        assert ties_by_pair == [float(row in rows) for row in range(8)]
    pairs = [json_rows(verify.EXAMPLES)[row] for row in tied["embedded", "word", 8]]
    texts = [pair["summary"] for pair in pairs], [pair["source"] for pair in pairs]
    explanations = EstimeScorer(unit="word", distance=8).explain_pairs(*texts)
    units = [unit for shown in explanations for unit in shown.units if unit.margin]
    assert min(abs(unit.relative_margin) for unit in units) > 3e-5

    recorded = json.loads(verify.GOLDEN.read_text(encoding="utf-8"))
    recorded["values"]["embedded-small, token, distance 2, alarms"][0] += 1
    recorded["values"]["embedded, revision"] = "sha256-000000000000"
    (tmp_path / "golden.json").write_text(json.dumps(recorded))
    monkeypatch.setattr(verify, "GOLDEN", tmp_path / "golden.json")
    shown = run_command("verify", status=1)
    assert "embedded, revision: expected sha256-000000000000, got sha256-" in shown.stderr
    assert "embedded-small, token, distance 2, alarms: expected [" in shown.stderr
    assert shown.stdout.startswith("2 values not equal to the recorded values\n")

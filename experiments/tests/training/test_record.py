"""The operating point of a bundled encoder, and how many of its words are marked."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from estime_metric import operating_points
from estime_metric.explain import marked
from experiments.benchmarks.aggrefact import data
from experiments.benchmarks.aggrefact.published import TABLE_8
from experiments.training import record
from tests.studies.made import DATA


def test_an_operating_point_is_the_best_mean_over_cells() -> None:
    summaries = data.read(DATA / "aggrefact")
    scores = 1 - 0.5 * summaries.published["DAE"].to_numpy()
    point = record.operating_point(summaries, scores)
    assert point["threshold"] == 0.75
    ((name, accuracy),) = point["balanced_accuracy"].items()
    assert name == "CLIFF, CNN/DailyMail, recent"
    printed = TABLE_8[data.Place("cnndm", "CLIFF", "recent")].accuracies["DAE"]
    assert (accuracy[0], accuracy[3]) == (printed, 150)


def test_ranges_whose_upper_one_has_no_larger_share_are_merged() -> None:
    words = pd.DataFrame(
        [
            ("match", 0.2, False),  # graded 0 at the temperature of .02
            ("match", 0.02, True),  # .27
            ("alarm", -0.01, False),  # .62
            ("alarm", -0.2, True),  # 1
            ("match", None, False),
            ("absent", None, True),
        ],
        columns=["verdict", "margin", "marked"],
    )
    assert record.shares(words) == {
        "absent": {"share": 1.0, "words": 1},
        "graded": [
            {"least": 0.0, "share": 0.0, "words": 2},
            {"least": 0.1, "share": 0.5, "words": 2},
            {"least": 0.9, "share": 1.0, "words": 1},
        ],
    }


def test_the_command_replaces_what_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    for module in (operating_points, marked):
        monkeypatch.setattr(module, "PATH", tmp_path / f"{module.__name__}.json")
    for _ in range(2):
        record.app([str(DATA / "aggrefact-lines"), "-m", "embedded-small"])
    assert '"threshold"' in capsys.readouterr().out
    for module in (operating_points, marked):
        (entry,) = json.loads(module.PATH.read_text())
        assert "embedded-small" in entry["signature"]

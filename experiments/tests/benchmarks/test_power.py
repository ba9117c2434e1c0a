"""The power of a curve, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from estime_metric.cli.console import run as run_command
from experiments.benchmarks.__main__ import app
from experiments.benchmarks.power import AFTER, ARTICLES, BEST, CASES, MEASURES, OTHER, power
from experiments.tests.benchmarks.made import bump_folder


def test_power_by_hand() -> None:
    pairs = np.array([[0.0, -1.0]])  # every error costs 1
    # Of 50 summaries, 5 change: t = .1 / (.303 / 50**.5) = 2.33, p = .024. If 2 change, t = 1.43.
    assert power(pairs, 0.2, 50, BEST) == 1
    assert power(pairs, 0.14, 50, BEST) == 0


def test_power_is_half_of_alpha_without_a_change_and_grows_with_articles() -> None:
    clean = np.random.default_rng(1).normal(size=400)
    pairs = np.stack([clean, clean - 1], axis=1)
    assert power(pairs, 0.1, 100, OTHER, draws=4000) == pytest.approx(0.025, abs=0.008)
    powers = [power(pairs, 0.3, articles, OTHER) for articles in (50, 200, 800)]
    assert powers == sorted(powers)


def test_the_command(tmp_path: Path) -> None:
    command = ["power", str(bump_folder(tmp_path / "bump")), "-m", "embedded-small"]
    assert run_command(app, [*command, "-o", str(tmp_path), "--draws", "5"]) == 0
    table = pd.read_csv(tmp_path / "power.csv")
    assert len(table) == len(CASES) * len(AFTER) * len(MEASURES) * len(ARTICLES)
    assert table["power"].between(0, 1).all()
    assert (tmp_path / "power.svg").stat().st_size

"""The choice of the formula of `inconsistency`: its values, its figures and its rule."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from estime_metric import EstimeScorer
from estime_metric.measures import ALARM_WEIGHT, NEW_SHARE, NUMBER_WEIGHT, TEMPERATURE
from experiments.formula import choice
from experiments.formula.choice import CHOSEN, Formula
from experiments.formula.judged import FIFTH, HALVES, SETS

SOURCE = "Anna bought the red boat. Peter sold the old house to the mayor on Monday."
SUMMARIES = [
    "Anna bought the red boat.",
    "Peter bought the red boat.",
    "The mayor sold 2 yachts on 4 May.",
    "",
]


def test_the_measures_have_the_constants_that_were_chosen() -> None:
    constants = (TEMPERATURE, ALARM_WEIGHT, "words", 3, NEW_SHARE, NUMBER_WEIGHT)
    assert Formula(*constants) == CHOSEN
    assert replace(CHOSEN, numbers=0) in choice.candidates()


def test_the_chosen_formula_is_the_measure(tmp_path: Path) -> None:
    scorer = EstimeScorer(model="embedded-small", distance=2)
    pairs = pd.DataFrame({"summary": SUMMARIES, "source": SOURCE})
    choice.keep_parts(pairs, scorer, tmp_path / "parts")
    result = scorer.score(SUMMARIES, [SOURCE] * len(SUMMARIES))
    (parts,) = choice._parts(pairs, [tmp_path / "parts"])
    assert parts.values(CHOSEN) == pytest.approx(result.values("inconsistency").numpy(), abs=1e-6)


def test_the_rule_takes_the_smallest_share_of_new_ngrams_within_one_standard_error() -> None:
    noise = np.random.default_rng(0).normal(size=200) * 0.05

    def scored(share: float, value: float, moved: float = 0.0) -> tuple[Formula, np.ndarray]:
        drawn = value + moved * noise
        return Formula(0.05, 0.5, "words", 3, share), np.concatenate([[value], drawn])

    best, near, far = scored(0.4, 0.50), scored(0.1, 0.47, moved=1), scored(0.0, 0.40, moved=1)
    chosen = choice.apply_rule(dict([best, near, far]))
    assert chosen == (best[0], near[0], [best[0], near[0]])
    sure = scored(0.1, 0.47)  # as far behind in every resample
    assert choice.apply_rule(dict([best, sure]))[1] == best[0]


def test_a_weight_passes_if_the_mean_gains_and_no_set_loses() -> None:
    assert choice.passes({"a": (0.05, 0.01), "b": (-0.01, 0.02), "mean": (0.02, 0.015)})
    assert not choice.passes({"a": (0.05, 0.01), "b": (-0.01, 0.005), "mean": (0.02, 0.015)})
    assert not choice.passes({"a": (0.01, 0.02), "mean": (0.01, 0.02)})


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    groups = {
        "frank": ("cnndm A", "cnndm B"),
        "cliff": ("cnndm", "xsum"),
        "summeval": ("A", "B"),
        FIFTH: (FIFTH, FIFTH),
    }
    pairs = pd.DataFrame(
        {
            "set": name,
            "half": half,
            "document": f"{number // 4}",
            "group": f"{number // 2}" if name == "bump" else groups[name][number // 2 % 2],
            "summary": SUMMARIES[number % 3],
            "source": SOURCE,
            "judged": float(number % 2 == 0),
        }
        for name in (*SETS, FIFTH)
        for half in HALVES[: 1 if name == FIFTH else None]
        for number in range(16)
    )
    monkeypatch.setattr(choice, "read_pairs", lambda data: pairs)
    file = str(tmp_path / "parts")
    choice.app(["measure", "data", "-m", "embedded-small", "-o", file])
    choice.app(["choose", "data", file])
    printed = capsys.readouterr().out
    assert "288 candidates" in printed
    assert "parts, c 0.1" in printed
    choice.app(["report", "data", file])
    assert capsys.readouterr().out.count("inconsistency ") == 1

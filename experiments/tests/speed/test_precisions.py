"""The rules on precisions: what is compared, and from which pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from estime_metric import EstimeScorer
from estime_metric.studies.benchmarks.aggrefact.data import ORIGINS
from experiments.speed import precisions
from experiments.tests.speed.conftest import needs_int8_products
from experiments.training.formula import CHOICE, REPORT, SETS, Half, JudgedPair
from tests.families import SENTENCES


def judged_pairs() -> list[JudgedPair]:
    """Pairs of all four sets in both halves, with made-up judgements."""
    rng = np.random.default_rng(0)
    made = []
    for half in (CHOICE, REPORT):
        for number in range(16):  # so that every resample has documents of every kind
            source, other = SENTENCES[number], SENTENCES[(number + 8) % 20]
            for name in SETS:
                document = f"{half} {number}"
                for side in (0, 1):
                    judged = float(side) if name in ("bump", "cliff") else float(rng.random())
                    group = {
                        "bump": document,
                        "frank": f"cnndm {side}",
                        "cliff": list(ORIGINS)[number % 2],
                        "summeval": f"system {side}",
                    }[name]
                    summary = source[:40] if side else other[:40]
                    made.append(JudgedPair(name, half, document, group, summary, source, judged))
    return made


def test_differences_are_by_set_and_less_float32() -> None:
    pairs = [one for one in judged_pairs() if one.half == CHOICE]
    exact = {"inconsistency": np.full(len(pairs), 0.5), "alarms": np.zeros(len(pairs))}
    lower = {name: values.copy() for name, values in exact.items()}
    frank = [index for index, one in enumerate(pairs) if one.of == "frank"]
    lower["inconsistency"][frank[0]] += 0.16
    lower["inconsistency"][frank[1]] -= 0.08
    lower["alarms"][frank[2]] = 1
    rows = precisions.differences(pairs, {"float32": exact, "bfloat16": lower})
    assert [row[:2] for row in rows] == [["bfloat16", name] for name in SETS]
    assert rows[SETS.index("frank")][2:] == ["32", "1", "0.00750", "+0.00250"]
    assert rows[SETS.index("bump")][2:] == ["32", "0", "0.00000", "+0.00000"]


def test_figures_move_by_shares_of_a_standard_error() -> None:
    pairs = judged_pairs()
    rng = np.random.default_rng(1)
    exact = {"inconsistency": rng.random(len(pairs)), "alarms": np.zeros(len(pairs))}
    half = Half(pairs, CHOICE)
    same = precisions.figures(half, {"float32": exact, "bfloat16": exact})
    assert [row[0] for row in same] == [
        "float32",
        "standard error",
        "bfloat16",
        "bfloat16: difference / standard error",
        "bfloat16: standard error of the difference",
    ]
    assert same[0][1:] == same[2][1:]
    assert set(same[3][1:]) == {"+0.000"}
    assert float(same[0][5]) == pytest.approx(
        np.mean([float(one) for one in same[0][1:5]]), abs=1e-4
    )
    judged = np.array([one.judged for one in pairs])
    other = {"inconsistency": np.where(judged > 0.5, 0.1, 0.9), "alarms": exact["alarms"]}
    moved = precisions.figures(half, {"float32": exact, "bfloat16": other})
    difference = float(moved[2][1]) - float(moved[0][1])
    assert float(moved[3][1]) == pytest.approx(difference / float(moved[1][1]), abs=0.01)
    assert moved[2][1] == "1.0000"  # of BUMP, every reference is better now


@pytest.mark.slow
def test_pairs_are_scored_in_their_order_and_once(tmp_path: Path) -> None:
    pairs = judged_pairs()[:12]
    scorer = EstimeScorer(model="embedded-small", distance=2, device="cpu")
    found = precisions.score(pairs, scorer)
    for index in (0, 5, 11):
        (value,) = scorer.score([pairs[index].summary], [pairs[index].source])["inconsistency"]
        assert found["inconsistency"][index] == pytest.approx(float(value), abs=1e-5)
    file = tmp_path / "work" / "scores.npz"
    options = {"model": "embedded-small", "dtype": "bfloat16", "distance": 2}
    first = precisions.scored_once(pairs, file, **options)
    assert first["inconsistency"] == pytest.approx(found["inconsistency"], abs=0.05)
    kept = file.read_bytes()
    again = precisions.scored_once(pairs, file, **{**options, "model": "not there"})
    assert file.read_bytes() == kept
    assert (again["alarms"] == first["alarms"]).all()


@pytest.mark.slow
@needs_int8_products
def test_the_tables(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precisions, "read_pairs", lambda data: judged_pairs())
    tables = run(precisions.main, tmp_path, tmp_path / "work", "-m", "embedded-small")
    moved, figures = tables
    assert moved.column("dtype") == ["bfloat16"] * 4 + ["int8"] * 4
    counts = dict(zip(moved.column("set")[:4], moved.column("pairs")[:4], strict=True))
    assert counts == {"bump": "32", "frank": "32", "cliff": "32", "summeval": "64"}
    assert figures.title == "Figures on the halves for the choice"
    assert figures.columns == ["dtype", *SETS, "mean"]
    names = {file.name for file in (tmp_path / "work").iterdir()}
    assert names == {
        f"embedded-small-{dtype}-2-choice.npz" for dtype in ("float32", "bfloat16", "int8")
    }

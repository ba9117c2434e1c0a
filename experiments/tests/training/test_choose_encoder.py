"""The rule by which a bundled encoder is chosen: its figures on made-up counts, compared with plain
loops.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from estime_metric.explanation import Explanation, UnitVerdict
from estime_metric.studies.benchmarks.frank.partial import partial_correlation
from experiments.training.choose import (
    FIGURES,
    KINDS,
    Candidate,
    marked_tokens,
    report,
    roc_area,
)


def test_the_area_counts_ties_half() -> None:
    clean, wrong = np.array([0, 1, 1, 4.0]), np.array([1, 2, 0.0])
    pairs = [(w > c) + 0.5 * (w == c) for w in wrong for c in clean]
    assert roc_area(clean, wrong) == pytest.approx(np.mean(pairs))


def test_tokens_are_marked_where_they_touch_a_span() -> None:
    verdicts = ["match", "alarm", "absent", "alarm"]
    units = tuple(
        UnitVerdict(3 * i, 3 * i + 2, verdict, None, None, None)
        for i, verdict in enumerate(verdicts)
    )  # "aa bb cc dd"
    shown = Explanation("aa bb cc dd", "", units, "token", 1, "")
    assert marked_tokens(shown, ["bb cc", "not there", ""]) == (3, 2, 1, 1)
    assert marked_tokens(shown, ["a"]) == (3, 2, 1, 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Counts of one layer: six pairs of each set, the first two of one document; of BUMP three
    references, each followed by its edited version.
    """
    rng = np.random.default_rng(0)

    def judged(name: str, i: int) -> list[int]:
        if name == "summeval":
            return rng.integers(1, 6, 4).tolist()
        return [1 - i % 2] if name == "bump" else [i % 3 // 2]

    names = [*KINDS, "bump", "frank", "cliff cnndm", "cliff xsum", "summeval"]
    rows = [
        {
            "set": name,
            "source": f"{name} {i // 2 if name == 'bump' else max(1, i)}",
            "system": "AB"[i % 2],
            "judged": judged(name, i),
        }
        for name in names
        for i in range(6)
    ]
    tokens = rng.integers(8, 15, (1, len(rows))).astype(float)
    overlap = tokens - rng.integers(0, 4, tokens.shape)
    arrays = {
        "alarms": rng.integers(0, 5, tokens.shape),
        "graded_alarms": rng.random(tokens.shape) * 5,
        "overlap": overlap,
        "tokens": tokens,
    }
    words = np.zeros((1, len(rows), 4))
    words[0, [i for i, row in enumerate(rows) if row["set"].startswith("cliff")]] = [20, 4, 5, 2]
    np.savez(tmp_path / "counts.npz", layers=np.array([3]), words=words, **arrays)
    (tmp_path / "rows.json").write_text(json.dumps({"signature": "", "rows": rows}))
    return tmp_path


def test_figures_are_what_the_rule_says(folder: Path) -> None:
    candidate = Candidate(folder)
    alarms, tokens = candidate.alarms[0], candidate.tokens[0]
    unsupported = alarms + tokens - candidate.overlap[0]
    of = {name: np.flatnonzero(candidate.sets == name) for name in set(candidate.sets)}
    computed = candidate.figures(3)
    assert list(computed) == list(FIGURES)
    assert computed["injected"] == pytest.approx(
        np.mean([2 * roc_area(alarms[of["clean"]], alarms[of[kind]]) - 1 for kind in KINDS[1:3]])
    )
    shares = [alarms[of[kind]].sum() / tokens[of[kind]].sum() for kind in KINDS[3:]]
    assert computed["extracts"] == pytest.approx(-10 * np.mean(shares))
    graded = candidate.graded_alarms[0][of["bump"]]
    fewer = [graded[i] < graded[i + 1] for i in (0, 2, 4)]
    assert computed["bump"] == pytest.approx(2 * np.mean(fewer) - 1)
    factuality = [candidate.rows[i]["judged"][0] for i in of["frank"]]
    systems = [candidate.rows[i]["system"] for i in of["frank"]]
    assert computed["frank"] == pytest.approx(
        np.mean(
            [
                partial_correlation(-values[of["frank"]], factuality, systems, method=method)
                for values in (alarms, unsupported, unsupported / tokens)
                for method in ("pearson", "spearman")
            ]
        )
    )
    areas = []
    for name in ("cliff cnndm", "cliff xsum"):
        good = np.array([candidate.rows[i]["judged"][0] == 1 for i in of[name]])
        for values in (alarms, unsupported / tokens):
            areas.append(2 * roc_area(values[of[name]][good], values[of[name]][~good]) - 1)
    assert computed["cliff"] == pytest.approx(np.mean(areas))
    assert computed["words"] == pytest.approx(np.log2((2 / 4) / (5 / 20)) / 4)
    judged = np.array([candidate.rows[i]["judged"] for i in of["summeval"]])
    rhos = [spearmanr(-alarms[of["summeval"]], column).statistic for column in judged.T]
    assert computed["summeval"] == pytest.approx(np.mean(rhos))


@pytest.mark.filterwarnings(
    "ignore"
)  # a resample of six pairs may have one label, or a constant column
def test_the_half_that_the_rule_does_not_see_has_no_injected_errors(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.training.choose.RESAMPLES", 20)
    whole = Candidate(folder).figures(3)
    stored, rows = (
        dict(np.load(folder / "counts.npz")),
        json.loads((folder / "rows.json").read_text())["rows"],
    )
    kept = [i for i, row in enumerate(rows) if row["set"] not in KINDS]
    arrays = {
        name: values if name == "layers" else values[:, kept] for name, values in stored.items()
    }
    np.savez(folder / "counts.npz", **arrays)
    (folder / "rows.json").write_text(
        json.dumps({"signature": "", "rows": [rows[i] for i in kept]})
    )
    candidate = Candidate(folder)
    assert candidate.figures(3) == {name: whole[name] for name in FIGURES[2:]}
    report([candidate, candidate])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:8]] == [*FIGURES[2:], "mean", "difference"]
    assert lines[-1].split() == ["difference", "0.0000", "[0.000,", "0.000]"]
    assert float(lines[-2].split()[1]) == pytest.approx(
        np.mean([whole[name] for name in FIGURES[2:]]), abs=1e-4
    )

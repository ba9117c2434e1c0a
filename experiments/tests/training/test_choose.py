"""The rule by which a bundled encoder is chosen: its figures on made-up counts, compared with plain
loops; its commands.
"""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from estime_metric.explanation import Explanation, UnitVerdict
from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from experiments.benchmarks.frank.partial import partial_correlation
from experiments.training import choose
from experiments.training.choose import CLEAN, EXTRACT_KINDS, INJECTED_KINDS, Candidate
from experiments.training.data import held_out
from experiments.training.judged import CHOICE
from tests.families import SENTENCES


def test_tokens_are_marked_where_they_touch_a_span() -> None:
    verdicts = ["match", "alarm", "absent", "alarm"]
    units = tuple(
        UnitVerdict(3 * i, 3 * i + 2, verdict, None, None, None)
        for i, verdict in enumerate(verdicts)
    )  # "aa bb cc dd"
    shown = Explanation("aa bb cc dd", "", units, "token", 1, "", {})
    assert choose.token_counts(shown, ["bb cc", "not there", ""]) == [3, 2, 1, 1]
    assert choose.token_counts(shown, ["a"]) == [3, 2, 1, 0]


def test_figures_are_what_the_rule_says(tmp_path: Path, pairs: pd.DataFrame) -> None:
    made = pd.DataFrame(
        {
            "set": of,
            "half": CHOICE,
            "document": f"{number // 2}",
            "group": kind,
            "judged": float(kind not in INJECTED_KINDS),
        }
        for of, kinds in (("injected", (CLEAN, *INJECTED_KINDS)), ("extracts", EXTRACT_KINDS))
        for kind in kinds
        for number in range(6)
    )
    scored = pd.concat([made, pairs[pairs["half"] == CHOICE]], ignore_index=True)
    rng = np.random.default_rng(0)
    tokens = rng.integers(8, 15, len(scored)).astype(float)
    counts = {
        "alarms": rng.integers(0, 5, len(scored)).astype(float),
        "graded_alarms": rng.random(len(scored)) * 5,
        "overlap": tokens - rng.integers(0, 4, len(scored)),
        "tokens": tokens,
    }
    in_cliff = (scored["set"] == "cliff").to_numpy()
    token_totals = {"checked": 20, "flagged": 4, "marked": 5, "marked_flagged": 2}
    arrays = counts | {name: in_cliff * value for name, value in token_totals.items()}
    np.savez(
        tmp_path / "a.npz",
        places=np.arange(len(scored)),
        layers=np.array([3]),
        half=np.array(CHOICE),
        **{name: values[None] for name, values in arrays.items()},
    )
    candidate = Candidate(tmp_path / "a", scored)
    computed = {name: values[0] for name, values in candidate.figures(3).items()}

    def rows(of: str, *groups: str) -> list[int]:
        in_set = scored[scored["set"] == of]
        return list(in_set.index[in_set["group"].isin(groups)] if groups else in_set.index)

    def separation(values: np.ndarray, places: list[int]) -> float:
        right, wrong = (
            [values[row] for row in places if scored["judged"][row] == judged] for judged in (1, 0)
        )
        return float(np.mean([np.sign(bad - good) for bad in wrong for good in right]))

    alarms = counts["alarms"]
    unsupported = alarms + tokens - counts["overlap"]
    measures = (alarms, unsupported, unsupported / tokens)
    shares = [
        alarms[rows("extracts", kind)].sum() / tokens[rows("extracts", kind)].sum()
        for kind in EXTRACT_KINDS
    ]
    graded = counts["graded_alarms"]
    fewer = [graded[row + 1] < graded[row] for row in rows("bump")[::2]]  # edited, reference
    frank = rows("frank")
    partials = [
        partial_correlation(
            -values[frank],
            scored["judged"][frank],
            list(scored["group"][frank]),
            method=method,
        )
        for values in measures
        for method in ("pearson", "spearman")
    ]
    summeval = scored.loc[rows("summeval")]
    expected = {
        "injected": np.mean(
            [separation(alarms, rows("injected", CLEAN, kind)) for kind in INJECTED_KINDS]
        ),
        "extracts": -10 * np.mean(shares),
        "bump": 2 * np.mean(fewer) - 1,
        "frank": np.mean(partials),
        "cliff": np.mean(
            [
                separation(values, rows("cliff", origin))
                for origin in ("cnndm", "xsum")
                for values in (measures[0], measures[2])
            ]
        ),
        "summeval": np.mean(
            [spearmanr(-alarms[summeval.index], summeval[name]).statistic for name in QUALITIES]
        ),
        "words": np.log2((2 / 4) / (5 / 20)) / 4,
    }
    assert computed == {name: pytest.approx(value) for name, value in expected.items()}


def test_the_commands(tmp_path: Path, pairs: pd.DataFrame, capsys) -> None:
    rng = random.Random(0)
    texts = ("\n".join(rng.choices(SENTENCES, k=40)) for _ in range(1000))
    aside = [text for text in texts if held_out(text)][:2]
    with gzip.open(tmp_path / "made-up.jsonl.gz", "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps({"text": text, "source": "made up"}) + "\n" for text in aside)
    injected = str(tmp_path / "injected.jsonl")
    choose.app(["make", str(tmp_path), "embedded-small", injected])
    made = choose.read_injected(Path(injected))
    assert len(made) == 2 * (4 * 3 + 2)
    clean, *injected_errors = (
        made["summary"][made["group"] == kind].to_numpy() for kind in (CLEAN, *INJECTED_KINDS)
    )
    assert all((clean != errors).all() for errors in injected_errors)  # with other words
    for name, half in (("a", "choice"), ("b", "choice"), ("c", "report")):
        out = ["--half", half, "--layers", "4", "--layers", "5", "-o", str(tmp_path / name)]
        choose.app(["score", "embedded-small", injected, "data", *out])
    choose.app(["rank", injected, "data", *(str(tmp_path / name) for name in "ab")])
    *layers, _, second = capsys.readouterr().out.splitlines()[-6:]
    assert [line.split(":")[0] for line in layers] == [
        f"{name}, layer {layer}" for name in "ab" for layer in (4, 5)
    ]
    assert "injected" in layers[0]
    assert "less the first 0.0000" in second  # the same encoder
    choose.app(["rank", injected, "data", str(tmp_path / "c")])
    assert "injected" not in capsys.readouterr().out

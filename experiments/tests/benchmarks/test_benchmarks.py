"""Each benchmark: one case by hand, and the real data."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from estime_metric.cli.console import run as run_command
from estime_metric.scorer import EstimeScorer
from experiments.benchmarks import aggrefact, bump, frank, limits, ragtruth, summedits, systems
from experiments.benchmarks.__main__ import app
from experiments.benchmarks.common import Run, published_scores, trivial_scores
from experiments.tests.benchmarks.made import DATA, SOURCE, bump_folder, real, write

FEW = Run(resamples=20)


def test_bump_by_hand(tmp_path: Path) -> None:
    table = bump.read(bump_folder(tmp_path))
    assert table["system"].tolist() == ["reference", "edited"] * 6
    guess = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 2.0, np.nan]
    scores = published_scores(table).assign(guess=guess)
    frame = bump.consistency(table, scores, FEW).set_index(["measure", "error"])
    dae, new = frame.loc[("DAE", "all")], frame.loc[("New", "all")]
    # DAE prefers the reference in four of six pairs and ties in one; New in two and ties in two.
    assert (dae["consistency"], dae["ties"]) == (pytest.approx(400 / 6), 1)
    assert (new["consistency"], new["ties"]) == (pytest.approx(200 / 6), 2)
    # References 2, 4 against edited 1, 3: three of four. Unknown types come last.
    strange = frame.loc[("New", "Strange Error")]
    assert (strange["pairs"], strange["consistency"], strange["area"]) == (2, 100, 75)
    assert list(frame.loc["New"].index)[1:] == [
        "Intrinsic Entity Error",
        "Coreference Error",
        "Strange Error",
    ]
    # Over the five pairs that both score: guess prefers 0 to 3, DAE 0, 1 and 4, New 2 alone.
    (nearest,) = bump.differences(table, scores, FEW).to_dict("records")
    assert (nearest["other"], nearest["difference"]) == ("DAE", pytest.approx(20))


def test_bump_has_the_values_of_the_authors_scores() -> None:
    table = bump.read(real("bump"))
    frame = bump.consistency(table, published_scores(table), Run(resamples=1))
    of_all = frame[frame["error"] == "all"].set_index("measure")
    assert of_all.loc["BARTScore", ["consistency", "area"]].round(1).tolist() == [91.9, 60.1]
    assert of_all.loc["Q2", ["consistency", "area", "ties"]].round(1).tolist() == [65.7, 64.2, 123]
    # Recorded when the split was made: choices rest on it.
    names = ",".join(sorted(bump.read(real("bump"), split="valid")["article"].unique()))
    assert hashlib.sha256(names.encode()).hexdigest()[:12] == "80bcda109291"


def test_frank_has_the_known_correlations() -> None:
    table = frank.read(real("frank"))
    assert table["dataset"].value_counts().to_dict() == {"cnndm": 875, "bbc": 700}
    scores = published_scores(table)[["BertScore P Art", "FactCC", "Dep Entail"]]
    frame = frank.correlations(table, scores, Run(resamples=1)).set_index(["measure", "part"])
    values = frame.pivot(columns="method", values=["value", "below_best"]).round(3)
    bertscore, factcc = (values.xs(name)["value"] for name in ("BertScore P Art", "FactCC"))
    parts = ["all", "CNN/DailyMail", "XSum"]
    assert bertscore.loc[parts, "r"].tolist() == [0.295, 0.378, 0.198]
    assert bertscore.loc[parts, "ρ"].tolist() == [0.292, 0.332, 0.176]
    # By the authors' script.
    assert bertscore.loc[parts, "ρ, authors"].tolist() == [0.252, 0.307, 0.090]
    assert factcc.loc[parts, "ρ, authors"].tolist() == [0.300, 0.301, 0.191]
    below = values.xs("FactCC")["below_best"]
    assert below.loc[parts, "r"].tolist() == [0.094, 0.015, 0.130]
    assert len(frank.read(real("frank"), "valid")) == 671


def test_frank_in_the_authors_files(tmp_path: Path) -> None:
    keys = [{"hash": f"d{n // 2}", "model_name": f"s{n % 2}"} for n in range(8)]
    common = {"dataset": "cnndm", "split": "test"}
    judged = [{**key, **common, "Factuality": n / 8} for n, key in enumerate(keys)]
    outputs = [{**key, **common, "FactCC": n % 3, "Own": n} for n, key in enumerate(keys)]
    write(tmp_path / "data" / "human_annotations.json", judged)
    write(tmp_path / "data" / "baseline_factuality_metrics_outputs.json", outputs[::-1])
    texts = [{**key, "article": f"a{n // 2}", "summary": f"s{n}"} for n, key in enumerate(keys)]
    write(tmp_path / "data" / "benchmark_data.json", texts)
    table = frank.read(tmp_path)
    assert table[["source", "summary"]].to_numpy()[:3].tolist() == [
        ["a0", "s0"],
        ["a0", "s1"],
        ["a1", "s2"],
    ]
    assert published_scores(table)["Own"].tolist() == list(range(8))


def test_aggrefact_has_the_summaries_of_the_paper() -> None:
    table = aggrefact.read(real())
    counts = table[table["split"] == "test"]["part"].value_counts()
    assert counts.to_dict() == {
        "CLIFF, CNN/DailyMail, recent": 150,
        "CLIFF, XSum, recent": 150,
        "FRANK, CNN/DailyMail, recent": 175,
        "FRANK, CNN/DailyMail, transformers": 175,
        "FRANK, CNN/DailyMail, older": 525,
    }
    frame = aggrefact.analyze(table, pd.DataFrame({"constant": np.ones(len(table))}), FEW)
    means = frame[frame["part"] == "mean"].set_index("measure")["accuracy"].round(3)
    assert means.to_dict() == {
        "DAE, printed": 0.692,
        "QuestEval, printed": 0.642,
        "SummaC-ZS, printed": 0.627,
        "SummaC-Conv, printed": 0.655,
        "QAFactEval, printed": 0.662,
        "constant": 0.5,
    }


def test_aggrefact_in_the_authors_files(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    rows = pd.DataFrame(
        {
            "dataset": "CLIFF",
            "origin": "cnndm",
            "id": ["1", "1", "2"],
            "doc": "A source.",
            "summary": ["A dog.", "A source.", "None."],
            "model_name": ["BART", "BART", "Lead3"],
            "label": [0, 1, 1],
            "cut": "test",
            "DAE_score": [0.1, 0.9, 0.5],
        }
    )
    rows.to_csv(tmp_path / "data" / "aggre_fact_final.csv", index=False)
    table = aggrefact.read(tmp_path)
    assert table["document"].tolist() == ["CLIFF/1", "CLIFF/1#2"]  # Lead3 has no class
    assert published_scores(table)["DAE"].tolist() == [0.1, 0.9]


def test_summedits_has_its_domains() -> None:
    table = summedits.read(real("summedits"))
    assert (len(table), table["text"].nunique(), table["document"].nunique()) == (4681, 162, 8)
    frame = summedits.analyze(table, pd.DataFrame({"best": table["label"] * 1.0}), FEW)
    assert frame.query("measure == 'best'")["area"].eq(1).all()
    people = frame.query("measure == 'people'").set_index("part")["accuracy"]
    assert (round(people["mean"], 3), people["ten domains"]) == (0.906, 0.909)


def test_ragtruth_and_its_edits() -> None:
    table = ragtruth.read(real("ragtruth"))
    assert (len(table), (table["label"] == 0).sum()) == (450, 118)
    frame = ragtruth.analyze(table, trivial_scores(table)[["(-)new_words"]], FEW)
    rows = frame.set_index("measure")[["area", "within", "accuracy", "f1"]].round(3)
    assert rows.loc["(-)new_words"].tolist() == [0.633, 0.548, 0.584, 0.432]
    assert rows.loc["flag everything"].tolist() == [0.5, 0.5, 0.5, 0.415]
    edited = limits.read(DATA / "ragtruth")
    assert edited["edit"].value_counts()[limits.DELETED] == 141
    changes = limits.changes(edited, trivial_scores(edited)[["(-)new_words"]], FEW)
    rows = changes.set_index("edit")[["change", "better"]].round(3)
    assert rows.loc[limits.ONE].tolist() == [-0.038, 1.0]
    assert rows.loc[limits.DELETED].tolist() == [-0.014, 0.745]


def test_systems_by_hand() -> None:
    rng = np.random.default_rng(0)
    rows = [
        {
            "data": "made",
            "part": "reporting",
            "document": f"d{document}",
            "system": system,
            "source": f"{SOURCE} {document}",
            # a copies runs of 2 and 1 of four words, 5 / 4; b one of 4, 16 / 4; c none.
            "summary": {"a": "Anna bought a boat", "b": "Anna bought the red", "c": "Eve!"}[system],
            "judgement": {"a": 1.0, "b": 2.0, "c": 0.0}[system],
            "good": quality + rng.normal() / 10,
            "wrong": -quality + rng.normal() / 10,
            "none": rng.normal(),
        }
        for document in range(20)
        for system, quality in (("a", 1), ("b", 2), ("c", 0))
    ]
    table = pd.DataFrame(rows)
    pairs = systems.agreement(table, table[["good", "wrong", "none"]])
    counted = systems.counts(pairs).query("part == 'all' and band == 'all pairs'")
    counted = counted.set_index("measure")[["right", "significant"]]
    assert counted.T.to_dict("list") == {"good": [3, 3], "wrong": [0, 3], "none": [0, 0]}
    ratios = pairs.query("part == 'all' and measure == 'good'").set_index(["system_a", "system_b"])
    assert ratios["ratio"].to_dict() == {("a", "b"): 3.2, ("a", "c"): np.inf, ("b", "c"): np.inf}
    means = systems.means(table, table[["judgement"]].rename(columns="(-){}".format))
    assert means["judgement"].tolist() == [-1, -2, 0]  # (-)measures are reported as they are


def test_systems_of_summeval() -> None:
    table = systems.read_summeval(real("summeval"))
    assert (len(table), table["document"].nunique()) == (1600, 100)
    pairs = systems.agreement(table, trivial_scores(table)[["copied_density"]])
    tables = [
        table[table["part"] == "all"].set_index("band")
        for table in (systems.counts(pairs), systems.sizes(pairs))
    ]
    above, sizes = tables[0].loc["above 2"], tables[1][["right", "significant"]]
    assert above[["right", "significant"]].tolist() == [62, 63]
    assert sizes.loc[list(systems.SIZES)].to_numpy().tolist() == [[32, 49], [16, 25], [16, 24]]


def test_a_command_scores_once_and_reads_other_peoples_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = bump_folder(tmp_path / "bump")
    table = bump.read(folder)
    own = table[["document", "system"]].assign(
        score=range(len(table)), errors=range(len(table)), text="word"
    )
    own.rename(columns={"document": "doc"}).to_csv(tmp_path / "mine.csv", index=False)
    command = ["bump", str(folder), "-m", "embedded-small", "-o", str(tmp_path / "out")]
    command += ["--scores", str(tmp_path / "mine.csv"), "--lower", "errors", "--resamples", "5"]
    assert run_command(app, command) == 0
    first = capsys.readouterr().out
    assert "(-)alarms " in first
    assert "\nmine " in first
    written = pd.read_csv(tmp_path / "out" / "bump.csv").set_index(["measure", "error"])
    assert written.loc[("mine", "all"), "consistency"] == 0
    assert written.loc[("(-)errors [mine]", "all"), "consistency"] == 100
    result = EstimeScorer(model="embedded-small").score(table["summary"], table["source"])
    graded = -result.values("graded_alarms").numpy().reshape(-1, 2)
    expected = 100 * (graded[:, 0] > graded[:, 1]).mean()
    assert written.loc[("(-)graded_alarms", "all"), "consistency"] == pytest.approx(expected)
    monkeypatch.setattr(EstimeScorer, "score_checked", None)  # would fail
    assert run_command(app, command) == 0
    assert capsys.readouterr().out == first


@pytest.mark.parametrize("name", ["frank", "summedits", "ragtruth", "limits"])
def test_the_other_commands_print_tables(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = real("ragtruth" if name == "limits" else name)

    def without_encoder(run: Run, table: pd.DataFrame) -> pd.DataFrame:
        run.output.mkdir(exist_ok=True)
        return pd.DataFrame(index=table.index)

    monkeypatch.setattr(Run, "_estime", without_encoder)
    arguments = ["--limit", "3", "--resamples", "5", "-o", str(tmp_path / "out")]
    assert run_command(app, [name, str(folder), *arguments]) == 0
    assert "(-)new_words" in capsys.readouterr().out
    assert len(pd.read_csv(tmp_path / "out" / f"{name}.csv"))

"""What every benchmark keeps: data -> scores -> tidy tables -> tables and plots, in files, resumed,
with nothing and with scores of files.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from estime_metric import EstimeScorer
from estime_metric.studies.benchmarks import coherence_scores, summeval
from estime_metric.studies.benchmarks.shared.baselines import trivial_block
from estime_metric.studies.benchmarks.shared.blocks import Block
from estime_metric.studies.benchmarks.shared.running import Benchmark, Results, run
from estime_metric.studies.benchmarks.subtle_errors import SubtleErrors, experiment
from estime_metric.studies.benchmarks.subtle_errors.data import make_versions
from estime_metric.studies.printed import to_markdown
from tests.families import SENTENCES
from tests.studies.conftest import DATA

pytestmark = pytest.mark.slow

#: Benchmark -> its tidy tables, tables for readers, and plots.
CASES: dict[str, tuple[list[str], list[str], list[str]]] = {
    "summeval": (["correlations"], ["table1", "table2"], []),
    "coherence_scores": (
        [
            "agreement",
            "shuffle",
            "components",
            "entities",
            "annotators",
            "within-systems",
            "confounders",
        ],
        ["table3", "table4", "table3-intervals", "table5", "table6", "annotators", "table1"],
        [
            *(
                f"bias-{name}-{kind}"
                for name in ("bartscore", "gruen", "architecture")
                for kind in ("same-document", "all-documents")
            ),
            "intra-system",
        ],
    ),
    "subtle_errors": (["agreement"], ["subtle-errors", "subtle-errors-paired"], []),
}


@dataclass(frozen=True)
class Made:
    """A benchmark with made-up data and measures that need no encoder (except subtle errors)."""

    name: str
    benchmark: Benchmark
    data: Any
    blocks: list[Block]


@pytest.fixture(scope="module", params=CASES)
def made(request: pytest.FixtureRequest, bert_folder: str) -> Made:
    name = request.param
    if name == "subtle_errors":
        scorer = EstimeScorer(model=bert_folder, layers=2, window=60, margin=10)
        source = " ".join(SENTENCES[:4])
        pairs = pd.DataFrame({"document": list("abc"), "source": source, "summary": SENTENCES[:3]})
        data = make_versions(pairs, SubtleErrors(bert_folder, n_errors=2), numbers=(1, 2))
        blocks = experiment.measure_blocks({"": scorer})
        return Made(name, experiment.BENCHMARK, data, blocks)
    if name == "coherence_scores":
        data = coherence_scores.read(DATA / name)
        benchmark = coherence_scores.benchmark(runs=2)
        return Made(name, benchmark, data, [coherence_scores.published_scores(data)])
    return Made(name, summeval.BENCHMARK, summeval.read(DATA / name), [trivial_block()])


@pytest.fixture(scope="module")
def out(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results") / "out"


@pytest.fixture(scope="module")
def results(made: Made, out: Path) -> Results[Any]:
    return run(made.benchmark, made.data, made.blocks, folder=out, resamples=20)


def test_the_folder_has_everything_and_nothing_else(
    made: Made, results: Results[Any], out: Path
) -> None:
    frames, tables, plots = CASES[made.name]
    assert not results.scored.problems
    assert list(results.frames) == [f"{name}.csv" for name in frames]
    assert list(results.tables) == tables
    # `summeval` shows two more if there are several layers, scores of files or a second setting.
    assert set(made.benchmark.shown) - {"differences", "layers"} <= set(tables)
    files = {"scores.csv", "scores.csv.meta.json", *(f"{name}.csv" for name in frames)}
    files |= {f"{name}.md" for name in tables}
    if plots:
        files.add("plots")
        images = {f"{name}.{ending}" for name in plots for ending in ("png", "svg")}
        assert {path.name for path in (out / "plots").iterdir()} == images
    assert {path.name for path in out.iterdir()} == files
    scores = pd.read_csv(out / "scores.csv", dtype=dict.fromkeys(made.data.key_names, str))
    assert list(scores.columns[:2]) == list(made.data.key_names)
    assert list(scores.iloc[:, :2].itertuples(index=False, name=None)) == list(made.data.keys)


def test_a_later_run_computes_nothing_and_says_the_same(
    made: Made, results: Results[Any], out: Path
) -> None:
    def fail(*_: object) -> Any:
        raise AssertionError("computed again")

    blocks = [
        replace(block, prepare=lambda block=block: block.prepare()._replace(compute=fail))
        for block in made.blocks
    ]
    undrawn = replace(made.benchmark, draw=None)  # the plots are there
    again = run(undrawn, made.data, blocks, folder=out, resume=True, resamples=20)
    assert again.scored.reused == [block.name for block in made.blocks]
    for name, frame in results.frames.items():
        pd.testing.assert_frame_equal(again.frames[name], frame)
    for name, table in results.tables.items():
        assert to_markdown(again.tables[name]) == to_markdown(table)


def test_the_digest_is_of_texts_and_judgements(tmp_path: Path) -> None:
    digests = []
    for number, change in enumerate(
        [("", ""), ("", ""), ("the ", "this "), ('"consistency": 3.0', '"consistency": 2.0')]
    ):
        folder = shutil.copytree(DATA / "summeval", tmp_path / str(number))
        for path in folder.rglob("*.*"):
            path.write_text(path.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
        digests.append(summeval.read(folder).digest)
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3

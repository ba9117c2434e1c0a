"""What every benchmark keeps: data -> scores -> frames -> tables -> plots, in files, resumed, with
nothing and with scores of files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from estime_metric import EstimeScorer
from estime_metric.report.tables import to_csv
from estime_metric.studies.benchmarks import coherence_scores
from estime_metric.studies.benchmarks.shared.baselines import trivial_block
from estime_metric.studies.benchmarks.shared.benchmark import Benchmark, Results, run
from estime_metric.studies.benchmarks.shared.blocks import Block, published_block
from estime_metric.studies.benchmarks.shared.own_scores import own_block
from estime_metric.studies.benchmarks.subtle_errors import SubtleErrors, experiment
from estime_metric.studies.benchmarks.subtle_errors.data import make_versions
from tests.families import SENTENCES
from tests.studies.made import DATA, made_folder, made_rows


@dataclass(frozen=True)
class Case:
    """The names of what a benchmark makes."""

    frames: Sequence[str]
    tables: Sequence[str]
    plots: Sequence[str] | None = None


CASES = {
    "bump": Case(
        ["consistency", "tests"],
        ["bump", "bump-types", "bump-tests"],
    ),
    "summedits": Case(
        ["detection"],
        ["summedits", "summedits-area"],
    ),
    "aggrefact": Case(
        ["detection"],
        ["aggrefact", "aggrefact-area", "aggrefact-cells"],
    ),
    "frank": Case(
        ["correlations", "differences", "ablation"],
        ["frank", "frank-plain", "frank-intervals", "frank-differences", "frank-ablation"],
    ),
    "summeval": Case(
        ["correlations"],
        ["table1", "table2"],
        [],  # plots show ESTIME
    ),
    "systems": Case(
        ["measures", "rules"],
        [
            "systems",
            "systems-order",
            "systems-rules",
            "systems-rules-holm",
        ],
    ),
    "coherence_scores": Case(
        ["agreement", "shuffle", "confounders"],
        ["table3", "table4", "table3-intervals", "table1"],
        [
            *(
                f"bias-{name}-{kind}"
                for name in ("bartscore", "gruen")
                for kind in ("same-document", "all-documents")
            ),
            "intra-system",
        ],
    ),
    "subtle_errors": Case(
        ["agreement", "rise", "positions"],
        [f"subtle-errors-{name}" for name in ("table-3", "rise", "precision", "recall")],
    ),
}
STANDARD = [name for name in CASES if name not in ("coherence_scores", "subtle_errors")]


@dataclass(frozen=True)
class Made:
    """A benchmark with made-up data and measures that need no encoder (except subtle errors)."""

    case: Case
    benchmark: Benchmark
    data: Any
    blocks: list[Block]


def benchmark_of(name: str) -> Benchmark:
    benchmark: Benchmark = import_module(f"estime_metric.studies.benchmarks.{name}").BENCHMARK
    return benchmark


@pytest.fixture(scope="module", params=CASES)
def made(request: pytest.FixtureRequest, bert_folder: str) -> Made:
    name, case = request.param, CASES[request.param]
    if name == "subtle_errors":
        scorer = EstimeScorer(model=bert_folder, layers=2, window=60, margin=10)
        corrupt = SubtleErrors(bert_folder, n_errors=2)
        source = " ".join(SENTENCES[:4])
        pairs = pd.DataFrame({"document": list("abc"), "source": source, "summary": SENTENCES[:3]})
        data = make_versions(pairs, corrupt, numbers=(1, 2))
        return Made(
            case,
            experiment.benchmark(scorer),
            data,
            experiment.measure_blocks(scorer, baselines=False),
        )
    if name == "coherence_scores":
        benchmark = coherence_scores.benchmark(runs=2)
        data = benchmark.read(DATA / name)
        return Made(case, benchmark, data, [coherence_scores.published_scores(data)])
    benchmark = benchmark_of(name)
    data = benchmark.read(DATA / name)
    blocks = [trivial_block(), *([published_block(data)] if len(data.published.columns) else [])]
    return Made(case, benchmark, data, blocks)


@pytest.fixture(scope="module")
def out(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results") / "out"


@pytest.fixture(scope="module")
def results(made: Made, out: Path) -> Results[Any]:
    return run(made.benchmark, made.data, made.blocks, folder=out, resamples=20)


def test_the_folder_has_everything_and_nothing_else(
    made: Made, results: Results[Any], out: Path
) -> None:
    case = made.case
    assert not results.scores.problems
    assert list(results.frames) == [f"{name}.csv" for name in case.frames]
    assert sorted(results.tables) == sorted(case.tables)
    # `summeval` shows two more if there are several layers or scores of files.
    assert set(made.benchmark.shown) - {"own", "layers"} <= set(case.tables)
    files = {"scores.csv", "run.json", *(f"{name}.csv" for name in case.frames)}
    files |= {f"{name}.{ending}" for name in case.tables for ending in ("md", "csv", "tex")}
    if case.plots is not None:
        files.add("plots")
        plots = {f"{name}.{ending}" for name in case.plots for ending in ("png", "svg")}
        assert {path.name for path in (out / "plots").iterdir()} == plots
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
    assert again.scores.reused == [block.name for block in made.blocks]
    for name, frame in results.frames.items():
        pd.testing.assert_frame_equal(again.frames[name], frame)
    assert {name: to_csv(table) for name, table in again.tables.items()} == {
        name: to_csv(table) for name, table in results.tables.items()
    }


def test_every_interval_has_its_ends_in_order(results: Results[Any]) -> None:
    intervals = 0
    for frame in results.frames.values():
        for name in frame:
            if name == "low" or name.endswith("_low"):
                known = frame.dropna(subset=[name])
                assert (known[name] <= known[name[: -len("low")] + "high"]).all()
                intervals += len(known)
    assert intervals


def test_measures_that_fail_or_are_not_there_leave_a_table(made: Made) -> None:
    def fail() -> Any:
        raise OSError("no network")

    failing = [replace(block, prepare=fail) for block in made.blocks]
    results = run(made.benchmark, made.data, failing, resamples=5)
    assert set(results.scores.problems) == {block.name for block in made.blocks}
    assert sorted(results.tables) == sorted(made.case.tables)
    assert list(results.frames) == [f"{name}.csv" for name in made.case.frames]


@pytest.mark.parametrize("made", STANDARD, indirect=True)
def test_scores_of_a_file_are_a_row_and_a_missing_one_is_said(made: Made) -> None:
    keys = pd.DataFrame(made.data.keys, columns=list(made.data.key_names))
    table = keys.assign(guess=np.arange(len(keys)) % 7 / 7).iloc[1:]
    results = run(made.benchmark, made.data, [own_block(table, "mine")], resamples=5)
    main = next(iter(results.tables.values()))
    rows = [row for section in main.sections for row in section.rows]
    assert [row[0] for row in rows].count("guess [mine]") == 1
    assert f"mine: no row for 1 of {len(keys)} summaries" in " ".join(main.notes)


#: A judgement as it is in the files of a benchmark, and another one.
JUDGED = {
    "bump": ("Coreference Error", "Predicate Error"),
    "summedits": ('"label": 1', '"label": 0'),
    "aggrefact": (",1,val", ",0,val"),
    "frank": ('"factuality": 1.0', '"factuality": 0.5'),
    "summeval": ('"consistency": 3.0', '"consistency": 2.0'),
    "systems": ('"label": 1', '"label": 0'),
}


@pytest.mark.parametrize("name", JUDGED)
def test_the_digest_is_of_texts_and_judgements(name: str, tmp_path: Path) -> None:
    read = benchmark_of(name).read
    digests = []
    for number, change in enumerate([("", ""), ("", ""), ("the ", "this "), JUDGED[name]]):
        folder = made_folder(tmp_path / str(number), name)
        for path in folder.rglob("*.*"):
            path.write_text(path.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
        digests.append(read(folder).digest)
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


#: Benchmark with one file of judged summaries -> a field that each of its rows needs.
FIELDS = {"bump": "article", "frank": "summary", "summedits": "doc", "summeval": "summary"}


@pytest.mark.parametrize("name", FIELDS)
def test_what_cannot_be_read_is_named(name: str, tmp_path: Path) -> None:
    read = benchmark_of(name).read
    with pytest.raises(OSError, match=r"\.jsonl?"):
        read(tmp_path)
    rows = made_rows(name)
    with pytest.raises(ValueError, match=r"occur twice|there are several"):
        read(made_folder(tmp_path / "twice", name, [*rows, rows[0]]))
    lacking = {field: cell for field, cell in rows[0].items() if field != FIELDS[name]}
    with pytest.raises(ValueError, match=f"line 1 of .* to have {FIELDS[name]!r}, but it is miss"):
        read(made_folder(tmp_path / "lacking", name, [lacking, *rows[1:]]))

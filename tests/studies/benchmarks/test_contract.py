"""What every benchmark keeps: data -> scores -> frames -> tables -> plots, in files, resumed, with
nothing and with scores of files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from estime_metric import EstimeScorer
from estime_metric.studies.benchmarks import coherence_scores
from estime_metric.studies.benchmarks.shared.baselines import trivial_block
from estime_metric.studies.benchmarks.shared.benchmark import Benchmark, Results, run
from estime_metric.studies.benchmarks.shared.blocks import Block
from estime_metric.studies.benchmarks.shared.own_scores import own_block
from estime_metric.studies.benchmarks.subtle_errors import SubtleErrors, experiment
from estime_metric.studies.benchmarks.subtle_errors.data import make_versions
from estime_metric.studies.benchmarks.summeval import BENCHMARK
from estime_metric.studies.tables import to_csv
from tests.families import SENTENCES
from tests.studies.made import DATA, made_folder, made_rows


@dataclass(frozen=True)
class Case:
    """The names of what a benchmark makes."""

    frames: Sequence[str]
    tables: Sequence[str]
    plots: Sequence[str] | None = None


CASES = {
    "summeval": Case(
        ["correlations"],
        ["table1", "table2"],
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
            "judgements",
            "lengths",
        ],
    ),
    "subtle_errors": Case(
        ["agreement"],
        ["subtle-errors-table-3"],
    ),
}


@dataclass(frozen=True)
class Made:
    """A benchmark with made-up data and measures that need no encoder (except subtle errors)."""

    case: Case
    benchmark: Benchmark
    data: Any
    blocks: list[Block]


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
            experiment.BENCHMARK,
            data,
            experiment.measure_blocks({"": scorer}, baselines=False),
        )
    if name == "coherence_scores":
        benchmark = coherence_scores.benchmark(runs=2)
        data = benchmark.read(DATA / name)
        return Made(case, benchmark, data, [coherence_scores.published_scores(data)])
    data = BENCHMARK.read(DATA / name)
    return Made(case, BENCHMARK, data, [trivial_block()])


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
    # `summeval` shows two more if there are several layers, scores of files or a second setting.
    assert set(made.benchmark.shown) - {"differences", "layers"} <= set(case.tables)
    files = {"scores.csv", "run.json", *(f"{name}.csv" for name in case.frames)}
    files |= {f"{name}.{ending}" for name in case.tables for ending in ("md", "csv", "tex")}
    if case.plots is not None:  # no folder without a plot: those of summeval show ESTIME
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


def test_scores_of_a_file_are_a_row_and_a_missing_one_is_said() -> None:
    check_scores_of_a_file(BENCHMARK, BENCHMARK.read(DATA / "summeval"))


def check_scores_of_a_file(benchmark: Benchmark, data: Any) -> None:
    """A file with scores of all summaries but the first."""
    keys = pd.DataFrame(data.keys, columns=list(data.key_names))
    table = keys.assign(guess=np.arange(len(keys)) % 7 / 7).iloc[1:]
    results = run(benchmark, data, [own_block(table, "mine")], resamples=5)
    main = next(iter(results.tables.values()))
    assert "guess [mine]" in {row[0] for section in main.sections for row in section.rows}
    assert f"mine: no row for 1 of {len(keys)} summaries" in " ".join(main.notes)


def test_the_digest_is_of_texts_and_judgements(tmp_path: Path) -> None:
    folders = [made_folder(tmp_path / str(number), "summeval") for number in range(4)]
    check_digests(BENCHMARK.read, folders, ('"consistency": 3.0', '"consistency": 2.0'))


def check_digests(
    read: Callable[[Path], Any], folders: Sequence[Path], judgement: tuple[str, str]
) -> None:
    """Reads four copies of the same data, one with another text, one with another ``judgement``: as
    it is in the files, and another one.
    """
    digests = []
    for folder, change in zip(
        folders, [("", ""), ("", ""), ("the ", "this "), judgement], strict=True
    ):
        for path in folder.rglob("*.*"):
            path.write_text(path.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
        digests.append(read(folder).digest)
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    def copy(name: str, rows: list[dict[str, Any]]) -> Path:
        return made_folder(tmp_path / name, "summeval", rows)

    check_unreadable(BENCHMARK.read, tmp_path, copy, made_rows("summeval"), "summary")


def check_unreadable(
    read: Callable[[Path], Any],
    empty: Path,
    copy: Callable[[str, list[dict[str, Any]]], Path],
    rows: list[dict[str, Any]],
    field: str,
) -> None:
    """Reads an empty folder, and copies of the data with a row twice and a row without a field."""
    with pytest.raises(OSError, match=r"\.jsonl?"):
        read(empty)
    with pytest.raises(ValueError, match=r"occur twice|there are several"):
        read(copy("twice", [*rows, rows[0]]))
    lacking = {name: cell for name, cell in rows[0].items() if name != field}
    with pytest.raises(ValueError, match=f"line 1 of .* to have {field!r}, but it is miss"):
        read(copy("lacking", [lacking, *rows[1:]]))

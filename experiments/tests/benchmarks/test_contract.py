"""What every benchmark of experiments keeps; the tests are those of the package's own benchmarks."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from estime_metric.studies.benchmarks.shared.benchmark import Benchmark
from experiments.benchmarks.running import blocks_without_encoder
from experiments.tests.benchmarks.made import DATA, made_folder, made_rows
from tests.studies.benchmarks.test_contract import (
    Case,
    Made,
    check_digests,
    check_scores_of_a_file,
    check_unreadable,
    out,
    results,
    test_a_later_run_computes_nothing_and_says_the_same,
    test_every_interval_has_its_ends_in_order,
    test_measures_that_fail_or_are_not_there_leave_a_table,
    test_the_folder_has_everything_and_nothing_else,
)

__all__ = [  # fixtures, and tests that are collected here too
    "out",
    "results",
    "test_a_later_run_computes_nothing_and_says_the_same",
    "test_every_interval_has_its_ends_in_order",
    "test_measures_that_fail_or_are_not_there_leave_a_table",
    "test_the_folder_has_everything_and_nothing_else",
]

CASES = {
    "bump": Case(["consistency", "tests"], ["bump", "bump-types", "bump-tests"]),
    "summedits": Case(["detection"], ["summedits", "summedits-area"]),
    "aggrefact": Case(["detection"], ["aggrefact", "aggrefact-area", "aggrefact-cells"]),
    "frank": Case(
        ["correlations", "differences", "ablation"],
        ["frank", "frank-plain", "frank-intervals", "frank-differences", "frank-ablation"],
    ),
    "ragtruth": Case(["detection"], ["ragtruth"]),
    "limits": Case(["changes"], ["limits"]),
    "systems": Case(
        ["measures"],
        ["systems", "systems-choosing", "systems-reporting", "systems-order"],
    ),
}


def benchmark_of(name: str) -> Benchmark:
    benchmark: Benchmark = import_module(f"experiments.benchmarks.{name}").BENCHMARK
    return benchmark


@pytest.fixture(scope="module", params=CASES)
def made(request: pytest.FixtureRequest) -> Made:
    benchmark = benchmark_of(request.param)
    data = benchmark.read(DATA / {"limits": "ragtruth"}.get(request.param, request.param))
    return Made(CASES[request.param], benchmark, data, blocks_without_encoder(data))


def test_scores_of_a_file_are_a_row_and_a_missing_one_is_said(made: Made) -> None:
    check_scores_of_a_file(made.benchmark, made.data)


#: A judgement as it is in the files of a benchmark, and another one.
JUDGED = {
    "bump": ("Coreference Error", "Predicate Error"),
    "summedits": ('"label": 1', '"label": 0'),
    "aggrefact": (",1,val", ",0,val"),
    "frank": ('"factuality": 1.0', '"factuality": 0.5'),
    "ragtruth": ('"label": 1', '"label": 0'),
    "systems": ('"label": 1', '"label": 0'),
}


@pytest.mark.parametrize("name", JUDGED)
def test_the_digest_is_of_texts_and_judgements(name: str, tmp_path: Path) -> None:
    folders = [made_folder(tmp_path / str(number), name) for number in range(4)]
    check_digests(benchmark_of(name).read, folders, JUDGED[name])


#: Benchmark with one file of judged summaries -> a field that each of its rows needs.
FIELDS = {"bump": "article", "frank": "summary", "ragtruth": "summary", "summedits": "doc"}


@pytest.mark.parametrize("name", FIELDS)
def test_what_cannot_be_read_is_named(name: str, tmp_path: Path) -> None:
    def copy(folder: str, rows: list[dict[str, Any]]) -> Path:
        return made_folder(tmp_path / folder, name, rows)

    check_unreadable(benchmark_of(name).read, tmp_path, copy, made_rows(name), FIELDS[name])

"""Each case prints its table on made-up data, and its numbers are what they are called."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.profiler import ProfilerActivity

from estime_metric import embedded
from experiments.speed import common, gpu, host, programs
from experiments.speed.__main__ import app
from experiments.tests.benchmarks.made import bump_folder, real
from tests.engine.encoder.pretended_device import pretended_device


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with the folder ``bump``."""
    bump_folder(tmp_path / "bump")
    return tmp_path


def test_pairs_are_those_of_an_article_the_reference_first(data: Path) -> None:
    summaries, sources = common.pairs_of(data, articles=2, each=2)
    assert summaries == ["Anna bought the red boat.", "Peter bought the red boat."] * 2
    assert sources[0] == sources[1] != sources[2] == sources[3]


def test_everything_runs_in_turn_after_a_run_that_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order: list[str] = []
    monkeypatch.setattr(time, "process_time", itertools.count().__next__)
    seconds = common.alternate({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 2)
    assert order == ["a", "b"] * 3
    assert seconds.to_dict("list") == {"a": [1, 1], "b": [1, 1]}


def test_cost(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(programs, "MODELS", ["embedded-small"])
    monkeypatch.setattr(time, "process_time", itertools.count().__next__)
    app(["cost", "--data", str(data)])
    printed = capsys.readouterr().out
    assert printed.count(" 333\n") == 5  # a second for three pairs
    assert programs.BERTSCORE in printed


def test_peers(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if programs.released_code() is None:
        pytest.skip("blanc 0.3.4 is not installed: pip install --no-deps blanc==0.3.4")
    one_block(programs.SHAPES, monkeypatch)
    app(["peers", "--data", str(data)])
    printed = capsys.readouterr().out
    for name in (*programs.MODELS, programs.BLANC, programs.BERTSCORE, *programs.SHAPES):
        assert name in printed


def one_block(shapes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes encoders of one block of them."""
    small = {"num_layers": 1, "num_hidden_layers": 1, "layer_types": None}
    for name, config in shapes.items():
        monkeypatch.setitem(shapes, name, type(config)(**{**config.to_dict(), **small}))


def test_epochs(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app(["epochs", "--data", str(data)])
    printed = capsys.readouterr().out
    assert [f"{share}% fit" in printed for share in (0, 50, 100)] == [True] * 3


def test_host(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "ROUNDS", 1)
    app(["host", "--data", str(real("frank").parent), "--pairs", "40"])
    printed = capsys.readouterr().out
    assert "CPU time of 40 pairs of FRANK" in printed
    assert printed.count("The most expensive functions") == 3


def test_operations_are_counted_without_views() -> None:
    ones = torch.ones(2, 3)
    assert host.count_operations(lambda: (ones.T[0] + 1).sum()) == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # PyTorch and its profiler miss the device
def test_gpu_prints_a_row_for_each_program(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one_block(gpu.DETECTORS, monkeypatch)
    monkeypatch.setitem(embedded.PATHS, "embedded", embedded.SMALL)
    monkeypatch.setattr(gpu, "ProfilerActivity", SimpleNamespace(CUDA=ProfilerActivity.CPU))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a device")
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    pairs = common.pairs_of(data, articles=2, each=1)
    monkeypatch.setattr(gpu, "frank_and_cliff", lambda *_: pairs)
    with pretended_device(monkeypatch):
        app(["gpu"])
    device, title, *rows = capsys.readouterr().out.splitlines()
    assert (device, title[:7]) == ("a device", "2 pairs")
    assert len(rows) == 7 + len(gpu.DETECTORS)
    assert {row.split()[-1] for row in rows} == {"0.00"}  # no kernel runs there


def test_gpu_says_that_there_is_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    app(["gpu"])
    assert "There is no GPU" in capsys.readouterr().out

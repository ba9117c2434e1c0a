"""What every toolkit keeps: the same pairs give the same numbers, under the names in
docs/measures.md, with the same signature; blank, undefined and no summaries; empty sources; options;
the cache.

A toolkit is one entry of `toolkits.TOOLKITS`. What is particular to it is in its own file.
"""

from __future__ import annotations

import pickle
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from estime_metric import estime
from estime_metric.engine.cache import DEFAULT_CACHE
from estime_metric.measures import MEASURES, measure_of, reported_name
from tests.integrations.conftest import Pairs, unzip
from tests.integrations.toolkits import IN_TWO_PROCESSES, NAMES, TOOLKITS, Toolkit
from tests.integrations.two_processes import run_twice

pytestmark = pytest.mark.filterwarnings("ignore")  # what these packages warn of when imported

MEASURED = ("inconsistency", "alarms", "alarm_rate", "copied")


@pytest.fixture(params=TOOLKITS)
def toolkit(request: pytest.FixtureRequest) -> Toolkit:
    return TOOLKITS[request.param]


@pytest.fixture
def odd_pairs(pairs: Pairs) -> Pairs:
    """Pairs with two blank summaries, and one of which nothing is checked."""
    return [*pairs[:9], ("", pairs[0][1]), (" ", pairs[1][1]), ("☃☃☃", pairs[1][1])]


def test_the_table_has_every_toolkit() -> None:
    assert {toolkit.names for toolkit in TOOLKITS.values()} == set(NAMES)
    for name, row in NAMES.items():
        assert row.blank, name
        if row.layer:
            several = (
                ('"alarms"', '"alarms", 12') if name == "python" else ("alarms", "alarms_layer12")
            )
            assert row.layer == (row.mean or "").replace(*several), name


def test_every_logger_accepts_a_name_with_a_layer(tmp_path: Path) -> None:
    names = [reported_name(measure, 12, (12, 21)) for measure in MEASURES]
    assert [measure_of(name) for name in names] == list(MEASURES)
    for name in names:  # what Weights & Biases asks for
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
    mlflow = pytest.importorskip("mlflow")
    client = mlflow.MlflowClient(f"sqlite:///{tmp_path}/runs.db")
    run = client.create_run(client.create_experiment("names")).info.run_id
    for name in names:
        client.log_metric(run, name, 1.0)
    assert set(client.get_run(run).data.metrics) == set(names)
    with pytest.raises(mlflow.exceptions.MlflowException, match="name"):
        client.log_metric(run, "alarms@12", 1.0)  # why the layer does not follow an "@"


def test_equal_numbers_names_and_signature(
    toolkit: Toolkit, bert_folder: str, odd_pairs: Pairs
) -> None:
    summaries, sources = unzip(odd_pairs)
    options = {"model": bert_folder, "measures": MEASURED}
    expected = estime(summaries, sources, **options)
    reported = toolkit.report(summaries, sources, MEASURED, **options)
    assert "inconsistency" in {**reported.values, **reported.means}
    for name, values in reported.values.items():
        assert values == pytest.approx(expected[name].tolist(), abs=2e-6, nan_ok=True), name
    for name, mean in reported.means.items():  # undefined values are left out
        assert mean == pytest.approx(float(expected[name].nanmean()), abs=2e-6), name
    assert (expected.blank_indices, expected.unchecked_indices) == ([9, 10], [9, 10, 11])
    assert reported.blank == 2
    assert reported.signature in (None, expected.signature)
    assert len(set(expected["inconsistency"].tolist())) > 3


def test_one_number_without_an_option_or_a_network(
    toolkit: Toolkit, pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_host(*_: Any, **__: Any) -> None:
        raise socket.gaierror("there is no network")

    monkeypatch.setattr(socket, "getaddrinfo", no_host)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))  # is empty
    summaries, sources = unzip(pairs[:3])
    expected = estime(summaries, sources)
    assert expected.signature.startswith("ESTIME|model:embedded@sha256-")
    reported = toolkit.report(summaries, sources, ("inconsistency", "alarms"))
    assert reported.signature in (None, expected.signature)
    for name, values in reported.values.items():
        assert values == pytest.approx(expected[name].tolist(), abs=2e-6), name
    for name, mean in reported.means.items():
        assert mean == pytest.approx(expected.mean(name), abs=2e-6), name


def test_several_layers_are_in_the_names_or_refused(
    toolkit: Toolkit, bert_folder: str, pairs: Pairs
) -> None:
    summaries, sources = unzip(pairs[:4])
    layers = (1, 3)
    options = {"model": bert_folder, "layers": layers, "measures": ("inconsistency", "alarms")}
    columns = {
        reported_name(measure, layer, layers): (measure, layer)
        for layer in layers
        for measure in ("inconsistency", "alarms")
    }
    if not toolkit.layers:
        with pytest.raises(ValueError, match="`layers` to be one layer, but got"):
            toolkit.report(summaries, sources, list(columns), **options)
        return
    expected = estime(summaries, sources, **options)
    reported = toolkit.report(summaries, sources, list(columns), **options)
    assert {*reported.values, *reported.means} == set(columns)
    for name, place in columns.items():
        if name in reported.values:
            assert reported.values[name] == pytest.approx(expected[place].tolist(), abs=2e-6)
        if name in reported.means:
            assert reported.means[name] == pytest.approx(expected.mean(*place), abs=2e-6)


def test_no_pairs(toolkit: Toolkit, bert_folder: str) -> None:
    if not toolkit.nothing:
        return
    reported = toolkit.report([], [], MEASURED, model=bert_folder, measures=MEASURED)
    assert all(values == [] for values in reported.values.values())
    assert all(mean != mean for mean in reported.means.values())  # NaN
    assert reported.blank == 0


@pytest.mark.parametrize(("source", "error"), [("", ValueError), (None, TypeError)])
def test_a_source_that_is_empty_or_missing(
    toolkit: Toolkit, bert_folder: str, pairs: Pairs, source: Any, error: type[Exception]
) -> None:
    """An error with its index, a skipped row in files."""
    summaries, sources = unzip(pairs[:3])
    bad, names = [sources[0], source, sources[2]], ("inconsistency", "alarms")
    if toolkit.skips:
        reported = toolkit.report(summaries, bad, names, model=bert_folder)
        expected = estime(summaries[::2], sources[::2], model=bert_folder)
        for name, values in reported.values.items():
            assert values == pytest.approx(expected[name].tolist(), abs=2e-6)
        return
    with pytest.raises(error, match=r"`(sources|article)` .* at index [01]"):
        toolkit.report(summaries, bad, names, model=bert_folder)


def test_options_reach_the_scorer_and_a_slip_is_named(
    toolkit: Toolkit, bert_folder: str, pairs: Pairs
) -> None:
    summaries, sources = unzip(pairs[:3])
    names = ("inconsistency", "alarms")
    options = {"model": bert_folder, "unit": "word", "distance": 3, "normalize": True}
    expected = estime(summaries, sources, **options)
    reported = toolkit.report(summaries, sources, names, **options)
    assert reported.signature in (None, expected.signature)
    for name, values in reported.values.items():
        assert values == pytest.approx(expected[name].tolist(), abs=2e-6)
    if TOOLKITS["json"] is not toolkit:  # which names the option of the command
        with pytest.raises(TypeError, match=r"`distanc`.* Did you mean `distance`"):
            toolkit.report(summaries, sources, names, model=bert_folder, distanc=3)


def test_the_cache_of_the_process_is_used_unless_another_is_given(
    toolkit: Toolkit, bert_folder: str, pairs: Pairs
) -> None:
    if not toolkit.cached:
        return
    summaries, sources = unzip(pairs)
    first, again, without = (
        toolkit.report(summaries, sources, ("inconsistency", "alarms"), model=bert_folder, **cache)
        for cache in ({}, {}, {"cache": None})
    )
    assert DEFAULT_CACHE.misses == len(set(sources))  # each is encoded once
    for other in (again, without):
        for name, values in first.values.items():
            assert other.values[name] == pytest.approx(values, abs=2e-6)
        assert other.means == pytest.approx(first.means, abs=2e-6)


def report(rank: int, name: str, shares: list[list[Pairs]], folder: Path, model: str) -> None:
    """One of two processes; what it reports of each of several jobs goes to a file."""
    reported = []
    for number, share in enumerate(shares):
        job = folder / str(number)
        job.mkdir(exist_ok=True)
        run = IN_TWO_PROCESSES[name]
        reported.append(run(rank, share[rank], job, ("inconsistency", "alarms"), model))
    (folder / f"{rank}.pickle").write_bytes(pickle.dumps(reported))


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_TWO_PROCESSES)
def test_two_processes_equal_one(name: str, bert_folder: str, pairs: Pairs, tmp_path: Path) -> None:
    """Uneven shares, empty ones, and nothing at all."""
    pytest.importorskip(name)
    shares = [
        [pairs[:first], pairs[first:last]] for first, last in ((5, 7), (0, 5), (5, 5), (0, 0))
    ]
    run_twice(report, name, shares, tmp_path, bert_folder)
    for rank in range(2):
        reports = pickle.loads((tmp_path / f"{rank}.pickle").read_bytes())
        for (first, second), reported in zip(shares, reports, strict=True):
            if reported is None:
                assert rank == 1  # evaluate computes in the first process only
                continue
            expected = estime(*unzip(first + second), model=bert_folder)
            assert reported.signature == expected.signature
            for measure in ("inconsistency", "alarms"):
                values, mean = expected[measure], float(expected[measure].mean())
                assert reported.values[measure] == pytest.approx(values.tolist(), abs=2e-6)
                assert reported.means[measure] == pytest.approx(mean, abs=2e-6, nan_ok=True)

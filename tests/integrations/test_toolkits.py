"""What every toolkit keeps: the same pairs give the same numbers, under the names in
docs/measures.md, with the same signature; blank, undefined and no summaries; empty sources; options;
the cache.

A toolkit is one entry of `toolkits.TOOLKITS`. What is particular to it is in its own file.
"""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeResult, estime
from estime_metric.engine.cache import DEFAULT_CACHE
from estime_metric.measures import MEASURES, reported_name
from tests.integrations.conftest import Pairs, unzip
from tests.integrations.toolkits import TOOLKITS, Reported, Toolkit

pytestmark = pytest.mark.filterwarnings("ignore")  # what these packages warn of when imported

MEASURED = ("inconsistency", "alarms", "alarm_rate", "copied_density", "winners")
DEFAULT = ("inconsistency", "alarms")


@pytest.fixture(params=TOOLKITS)
def toolkit(request: pytest.FixtureRequest) -> Toolkit:
    return TOOLKITS[request.param]


@pytest.fixture
def odd_pairs(pairs: Pairs) -> Pairs:
    """Pairs with two blank summaries, and one of which nothing is checked."""
    return [*pairs[:9], ("", pairs[0][1]), (" ", pairs[1][1]), ("☃☃☃", pairs[1][1])]


def toolkits(**abilities: bool) -> pytest.MarkDecorator:
    """Only the toolkits that can do something, or cannot."""
    names = [
        name
        for name, toolkit in TOOLKITS.items()
        if all(getattr(toolkit, ability) == able for ability, able in abilities.items())
    ]
    return pytest.mark.parametrize("toolkit", names, indirect=True)


def check(reported: Reported, expected: EstimeResult) -> None:
    """What is reported is what the library gives: the signature, and each value and mean under its
    name; undefined values are left out of means.
    """
    assert {**reported.values, **reported.means}
    assert reported.signature in (None, expected.signature)
    for name in {**reported.values, **reported.means}:
        measure, _, layer = name.partition("_layer")
        values = expected.values(measure, int(layer) if layer else None)
        mean = float(values.nanmean())
        listed = reported.values.get(name, values.tolist())
        assert listed == pytest.approx(values.tolist(), abs=2e-6, nan_ok=True), name
        assert reported.means.get(name, mean) == pytest.approx(mean, abs=2e-6, nan_ok=True), name


def test_every_logger_accepts_a_name_with_a_layer() -> None:
    """Weights & Biases asks for more than MLflow, whose names have no "@" either."""
    for measure in MEASURES:
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", reported_name(measure, 12, (12, 21)))


def test_equal_numbers_names_and_signature(
    toolkit: Toolkit, bert_folder: str, odd_pairs: Pairs
) -> None:
    summaries, sources = unzip(odd_pairs)
    options = {"model": bert_folder, "measures": MEASURED}
    expected = estime(summaries, sources, **options)
    reported = toolkit.report(summaries, sources, MEASURED, **options)
    check(reported, expected)
    assert expected.unchecked_indices == [9, 10, 11]
    assert reported.blank == 2
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
    check(toolkit.report(summaries, sources, DEFAULT), expected)


LAYERS = (1, 3)
BY_LAYER = [reported_name(measure, layer, LAYERS) for layer in LAYERS for measure in DEFAULT]


def test_several_layers_are_in_the_names_or_refused(
    toolkit: Toolkit, bert_folder: str, pairs: Pairs
) -> None:
    summaries, sources = unzip(pairs[:4])
    options = {"model": bert_folder, "layers": LAYERS}
    if not toolkit.layers:
        with pytest.raises(ValueError, match="`layers` to be one layer, but got"):
            toolkit.report(summaries, sources, BY_LAYER, **options)
        return
    check(
        toolkit.report(summaries, sources, BY_LAYER, **options),
        estime(summaries, sources, **options),
    )


@toolkits(nothing=True)
def test_no_pairs(toolkit: Toolkit, bert_folder: str) -> None:
    reported = toolkit.report([], [], MEASURED, model=bert_folder, measures=MEASURED)
    assert all(values == [] for values in reported.values.values())
    assert all(mean != mean for mean in reported.means.values())  # NaN
    assert reported.blank == 0


@pytest.mark.parametrize(("source", "error"), [("", ValueError), (None, TypeError)])
def test_a_source_that_is_empty_or_missing_is_skipped_or_named_by_index(
    toolkit: Toolkit, bert_folder: str, pairs: Pairs, source: Any, error: type[Exception]
) -> None:
    summaries, sources = unzip(pairs[:3])
    sources[1] = source
    if toolkit.skips:
        expected = estime(summaries[::2], sources[::2], model=bert_folder)
        check(toolkit.report(summaries, sources, DEFAULT, model=bert_folder), expected)
        return
    with pytest.raises(error, match=r"`sources` .* at index [01]"):
        toolkit.report(summaries, sources, DEFAULT, model=bert_folder)


def test_options_reach_the_scorer_and_a_slip_is_named(
    toolkit: Toolkit, bert_folder: str, pairs: Pairs
) -> None:
    summaries, sources = unzip(pairs[:3])
    options = {"model": bert_folder, "unit": "word", "distance": 3, "min_tokens": 30}
    expected = estime(summaries, sources, **options)
    check(toolkit.report(summaries, sources, DEFAULT, **options), expected)
    if TOOLKITS["json"] is not toolkit:  # which names the option of the command
        with pytest.raises(TypeError, match=r"`distanc`.* Did you mean `distance`"):
            toolkit.report(summaries, sources, DEFAULT, model=bert_folder, distanc=3)


@toolkits(cached=True)
def test_the_cache_of_the_process_is_used_unless_another_is_given(
    toolkit: Toolkit, bert_folder: str, pairs: Pairs
) -> None:
    summaries, sources = unzip(pairs)
    expected = estime(summaries, sources, model=bert_folder)
    for cache in ({}, {}, {"cache": None}):
        check(toolkit.report(summaries, sources, DEFAULT, model=bert_folder, **cache), expected)
    assert DEFAULT_CACHE.misses == len(set(sources))  # each is encoded once

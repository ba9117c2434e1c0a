"""Pairs as the toolkits take them, and a count of what is scored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest
import torch

from estime_metric import EstimeScorer, estime
from estime_metric.engine.cache import DEFAULT_CACHE
from tests.engine.encoder.pretended_device import trained_there
from tests.families import make_pairs

Pairs = list[tuple[str, str]]
MakeMetric = Callable[..., Any]


@pytest.fixture(scope="session")
def pairs() -> Pairs:
    """Sixteen pairs (summary, source) of short sources: what is tested here does not depend on
    windows.
    """
    return make_pairs((2, 4), (4, 7))


@pytest.fixture
def alarms(bert_folder: str) -> MakeMetric:
    """Makes an `ESTIME` of the alarms by the small BERT, with options."""
    from estime_metric import ESTIME

    return lambda **options: ESTIME(**{"model": bert_folder, "measure": "alarms", **options})


@pytest.fixture
def values(bert_folder: str, pairs: Pairs) -> torch.Tensor:
    """The alarms of each pair."""
    return estime(*unzip(pairs), model=bert_folder).values("alarms")


@pytest.fixture(autouse=True)
def _nothing_cached() -> None:
    """No test finds what another one has left in the cache of the process."""
    DEFAULT_CACHE.clear()
    DEFAULT_CACHE.hits = DEFAULT_CACHE.misses = 0


@pytest.fixture(params=["cpu", "cuda"])
def training_device(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Lightning trains on the CPU, and on a device that is pretended."""
    with trained_there(monkeypatch) if request.param == "cuda" else nullcontext():
        yield


def unzip(pairs: Pairs) -> tuple[list[str], list[str]]:
    return [summary for summary, _ in pairs], [source for _, source in pairs]


def named(pairs: Pairs) -> dict[str, list[str]]:
    """Summaries and sources as `ESTIME` takes them."""
    preds, sources = unzip(pairs)
    return {"preds": preds, "sources": sources}


@pytest.fixture
def scored(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many pairs each call of the scorer was given."""
    calls: list[int] = []
    score = EstimeScorer.score_checked

    def counted(self: EstimeScorer, preds: Any, sources: Any, *options: Any) -> Any:
        if preds:
            calls.append(len(preds))
        return score(self, preds, sources, *options)

    monkeypatch.setattr(EstimeScorer, "score_checked", counted)
    return calls

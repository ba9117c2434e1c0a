"""The cache of sources that metrics and judges share by default: what it saves, and what it must not
change.
"""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any

import pytest

pytest.importorskip("torchmetrics")
pytest.importorskip("evaluate")

from torchmetrics import MetricCollection

from estime_metric import EstimeScorer
from estime_metric.engine.cache import DEFAULT_CACHE
from estime_metric.integrations.evaluate import Estime
from estime_metric.integrations.judging import Judge
from estime_metric.integrations.torchmetrics import ESTIME
from tests.integrations.conftest import Pairs, named, unzip
from tests.test_scorer import encoded

__all__ = ["encoded"]  # a fixture


def test_copies_have_the_cache_of_the_process(bert_folder: str) -> None:
    metric = ESTIME(model=bert_folder)
    collection = copy.deepcopy(MetricCollection([metric]))
    copies = (copy.deepcopy(metric), metric.clone(), pickle.loads(pickle.dumps(metric)))
    for copied in (metric, *copies, collection["ESTIME"]):
        assert copied.scorer.cache is copied.source_cache is DEFAULT_CACHE
    with pytest.raises(TypeError, match="got both: cache"):
        Judge(EstimeScorer(model=bert_folder), cache=None)


def test_metrics_of_the_same_settings_encode_each_source_once(
    bert_folder: str, pairs: Pairs, encoded: list[list[Any]]
) -> None:
    """In a collection, in later epochs, and in copies; those of other settings do not share."""
    number = len({source for _, source in pairs})

    def sources_encoded(metric: ESTIME | MetricCollection) -> int:
        before = DEFAULT_CACHE.misses
        encoded.clear()
        metric.update(**named(pairs))
        missed = DEFAULT_CACHE.misses - before
        assert sum(map(len, encoded)) == len(set(pairs)) + missed
        metric.reset()
        return missed

    measures = ("inconsistency", "alarms")
    metrics = MetricCollection({name: ESTIME(model=bert_folder, measure=name) for name in measures})
    metrics["alarms"].update(**named(pairs))
    assert DEFAULT_CACHE.misses == number
    assert [sources_encoded(metrics[name]) for name in measures] == [0, 0]
    copied = pickle.loads(pickle.dumps(metrics))
    assert sources_encoded(copied["alarms"]) == 0
    other = ESTIME(model=bert_folder, measure="alarms", distance=4)
    assert [sources_encoded(other) for _ in range(2)] == [number, 0]


def test_nothing_is_kept_but_the_cache(bert_folder: str, pairs: Pairs) -> None:
    metrics = MetricCollection([ESTIME(model=bert_folder, measure="alarms")])
    metrics.persistent(True)
    before = metrics.state_dict().keys()
    metrics.update(**named(pairs))
    state = metrics.state_dict()
    assert state.keys() == before
    assert len(pickle.dumps(state)) + len(pickle.dumps(metrics)) < 40_000
    moved = metrics["ESTIME"].clone().to("meta")  # a device on which nothing is computed
    assert moved._scorer is None
    assert moved.scorer.cache is DEFAULT_CACHE
    gone = [weakref.ref(one) for one in (metrics["ESTIME"], metrics["ESTIME"].scorer, moved)]
    del metrics, moved
    gc.collect()
    assert [one() for one in gone] == [None] * 3
    assert len(DEFAULT_CACHE) == len({source for _, source in pairs})


def test_unloading_empties_what_is_shared(bert_folder: str, pairs: Pairs) -> None:
    metric = Estime(model=bert_folder)
    preds, sources = unzip(pairs)
    expected = metric.compute(predictions=preds, sources=sources)
    assert len(DEFAULT_CACHE) == len(set(sources))
    metric.unload()
    assert len(DEFAULT_CACHE) == 0
    assert metric.compute(predictions=preds, sources=sources) == expected


def test_a_cache_is_no_option_of_a_single_call(bert_folder: str, pairs: Pairs) -> None:
    preds, sources = unzip(pairs[:2])
    with pytest.raises(TypeError, match="cache"):
        Estime(model=bert_folder).compute(predictions=preds, sources=sources, cache=None)

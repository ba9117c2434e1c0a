"""The cache of sources that metrics and judges share by default: what it saves, and what it must not
change.
"""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import pytest

pytest.importorskip("torchmetrics")
pytest.importorskip("evaluate")

from torchmetrics import MetricCollection

from estime_metric.engine.cache import DEFAULT_CACHE
from estime_metric.integrations.evaluate import Estime
from estime_metric.integrations.torchmetrics import ESTIME
from tests.integrations.conftest import MakeMetric, Pairs, named, unzip


def test_copies_have_the_cache_of_the_process(bert_folder: str) -> None:
    metric = ESTIME(model=bert_folder)
    collection = copy.deepcopy(MetricCollection([metric]))
    copies = (copy.deepcopy(metric), metric.clone(), pickle.loads(pickle.dumps(metric)))
    for copied in (metric, *copies, collection["ESTIME"]):
        assert copied.scorer.cache is copied.source_cache is DEFAULT_CACHE


def test_nothing_is_kept_but_the_cache(alarms: MakeMetric, pairs: Pairs) -> None:
    metric = alarms()
    metric.persistent(True)
    metric.update(**named(pairs))
    assert len(pickle.dumps(metric.state_dict())) + len(pickle.dumps(metric)) < 40_000
    moved = metric.clone().to("meta")  # a device on which nothing is computed
    assert moved.scorer.cache is DEFAULT_CACHE
    gone = [weakref.ref(it) for it in (metric, metric.scorer, moved, moved.scorer)]
    del metric, moved
    gc.collect()
    assert not any(reference() for reference in gone)
    assert len(DEFAULT_CACHE) == len({source for _, source in pairs})


def test_a_cache_is_no_option_of_a_single_call(bert_folder: str, pairs: Pairs) -> None:
    preds, sources = unzip(pairs[:2])
    with pytest.raises(TypeError, match="cache"):
        Estime(model=bert_folder).compute(predictions=preds, sources=sources, cache=None)

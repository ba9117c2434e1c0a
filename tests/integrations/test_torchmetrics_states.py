"""`ESTIME` inside modules, collections and wrappers: nothing leaks, nothing is shared by mistake,
nothing is lost.
"""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

torchmetrics = pytest.importorskip("torchmetrics")

from torchmetrics import MetricCollection  # noqa: E402
from torchmetrics.wrappers import BootStrapper  # noqa: E402

from estime_metric.engine.cache import DEFAULT_CACHE  # noqa: E402
from estime_metric.integrations.torchmetrics import ESTIME  # noqa: E402
from tests.families import save_encoder  # noqa: E402
from tests.integrations.conftest import MakeMetric, Pairs, named, unzip  # noqa: E402

each_and_mean = pytest.mark.parametrize("reduction", ["mean", None])


class Module(torch.nn.Module):
    def __init__(self, **metrics: torch.nn.Module) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        for name, metric in metrics.items():
            setattr(self, name, metric)


def test_the_encoder_is_no_part_of_the_module_and_no_cast_reaches_it_or_the_sums(
    alarms: MakeMetric, pairs: Pairs, values: torch.Tensor
) -> None:
    module, plain = Module(estime=alarms()), Module()
    module.estime.update(**named(pairs[:8]))  # loads the encoder
    assert [*dict(module.named_parameters())] == [*dict(plain.named_parameters())]
    assert not list(module.buffers())
    assert [type(child) for child in module.modules()] == [Module, torch.nn.Linear, ESTIME]
    module.load_state_dict(plain.state_dict(), strict=True)  # a checkpoint saved without the metric
    plain.load_state_dict(module.state_dict(), strict=True)
    module.train()  # has no dropout begin
    module.to(torch.bfloat16).half()
    module.estime.set_dtype(torch.float16)
    module.estime.update(**named(pairs[8:]))
    assert module.linear.weight.dtype == torch.float16
    assert module.estime.total.dtype == module.estime.count.dtype == torch.float64
    assert "|dtype:float32|" in module.estime.signature
    assert module.estime.compute() == values.mean()


@each_and_mean
def test_a_model_made_on_the_meta_device_is_materialized(
    alarms: MakeMetric, pairs: Pairs, values: torch.Tensor, reduction: str | None
) -> None:
    """Its states have no content there, so that whatever was counted before is gone."""
    with torch.device("meta"):
        metric = alarms(reduction=reduction)
        layers = alarms(measure=None, layers="all", return_dict=True)
        module = Module(estime=metric, several=MetricCollection([layers]))
    for _ in range(2):
        module.to_empty(device="cpu")
        for part in (module.estime, module.several):
            part.update(**named(pairs))
        assert module.estime.compute().mean() == values.mean()
        assert module.several.compute()["alarms_layer4"] == values.mean()
        module.to("meta")
    metric.to_empty(device="cpu")
    metric.update(**named(pairs))
    assert metric.to_empty(device="cpu").compute().mean() == values.mean()  # from the CPU: kept


def test_the_device_of_the_metric_is_that_of_the_work_and_a_default_one_is_not(
    alarms: MakeMetric, pairs: Pairs, values: torch.Tensor
) -> None:
    """On ``meta``, nothing can be calculated: what is made there by mistake fails."""
    metric = alarms()
    with torch.device("meta"):
        metric.update(**named(pairs[:4]), ids=range(4))
        assert metric.compute() == values[:4].mean()
    for device, works_on in ((None, "meta"), ("cpu", "cpu")):
        metric = alarms(device=device)
        assert metric.scorer.config.device == "cpu"
        metric.to("meta")
        assert metric.device.type == metric.total.device.type == "meta"
        assert metric.scorer.config.device == works_on


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_cuda(alarms: MakeMetric, pairs: Pairs, values: torch.Tensor) -> None:
    metric = alarms(reduction=None).to("cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        metric.update(**named(pairs), ids=range(len(pairs)))
        value = metric.compute()
    assert value.device.type == metric.scorer.encoder.device.type == "cuda"
    assert value.tolist() == values.tolist()
    assert metric.to("cpu").compute().device.type == "cpu"


@each_and_mean
@pytest.mark.parametrize("processes", [0, 1, 2])
@pytest.mark.filterwarnings("ignore:The ``compute`` method of metric ESTIME was called before")
def test_a_saved_state_is_resumed(
    alarms: MakeMetric, pairs: Pairs, values: torch.Tensor, reduction: str | None, processes: int
) -> None:
    """Saved by one process, or while synchronized, and then resumed by one or two processes."""
    several = {  # another process with the same states
        "dist_sync_fn": lambda state, group=None: [state, state.clone()],
        "distributed_available_fn": lambda: True,
        "compute_on_cpu": True,  # where lists stay then
    }
    metric = alarms(reduction=reduction, **(several if processes else {}))
    metric.persistent(True)
    metric.update(**named(pairs[:6]), ids=range(6))
    if processes:
        metric.sync(several["dist_sync_fn"], distributed_available=lambda: True)
    saved = copy.deepcopy(metric.state_dict())
    resumed = alarms(reduction=reduction, **(several if processes == 2 else {}))
    resumed.load_state_dict(saved)
    assert float(resumed.compute().mean()) == pytest.approx(float(values[:6].mean()))
    resumed.update(**named(pairs[6:]), ids=range(6, len(pairs)))
    assert float(resumed.compute().mean()) == values.mean()


def test_states_are_merged_if_they_are_of_one_encoder(
    alarms: MakeMetric, bert_folder: str, pairs: Pairs, values: torch.Tensor, tmp_path: Path
) -> None:
    """Two machines may have different commits of one model of the Hub: here, folders of one name."""
    first, second = alarms(), alarms()
    first.update(**named(pairs[:5]))
    second.update(**named(pairs[5:]))
    first.merge_state(second)
    assert first.compute() == values.mean()
    changed = save_encoder(tmp_path / Path(bert_folder).name, "bert", seed=3)
    for other in (alarms(layers=2), alarms(model=str(changed))):
        other.update(**named(pairs))
        other.merge_state(first)
        with pytest.raises(ValueError, match="merged states to have the same configuration"):
            other.compute()


def test_threads_may_update_side_by_side(
    alarms: MakeMetric, pairs: Pairs, values: torch.Tensor
) -> None:
    mean, each = alarms(), alarms(reduction=None)

    def update(start: int) -> None:
        for metric in (mean, each):
            metric.update(**named(pairs[start : start + 2]))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(update, range(0, 16, 2)))
    assert mean.compute() == values.mean()
    assert sorted(each.compute().tolist()) == sorted(values.tolist())


def test_copies_share_encoder_and_cache_and_a_pickle_has_neither_weights_nor_texts(
    alarms: MakeMetric, pairs: Pairs, values: torch.Tensor
) -> None:
    metric = alarms()
    metric.persistent(True)
    metric.update(**named(pairs[:8]))
    assert len(pickle.dumps(metric)) + len(pickle.dumps(metric.state_dict())) < 40_000
    (collected,) = copy.deepcopy(MetricCollection([metric])).values()
    copies = [metric.clone(), pickle.loads(pickle.dumps(metric)), collected]
    for copied in copies:
        assert copied.scorer.encoder is metric.scorer.encoder
        assert copied.scorer.cache is copied.source_cache is DEFAULT_CACHE
        copied.update(**named(pairs[8:]))
        assert copied.compute() == values.mean()
    gone = weakref.ref(metric.scorer)
    del metric, copied, copies, collected
    gc.collect()
    assert gone() is None


def test_bootstrapper(alarms: MakeMetric, pairs: Pairs, values: torch.Tensor) -> None:
    wrapped = BootStrapper(alarms(), 4, raw=True, sampling_strategy="multinomial")
    wrapped.update(indices=torch.arange(len(pairs)), **named(pairs))
    outcome = wrapped.compute()
    tokens = alarms()._measures.index("tokens")  # never undefined
    assert all((metric.count[:, tokens] == len(pairs)).all() for metric in wrapped.metrics)
    assert values.min() <= outcome["raw"].min() < outcome["raw"].max() <= values.max()


def test_configurations_never_share_a_state(alarms: MakeMetric, pairs: Pairs) -> None:
    """As long as their signatures differ, or their functions, which signatures only name."""
    options: dict[str, dict[str, Any]] = {
        "plain": {},
        "layer": {"layers": 2},
        "measures": {"measures": ["coherence"]},
        "words": {"unit": "word", "splitter": lambda text: text.split()},
        "letters": {"unit": "word", "splitter": lambda text: list(text.replace(" ", ""))},
        "each": {"reduction": None},
    }
    metrics = {name: alarms(**own) for name, own in options.items()}
    collection = MetricCollection({name: metric.clone() for name, metric in metrics.items()})
    # First equal numbers, because no alarm is raised.
    for batch in ([("", pairs[0][1]), ("", "zebra")], pairs[2:5], pairs[5:9]):
        for part in (collection, *metrics.values()):
            part.update(**named(batch))
    values = collection.compute()
    for name, metric in metrics.items():
        assert torch.equal(values[name], metric.compute()), name
    assert len({float(value) for value in values.values() if value.ndim == 0}) > 3


@pytest.mark.parametrize("measure", ["unsupported", "soft"])
def test_metrics_that_differ_in_measure_share_one_state(
    alarms: MakeMetric, pairs: Pairs, scored: list[int], measure: str
) -> None:
    """After the first update, which forms the groups, each pair is scored once for all of them."""
    names = ("inconsistency", "copied_density", measure)
    options = {"measures": ["soft"] if measure == "soft" else []}
    single = {f"only_{name}": alarms(measure=name, **options) for name in names}
    everything = alarms(measure=None, return_dict=True, **options)
    metrics = MetricCollection({**single, "all": everything})
    metrics.update(**named(pairs[:4]))
    scored.clear()
    metrics.update(**named(pairs[4:12]))
    assert scored == [8]
    result = alarms(measures=["soft"]).scorer.score(*unzip(pairs[:12]))
    for name, value in metrics.compute().items():
        assert float(value) == pytest.approx(result.mean(name.removeprefix("only_")), rel=1e-5)

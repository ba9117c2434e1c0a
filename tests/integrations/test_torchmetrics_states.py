"""`ESTIME` inside modules, collections and wrappers: nothing leaks, nothing is shared by mistake,
nothing is lost.
"""

from __future__ import annotations

import copy
import pickle
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

torchmetrics = pytest.importorskip("torchmetrics")

from torchmetrics import MetricCollection, MetricTracker  # noqa: E402
from torchmetrics.wrappers import BootStrapper  # noqa: E402

from estime_metric import estime  # noqa: E402
from estime_metric.engine.encoder.masked import MaskedEncoder  # noqa: E402
from estime_metric.integrations.torchmetrics import ESTIME  # noqa: E402
from tests.integrations.conftest import Pairs, named, unzip  # noqa: E402
from tests.test_scorer import encoded  # noqa: E402

__all__ = ["encoded"]  # a fixture


def mean_alarms(model: str, pairs: Pairs) -> float:
    return estime(*unzip(pairs), model=model).mean("alarms")


class Module(torch.nn.Module):
    def __init__(self, **metrics: torch.nn.Module) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        for name, metric in metrics.items():
            setattr(self, name, metric)


def test_the_encoder_is_no_part_of_the_module(bert_folder: str, pairs: Pairs) -> None:
    metric = ESTIME(model=bert_folder, measure="alarms")
    module = Module(estime=metric)
    module.estime.update(**named(pairs))
    encoder = metric.scorer.encoder
    weights = encoder._model
    plain = Module()
    assert [name for name, _ in module.named_parameters()] == [
        name for name, _ in plain.named_parameters()
    ]
    assert set(module.state_dict()) == set(plain.state_dict())
    assert not list(module.buffers())
    assert not any(child is weights for child in module.modules())
    module.load_state_dict(plain.state_dict(), strict=True)  # a checkpoint saved without the metric
    plain.load_state_dict(module.state_dict(), strict=True)
    module.train()
    assert not any(child.training for child in weights.modules())


@pytest.mark.parametrize("cast", ["half", "bfloat16", "double", "float"])
def test_no_cast_reaches_the_encoder_or_the_sums(bert_folder: str, pairs: Pairs, cast: str) -> None:
    metric = ESTIME(model=bert_folder, measure="alarms")
    module = Module(estime=metric)
    metric.update(**named(pairs))
    getattr(module, cast)()
    module.to(getattr(torch, cast) if cast != "double" else torch.float16)
    assert metric.scorer.encoder._dtype == torch.float32
    assert {parameter.dtype for parameter in metric.scorer.encoder._model.parameters()} == {
        torch.float32
    }
    assert metric.total.dtype == metric.count.dtype == torch.float64
    metric.set_dtype(torch.float16)
    assert metric.total.dtype == torch.float64
    assert metric.compute() == mean_alarms(bert_folder, pairs)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_changes_no_score(bert_folder: str, pairs: Pairs, dtype: torch.dtype) -> None:
    options = {"model": bert_folder, "measures": ("soft", "coherence")}
    expected = estime(*unzip(pairs), **options)
    metric = ESTIME(**options, return_dict=True)
    with torch.autocast("cpu", dtype=dtype), torch.inference_mode():
        metric.update(**named(pairs))
        inside = metric.compute()
    assert {name: float(value) for name, value in inside.items()} == pytest.approx(
        {name: expected.mean(name) for name in expected.measures}
    )
    metric.update(**named(pairs))  # states made under inference mode can be updated outside of it
    assert metric.compute()["alarms"] == expected.mean("alarms")


@pytest.mark.parametrize("reduction", ["mean", None])
def test_the_default_device_changes_nothing(
    bert_folder: str, pairs: Pairs, reduction: str | None
) -> None:
    """A device on which nothing can be calculated: what is made there by mistake fails."""
    expected = estime(*unzip(pairs[:4]), model=bert_folder)
    metric = ESTIME(model=bert_folder, measure="alarms", reduction=reduction)
    torch.set_default_device("meta")
    try:
        metric.update(**named(pairs[:4]), ids=range(4))
        metric.update(**named(pairs[:1]), ids=torch.tensor([0], device="cpu"))
        value = metric.compute()
        assert value.device.type == "cpu"
        assert value.mean() == expected.mean("alarms")
    finally:
        torch.set_default_device(None)


def test_to_moves_the_work(bert_folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    metric, pinned = (
        ESTIME(model=bert_folder, measure="alarms"),
        ESTIME(model=bert_folder, device="cpu", measure="alarms"),
    )
    assert metric.scorer.config.device == "cpu"
    monkeypatch.setattr(MaskedEncoder, "load", lambda config: pytest.fail("nothing is loaded"))
    for one in (metric, pinned):
        one.to("meta")  # a device that every machine has
        assert one.device.type == "meta"
        assert one.total.device.type == "meta"
    assert metric.scorer.config.device == "meta"
    assert pinned.scorer.config.device == "cpu"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_cuda(bert_folder: str, pairs: Pairs) -> None:
    metric = ESTIME(model=bert_folder, reduction=None, measure="alarms").to("cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        metric.update(**named(pairs), ids=range(len(pairs)))
        value = metric.compute()
    assert value.device.type == metric.scorer.encoder.device.type == "cuda"
    assert (
        value.tolist()
        == estime(*unzip(pairs), model=bert_folder, device="cpu").values("alarms").tolist()
    )
    assert metric.to("cpu").compute().device.type == "cpu"


def test_a_saved_state_is_resumed(bert_folder: str, pairs: Pairs) -> None:
    for reduction in ("mean", None):
        metric, other = (
            ESTIME(model=bert_folder, reduction=reduction, measure="alarms") for _ in range(2)
        )
        metric.persistent(True)
        metric.update(**named(pairs[:6]))
        saved = metric.state_dict()
        assert not any(isinstance(value, str) for value in saved.values())
        other.persistent(True)
        other.update(**named(pairs[:2]))  # is replaced
        other.load_state_dict(copy.deepcopy(saved))
        other.update(**named(pairs[6:]))
        metric.update(**named(pairs[6:]))
        assert torch.equal(other.compute(), metric.compute())
        assert float(metric.compute().mean()) == mean_alarms(bert_folder, pairs)


def test_merged_states_count_both_sides(bert_folder: str, pairs: Pairs) -> None:
    one, another = (
        ESTIME(model=bert_folder, measure="alarms"),
        ESTIME(model=bert_folder, measure="alarms"),
    )
    one.update(**named(pairs[:5]))
    another.update(**named(pairs[5:]))
    one.merge_state(another)
    assert one.compute() == mean_alarms(bert_folder, pairs)
    apart = ESTIME(model=bert_folder, layers=2, measure="alarms")
    apart.update(**named(pairs))
    apart.merge_state(one)
    with pytest.raises(ValueError, match="merged states to have the same configuration"):
        apart.compute()


def test_list_states_on_the_cpu(bert_folder: str, pairs: Pairs) -> None:
    expected = estime(*unzip(pairs), model=bert_folder)
    for reduction, value in (
        ("mean", expected.mean("alarms")),
        (None, expected["alarms"].tolist()),
    ):
        metric = ESTIME(
            model=bert_folder, compute_on_cpu=True, reduction=reduction, measure="alarms"
        )
        for start in range(0, len(pairs), 4):
            metric.update(**named(pairs[start : start + 4]), ids=range(start, start + 4))
        assert metric.compute().tolist() == value


def of_two_processes(state: torch.Tensor, group: Any = None) -> list[torch.Tensor]:
    """Gathers as if another process had the same states."""
    return [state, state.clone()]


@pytest.mark.parametrize("reduction", ["mean", None])
def test_a_state_saved_while_synchronized_is_resumed(
    bert_folder: str, pairs: Pairs, reduction: str | None
) -> None:
    options = {"model": bert_folder, "measure": "alarms", "reduction": reduction}
    distributed = {"dist_sync_fn": of_two_processes, "distributed_available_fn": lambda: True}
    metric = ESTIME(**options)
    metric.persistent(True)
    metric.update(**named(pairs[:6]), ids=range(6))
    with metric.sync_context(dist_sync_fn=of_two_processes, distributed_available=lambda: True):
        saved = copy.deepcopy(metric.state_dict())
    for more in ({}, distributed):
        other = ESTIME(**options, **more)
        other.load_state_dict(saved)
        if not more:
            with pytest.warns(
                UserWarning, match="before the ``update`` method"
            ):  # TorchMetrics' own, of loaded states
                before = other.compute()
            expected = mean_alarms(bert_folder, pairs[:6])
            assert float(before.mean()) == pytest.approx(expected)
        other.update(**named(pairs[6:]), ids=range(6, len(pairs)))
        assert float(other.compute().mean()) == mean_alarms(bert_folder, pairs)
        other.reset()
        other.update(**named(pairs[:2]))


def test_threads_may_update_side_by_side(bert_folder: str, pairs: Pairs) -> None:
    metric, each = (
        ESTIME(model=bert_folder, measure="alarms"),
        ESTIME(model=bert_folder, reduction=None, measure="alarms"),
    )
    with ThreadPoolExecutor(8) as threads:
        for done in [
            threads.submit(one.update, **named(pairs[number : number + 2]))
            for number in range(0, 16, 2)
            for one in (metric, each)
            for _ in range(2)
        ]:
            done.result()
    values = estime(*unzip(pairs), model=bert_folder).values("alarms")
    assert metric.count[0, 0] == 32
    assert metric.compute() == values.mean()
    assert sorted(each.compute().tolist()) == sorted([*values.tolist()] * 2)


def test_processes_whose_encoders_differ_are_told_apart_though_their_options_are_equal(
    bert_folder: str, pairs: Pairs, tmp_path: Path
) -> None:
    """As two machines have different commits of one model of the Hub: here, folders of one name."""
    changed = tmp_path / Path(bert_folder).name
    shutil.copytree(bert_folder, changed)
    one, other = (
        ESTIME(model=bert_folder, measure="alarms"),
        ESTIME(model=str(changed), measure="alarms"),
    )
    assert one.config.signature() != one.signature
    weights = safetensors.torch.load_file(changed / "model.safetensors")
    name = next(name for name in weights if name.endswith("layer.1.output.dense.weight"))
    weights[name] = weights[name] * 1.5
    safetensors.torch.save_file(weights, changed / "model.safetensors", {"format": "pt"})
    one.update(**named(pairs))
    other.update(**named(pairs))
    one.merge_state(other)
    with pytest.raises(ValueError, match="merged states to have the same configuration"):
        one.compute()


def test_copies_share_encoder_and_cache(bert_folder: str, pairs: Pairs) -> None:
    metric = ESTIME(model=bert_folder, measure="alarms", cache=10**7)
    metric.update(**named(pairs[:8]))
    copies = [metric.clone(), copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))]
    assert {id(one.scorer.encoder) for one in copies} == {id(metric.scorer.encoder)}
    assert copies[0].source_cache is copies[1].source_cache is metric.source_cache
    assert copies[2].source_cache.memory_bytes == 10**7
    assert len(pickle.dumps(metric)) < 20_000  # neither weights nor texts
    for one in copies:
        one.update(**named(pairs[8:]))
        assert one.compute() == mean_alarms(bert_folder, pairs)
    assert metric.compute() == mean_alarms(bert_folder, pairs[:8])


def test_bootstrapper(bert_folder: str, pairs: Pairs) -> None:
    preds, sources = unzip(pairs)
    metric = ESTIME(model=bert_folder, measure="alarms")
    wrapped = BootStrapper(
        metric,
        num_bootstraps=4,
        raw=True,
        quantile=torch.tensor([0.05, 0.95]),
        sampling_strategy="multinomial",
    )
    wrapped.update(indices=torch.arange(len(preds)), preds=preds, sources=sources)
    outcome = wrapped.compute()
    assert len({id(one.scorer.encoder) for one in wrapped.metrics}) == 1
    assert all((one.count == len(preds)).all() for one in wrapped.metrics)
    values = estime(preds, sources, model=bert_folder).values("alarms")
    assert values.min() <= outcome["raw"].min() < outcome["raw"].max() <= values.max()
    assert outcome["quantile"].diff() > 0
    wrapped.reset()
    assert not any(one.count.any() for one in wrapped.metrics)


def test_tracker_knows_the_direction(bert_folder: str, pairs: Pairs) -> None:
    everything = ESTIME(model=bert_folder, return_dict=True)
    with pytest.raises(AttributeError, match="'ESTIME' does not have a 'higher_is_better'"):
        MetricTracker(
            everything, maximize=None
        )  # the measures of a dictionary have no one direction
    tracker = MetricTracker(ESTIME(model=bert_folder, measure="alarms"), maximize=None)
    assert tracker.maximize is False
    for part in (pairs[:4], pairs[4:8], pairs[8:]):
        tracker.increment()
        tracker.update(**named(part))
    values = [mean_alarms(bert_folder, part) for part in (pairs[:4], pairs[4:8], pairs[8:])]
    assert tracker.compute_all().tolist() == values
    assert tracker.best_metric(return_step=True) == (min(values), values.index(min(values)))
    tracker = MetricTracker(MetricCollection({"estime": everything}), maximize=False)
    for part in (pairs[:4], pairs[4:8]):
        tracker.increment()
        tracker.update(**named(part))
    assert tracker.best_metric()["alarms"] == min(values[:2])


@pytest.mark.slow
def test_configurations_never_share_a_state(
    bert_folder: str, encoder_folder: Callable[[str], str], pairs: Pairs
) -> None:
    metrics = {
        "plain": ESTIME(model=bert_folder, measure="alarms"),
        "layer": ESTIME(model=bert_folder, layers=2, measure="alarms"),
        "encoder": ESTIME(model=encoder_folder("electra"), measure="alarms"),
        "unit": ESTIME(model=bert_folder, unit="word", measure="alarms"),
        "window": ESTIME(model=bert_folder, window=120, measure="alarms"),
        "normalize": ESTIME(model=bert_folder, normalize=True, measure="alarms"),
        "dtype": ESTIME(model=bert_folder, dtype="bfloat16", measure="alarms"),
        "measures": ESTIME(model=bert_folder, measures=["coherence"], measure="alarms"),
        "words": ESTIME(
            model=bert_folder, unit="word", splitter=lambda text: text.split(), measure="alarms"
        ),
        "letters": ESTIME(
            model=bert_folder,
            unit="word",
            splitter=lambda text: list(text.replace(" ", "")),
            measure="alarms",
        ),
        "each": ESTIME(model=bert_folder, reduction=None, measure="alarms"),
    }
    collection = MetricCollection({name: metric.clone() for name, metric in metrics.items()})
    assert collection._enable_compute_groups
    for batch in (
        [("", pairs[0][1]), ("", " ")],
        pairs[2:5],
        pairs[5:9],
    ):  # first equal numbers, because no alarm is raised
        collection.update(**named(batch))
        for metric in metrics.values():
            metric.update(**named(batch))
    assert len(collection.compute_groups) == len(metrics)
    values = collection.compute()
    for name, metric in metrics.items():
        rounding = (
            0.5 if name == "dtype" else 0.0
        )  # in bfloat16 the company of a text may turn some alarms over
        torch.testing.assert_close(values[name], metric.compute(), rtol=0, atol=rounding, msg=name)
    assert len({float(value) for value in values.values() if value.ndim == 0}) > 4
    collection.reset()
    collection.update(**named(pairs[:2]))
    assert collection.compute()["layer"] == estime(
        *unzip(pairs[:2]), model=bert_folder, layers=2
    ).mean("alarms")


def test_metrics_that_differ_in_measure_share_one_state(
    bert_folder: str, pairs: Pairs, encoded: list[list[Any]]
) -> None:
    """After the first update, which forms the groups, each pair is encoded once for all of them."""

    def collection(names: Sequence[str], **options: Any) -> MetricCollection:
        return MetricCollection(
            {
                **{
                    f"only_{name}": ESTIME(model=bert_folder, measure=name, cache=None, **options)
                    for name in names
                },
                "all": ESTIME(model=bert_folder, return_dict=True, cache=None, **options),
            }
        )

    for measures, options in (
        (("inconsistency", "unsupported", "copied"), {}),
        (("inconsistency", "soft", "copied"), {"measures": ["soft"]}),
    ):
        metrics = collection(measures, **options)
        for part in (pairs[:4], pairs[4:8], pairs[8:12]):
            encoded.clear()
            metrics.update(**named(part))
        assert len(metrics.compute_groups) == 1
        of_all = sum(map(len, encoded))
        encoded.clear()
        metrics["only_copied"].clone().update(**named(part))
        assert of_all == sum(map(len, encoded))
        values = metrics.compute()
        result = estime(*unzip(pairs[:12]), model=bert_folder, measures=["copied", "soft"])
        for name, value in values.items():
            assert float(value) == pytest.approx(result.mean(name.removeprefix("only_")), rel=1e-5)

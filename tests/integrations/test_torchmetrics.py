"""`ESTIME` for TorchMetrics: its values, per batch and aggregated, its options, and what it refuses."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import pytest
import torch

torchmetrics = pytest.importorskip("torchmetrics")

from estime_metric import EncoderUnavailableError, EstimeConfig, EstimeScorer, estime  # noqa: E402
from estime_metric.integrations.torchmetrics import ESTIME  # noqa: E402
from tests.oracle import Oracle  # noqa: E402

Pairs = list[tuple[str, str]]

BEFORE_UPDATE = pytest.mark.filterwarnings(
    "ignore:The ``compute`` method of metric ESTIME was called before:UserWarning"
)


def unzip(pairs: Pairs) -> tuple[list[str], list[str]]:
    return [summary for summary, _ in pairs], [source for _, source in pairs]


@pytest.fixture(scope="session")
def expected(bert_folder: str, pairs: Pairs) -> dict[str, list[float]]:
    """The oracle's alarms of each pair, and how many of them hang on rounding."""
    oracle = Oracle(bert_folder)
    verdicts = [oracle.score(summary, source, [4])[4] for summary, source in pairs]
    return {"alarms": [v.alarms for v in verdicts], "ties": [v.near_ties for v in verdicts]}


@pytest.mark.parametrize("buffer_size", [1, 6, 64])
@pytest.mark.parametrize("pickled", [False, True])
def test_class_is_function_is_oracle(
    bert_folder: str, pairs: Pairs, expected: dict[str, list[float]], pickled: bool, buffer_size: int
) -> None:
    metric = ESTIME(model=bert_folder, buffer_size=buffer_size)
    if pickled:
        metric = pickle.loads(pickle.dumps(metric))
    for start in range(0, len(pairs), 4):
        batch = unzip(pairs[start : start + 4])
        value = metric(*batch)
        assert isinstance(value, torch.Tensor)
        assert (value.shape, value.dtype, value.requires_grad) == ((), torch.float64, False)
        assert value == estime(*batch, model=bert_folder).mean("alarms")
        alarms, ties = (sum(expected[name][start : start + 4]) for name in ("alarms", "ties"))
        assert abs(float(value) * 4 - alarms) <= ties
        if pickled:
            metric = pickle.loads(pickle.dumps(metric))
    assert metric.compute() == estime(*unzip(pairs), model=bert_folder).mean("alarms")
    assert abs(float(metric.compute()) * len(pairs) - sum(expected["alarms"])) <= sum(expected["ties"]) <= 10
    assert metric.signature == EstimeScorer(model=bert_folder).signature


def test_batches_of_unequal_size_are_weighted_by_their_examples(bert_folder: str, pairs: Pairs) -> None:
    metric = ESTIME(model=bert_folder, buffer_size=5)
    for part in (pairs[:1], pairs[1:4], [], pairs[4:]):
        metric.update(*unzip(part))
    assert metric.compute() == estime(*unzip(pairs), model=bert_folder).mean()


def test_more_measures(bert_folder: str, pairs: Pairs) -> None:
    config = EstimeConfig(model=bert_folder, measures=("soft", "coherence"))
    result = EstimeScorer(config).score(*unzip(pairs))
    metric = ESTIME(config, return_dict=True)
    metric.update(*unzip(pairs))
    means = metric.compute()
    assert set(means) == set(result.measures)
    for measure in result.measures:
        assert means[measure].shape == ()
        assert float(means[measure]) == pytest.approx(result.mean(measure), rel=1e-12)


@pytest.mark.parametrize("layers", [[1, 3], "all"])
def test_several_layers(bert_folder: str, pairs: Pairs, layers: Any) -> None:
    result = estime(*unzip(pairs), model=bert_folder, layers=layers)
    metric = ESTIME(model=bert_folder, layers=layers, return_dict=True)
    metric.update(*unzip(pairs))
    means = metric.compute()
    assert len(means) == len(result.layers) * len(result.measures)
    for layer in result.layers:
        assert means[f"alarms_{layer}"] == result.mean("alarms", layer)
        assert float(means[f"alarm_rate_{layer}"]) == pytest.approx(result.mean("alarm_rate", layer), rel=1e-12)


@pytest.mark.parametrize("reduction", ["none", None])
def test_values_of_each_summary(bert_folder: str, pairs: Pairs, reduction: str | None) -> None:
    result = estime(*unzip(pairs), model=bert_folder)
    metric = ESTIME(model=bert_folder, reduction=reduction, buffer_size=3)
    assert metric(*unzip(pairs[:5])).tolist() == result.values()[:5].tolist()
    assert metric(*unzip(pairs[5:6])).shape == (1,)  # one value keeps its axis
    metric.update(*unzip(pairs[6:]))
    assert metric.compute().tolist() == result.values().tolist()
    metric = ESTIME(model=bert_folder, reduction=reduction, return_dict=True)
    metric.update(*unzip(pairs[:1]))
    assert {name: value.shape for name, value in metric.compute().items()} == dict.fromkeys(result.measures, (1,))


@pytest.mark.parametrize("as_tensor", [False, True])
def test_each_id_counts_once(bert_folder: str, pairs: Pairs, as_tensor: bool) -> None:
    result = estime(*unzip(pairs[:7]), model=bert_folder)
    order = [6, 0, 3, 2, 0, 5, 1, 4, 6]
    make = torch.tensor if as_tensor else list
    mean, each = ESTIME(model=bert_folder), ESTIME(model=bert_folder, reduction=None)
    for metric in (mean, each):
        for some in (order[:4], order[4:]):
            metric.update(*unzip([pairs[place] for place in some]), ids=make(some))
    assert mean.compute() == result.mean()
    assert each.compute().tolist() == result.values().tolist()  # in order of the ids
    mean.update(*unzip(pairs[7:9]))  # examples without ids are never repetitions
    mean.update(*unzip(pairs[7:9]))
    assert float(mean.compute()) == pytest.approx(estime(*unzip(pairs[:9] + pairs[7:9]), model=bert_folder).mean())


def test_ids_that_tell_nothing_apart_are_warned_of(bert_folder: str, pairs: Pairs) -> None:
    metric = ESTIME(model=bert_folder)
    for start in (0, 4):  # numbered within the batch, not within the data set
        metric.update(*unzip(pairs[start : start + 4]), ids=range(4))
    with pytest.warns(UserWarning, match="4 examples have the id of another and different scores, id 0 among"):
        metric.compute()


def test_indices_name_the_pairs_to_count(bert_folder: str, pairs: Pairs) -> None:
    result = estime(*unzip(pairs[:4]), model=bert_folder)
    metric = ESTIME(model=bert_folder, reduction=None)
    metric.update(*unzip(pairs[:4]), indices=torch.tensor([3, 1, 1]))
    assert metric.compute().tolist() == result.values()[[3, 1, 1]].tolist()


@BEFORE_UPDATE
def test_emptiness(bert_folder: str) -> None:
    mean = ESTIME(model=bert_folder)
    assert mean.compute() == 0.0
    assert ESTIME(model=bert_folder, reduction=None).compute().shape == (0,)
    mean.update([], [])
    assert mean.compute() == estime([], [], model=bert_folder).mean() == 0.0
    assert mean([""], ["A cat."]) == mean(["A cat."], [""]) == mean([" "], [" "]) == 0.0
    assert mean.count == 3


def test_options_are_refused_by_name(bert_folder: str) -> None:
    with pytest.raises(ValueError, match="Unexpected keyword arguments: `layer`"):
        ESTIME(model=bert_folder, layer=3)
    with pytest.raises(ValueError, match="`reduction` to be one of mean, none, None, but got 'sum'"):
        ESTIME(model=bert_folder, reduction="sum")
    for bad in (0, 1.5, True):
        with pytest.raises(ValueError, match="`buffer_size` to be an integer of at least 1"):
            ESTIME(model=bert_folder, buffer_size=bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`return_dict` to be True where several layers"):
        ESTIME(model=bert_folder, layers=[1, 2])
    with pytest.raises(TypeError, match="`cache` to be bytes of memory"):
        ESTIME(model=bert_folder, cache=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`window` to be more than twice"):
        ESTIME(model=bert_folder, window=20)
    for name in ("higher_is_better", "is_differentiable", "full_state_update"):
        assert getattr(ESTIME, name) is False
        with pytest.raises(RuntimeError, match="Can't change const"):
            setattr(ESTIME(model=bert_folder), name, True)


def test_inputs_are_refused_at_once_by_name_and_index(bert_folder: str) -> None:
    metric = ESTIME(model=bert_folder)
    with pytest.raises(TypeError, match="`preds` to be a list of strings, but got one bare str"):
        metric.update("a", ["b"])
    with pytest.raises(TypeError, match="`sources` to hold strings only, but got NoneType at index 1"):
        metric.update(["a", "b"], ["c", None])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="`preds` and `sources` to be of one length, but got 1 and 2"):
        metric.update(["a"], ["b", "c"])
    with pytest.raises(ValueError, match="`ids` and `preds` to be of one length, but got 2 and 1"):
        metric.update(["a"], ["b"], ids=[1, 2])
    for bad in ("x", 1.0, True, 2**53 + 1, None):
        with pytest.raises(ValueError, match=r"`ids` to hold integers up to 2\*\*53 only, but got .* at index 1"):
            metric.update(["a", "b"], ["b", "c"], ids=[1, bad])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"`indices` to lie within 0\.\.0, but got 1"):
        metric.update(["a"], ["b"], indices=[1])
    assert metric.count == 0


def test_an_encoder_that_cannot_be_had_is_told_in_the_first_update(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    metric = ESTIME(model="nobody/no-such-encoder")
    with pytest.raises(EncoderUnavailableError):
        metric.update(["a"], ["b"])


def test_an_interrupted_scoring_loses_no_pair(bert_folder: str, pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = ESTIME(model=bert_folder)
    metric.update(*unzip(pairs))
    with monkeypatch.context() as patch:
        patch.setattr(EstimeScorer, "score", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            metric.compute()
    assert metric.compute() == estime(*unzip(pairs), model=bert_folder).mean()


def test_forward_encodes_once(bert_folder: str, pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    scored = []
    score = EstimeScorer.score
    monkeypatch.setattr(
        EstimeScorer, "score", lambda self, preds, *rest: scored.append(len(preds)) or score(self, preds, *rest)
    )
    metric = ESTIME(model=bert_folder)
    for start in range(0, 16, 4):
        metric(*unzip(pairs[start : start + 4]))
    metric.compute()
    assert scored == [4, 4, 4, 4]
    small = ESTIME(model=bert_folder, buffer_size=8)
    scored.clear()
    for start in range(0, 12, 2):
        small.update(*unzip(pairs[start : start + 2]))
    small.compute()
    small.compute()
    assert scored == [8, 4]


def test_plot(bert_folder: str, pairs: Pairs) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    metric = ESTIME(model=bert_folder)
    steps = [metric(*unzip(pairs[start : start + 4])) for start in (0, 4)]
    _, axis = metric.plot()
    assert axis.get_ylabel() == "ESTIME"
    _, axis = metric.plot(steps)
    assert axis.lines[0].get_ydata().tolist() == [float(step) for step in steps]
    each = ESTIME(model=bert_folder, return_dict=True, reduction=None)
    each.update(*unzip(pairs[:3]))
    each.plot()
    copy.deepcopy(metric).plot(ax=axis)


def test_without_torchmetrics_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchmetrics", None)
    monkeypatch.delitem(sys.modules, "estime_metric.integrations.torchmetrics")
    monkeypatch.delitem(sys.modules, "estime_metric.integrations.states")
    with pytest.raises(ImportError, match=r"pip install 'estime-metric\[torchmetrics\]'"):
        import estime_metric.integrations.torchmetrics  # noqa: F401

"""`ESTIME` for TorchMetrics: its values, per batch and aggregated, its options, and what it
refuses.
"""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
from typing import Any

import pytest
import torch

torchmetrics = pytest.importorskip("torchmetrics")

import estime_metric  # noqa: E402
from estime_metric import EncoderUnavailableError, EstimeConfig, EstimeScorer, estime  # noqa: E402
from estime_metric.integrations.torchmetrics import ESTIME  # noqa: E402
from tests.integrations.conftest import Pairs, named, unzip  # noqa: E402
from tests.oracle import Oracle  # noqa: E402


def test_class_is_function_is_oracle(bert_folder: str, pairs: Pairs) -> None:
    oracle = Oracle(bert_folder)
    verdicts = [oracle.score(summary, source, [4])[4] for summary, source in pairs]
    metric = ESTIME(model=bert_folder, measure="alarms")
    pickled = pickle.loads(pickle.dumps(metric))
    for start, end in ((0, 1), (1, 4), (4, 10), (10, 16)):  # weighted by their size
        batch = named(pairs[start:end])
        value = metric(**batch)
        assert isinstance(value, torch.Tensor)
        assert (value.shape, value.dtype, value.requires_grad) == ((), torch.float32, False)
        assert value == pickled(**batch)
        mean = estime(*batch.values(), model=bert_folder).mean("alarms")
        assert float(value) == pytest.approx(mean)
        alarms, ties = (
            sum(getattr(v, name) for v in verdicts[start:end]) for name in ("alarms", "near_ties")
        )
        assert abs(float(value) * (end - start) - alarms) <= ties
        pickled = pickle.loads(pickle.dumps(pickled))
    assert (
        metric.compute()
        == pickled.compute()
        == estime(*unzip(pairs), model=bert_folder).mean("alarms")
    )
    assert sum(v.near_ties for v in verdicts) <= 10
    assert metric.signature == pickled.signature == EstimeScorer(model=bert_folder).signature


@pytest.mark.parametrize(
    "options", [{"measures": ("soft", "coherence")}, {"layers": [1, 3]}, {"layers": "all"}]
)
def test_several_measures_and_layers(
    bert_folder: str, pairs: Pairs, options: dict[str, Any]
) -> None:
    config = EstimeConfig(model=bert_folder, **options)
    result = EstimeScorer(config).score(*unzip(pairs))
    metric = ESTIME(config, return_dict=True)
    metric.update(**named(pairs))
    several = len(result.layers) > 1
    expected = {
        f"{measure}_layer{layer}" if several else measure: result.mean(measure, layer)
        for layer in result.layers
        for measure in result.measures
    }
    assert {name: float(value) for name, value in metric.compute().items()} == pytest.approx(
        expected, rel=1e-6
    )


def test_values_of_each_summary(bert_folder: str, pairs: Pairs) -> None:
    result = estime(*unzip(pairs), model=bert_folder)
    metric = ESTIME(model=bert_folder, reduction="none", measure="alarms")
    assert metric(**named(pairs[:5])).tolist() == result.values("alarms")[:5].tolist()
    assert metric(**named(pairs[5:6])).shape == (1,)  # one value keeps its axis
    metric.update(**named(pairs[6:]))
    assert metric.compute().tolist() == result.values("alarms").tolist()
    metric = ESTIME(model=bert_folder, reduction=None, return_dict=True)
    metric.update(**named(pairs[:1]))
    assert {name: value.shape for name, value in metric.compute().items()} == dict.fromkeys(
        result.measures, (1,)
    )


@pytest.mark.parametrize("as_tensor", [False, True])
def test_each_id_counts_once_and_indices_as_often_as_named(
    bert_folder: str, pairs: Pairs, as_tensor: bool
) -> None:
    result = estime(*unzip(pairs[:7]), model=bert_folder)
    order = [6, 0, 3, 2, 0, 5, 1, 4, 6]
    make = torch.tensor if as_tensor else list
    mean, each = (
        ESTIME(model=bert_folder, measure="alarms"),
        ESTIME(model=bert_folder, reduction=None, measure="alarms"),
    )
    for metric in (mean, each):
        for some in (order[:4], order[4:]):
            metric.update(**named([pairs[index] for index in some]), ids=make(some))
    assert mean.compute() == result.mean("alarms")
    assert each.compute().tolist() == result.values("alarms").tolist()  # in order of the ids
    mean.update(**named(pairs[7:9]))  # examples without ids are never repetitions
    mean.update(**named(pairs[7:9]))
    assert float(mean.compute()) == pytest.approx(
        estime(*unzip(pairs[:9] + pairs[7:9]), model=bert_folder).mean("alarms")
    )

    each.reset()
    each.update(**named(pairs[:4]), indices=torch.tensor([3, 1, 1]))  # the pairs to count
    assert each.compute().tolist() == result.values("alarms")[[3, 1, 1]].tolist()
    mean.reset()
    for start in (0, 4):  # numbered within the batch, not within the dataset
        mean.update(**named(pairs[start : start + 4]), ids=range(4))
    with pytest.warns(
        UserWarning,
        match=r"4 examples have the same id as another example .* \(for example, id 0\)",
    ):
        mean.compute()


@pytest.mark.filterwarnings(
    "ignore:The ``compute`` method of metric ESTIME was called before:UserWarning"
)
def test_no_pairs_have_no_mean(bert_folder: str) -> None:
    mean = ESTIME(model=bert_folder, measure="alarms")
    assert mean.compute().isnan()
    assert ESTIME(model=bert_folder, reduction=None, measure="alarms").compute().shape == (0,)
    mean.update([], sources=[])
    assert mean.compute().isnan()
    everything = ESTIME(model=bert_folder, return_dict=True)
    everything.update([], sources=[])
    assert {name for name, value in everything.compute().items() if not value.isnan()} == {"blank"}


def test_undefined_is_left_out_of_the_mean_and_said(bert_folder: str, pairs: Pairs) -> None:
    odd = [("", pairs[0][1]), (" ", " "), ("!?", " ")]
    result = estime(*unzip([*pairs[:4], *odd]), model=bert_folder)
    assert (result.unchecked_indices, result.blank_indices) == ([4, 5, 6], [4, 5])
    alarms = ESTIME(model=bert_folder, measure="alarms")
    alarms.update(**named([*pairs[:4], *odd]))
    assert alarms.compute() == result.mean("alarms")
    each = ESTIME(model=bert_folder, measure="alarm_rate", reduction=None)
    each.update(**named([*pairs[:4], *odd]))
    assert each.compute().tolist() == pytest.approx(result["alarm_rate"].tolist(), nan_ok=True)
    metric = ESTIME(model=bert_folder, return_dict=True, cache=None)
    for with_ids in (False, True):
        metric.reset()
        for numbers in [[0, 1, 2, 3, 4, 5, 6], [4, 0]] if with_ids else [[0, 1, 2, 3], [4, 5, 6]]:
            some = named([[*pairs[:4], *odd][number] for number in numbers])
            metric.update(**some, ids=numbers if with_ids else None)
        with pytest.warns(UserWarning, match="alarm_rate is undefined for 3 of 7 pairs"):
            found = metric.compute()
        assert found.pop("blank") == 2  # a number, not a share
        assert found == pytest.approx(
            {name: float(result[name].nanmean()) for name in found}, rel=1e-6
        )


def test_without_torchmetrics_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchmetrics", None)  # cannot be imported
    monkeypatch.delitem(sys.modules, "estime_metric.integrations.torchmetrics")
    assert "ESTIME" not in dict(inspect.getmembers(estime_metric))
    assert "ESTIME" not in dir(estime_metric)
    with pytest.raises(ImportError, match=r"pip install 'estime-metric\[torchmetrics\]'"):
        estime_metric.ESTIME  # noqa: B018
    for module in ("estime_metric", "estime_metric.integrations.torchmetrics"):
        with pytest.raises(ImportError, match=r"pip install 'estime-metric\[torchmetrics\]'"):
            exec(f"from {module} import ESTIME")


DIRECTIONS = [
    ("alarms", False),
    ("unsupported_rate", False),
    ("coverage", None),
    ("soft", True),
    ("coherence", True),
]


@pytest.mark.parametrize(("measure", "higher"), DIRECTIONS)
def test_one_measure_as_a_scalar(
    bert_folder: str, pairs: Pairs, measure: str, higher: bool | None
) -> None:
    result = estime(*unzip(pairs), model=bert_folder, measures=["soft", "coherence"])
    metric = ESTIME(model=bert_folder, measure=measure)
    metric.update(**named(pairs))
    assert metric.compute().shape == ()
    assert float(metric.compute()) == pytest.approx(result.mean(measure), rel=1e-6)
    assert metric.higher_is_better is higher
    assert pickle.loads(pickle.dumps(metric)).higher_is_better is higher


def test_sources_go_by_keyword_since_others_targets_are_references(bert_folder: str) -> None:
    metric = ESTIME(model=bert_folder, measure="alarms")
    both = torchmetrics.MetricCollection(
        {"estime": metric, "rouge": torchmetrics.text.ROUGEScore(rouge_keys="rouge1")}
    )
    remedy = r"In a MetricCollection .* `update\(preds=\.\.\., target=\.\.\., sources=\.\.\.\)`"
    for update in (metric.update, both.update):
        with pytest.raises(TypeError, match=f"but got 2 positional arguments. {remedy}"):
            update(["A cat."], ["A cat sat."])
    with pytest.raises(TypeError, match="as `sources=`, but got none"):
        both.update(preds=["A cat."], target=["A cat sat."])
    both.update(preds=["A cat."], target=["A cat sat."], sources=["A cat sat."])
    assert set(both.compute()) > {"estime"}


def test_it_returns_the_recommended_measure_unless_another_is_given(bert_folder: str) -> None:
    texts = {"preds": ["The cat sat.", ""], "sources": ["The cat sat on the mat."] * 2}
    values = EstimeScorer(model=bert_folder).score(*texts.values()).values("inconsistency")
    metric = ESTIME(model=bert_folder)
    assert metric(**texts) == values.mean().float()
    assert values[1] == 1  # a blank summary is the worst
    assert (metric.measure, metric.higher_is_better) == ("inconsistency", False)
    assert ESTIME(model=bert_folder, return_dict=True).higher_is_better is None


def test_it_says_what_it_is(bert_folder: str) -> None:
    metric, config = ESTIME(model=bert_folder), EstimeConfig(model=bert_folder)
    assert repr(metric) == f"ESTIME(measure='inconsistency', {config.signature()})"
    assert "measure='alarms'" in repr(ESTIME(model=bert_folder, measure="alarms"))
    assert "return_dict=True" in repr(ESTIME(model=bert_folder, return_dict=True))
    assert "|distance:8|" in metric.signature


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"layer": 3}, TypeError, r"but got `layer`\. Did you mean `layers`"),
        ({"measur": "alarms"}, TypeError, r"but got `measur`\. Did you mean `measure`"),
        ({"buffer_size": 3}, ValueError, "Unexpected keyword arguments: `buffer_size`"),
        ({"measure": "alarm"}, ValueError, r"`measure` to be one of .*, but got 'alarm'"),
        (
            {"reduction": "sum"},
            ValueError,
            "`reduction` to be one of mean, none, None, but got 'sum'",
        ),
        (
            {"measure": ["alarms"]},
            TypeError,
            r"one name, .* `return_dict=True, measures=\[\.\.\.\]`",
        ),
        ({"return_dict": True}, ValueError, r"but got both.* measures=\['alarms'\]"),
        ({"layers": [1, 2]}, ValueError, "`return_dict` to be True if several layers"),
        ({"cache": 1.5}, TypeError, "`cache` to be bytes of memory"),
        ({"window": 20, "margin": 10}, ValueError, "`window` to be more than twice"),
    ],
)
def test_options_are_refused_by_name(
    bert_folder: str, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ESTIME(**{"model": bert_folder, "measure": "alarms", **options})


def test_inputs_are_refused_at_once_by_name_and_index(
    bert_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric, two = ESTIME(model=bert_folder, measure="alarms"), ["a", "b"]
    past = r"`ids` to contain only integers up to 2\*\*53, .* at index 1"
    other = "`ids` to be a list or a tensor of integers, but got"
    for preds, sources, more, error, message in (
        ("a", ["b"], {}, TypeError, "`preds` to be a list of strings, but got a single str"),
        (
            ["a", "b"],
            ["c", None],
            {},
            TypeError,
            "`sources` to contain only strings, but got NoneType at index 1",
        ),
        (
            ["a"],
            ["b", "c"],
            {},
            ValueError,
            "`preds` and `sources` to have the same length, but got 1 and 2",
        ),
        (
            ["a"],
            ["b"],
            {"ids": [1, 2]},
            ValueError,
            "`ids` and `preds` to have the same length, but got 2 and 1",
        ),
        (
            ["a"],
            ["b"],
            {"ids": [1], "indices": [0]},
            ValueError,
            r"`ids` or `indices`, but got both: .* `indices=torch.arange\(n\)` alone",
        ),
        (
            ["a"],
            ["b"],
            {"indices": 5},
            TypeError,
            "`indices` to be a list or a tensor of integers, but got 5",
        ),
        (["a"], ["b"], {"indices": [1]}, ValueError, r"`indices` to be within 0\.\.0, but got 1"),
        *(
            (two, two, {"ids": [1, bad]}, ValueError, past)
            for bad in ("x", 1.0, True, 2**53 + 1, None)
        ),
        *(
            (two, two, {"ids": bad}, TypeError, other)
            for bad in (5, "12", torch.tensor(1), torch.zeros(2, 2))
        ),
    ):
        with pytest.raises(error, match=message):
            metric.update(preds, sources=sources, **more)
    assert not metric.count.any()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(EncoderUnavailableError):
        ESTIME(model="nobody/no-such-encoder", measure="alarms").update(["a"], sources=["b"])


def test_an_update_that_fails_counts_nothing_and_can_be_repeated(
    bert_folder: str, pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = ESTIME(model=bert_folder, measure="alarms")
    metric.update(**named(pairs[:5]))
    with monkeypatch.context() as patch:
        patch.setattr(EstimeScorer, "score", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            metric.update(**named(pairs[5:]))
    metric.update(**named(pairs[5:]))
    assert metric.compute() == estime(*unzip(pairs), model=bert_folder).mean("alarms")


def test_forward_encodes_once_and_its_values_are_plotted(
    bert_folder: str, pairs: Pairs, scored: list[int]
) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    metric = ESTIME(model=bert_folder, measure="alarms")
    steps = [metric(**named(pairs[start : start + 4])) for start in (0, 4)]
    _, axis = metric.plot()
    assert scored == [4, 4]
    assert axis.get_ylabel() == "ESTIME alarms"
    _, axis = metric.plot(steps)
    assert axis.lines[0].get_ydata().tolist() == [float(step) for step in steps]
    rate = ESTIME(model=bert_folder, measure="unsupported_rate")
    rate.update(**named(pairs[:3]))
    _, axis = rate.plot()
    assert axis.get_ylabel() == "ESTIME unsupported_rate"
    assert {text.get_text() for text in axis.texts} >= {
        "Optimal \n value"
    }  # TorchMetrics marks the better bound
    each = ESTIME(model=bert_folder, return_dict=True, reduction=None)
    each.update(**named(pairs[:3]))
    each.plot()
    copy.deepcopy(metric).plot(ax=axis)

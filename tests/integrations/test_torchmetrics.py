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
from estime_metric.measures import BASE_MEASURES  # noqa: E402
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
    ("measure", "higher", "bounds"),
    [
        ("alarms", False, (0, None)),
        ("unsupported_rate", False, (0, 1)),
        ("coverage", None, (0, 1)),
        ("soft", True, (-1, 1)),
    ],
)
def test_a_measure_has_a_direction_and_bounds(
    measure: str, higher: bool | None, bounds: tuple[float, float | None]
) -> None:
    metric = pickle.loads(pickle.dumps(ESTIME(measure=measure)))
    assert metric.higher_is_better is higher
    assert (metric.plot_lower_bound, metric.plot_upper_bound) == bounds


def test_a_dictionary_has_the_measures_of_every_row_and_no_direction(bert_folder: str) -> None:
    metric = ESTIME(model=bert_folder, return_dict=True, measures="soft,copied")
    metric.update(["A cat."], sources=["A cat sat."])
    assert list(metric.compute()) == [*BASE_MEASURES, "soft", "copied"]
    assert metric.higher_is_better is None


@pytest.mark.filterwarnings("ignore:The ``compute`` method of metric ESTIME was called before")
def test_there_is_no_mean_before_the_first_update(bert_folder: str) -> None:
    assert ESTIME(model=bert_folder).compute().isnan()
    assert ESTIME(model=bert_folder, reduction=None).compute().shape == (0,)


def test_one_value_keeps_its_axis(bert_folder: str, pairs: Pairs) -> None:
    metric = ESTIME(model=bert_folder, reduction="none", measure="alarms")
    assert metric(**named(pairs[:1])).shape == metric.compute().shape == (1,)
    metric = ESTIME(model=bert_folder, reduction=None, return_dict=True)
    metric.update(**named(pairs[:1]))
    assert {value.shape for value in metric.compute().values()} == {(1,)}


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


@pytest.mark.parametrize("with_ids", [False, True])
def test_undefined_values_are_counted_in_a_warning(
    bert_folder: str, pairs: Pairs, with_ids: bool
) -> None:
    some = [*pairs[:4], ("", pairs[0][1]), (" ", " "), ("!?", " ")]
    result = estime(*unzip(some), model=bert_folder)
    metric = ESTIME(model=bert_folder, return_dict=True, cache=None)
    for numbers in [[0, 1, 2, 3, 4, 5, 6], [4, 0]] if with_ids else [[0, 1, 2, 3], [4, 5, 6]]:
        batch = named([some[number] for number in numbers])
        metric.update(**batch, ids=numbers if with_ids else None)
    with pytest.warns(UserWarning, match="alarm_rate is undefined for 3 of 7 pairs"):
        values = metric.compute()
    assert values.pop("blank") == 2  # a number, not a share
    means = {name: float(result[name].nanmean()) for name in values}
    assert values == pytest.approx(means, rel=1e-6)


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

"""`ESTIME` for TorchMetrics: its values, per batch and aggregated, its options, and what it refuses."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

torchmetrics = pytest.importorskip("torchmetrics")

import estime_metric  # noqa: E402
from estime_metric import EncoderUnavailableError, EstimeConfig, EstimeScorer, estime  # noqa: E402
from estime_metric.integrations.torchmetrics import ESTIME  # noqa: E402
from tests.oracle import Oracle  # noqa: E402

Pairs = list[tuple[str, str]]

BEFORE_UPDATE = pytest.mark.filterwarnings(
    "ignore:The ``compute`` method of metric ESTIME was called before:UserWarning"
)


def named(pairs: Pairs) -> dict[str, list[str]]:
    """Summaries and sources as `ESTIME` takes them."""
    preds, sources = unzip(pairs)
    return {"preds": preds, "sources": sources}


def unzip(pairs: Pairs) -> tuple[list[str], list[str]]:
    return [summary for summary, _ in pairs], [source for _, source in pairs]


@pytest.fixture(scope="session")
def expected(bert_folder: str, pairs: Pairs) -> dict[str, list[float]]:
    """The oracle's alarms of each pair, and how many of them hang on rounding."""
    oracle = Oracle(bert_folder)
    verdicts = [oracle.score(summary, source, [4])[4] for summary, source in pairs]
    return {"alarms": [v.alarms for v in verdicts], "ties": [v.near_ties for v in verdicts]}


@pytest.mark.parametrize("pickled", [False, True])
def test_class_is_function_is_oracle(
    bert_folder: str, pairs: Pairs, expected: dict[str, list[float]], pickled: bool
) -> None:
    metric = ESTIME(model=bert_folder)
    if pickled:
        metric = pickle.loads(pickle.dumps(metric))
    for start in range(0, len(pairs), 4):
        batch = named(pairs[start : start + 4])
        value = metric(**batch)
        assert isinstance(value, torch.Tensor)
        assert (value.shape, value.dtype, value.requires_grad) == ((), torch.float64, False)
        assert value == estime(*batch.values(), model=bert_folder).mean("alarms")
        alarms, ties = (sum(expected[name][start : start + 4]) for name in ("alarms", "ties"))
        assert abs(float(value) * 4 - alarms) <= ties
        if pickled:
            metric = pickle.loads(pickle.dumps(metric))
    assert metric.compute() == estime(*unzip(pairs), model=bert_folder).mean("alarms")
    assert abs(float(metric.compute()) * len(pairs) - sum(expected["alarms"])) <= sum(expected["ties"]) <= 10
    assert metric.signature == EstimeScorer(model=bert_folder).signature


def test_batches_of_unequal_size_are_weighted_by_their_examples(bert_folder: str, pairs: Pairs) -> None:
    metric = ESTIME(model=bert_folder)
    for part in (pairs[:1], pairs[1:4], [], pairs[4:]):
        metric.update(**named(part))
    assert metric.compute() == estime(*unzip(pairs), model=bert_folder).mean()


def test_more_measures(bert_folder: str, pairs: Pairs) -> None:
    config = EstimeConfig(model=bert_folder, measures=("soft", "coherence"))
    result = EstimeScorer(config).score(*unzip(pairs))
    metric = ESTIME(config, return_dict=True)
    metric.update(**named(pairs))
    means = metric.compute()
    assert set(means) == set(result.measures)
    for measure in result.measures:
        assert means[measure].shape == ()
        assert float(means[measure]) == pytest.approx(result.mean(measure), rel=1e-12)


@pytest.mark.parametrize("layers", [[1, 3], "all"])
def test_several_layers(bert_folder: str, pairs: Pairs, layers: Any) -> None:
    result = estime(*unzip(pairs), model=bert_folder, layers=layers)
    metric = ESTIME(model=bert_folder, layers=layers, return_dict=True)
    metric.update(**named(pairs))
    means = metric.compute()
    assert len(means) == len(result.layers) * len(result.measures)
    for layer in result.layers:
        assert means[f"alarms_{layer}"] == result.mean("alarms", layer)
        assert float(means[f"alarm_rate_{layer}"]) == pytest.approx(result.mean("alarm_rate", layer), rel=1e-12)


@pytest.mark.parametrize("reduction", ["none", None])
def test_values_of_each_summary(bert_folder: str, pairs: Pairs, reduction: str | None) -> None:
    result = estime(*unzip(pairs), model=bert_folder)
    metric = ESTIME(model=bert_folder, reduction=reduction)
    assert metric(**named(pairs[:5])).tolist() == result.values()[:5].tolist()
    assert metric(**named(pairs[5:6])).shape == (1,)  # one value keeps its axis
    metric.update(**named(pairs[6:]))
    assert metric.compute().tolist() == result.values().tolist()
    metric = ESTIME(model=bert_folder, reduction=reduction, return_dict=True)
    metric.update(**named(pairs[:1]))
    assert {name: value.shape for name, value in metric.compute().items()} == dict.fromkeys(result.measures, (1,))


@pytest.mark.parametrize("as_tensor", [False, True])
def test_each_id_counts_once(bert_folder: str, pairs: Pairs, as_tensor: bool) -> None:
    result = estime(*unzip(pairs[:7]), model=bert_folder)
    order = [6, 0, 3, 2, 0, 5, 1, 4, 6]
    make = torch.tensor if as_tensor else list
    mean, each = ESTIME(model=bert_folder), ESTIME(model=bert_folder, reduction=None)
    for metric in (mean, each):
        for some in (order[:4], order[4:]):
            metric.update(**named([pairs[index] for index in some]), ids=make(some))
    assert mean.compute() == result.mean()
    assert each.compute().tolist() == result.values().tolist()  # in order of the ids
    mean.update(**named(pairs[7:9]))  # examples without ids are never repetitions
    mean.update(**named(pairs[7:9]))
    assert float(mean.compute()) == pytest.approx(estime(*unzip(pairs[:9] + pairs[7:9]), model=bert_folder).mean())


def test_ids_that_tell_nothing_apart_are_warned_of(bert_folder: str, pairs: Pairs) -> None:
    metric = ESTIME(model=bert_folder)
    for start in (0, 4):  # numbered within the batch, not within the data set
        metric.update(**named(pairs[start : start + 4]), ids=range(4))
    with pytest.warns(UserWarning, match="4 examples have the id of another and different scores, id 0 among"):
        metric.compute()


def test_indices_name_the_pairs_to_count(bert_folder: str, pairs: Pairs) -> None:
    result = estime(*unzip(pairs[:4]), model=bert_folder)
    metric = ESTIME(model=bert_folder, reduction=None)
    metric.update(**named(pairs[:4]), indices=torch.tensor([3, 1, 1]))
    assert metric.compute().tolist() == result.values()[[3, 1, 1]].tolist()


@BEFORE_UPDATE
def test_no_pairs_have_no_mean(bert_folder: str) -> None:
    mean = ESTIME(model=bert_folder)
    assert mean.compute().isnan()
    assert ESTIME(model=bert_folder, reduction=None).compute().shape == (0,)
    mean.update([], sources=[])
    assert mean.compute().isnan()
    everything = ESTIME(model=bert_folder, return_dict=True)
    everything.update([], sources=[])
    assert {name for name, value in everything.compute().items() if not value.isnan()} == {"blank"}


def test_undefined_is_left_out_of_the_mean_and_said(bert_folder: str, pairs: Pairs) -> None:
    odd = [("", pairs[0][1]), (" ", " "), ("!?", "")]
    result = estime(*unzip([*pairs[:4], *odd]), model=bert_folder)
    assert (result.unchecked, result.blank) == ([4, 5, 6], [4, 5])
    alarms = ESTIME(model=bert_folder)
    alarms.update(**named([*pairs[:4], *odd]))
    assert alarms.compute() == result.score
    each = ESTIME(model=bert_folder, measure="alarm_rate", reduction=None)
    each.update(**named([*pairs[:4], *odd]))
    assert each.compute().tolist() == pytest.approx(result["alarm_rate"].tolist(), nan_ok=True)
    metric = ESTIME(model=bert_folder, measure="alarm_rate", return_dict=True)
    for with_ids in (False, True):
        metric.reset()
        for numbers in [[0, 1, 2, 3, 4, 5, 6], [4, 0]] if with_ids else [[0, 1, 2, 3], [4, 5, 6]]:
            some = named([[*pairs[:4], *odd][number] for number in numbers])
            metric.update(**some, ids=numbers if with_ids else None)
        with pytest.warns(UserWarning, match="alarm_rate is undefined for 3 of 7 pairs"):
            found = metric.compute()
        assert found.pop("blank") == 2  # a number, not a share
        assert found == pytest.approx({name: float(result[name].nanmean()) for name in found}, rel=1e-12)


def test_without_torchmetrics_the_package_has_no_such_name_and_its_import_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "torchmetrics", None)  # cannot be imported
    monkeypatch.delitem(sys.modules, "estime_metric.integrations.torchmetrics")
    assert not hasattr(estime_metric, "ESTIME")
    assert "ESTIME" not in dict(inspect.getmembers(estime_metric))
    with pytest.raises(ImportError, match=r"pip install 'estime-metric\[torchmetrics\]'"):
        from estime_metric import ESTIME  # noqa: F401


DIRECTIONS = [("alarms", False), ("unsupported_rate", False), ("coverage", None), ("soft", True), ("coherence", True)]


@pytest.mark.parametrize(("measure", "higher"), DIRECTIONS)
def test_one_measure_as_a_scalar(bert_folder: str, pairs: Pairs, measure: str, higher: bool | None) -> None:
    result = estime(*unzip(pairs), model=bert_folder, measures=["soft", "coherence"])
    metric = ESTIME(model=bert_folder, measure=measure)
    metric.update(**named(pairs))
    assert metric.compute().shape == ()
    assert float(metric.compute()) == pytest.approx(result.mean(measure), rel=1e-12)
    assert metric.higher_is_better is higher
    assert pickle.loads(pickle.dumps(metric)).higher_is_better is higher
    everything = ESTIME(model=bert_folder, measure=measure, return_dict=True)
    everything.update(**named(pairs))
    assert {measure, "coverage", "alarms"} <= set(everything.compute())


def test_sources_go_by_keyword_since_others_targets_are_references(bert_folder: str) -> None:
    metric = ESTIME(model=bert_folder)
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        metric.update(["A cat."], ["A cat sat."])  # type: ignore[misc]
    both = torchmetrics.MetricCollection({"estime": metric, "rouge": torchmetrics.text.ROUGEScore(rouge_keys="rouge1")})
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        both.update(["A cat."], ["A cat sat."])
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'sources'"):
        both.update(preds=["A cat."], target=["A cat sat."])


def test_options_are_refused_by_name(bert_folder: str) -> None:
    with pytest.raises(TypeError, match=r"but got `layer`\. Did you mean `layers`"):
        ESTIME(model=bert_folder, layer=3)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="Unexpected keyword arguments: `buffer_size`"):
        ESTIME(model=bert_folder, buffer_size=3)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match=r"`measure` to be one of alarms, .*, but got 'alarm'"):
        ESTIME(model=bert_folder, measure="alarm")
    with pytest.raises(ValueError, match="`reduction` to be one of mean, none, None, but got 'sum'"):
        ESTIME(model=bert_folder, reduction="sum")
    with pytest.raises(ValueError, match="`return_dict` to be True where several layers"):
        ESTIME(model=bert_folder, layers=[1, 2])
    with pytest.raises(TypeError, match="`cache` to be bytes of memory"):
        ESTIME(model=bert_folder, cache=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`window` to be more than twice"):
        ESTIME(model=bert_folder, window=20)
    for name in ("higher_is_better", "is_differentiable", "full_state_update"):
        assert getattr(ESTIME(model=bert_folder), name) is False
        with pytest.raises(RuntimeError, match="Can't change const"):
            setattr(ESTIME(model=bert_folder), name, True)


def test_inputs_are_refused_at_once_by_name_and_index(bert_folder: str) -> None:
    metric = ESTIME(model=bert_folder)
    with pytest.raises(TypeError, match="`preds` to be a list of strings, but got one bare str"):
        metric.update("a", sources=["b"])
    with pytest.raises(TypeError, match="`sources` to hold strings only, but got NoneType at index 1"):
        metric.update(["a", "b"], sources=["c", None])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="`preds` and `sources` to be of one length, but got 1 and 2"):
        metric.update(["a"], sources=["b", "c"])
    with pytest.raises(ValueError, match="`ids` and `preds` to be of one length, but got 2 and 1"):
        metric.update(["a"], sources=["b"], ids=[1, 2])
    for bad in ("x", 1.0, True, 2**53 + 1, None):
        with pytest.raises(ValueError, match=r"`ids` to hold integers up to 2\*\*53 only, but got .* at index 1"):
            metric.update(["a", "b"], sources=["b", "c"], ids=[1, bad])  # type: ignore[list-item]
    for bad in (5, None, "12", torch.tensor(1), torch.zeros(2, 2)):
        if bad is not None:  # no ids
            with pytest.raises(TypeError, match=r"`ids` to be a list or a tensor of integers, but got"):
                metric.update(["a", "b"], sources=["b", "c"], ids=bad)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"`indices` to be a list or a tensor of integers, but got 5"):
        metric.update(["a"], sources=["b"], indices=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"`indices` to lie within 0\.\.0, but got 1"):
        metric.update(["a"], sources=["b"], indices=[1])
    assert not metric.count.any()


def test_an_encoder_that_cannot_be_loaded_is_told_in_the_first_update(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    metric = ESTIME(model="nobody/no-such-encoder")
    with pytest.raises(EncoderUnavailableError):
        metric.update(["a"], sources=["b"])


def test_an_update_that_fails_counts_nothing_and_can_be_repeated(
    bert_folder: str, pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = ESTIME(model=bert_folder)
    metric.update(**named(pairs[:5]))
    with monkeypatch.context() as patch:
        patch.setattr(EstimeScorer, "score", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            metric.update(**named(pairs[5:]))
    metric.update(**named(pairs[5:]))
    assert metric.compute() == estime(*unzip(pairs), model=bert_folder).mean()


def test_forward_encodes_once(bert_folder: str, pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    scored = []
    score = EstimeScorer.score
    monkeypatch.setattr(
        EstimeScorer, "score", lambda self, preds, *rest: scored.append(len(preds)) or score(self, preds, *rest)
    )
    metric = ESTIME(model=bert_folder)
    for start in range(0, 16, 4):
        metric(**named(pairs[start : start + 4]))
    metric.compute()
    assert scored == [4, 4, 4, 4]


def test_plot(bert_folder: str, pairs: Pairs) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    metric = ESTIME(model=bert_folder)
    steps = [metric(**named(pairs[start : start + 4])) for start in (0, 4)]
    _, axis = metric.plot()
    assert axis.get_ylabel() == "ESTIME alarms"
    _, axis = metric.plot(steps)
    assert axis.lines[0].get_ydata().tolist() == [float(step) for step in steps]
    rate = ESTIME(model=bert_folder, measure="unsupported_rate")
    rate.update(**named(pairs[:3]))
    _, axis = rate.plot()
    assert axis.get_ylabel() == "ESTIME unsupported_rate"
    assert {text.get_text() for text in axis.texts} >= {"Optimal \n value"}  # TorchMetrics marks the better bound
    each = ESTIME(model=bert_folder, return_dict=True, reduction=None)
    each.update(**named(pairs[:3]))
    each.plot()
    copy.deepcopy(metric).plot(ax=axis)


def test_without_torchmetrics_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchmetrics", None)
    monkeypatch.delitem(sys.modules, "estime_metric.integrations.torchmetrics")
    monkeypatch.delitem(sys.modules, "estime_metric.integrations.states")
    with pytest.raises(ImportError, match=r"pip install 'estime-metric\[torchmetrics\]'"):
        import estime_metric.integrations.torchmetrics  # noqa: F401


def test_the_guide_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("lightning")
    page = (Path(__file__).resolve().parents[2] / "docs" / "torchmetrics.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    exec("\n".join(blocks), {"__name__": "page"})
    said = re.findall(r"# ([\d.]+|\{.*\})$", "\n".join(blocks), re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == said

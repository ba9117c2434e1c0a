"""`ESTIME` for TorchMetrics: values per batch, ids and indices, warnings, its options, and what it
refuses. `tests.integrations.test_toolkits` has its numbers and names.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any

import pytest
import torch

torchmetrics = pytest.importorskip("torchmetrics")

import estime_metric  # noqa: E402
from estime_metric import EncoderUnavailableError, EstimeScorer, estime  # noqa: E402
from estime_metric.integrations.states import values_of  # noqa: E402
from estime_metric.integrations.torchmetrics import ESTIME  # noqa: E402
from estime_metric.measures import BASE_MEASURES  # noqa: E402
from tests.integrations.conftest import MakeMetric, Pairs, named, unzip  # noqa: E402


def test_each_batch_has_its_mean_and_all_have_theirs(alarms: MakeMetric, pairs: Pairs) -> None:
    metric, expected = alarms(), alarms().scorer.score(*unzip(pairs))["alarms"]
    for start, end in ((0, 1), (1, 4), (4, 10), (10, 16)):
        value = metric(**named(pairs[start:end]))
        assert (value.shape, value.dtype, value.requires_grad) == ((), torch.float32, False)
        assert value == pytest.approx(float(expected[start:end].mean()))
        metric = pickle.loads(pickle.dumps(metric))  # with what it has counted
    assert metric.compute() == expected.mean()


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
    metric = ESTIME(model=bert_folder, return_dict=True, measures="soft,winners")
    metric.update(["A cat."], sources=["A cat sat."])
    assert list(metric.compute()) == [*BASE_MEASURES, "soft", "winners"]
    assert metric.higher_is_better is None
    assert repr(metric) == f"ESTIME(return_dict=True, {metric.config.signature()})"
    assert repr(ESTIME()).startswith("ESTIME(measure='inconsistency', ESTIME|")


@pytest.mark.filterwarnings("ignore:The ``compute`` method of metric ESTIME was called before")
def test_there_is_no_mean_before_the_first_update(alarms: MakeMetric) -> None:
    assert alarms().compute().isnan()
    assert alarms(reduction=None).compute().shape == (0,)


def test_one_value_keeps_its_axis(bert_folder: str, alarms: MakeMetric, pairs: Pairs) -> None:
    metric = alarms(reduction="none")
    assert metric(**named(pairs[:1])).shape == metric.compute().shape == (1,)
    metric = ESTIME(model=bert_folder, reduction=None, return_dict=True)
    metric.update(**named(pairs[:1]))
    assert {value.shape for value in metric.compute().values()} == {(1,)}


@pytest.mark.parametrize("make", [list, torch.tensor])
def test_each_id_counts_once(alarms: MakeMetric, pairs: Pairs, make: Any) -> None:
    values = alarms().scorer.score(*unzip(pairs[:9]))["alarms"]
    mean, each = alarms(), alarms(reduction=None)
    for metric in (mean, each):
        for numbers in ([6, 0, 3, 2], [0, 5, 1, 4, 6]):
            batch = named([pairs[number] for number in numbers])
            metric.update(**batch, ids=make(numbers))
    assert mean.compute() == pytest.approx(float(values[:7].mean()))
    assert each.compute().tolist() == values[:7].tolist()  # in order of the ids
    for _ in range(2):  # examples without ids are never repetitions
        mean.update(**named(pairs[7:9]))
    assert mean.compute() == pytest.approx(float(values[[*range(9), 7, 8]].mean()))


def test_indices_count_as_often_as_they_are_listed(alarms: MakeMetric, pairs: Pairs) -> None:
    metric, expected = alarms(reduction=None), alarms().scorer.score(*unzip(pairs[:4]))["alarms"]
    metric.update(**named(pairs[:4]), indices=torch.tensor([3, 1, 1]))
    assert metric.compute().tolist() == expected[[3, 1, 1]].tolist()


@pytest.mark.parametrize("reduction", ["mean", None])
def test_ids_of_the_batch_instead_of_the_dataset_are_warned_of(
    alarms: MakeMetric, pairs: Pairs, reduction: str | None
) -> None:
    metric = alarms(reduction=reduction)
    for start in (0, 4):
        metric.update(**named(pairs[start : start + 4]), ids=range(4))
    message = r"4 examples have the same id as another example .* \(for example, id 0\)"
    with pytest.warns(UserWarning, match=message):
        metric.compute()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_an_honest_repeat_is_not_accused_however_it_was_rounded(
    alarms: MakeMetric, pairs: Pairs, dtype: str
) -> None:
    """In a batch of others, rounding decides other alarms; any warning is an error."""
    metric = alarms(reduction=None, dtype=dtype, cache=None)
    metric.update(**named(pairs), ids=range(len(pairs)))
    together = metric.compute()
    for number in range(len(pairs)):
        metric.update(**named(pairs[number : number + 1]), ids=[number])
    graded = metric._measures.index("graded_alarms")
    first, *others = (values_of(rows)[:, graded] for rows in metric.examples)
    assert (first != torch.cat(others)).any()
    assert metric.compute().tolist() == together.tolist()


def test_undefined_values_are_counted_in_a_warning(bert_folder: str, pairs: Pairs) -> None:
    some = [*pairs[:4], ("", pairs[0][1]), (" ", "zebra"), ("!?", "zebra")]
    result = estime(*unzip(some), model=bert_folder)
    metric = ESTIME(model=bert_folder, return_dict=True, cache=None)
    metric.update(**named(some[:3]))
    for numbers in ([3, 4, 5, 6], [4, 3]):
        metric.update(**named([some[number] for number in numbers]), ids=numbers)
    with pytest.warns(UserWarning, match="alarm_rate is undefined for 3 of 7 pairs"):
        values = metric.compute()
    assert values.pop("blank") == 2  # a number, not a share
    means = {name: float(result[name].nanmean()) for name in values}
    assert values == pytest.approx(means, rel=1e-6)


def test_without_torchmetrics_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchmetrics", None)  # cannot be imported
    monkeypatch.delitem(sys.modules, "estime_metric.integrations.torchmetrics")
    assert "ESTIME" not in dir(estime_metric)
    with pytest.raises(ImportError, match=r"pip install 'estime-metric\[torchmetrics\]'"):
        estime_metric.ESTIME  # noqa: B018


def test_sources_go_by_keyword_since_others_targets_are_references(alarms: MakeMetric) -> None:
    metric = alarms()
    rouge = torchmetrics.text.ROUGEScore(rouge_keys="rouge1")
    both = torchmetrics.MetricCollection({"estime": metric, "rouge": rouge})
    remedy = r"In a MetricCollection, call `update\(preds=\.\.\., target=\.\.\., sources=\.\.\.\)`"
    for update in (metric.update, both.update):
        for texts in ({"target": ["A cat sat."]}, {"target": ["A cat."], "sources": None}):
            with pytest.raises(TypeError, match=f"as `sources=`, but got none.* {remedy}"):
                update(preds=["A cat."], **texts)
    both.update(preds=["A cat."], target=["A cat sat."], sources=["A cat sat."])
    assert set(both.compute()) > {"estime"}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"measur": "alarms"}, TypeError, r"but got `measur`\. Did you mean `measure`"),
        ({"buffer_size": 3}, ValueError, "Unexpected keyword arguments: `buffer_size`"),
        ({"measure": "inconsistancy"}, ValueError, "`measure` .* Did you mean 'inconsistency'"),
        ({"model": "embeded"}, OSError, "Did you mean model='embedded'"),
        ({"measure": ["alarms"]}, TypeError, r"one name, .* `return_dict=True, measures="),
        ({"return_dict": True}, ValueError, r"but got both.* measures=\['alarms'\]"),
        ({"layers": [1, 2]}, ValueError, "`return_dict` to be True if several layers"),
    ],
)
def test_options_are_refused_by_name(
    alarms: MakeMetric, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        alarms(**options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"preds": ["a"]}, ValueError, "`preds` and `sources` to have the same length"),
        ({"ids": [1]}, ValueError, "`ids` and `preds` to have the same length, but got 1 and 2"),
        ({"ids": [1, 2], "indices": [0]}, ValueError, r"got both: .* `indices=torch.arange\(n\)`"),
        ({"indices": [2]}, ValueError, r"`indices` to be within 0\.\.1, but got 2"),
        *(
            ({"ids": [1, bad]}, ValueError, r"`ids` to contain only integers .* at index 1")
            for bad in ("x", 1.0, True, 2**53 + 1, None)
        ),
        *(
            ({"indices": bad}, TypeError, "`indices` to be a list or a tensor of integers")
            for bad in (5, "12", torch.tensor(1), torch.zeros(2, 2))
        ),
    ],
)
def test_inputs_are_refused_before_the_encoder_is_loaded(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    metric = ESTIME(model="nobody/no-such-encoder")
    with pytest.raises(error, match=message):
        metric.update(**{"preds": ["a", "b"], "sources": ["c", "d"], **options})


@pytest.mark.parametrize("error", [KeyboardInterrupt, EncoderUnavailableError])
def test_an_update_that_fails_counts_nothing_and_can_be_repeated(
    alarms: MakeMetric, pairs: Pairs, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    metric = alarms()
    metric.update(**named(pairs[:5]))
    with monkeypatch.context() as patch:
        patch.setattr(EstimeScorer, "score_checked", lambda *_: (_ for _ in ()).throw(error))
        with pytest.raises(error):
            metric.update(**named(pairs[5:]))
    metric.update(**named(pairs[5:]))
    assert metric.compute() == metric.scorer.score(*unzip(pairs)).mean("alarms")


def test_forward_scores_once_and_its_values_are_plotted(
    alarms: MakeMetric, pairs: Pairs, scored: list[int]
) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    metric = alarms()
    steps = [metric(**named(pairs[start : start + 4])) for start in (0, 4)]
    assert scored == [4, 4]
    _, axis = metric.plot(steps)
    assert axis.get_ylabel() == "ESTIME alarms"
    assert axis.lines[0].get_ydata().tolist() == [float(step) for step in steps]
    each = alarms(measure=None, return_dict=True, reduction=None)
    each.update(**named(pairs[:3]))
    each.plot()

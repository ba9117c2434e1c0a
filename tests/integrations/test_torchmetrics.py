"""`ESTIME` for TorchMetrics: values per batch, ids and indices, warnings, its options, and what it
refuses. `tests.integrations.test_toolkits` has its numbers and names.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

torchmetrics = pytest.importorskip("torchmetrics")

from estime_metric import EncoderUnavailableError, EstimeScorer  # noqa: E402
from estime_metric.integrations.states import values_of  # noqa: E402
from estime_metric.integrations.torchmetrics import ESTIME  # noqa: E402
from estime_metric.measures import BASE_MEASURES  # noqa: E402
from tests.integrations.conftest import MakeMetric, Pairs, named  # noqa: E402


def test_each_batch_has_its_mean_and_all_have_theirs(
    alarms: MakeMetric, pairs: Pairs, values: torch.Tensor, scored: list[int]
) -> None:
    """The `forward` of a batch scores it once."""
    pytest.importorskip("matplotlib").use("Agg")
    metric, steps = alarms(), []
    for start, end in ((0, 1), (1, 4), (4, 10), (10, 16)):
        steps.append(metric(**named(pairs[start:end])))
        assert (steps[-1].shape, steps[-1].dtype) == ((), torch.float32)
        assert steps[-1] == pytest.approx(float(values[start:end].mean()))
        metric = pickle.loads(pickle.dumps(metric))  # with what it has counted
    assert scored == [1, 3, 6, 6]
    assert metric.compute() == values.mean()
    _, axis = metric.plot(steps)
    assert axis.get_ylabel() == "ESTIME alarms"
    assert axis.lines[0].get_ydata().tolist() == [float(step) for step in steps]


@pytest.mark.parametrize(
    ("measure", "higher", "bounds"),
    [("alarms", False, (0, None)), ("coverage", None, (0, 1)), ("soft", True, (-1, 1))],
)
def test_a_measure_has_a_direction_and_bounds(
    measure: str, higher: bool | None, bounds: tuple[float, float | None]
) -> None:
    metric = ESTIME(measure=measure)
    assert metric.higher_is_better is higher
    assert (metric.plot_lower_bound, metric.plot_upper_bound) == bounds


def test_a_dictionary_has_the_measures_of_every_row_and_no_direction(bert_folder: str) -> None:
    metric = ESTIME(model=bert_folder, return_dict=True, measures="soft,winners", reduction=None)
    metric.update(["A cat."], sources=["A cat sat."])
    assert list(metric.compute()) == [*BASE_MEASURES, "soft", "winners"]
    assert {value.shape for value in metric.compute().values()} == {(1,)}
    assert metric.higher_is_better is None
    assert repr(metric) == f"ESTIME(return_dict=True, {metric.config.signature()})"
    assert repr(ESTIME()).startswith("ESTIME(measure='inconsistency', ESTIME|")


@pytest.mark.filterwarnings("ignore:The ``compute`` method of metric ESTIME was called before")
def test_there_is_no_mean_before_the_first_update(alarms: MakeMetric, pairs: Pairs) -> None:
    assert alarms().compute().isnan()
    each = alarms(reduction="none")
    assert each.compute().shape == (0,)
    assert each(**named(pairs[:1])).shape == (1,)


def test_each_id_counts_once(alarms: MakeMetric, pairs: Pairs, values: torch.Tensor) -> None:
    mean, each = alarms(), alarms(reduction=None)
    for metric in (mean, each):
        for numbers in ([6, 0, 3, 2], torch.tensor([0, 5, 1, 4, 6])):
            metric.update(**named([pairs[number] for number in numbers]), ids=numbers)
    assert mean.compute() == pytest.approx(float(values[:7].mean()))
    assert each.compute().tolist() == values[:7].tolist()  # in order of the ids
    for _ in range(2):  # examples without ids are never repetitions
        mean.update(**named(pairs[7:9]))
    assert mean.compute() == pytest.approx(float(values[[*range(9), 7, 8]].mean()))


def test_other_texts_differ_if_a_number_alone_does_and_undefined_names_are_equal(
    alarms: MakeMetric,
) -> None:
    """200 is not in the source, although all its words are; names in capitals cannot be counted."""
    source = "Two men met a hundred women."
    metric = alarms()
    for summary in ("Women two hundred.", "Two women hundred."):
        metric.update([summary], sources=[source], ids=[3])
        metric.update(["TWO MEN MET WOMEN."], sources=[source], ids=[4])
    with pytest.warns(UserWarning, match=r"1 examples have the same id .* \(for example, id 3\)"):
        metric.compute()


def test_an_honest_repeat_is_not_accused_however_it_was_rounded(
    alarms: MakeMetric, pairs: Pairs
) -> None:
    """In a batch of others, rounding decides other alarms; any warning is an error."""
    metric = alarms(reduction=None, dtype="bfloat16", cache=None)
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
    metric = ESTIME(model=bert_folder, return_dict=True, cache=None)
    metric.update(**named(some[:3]))
    for numbers in ([3, 4, 5, 6], [4, 3]):
        ids = [2**53 + 3 - number for number in numbers]  # up to the largest one
        metric.update(**named([some[number] for number in numbers]), ids=ids)
    with pytest.warns(UserWarning, match="alarm_rate is undefined for 3 of 7 pairs"):
        assert metric.compute()["blank"] == 2  # a number, not a share
    names = ESTIME(measure="new_names", model=bert_folder, cache=None)
    names.update(["anna sat."], sources=["Anna sat on the mat."])
    with pytest.warns(UserWarning, match="new_names is undefined for 1 of 1 pairs.* capitals"):
        assert names.compute().isnan()


def test_sources_go_by_keyword_since_others_targets_are_references(alarms: MakeMetric) -> None:
    metric = alarms()
    rouge = torchmetrics.text.ROUGEScore(rouge_keys="rouge1")
    both = torchmetrics.MetricCollection({"estime": metric, "rouge": rouge})
    for update in (metric.update, both.update):
        with pytest.raises(TypeError, match=r"as `sources=`, but got none.* In a MetricCollection"):
            update(preds=["A cat."], target=["A cat sat."])
    both.update(preds=["A cat."], target=["A cat sat."], sources=["A cat sat."])
    assert set(both.compute()) > {"estime"}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
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
    ("options", "message"),
    [
        ({"preds": ["a"]}, "`preds` and `sources` to have the same length"),
        ({"ids": [1]}, "`ids` and `preds` to have the same length, but got 1 and 2"),
        ({"ids": [1, 2], "indices": [0]}, r"got both: .* `indices=torch.arange\(n\)`"),
        ({"indices": [2]}, r"`indices` to be within 0\.\.1, but got 2"),
        *(({"ids": bad}, "`ids` to .* integers") for bad in ([1, "x"], [1, 1.0], [1, 2**53 + 1])),
        ({"indices": 5}, "`indices` to .* integers"),
    ],
)
def test_inputs_are_refused_before_the_encoder_is_loaded(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    metric = ESTIME(model=str(tmp_path))  # a folder without an encoder
    with pytest.raises((TypeError, ValueError), match=message):
        metric.update(**{"preds": ["a", "b"], "sources": ["c", "d"], **options})


@pytest.mark.parametrize("error", [KeyboardInterrupt, EncoderUnavailableError])
def test_an_update_that_fails_counts_nothing_and_can_be_repeated(
    alarms: MakeMetric,
    pairs: Pairs,
    values: torch.Tensor,
    monkeypatch: pytest.MonkeyPatch,
    error: type[BaseException],
) -> None:
    metric = alarms()
    metric.update(**named(pairs[:5]))
    with monkeypatch.context() as patch:
        patch.setattr(EstimeScorer, "score_checked", lambda *_: (_ for _ in ()).throw(error))
        with pytest.raises(error):
            metric.update(**named(pairs[5:]))
    metric.update(**named(pairs[5:]))
    assert metric.compute() == values.mean()

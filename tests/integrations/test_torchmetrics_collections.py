"""`ESTIME` in a ``MetricCollection``: what is equal is computed once, what differs is never shared."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

torchmetrics = pytest.importorskip("torchmetrics")

from torchmetrics import MetricCollection  # noqa: E402

from estime_metric import estime  # noqa: E402
from estime_metric.integrations.torchmetrics import ESTIME  # noqa: E402
from tests.integrations.conftest import Pairs, named, unzip  # noqa: E402


def variants(folder: str, other: str) -> dict[str, ESTIME]:
    return {
        "plain": ESTIME(model=folder),
        "layer": ESTIME(model=folder, layers=2),
        "encoder": ESTIME(model=other),
        "unit": ESTIME(model=folder, unit="word"),
        "window": ESTIME(model=folder, window=120),
        "normalize": ESTIME(model=folder, normalize=True),
        "dtype": ESTIME(model=folder, dtype="bfloat16"),
        "measures": ESTIME(model=folder, measures=["coherence"]),
        "words": ESTIME(model=folder, unit="word", splitter=lambda text: text.split()),
        "letters": ESTIME(model=folder, unit="word", splitter=lambda text: list(text.replace(" ", ""))),
        "each": ESTIME(model=folder, reduction=None),
    }


@pytest.mark.slow
def test_configurations_never_share_a_state(
    bert_folder: str, encoder_folder: Callable[[str], str], pairs: Pairs
) -> None:
    """Though the numbers of the first batch, which has no alarm, are equal in most."""
    metrics = variants(bert_folder, encoder_folder("electra"))
    collection = MetricCollection({name: metric.clone() for name, metric in metrics.items()})
    assert collection._enable_compute_groups
    for batch in ([("", pairs[0][1]), ("", "")], pairs[2:5], pairs[5:9]):
        collection.update(**named(batch))
        for metric in metrics.values():
            metric.update(**named(batch))
    assert len(collection.compute_groups) == len(metrics)
    values = collection.compute()
    for name, metric in metrics.items():
        rounding = 0.5 if name == "dtype" else 0.0  # in bfloat16 the company of a text may turn some alarms over
        torch.testing.assert_close(values[name], metric.compute(), rtol=0, atol=rounding, msg=name)
    assert len({float(value) for value in values.values() if value.ndim == 0}) > 4
    collection.reset()
    collection.update(**named(pairs[:2]))
    assert collection.compute()["layer"] == estime(*unzip(pairs[:2]), model=bert_folder, layers=2).mean()


def test_equal_configurations_share_the_work(bert_folder: str, pairs: Pairs, scored: list[int]) -> None:
    collection = MetricCollection(
        {
            "mean": ESTIME(model=bert_folder),
            "rate": ESTIME(model=bert_folder, measure="unsupported_rate"),
            "share": ESTIME(model=bert_folder, measure="coverage"),
            "all": ESTIME(model=bert_folder, return_dict=True),
        }
    )
    for start in range(0, 12, 4):
        collection.update(**named(pairs[start : start + 4]))
    assert collection.compute_groups == {0: ["all", "mean", "rate", "share"]}
    values = collection.compute()
    result = estime(*unzip(pairs[:12]), model=bert_folder)
    assert values["mean"] == values["alarms"] == result.mean()
    assert float(values["rate"]) == pytest.approx(result.mean("unsupported_rate"), rel=1e-12)
    assert float(values["share"]) == pytest.approx(result.coverage, rel=1e-12)
    assert sum(scored) == 4 * 4 + 4 + 4 + 12  # the first update scores each metric, the others one (and `estime`)

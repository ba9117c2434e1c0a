"""Ray Data: batches in each of its formats. `tests.integrations.harnesses` has a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest

from estime_metric import estime
from estime_metric.integrations.ray import BatchScorer
from tests.integrations.conftest import Pairs, unzip

FORMATS: dict[str, Any] = {
    "numpy": lambda columns: {name: np.array(column) for name, column in columns.items()},
    "pandas": pandas.DataFrame,
    "pyarrow": pyarrow.table,
}


@pytest.mark.parametrize("batch_format", FORMATS)
def test_a_batch_in_each_format(bert_folder: str, pairs: Pairs, batch_format: str) -> None:
    summaries, sources = unzip(pairs[:4])
    columns = {"id": [3, 1, 4, 2], "article": sources, "summary": summaries}
    scorer = BatchScorer(model=bert_folder, source_column="article", prefix="estime_")
    scored = scorer(FORMATS[batch_format](columns))
    measures = estime(summaries, sources, model=bert_folder).columns()
    expected = {**columns, **{f"estime_{name}": values for name, values in measures.items()}}
    assert list(scored) == list(expected)
    for name, values in expected.items():
        assert type(scored[name]) is np.ndarray
        assert scored[name].tolist() == pytest.approx(values, abs=0, nan_ok=True)

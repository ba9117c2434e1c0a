"""Ray Data: batches in each of its formats. `tests.integrations.harnesses` has a cluster."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest

from estime_metric import estime
from estime_metric.integrations.ray import BatchScorer
from tests.integrations.conftest import Pairs, unzip

NUMBERS = [2**53 + 1, None, 4, 2]  # a float has no such number
TIMES = pyarrow.array([datetime(2026, 1, day, tzinfo=UTC) for day in range(1, 5)])
COLUMNS: dict[str, dict[str, Any]] = {
    "numpy": {"id": np.array([3, 1, 4, 2])},
    "pandas": {"id": pandas.array(NUMBERS, "Int64"), "at": TIMES.to_pandas()},
    "pyarrow": {"id": pyarrow.array(NUMBERS), "at": TIMES},
}
FORMATS: dict[str, Any] = {
    "numpy": lambda columns: {name: np.array(column) for name, column in columns.items()},
    "pandas": pandas.DataFrame,
    "pyarrow": pyarrow.table,
}


@pytest.mark.parametrize("batch_format", FORMATS)
def test_a_batch_keeps_its_format_and_its_columns(
    bert_folder: str, pairs: Pairs, batch_format: str
) -> None:
    summaries, sources = unzip(pairs[:4])
    columns = {**COLUMNS[batch_format], "article": sources, "summary": summaries}
    batch = FORMATS[batch_format](columns)
    scorer = BatchScorer(model=bert_folder, source_column="article", prefix="estime_")
    scored = scorer(batch)
    assert type(scored) is type(batch)
    table, measures = pyarrow.table(scored), estime(summaries, sources, model=bert_folder).columns()
    assert table.select([*columns]).equals(pyarrow.table(batch))
    added = table.drop_columns([*columns])
    assert added.column_names == [f"estime_{name}" for name in measures]
    assert {*added.schema.types} == {pyarrow.float64()}
    for column, values in zip(added.columns, measures.values(), strict=True):
        assert column.to_numpy().tolist() == pytest.approx(values, abs=0, nan_ok=True)

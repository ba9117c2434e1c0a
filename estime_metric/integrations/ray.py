"""Ray Data: `BatchScorer` adds the measures to a dataset. Importing this module imports no Ray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from estime_metric.scorer import EstimeScorer

if TYPE_CHECKING:
    from estime_metric.config import EstimeConfig, EstimeOptions


class BatchScorer:
    """Scores the batches of a Ray dataset: pass the class to ``dataset.map_batches``.

    Ray makes an object in each actor, which loads one encoder. A source is encoded once for all of
    its summaries in a batch, so sort the dataset by its sources if they have several.

    Args:
        config: an `EstimeConfig`; the default uses the bundled encoder ``"embedded"``.
        source_column, summary_column: the columns that are scored.
        prefix: what the names of the added columns begin with.
        options: options of `EstimeConfig`, which override those in ``config``.

    Raises:
        TypeError, ValueError: an invalid option. When a batch is scored: a column is missing or has
            the name of an added one, a text is not a string, or a source has no words; the message names
            the column, or the index in the batch.
        EncoderUnavailableError: when a batch is scored: the encoder cannot be loaded.

    Example:
        >>> scorer = BatchScorer(prefix="estime_")
        >>> batch = {"source": np.array(["A dog slept."]), "summary": np.array(["A dog ran."])}
        >>> scorer(batch)["estime_new_words"]
        array([0.333...])
    """

    def __init__(
        self,
        config: EstimeConfig | None = None,
        *,
        source_column: str = "source",
        summary_column: str = "summary",
        prefix: str = "",
        **options: Unpack[EstimeOptions],
    ) -> None:
        self._scorer = EstimeScorer(config, **options)
        self._columns = {
            "source_column": source_column,
            "summary_column": summary_column,
            "prefix": prefix,
        }

    def __call__(self, batch: Any) -> Any:
        """The batch, in any of Ray's formats, with a further column of float64 for each measure, NaN if it
        is undefined; with several layers ``alarms_layer12`` and so on. Other columns stay as they are. Ray
        itself turns integers with nulls into floats unless ``batch_format`` is ``"pyarrow"``.
        """
        measures = self._scorer.map_batch(batch, **self._columns)
        columns = {name: np.asarray(values, np.float64) for name, values in measures.items()}
        if hasattr(batch, "append_column"):  # a table of Arrow
            for name, values in columns.items():
                batch = batch.append_column(name, [values])
            return batch
        if hasattr(batch, "assign"):  # a frame of pandas
            return batch.assign(**columns)
        return {**batch, **columns}

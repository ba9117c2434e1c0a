"""A data set of Ray Data -> the same with the measures as columns."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from estime_metric import files
from estime_metric.config import EstimeConfig
from estime_metric.inputs import check_column
from estime_metric.integrations.ray.loading import actors_that_fit, import_ray
from estime_metric.jobs.job import BYTES

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from estime_metric.config import EstimeOptions

#: Column of the hash of the source, while rows are grouped.
_KEY = "__estime_source"

_log = logging.getLogger(__name__)


def score_dataset(
    dataset: Any,
    config: EstimeConfig | None = None,
    *,
    source_column: str = "source",
    summary_column: str = "summary",
    prefix: str = "",
    group_sources: bool = True,
    look_ahead: int = 256,
    num_gpus: float | None = None,
    num_cpus: float | None = None,
    concurrency: int | tuple[int, int] | None = None,
    **options: Unpack[EstimeOptions],
) -> Any:
    """Scores each row of a Ray data set; lazy, as all of Ray Data.

    Each actor holds one encoder. A row gets the numbers that `EstimeScorer.map_batch` gives it, whichever actor scores
    it and whatever fails meanwhile. Rows whose two texts are not both texts are left out, and logged.

    Args:
        dataset: a ``ray.data.Dataset`` whose blocks are Arrow tables, as all readers make them.
        config: an `EstimeConfig`; the default is the paper's setting.
        source_column, summary_column: the columns that are scored.
        prefix: what the names of our columns begin with.
        group_sources: sort the rows by a hash of their source, so that equal sources meet on one actor and are encoded
            once. It moves all data between nodes and changes the order of rows. Not needed where equal sources stand
            side by side, or where each comes once.
        look_ahead: pairs that an actor scores together; up to twice as many where they share a source.
        num_gpus, num_cpus: what each actor takes. By default a GPU and a CPU where the cluster has GPUs, else a CPU.
        concurrency: number of actors, or the least and the most; by default 1 up to what the cluster holds now.
        options: options of `EstimeConfig`, laid over ``config``.

    Returns:
        A ``ray.data.Dataset`` with a column of float64 for each measure, NaN where it is undefined; with several
        layers ``alarms@12`` and so on.

    Raises:
        ImportError: Ray is not installed.
        ValueError: a bad option. A missing column, or one whose name clashes with a measure's, is reported when
            the first block runs.
    """
    ray = import_ray()
    config = EstimeConfig.from_options(config, options)
    if look_ahead < 1:
        raise ValueError(f"Expected argument `look_ahead` to be at least 1, but got {look_ahead}.")
    if num_gpus is None:
        num_gpus = 1 if ray.cluster_resources().get("GPU", 0) else 0
    if num_cpus is None:
        num_cpus = 1
    if concurrency is None:
        concurrency = (1, actors_that_fit(ray, num_gpus, num_cpus))
    if isinstance(concurrency, int):
        compute = ray.data.ActorPoolStrategy(size=concurrency)
    else:
        compute = ray.data.ActorPoolStrategy(min_size=concurrency[0], max_size=concurrency[1])
    if group_sources:
        dataset = dataset.map_batches(
            _add_key, batch_size=None, batch_format="pyarrow", fn_kwargs={"column": source_column}
        ).sort(_KEY)
    return dataset.map_batches(
        _BlockScorer,
        batch_size=None,  # a block, in which all rows of a source are
        batch_format="pyarrow",
        fn_constructor_args=(config, source_column, summary_column, prefix, look_ahead),
        compute=compute,
        num_gpus=num_gpus or None,
        num_cpus=num_cpus,
    )


def _add_key(table: Any, column: str) -> Any:
    import pyarrow

    check_column(column, table.column_names)
    keys = [blake2b(str(text).encode("utf-8", "replace"), digest_size=8).digest() for text in _texts(table, column)]
    numbers = [int.from_bytes(key, "big", signed=True) for key in keys]
    return table.append_column(_KEY, pyarrow.array(numbers, pyarrow.int64()))


class _BlockScorer:
    """What an actor runs: holds one encoder, scores block after block."""

    def __init__(
        self, config: EstimeConfig, source_column: str, summary_column: str, prefix: str, look_ahead: int
    ) -> None:
        from estime_metric.scorer import EstimeScorer

        self.scorer = EstimeScorer(config)
        self.columns = source_column, summary_column
        self.prefix = prefix
        self.look_ahead = look_ahead

    def __call__(self, table: Any) -> Iterator[Any]:
        """The rows of a block that hold a pair with their measures, a chunk at a time."""
        if _KEY in table.column_names:
            table = table.drop_columns([_KEY])
        for column in self.columns:
            check_column(column, table.column_names)
        chunk = files.Pairs()
        sources, summaries = (_texts(table, column) for column in self.columns)
        for index, (source, summary) in enumerate(zip(sources, summaries, strict=True)):
            problem = files.pair_problem(dict(zip(self.columns, (source, summary), strict=True)), *self.columns)
            if problem:
                chunk.problems.append(problem)
                continue
            if chunk.ends_before(source, self.look_ahead, BYTES):
                yield self._scored(table, chunk)
                chunk = files.Pairs()
            chunk.add(index, source, summary, {})
        yield self._scored(table, chunk)

    def _scored(self, table: Any, chunk: files.Pairs) -> Any:
        import pyarrow

        if chunk.problems:
            _log.warning("left out %d invalid rows; the first %s", len(chunk.problems), chunk.problems[0])
        table = table.take(pyarrow.array(chunk.lines, pyarrow.int64()))
        for name, values in self.scorer.map_batch({"source": chunk.sources, "summary": chunk.summaries}).items():
            if f"{self.prefix}{name}" in table.column_names:
                raise ValueError(
                    f"The data set has the column {self.prefix + name!r}, whose name clashes with an output column: "
                    "choose other names for the output columns with `prefix`."
                )
            table = table.append_column(f"{self.prefix}{name}", pyarrow.array(values, pyarrow.float64()))
        return table


def _texts(table: Any, column: str) -> list[Any]:
    texts: list[Any] = table.column(column).to_pylist()
    return texts

"""Ray: `score_dataset` adds the measures to a Ray Data dataset. Importing this module imports no Ray."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from estime_metric import files
from estime_metric._extras import needs_extra
from estime_metric.config import EstimeConfig
from estime_metric.jobs.job import BYTES
from estime_metric.validation import check_column, integer

if TYPE_CHECKING:
    from estime_metric.config import EstimeOptions

_KEY = "__estime_source"  # column of the hash of the source, while rows are grouped

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
    """Scores every row of a Ray dataset. Execution is lazy, as usual in Ray Data.

    Each actor loads one encoder. The scores are the same as those of `EstimeScorer.map_batch`,
    regardless of which actor scores a row and of failures during the run. Invalid rows are skipped
    and logged.

    Args:
        dataset: a ``ray.data.Dataset`` whose blocks are Arrow tables, as all readers make them.
        config: an `EstimeConfig`; the default uses the bundled encoder ``"embedded"``.
        source_column, summary_column: the columns that are scored.
        prefix: what the names of the added columns begin with.
        group_sources: sort the rows by a hash of their source, so that equal sources meet on one
            actor and are encoded once. It moves all data between nodes.
        look_ahead: pairs that an actor scores together; up to twice as many if they share a source.
        num_gpus, num_cpus: resources per actor. The default is one CPU, plus one GPU if the cluster
            has GPUs.
        concurrency: number of actors, or the least and the most. By default Ray starts one actor
            and adds others as the cluster has room for them.
        options: options of `EstimeConfig`, which override those in ``config``.

    Returns:
        A ``ray.data.Dataset`` with a column of float64 for each measure, NaN if it is undefined;
        with several layers ``alarms_layer12`` and so on.

    Raises:
        ImportError: Ray is not installed.
        ValueError: an invalid option; or, when the first block runs, a column that is missing or
            clashes with a measure's.
    """
    ray = _import_ray()
    config = EstimeConfig.from_options(config, options)
    look_ahead = integer("look_ahead", look_ahead, least=1)
    if num_gpus is None:
        num_gpus = 1 if ray.cluster_resources().get("GPU", 0) else 0
    if isinstance(concurrency, int):
        actors = ray.data.ActorPoolStrategy(size=concurrency)
    else:
        least, most = concurrency or (1, None)
        actors = ray.data.ActorPoolStrategy(min_size=least, max_size=most)
    whole: dict[str, Any] = {
        "batch_size": None,
        "batch_format": "pyarrow",
    }  # a block: all rows of its sources
    if group_sources:
        dataset = dataset.map_batches(_add_key, **whole, fn_kwargs={"column": source_column}).sort(
            _KEY
        )
    return dataset.map_batches(
        _BlockScorer,
        **whole,
        fn_constructor_args=(config, source_column, summary_column, prefix, look_ahead),
        compute=actors,
        num_gpus=num_gpus or None,
        num_cpus=1 if num_cpus is None else num_cpus,
    )


def _add_key(table: Any, column: str) -> Any:
    import pyarrow

    check_column(column, table.column_names)
    texts = (str(text).encode("utf-8", "replace") for text in table.column(column).to_pylist())
    keys = [
        int.from_bytes(blake2b(text, digest_size=8).digest(), "big", signed=True) for text in texts
    ]
    return table.append_column(_KEY, pyarrow.array(keys, pyarrow.int64()))


class _BlockScorer:
    def __init__(
        self, config: EstimeConfig, source: str, summary: str, prefix: str, look_ahead: int
    ) -> None:
        from estime_metric.scorer import EstimeScorer

        self.scorer = EstimeScorer(config)
        self.layout = files.Layout(source_column=source, summary_column=summary)
        self.prefix, self.look_ahead = prefix, look_ahead

    def __call__(self, table: Any) -> Iterator[Any]:
        """The valid rows of a block with their measures, one chunk at a time."""
        if _KEY in table.column_names:
            table = table.drop_columns([_KEY])
        for column in (self.layout.source_column, self.layout.summary_column):
            check_column(column, table.column_names)
        limits = files.ChunkLimits(pairs=self.look_ahead, size=BYTES)
        # A block without rows still says which columns there are.
        for chunk in list(files.cut(self._lines(table), self.layout, limits)) or [[]]:
            yield self._scored(table, chunk)

    def _lines(self, table: Any) -> Iterator[files.Line]:
        """The rows of a table; the number of each is its index."""
        source, summary = self.layout.source_column, self.layout.summary_column
        rows = table.select(list(dict.fromkeys((source, summary)))).to_pylist()
        for index, row in enumerate(rows):
            problem = files.pair_problem(row, source, summary)
            yield files.Line(Path(), index, {} if problem else row, problem)

    def _scored(self, table: Any, chunk: Sequence[files.Line]) -> Any:
        import pyarrow

        problems = [line.problem for line in chunk if line.problem]
        if problems:
            _log.warning("skipped %d invalid rows; the first one %s", len(problems), problems[0])
        lines = [line for line in chunk if not line.problem]
        table = table.take(pyarrow.array([line.number for line in lines], pyarrow.int64()))
        batch = {
            "source": [line.row[self.layout.source_column] for line in lines],
            "summary": [line.row[self.layout.summary_column] for line in lines],
        }
        for measure, values in self.scorer.map_batch(batch).items():
            name = self.prefix + measure
            if name in table.column_names:
                raise ValueError(
                    f"The dataset has a column {name!r}, which is also the name of an output column. Rename the output "
                    "columns with `prefix`."
                )
            table = table.append_column(name, pyarrow.array(values, pyarrow.float64()))
        return table


def _import_ray() -> Any:
    with needs_extra("ray", "Ray needs its package"):
        import ray
        import ray.data
    return ray

"""The means of each input file of a job, such as the file of each system."""

from __future__ import annotations

from estime_metric.jobs.chunks import JobPairs
from estime_metric.jobs.earlier import Values
from estime_metric.jobs.job import Job
from estime_metric.measures import RECOMMENDED
from estime_metric.stats.intervals import Interval

MEASURES_BY_FILE = (RECOMMENDED, "alarms", "tokens")


class MeansByFile:
    """Adds up the pairs of each file: pass `add` as ``on_scored`` to `score_files`.

    It has the means of `MEASURES_BY_FILE` if one layer is read, and otherwise none.
    """

    def __init__(self, job: Job) -> None:
        from estime_metric.stats.bootstrap import BootstrapMeans  # imports numpy: slow

        self._means = {str(path): BootstrapMeans(MEASURES_BY_FILE) for path in job.inputs}

    def add(self, pairs: JobPairs, values: Values) -> None:
        """Pairs with their values by column."""
        if RECOMMENDED not in values:
            return
        from estime_metric.stats.bootstrap import source_id

        rows_of: dict[str, list[int]] = {}
        for row, path in enumerate(pairs.paths):
            rows_of.setdefault(str(path), []).append(row)
        for file, rows in rows_of.items():
            self._means[file].add(
                [source_id(pairs.sources[row]) for row in rows],
                {name: [values[name][row] for row in rows] for name in MEASURES_BY_FILE},
            )

    def intervals(self) -> dict[str, dict[str, Interval]]:
        """File -> measure -> its mean with the 95% interval by source."""
        return {
            file: {name: means.interval(name) for name in MEASURES_BY_FILE}
            for file, means in self._means.items()
            if means.interval(RECOMMENDED).count
        }

"""Compares two or more systems on the same sources. Requires the extra ``meta``.

`compare_results` compares results of `EstimeScorer.score`. `compare_rows` compares rows in the
format of ``estime score -o``, which `read_systems` reads from files or computes. Scores with
different signatures raise an error.
"""

from __future__ import annotations

try:
    import pandas as _pandas  # noqa: F401
    import scipy as _scipy  # noqa: F401
except ImportError as error:
    raise ImportError(
        "Comparing systems needs pandas and scipy: pip install 'estime-metric[meta]'."
    ) from error

from estime_metric.comparison.report import plot_copying, to_table
from estime_metric.comparison.rows import Joined, ReadSystems, ScoredRow, join_rows, read_systems
from estime_metric.comparison.systems import DEFAULT_MEASURES, compare_results, compare_rows
from estime_metric.comparison.training_log import (
    LoggedPoint,
    TrainingCurve,
    plot_training,
    read_training_log,
)
from estime_metric.comparison.verdicts import SMALL_SAMPLE, Comparison, Pair, Ranked, System
from estime_metric.config import LOW_COVERAGE

__all__ = [
    "DEFAULT_MEASURES",
    "LOW_COVERAGE",
    "SMALL_SAMPLE",
    "Comparison",
    "Joined",
    "LoggedPoint",
    "Pair",
    "Ranked",
    "ReadSystems",
    "ScoredRow",
    "System",
    "TrainingCurve",
    "compare_results",
    "compare_rows",
    "join_rows",
    "plot_copying",
    "plot_training",
    "read_systems",
    "read_training_log",
    "to_table",
]

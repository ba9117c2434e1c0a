"""Which of two summarizers is more consistent with the same sources? Needs the extra ``meta``.

`compare_results` takes two results of `EstimeScorer.score`, `compare_rows` rows as ``estime score -o`` writes them,
`read_sides` reads such rows from two files, or scores the pairs that a file holds. Scores whose signatures differ are
refused.
"""

from __future__ import annotations

from estime_metric.comparison.reading import read_sides
from estime_metric.comparison.rows import Joined, Row, join_rows
from estime_metric.comparison.verdicts import (
    DEFAULT_MEASURES,
    SMALL_SAMPLE,
    Comparison,
    compare_results,
    compare_rows,
)
from estime_metric.config import LOW_COVERAGE

__all__ = [
    "DEFAULT_MEASURES",
    "LOW_COVERAGE",
    "SMALL_SAMPLE",
    "Comparison",
    "Joined",
    "Row",
    "compare_results",
    "compare_rows",
    "join_rows",
    "read_sides",
]

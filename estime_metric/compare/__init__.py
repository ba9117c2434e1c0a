"""Compares two or more systems on the same sources.

`compare_results` compares results of `EstimeScorer.score`. `compare_scores` compares tables of
scores, which `read_scores` reads. Scores with different signatures raise an error.
"""

from __future__ import annotations

from estime_metric.compare.differences import (
    DEFAULT_MEASURES,
    Comparison,
    compare_results,
    compare_scores,
)
from estime_metric.compare.guards import COVERAGE_GAP, LENGTH_RATIO
from estime_metric.compare.join import Joined, join_scores
from estime_metric.compare.report import plot_copying, to_dict, to_rows
from estime_metric.compare.words import notes, sentences
from estime_metric.table.table import read as read_scores

__all__ = [
    "COVERAGE_GAP",
    "DEFAULT_MEASURES",
    "LENGTH_RATIO",
    "Comparison",
    "Joined",
    "compare_results",
    "compare_scores",
    "join_scores",
    "notes",
    "plot_copying",
    "read_scores",
    "sentences",
    "to_dict",
    "to_rows",
]

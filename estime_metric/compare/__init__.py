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
from estime_metric.compare.gate import Verdict, judge
from estime_metric.compare.join import Joined, join_scores
from estime_metric.compare.sentences import notes, to_dict, to_rows
from estime_metric.table.table import read as read_scores

__all__ = [
    "DEFAULT_MEASURES",
    "Comparison",
    "Joined",
    "Verdict",
    "compare_results",
    "compare_scores",
    "join_scores",
    "judge",
    "notes",
    "read_scores",
    "to_dict",
    "to_rows",
]

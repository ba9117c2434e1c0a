"""Compares two or more systems on the same sources.

`compare_results` compares results of `EstimeScorer.score`. `compare_scores` compares tables of
scores, which `read_scores` reads. Scores with different signatures raise an error.
"""

from __future__ import annotations

from estime_metric.comparison.joining import Joined, join_scores
from estime_metric.comparison.reading import read_scores
from estime_metric.comparison.report import plot_copying, to_dict, to_rows, to_tables
from estime_metric.comparison.systems import (
    Comparison,
    check_measures,
    compare_results,
    compare_scores,
)
from estime_metric.comparison.verdicts import (
    COVERAGE_GAP,
    LENGTH_RATIO,
    RULE,
    System,
    Verdict,
    Vote,
)
from estime_metric.comparison.wording import LISTED, notes, verdict_sentences

__all__ = [
    "COVERAGE_GAP",
    "LENGTH_RATIO",
    "LISTED",
    "RULE",
    "Comparison",
    "Joined",
    "System",
    "Verdict",
    "Vote",
    "check_measures",
    "compare_results",
    "compare_scores",
    "join_scores",
    "notes",
    "plot_copying",
    "read_scores",
    "to_dict",
    "to_rows",
    "to_tables",
    "verdict_sentences",
]

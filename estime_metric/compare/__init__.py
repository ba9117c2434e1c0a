"""Compares two or more systems on the same sources.

`compare_scores` compares tables of scores: `EstimeResult.table`, or what `read_scores` reads. `judge` says
whether a new system may take the place of another. Scores with different signatures raise an error.
"""

from __future__ import annotations

from estime_metric.compare.differences import Comparison, compare_scores
from estime_metric.compare.examples import Examples
from estime_metric.compare.gate import Verdict, judge
from estime_metric.compare.join import Joined, join_scores
from estime_metric.compare.pairwise import Difference
from estime_metric.compare.read import read_scores
from estime_metric.compare.request import DEFAULT_MEASURES
from estime_metric.compare.sentences import notes, to_dict, to_rows

__all__ = [
    "DEFAULT_MEASURES",
    "Comparison",
    "Difference",
    "Examples",
    "Joined",
    "Verdict",
    "compare_scores",
    "join_scores",
    "judge",
    "notes",
    "read_scores",
    "to_dict",
    "to_rows",
]

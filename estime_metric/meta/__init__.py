"""How good is a measure? Scores against judgements, for any measure and any judgements; needs the extra ``meta``."""

from __future__ import annotations

try:
    import pandas as _pandas  # noqa: F401
    import scipy as _scipy  # noqa: F401
except ImportError as error:
    raise ImportError("The meta-evaluation needs pandas and scipy: pip install 'estime-metric[meta]'.") from error

from estime_metric.meta.concordance import METHODS
from estime_metric.meta.correlations import (
    LEVELS,
    Correlation,
    UndefinedCorrelationError,
    correlate,
    correlation,
    group_values,
)
from estime_metric.meta.evaluation import TESTS, compare_all, evaluate_all, holm
from estime_metric.meta.paired import PairedTest, approximate_randomization, paired_bootstrap
from estime_metric.meta.resampling import RESAMPLES, bootstrap, bootstrap_groups
from estime_metric.meta.significance import (
    ALTERNATIVES,
    SWAPS,
    Difference,
    bootstrap_difference,
    permutation_test,
    williams,
    williams_test,
)
from estime_metric.meta.tables import Grid, join, read_table

__all__ = [
    "ALTERNATIVES",
    "LEVELS",
    "METHODS",
    "RESAMPLES",
    "SWAPS",
    "TESTS",
    "Correlation",
    "Difference",
    "Grid",
    "PairedTest",
    "UndefinedCorrelationError",
    "approximate_randomization",
    "bootstrap",
    "bootstrap_difference",
    "bootstrap_groups",
    "compare_all",
    "correlate",
    "correlation",
    "evaluate_all",
    "group_values",
    "holm",
    "join",
    "paired_bootstrap",
    "permutation_test",
    "read_table",
    "williams",
    "williams_test",
]

"""How good is a measure? Scores against judgements, for any measure and any judgements; needs the
extra ``meta``.

A bad argument (no numbers, NaN, shapes or names that do not fit, an unknown name, an option out of
range) raises TypeError or ValueError, whose message names the argument, what was expected and what
came.
"""

from __future__ import annotations

from estime_metric._messages import needs_extra

with needs_extra("meta", "The meta-evaluation needs scipy"):
    import scipy as _scipy  # noqa: F401

from estime_metric.studies.keyed import read_keyed
from estime_metric.studies.meta.bias import BiasMatrix, bias_matrix
from estime_metric.studies.meta.concordance import METHODS
from estime_metric.studies.meta.confounders import (
    break_ties,
    capitalization,
    from_property,
    system_upper_bound,
)
from estime_metric.studies.meta.correlations import (
    LEVELS,
    Correlation,
    UndefinedCorrelationError,
    correlate,
)
from estime_metric.studies.meta.grid import Grid, join
from estime_metric.studies.meta.reading import read_grids
from estime_metric.studies.meta.resampling import (
    RESAMPLES,
    bootstrap,
    evaluate_all,
)
from estime_metric.studies.meta.shuffle import (
    accuracy_by_length_difference,
    shuffle_accuracy,
    shuffle_text,
    shuffle_texts,
)
from estime_metric.studies.meta.significance import (
    TESTS,
    Difference,
    bootstrap_difference,
    check_test,
    compare_all,
    williams,
    williams_test,
)

__all__ = [
    "LEVELS",
    "METHODS",
    "RESAMPLES",
    "TESTS",
    "BiasMatrix",
    "Correlation",
    "Difference",
    "Grid",
    "UndefinedCorrelationError",
    "accuracy_by_length_difference",
    "bias_matrix",
    "bootstrap",
    "bootstrap_difference",
    "break_ties",
    "capitalization",
    "check_test",
    "compare_all",
    "correlate",
    "evaluate_all",
    "from_property",
    "join",
    "read_grids",
    "read_keyed",
    "shuffle_accuracy",
    "shuffle_text",
    "shuffle_texts",
    "system_upper_bound",
    "williams",
    "williams_test",
]

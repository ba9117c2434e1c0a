"""ESTIME as one function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from estime_metric.checks import check_pairs
from estime_metric.result import EstimeResult
from estime_metric.scorer import EstimeScorer, warn_of_input

if TYPE_CHECKING:
    from estime_metric.config import EstimeOptions


def estime(
    predictions: Sequence[str], sources: Sequence[str], **options: Unpack[EstimeOptions]
) -> EstimeResult:
    """Scores summaries against their sources.

    The encoder stays in memory for later calls until two other encoders have been used or you call
    `unload_encoders`.

    Args:
        predictions: the summaries.
        sources: the source text of each summary.
        options: any option of `EstimeConfig`.

    Returns:
        The scores in input order. ``result.mean("inconsistency")`` is the number to compare by (0
        to 1; lower is better), ``result.mean("alarms")`` the paper's score (0 or more; lower is
        better).

    Raises:
        TypeError, ValueError, EncoderUnavailableError: as for `EstimeScorer` and its ``score``.

    Source: Vasilyev & Bohannon 2021, Eqs. 1 to 3.

    Example:
        >>> source = "The cat sat on the mat while the dog slept in the garden."
        >>> result = estime(["The cat slept in the garden."], [source])
        >>> 0 < result.mean("inconsistency") < 1, result["overlap"].tolist()
        (True, [7.0])
    """
    scorer = EstimeScorer(**options)
    result = scorer.score_checked(*check_pairs(predictions, sources))
    warn_of_input(result.input_warnings)
    return result

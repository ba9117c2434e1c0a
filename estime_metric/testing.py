"""An assertion for the tests of a program that writes summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from estime_metric.measures import RECOMMENDED, check_threshold
from estime_metric.scorer import EstimeScorer

if TYPE_CHECKING:
    from estime_metric.config import EstimeOptions


def assert_consistent(
    summary: str, source: str, *, below: float, **options: Unpack[EstimeOptions]
) -> None:
    """Raises AssertionError, with the explanation in text, unless the ``inconsistency`` of a summary
    is below a limit. The encoder stays in memory for the next call.

    Copying lowers the score: a wrong summary passes once enough of its source is appended to it. For a
    whole test set, use the gate of ``estime compare --fail-if-worse``, which looks at the copying too.

    Args:
        summary: the summary.
        source: the text to judge it against.
        below: the limit, exclusive; from 0 to 1. No limit suits all texts: take one from summaries of
            yours that you have read.
        options: options of `EstimeConfig`, with a single layer.

    Raises:
        AssertionError: the summary is not below the limit.
        TypeError, ValueError, EncoderUnavailableError: ``below`` is not a number from 0 to 1; otherwise
            as for `EstimeScorer.explain`.

    Example:
        >>> source = "The cat sat on the mat while the dog slept."
        >>> assert_consistent("The cat sat on the mat.", source, below=0.1)
        >>> assert_consistent("The cat sat on the sofa.", source, below=0.1)
        Traceback (most recent call last):
        ...
        AssertionError: Expected the inconsistency of the summary to be below 0.1, but it is 0.1757.
        inconsistency 0.176, ...
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    below = check_threshold(below, RECOMMENDED, "below")
    explanation = EstimeScorer(**options).explain(summary, source)
    if not explanation.inconsistency < below:
        raise AssertionError(
            f"Expected the inconsistency of the summary to be below {below:g}, but it is "
            f"{explanation.inconsistency:.4f}.\n{explanation}"
        )
